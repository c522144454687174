/* SPDX-License-Identifier: MIT
 * Fuzz target: bytes as code of an HWSQ, with a host that starts, stops and waits. The first byte
 * chooses the chip, the second the policies, the next eight what the host does. */
#include "tests/lib/engine_bench.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 10, BUDGET = 10000 };

/* Up to a tick; scripts that start themselves again need an end. */
static void run_to(struct bench *b, uint64_t tick)
{
    b->bus->bus.until = tick;
    b->stop = nv_loop_(bench_nv(b), BUDGET);
    cps_tap_flush_(&b->engine->tap);
    b->bus->bus.until = UINT64_MAX;
}

static void act(struct bench *b, uint8_t what)
{
    if (what & 0x80)
        bench_write(b, 0x1098, what & 0x18);
    if (what & 0x40)
        bench_read(b, 0x1300 + (what & 0x3cu));
    else
        bench_write(b, 0x130c, what & 15);
    run_to(b, b->bus->bus.clock + (UINT64_C(1) << (what & 31)));
}

/* A script that writes TRIGGER starts itself again. */
static bool starts_itself(const struct bench *b)
{
    for (size_t i = 0; i < b->count && i < BENCH_EVENTS; i++) {
        const struct cps_event *event = &b->event[i];
        if (cps_event_kind(event) == CPS_EV_REG && cps_event_who(event) != CPS_CPU_HOST &&
            (event->addr & ~UINT64_C(3)) == 0x130c)
            return true;
    }
    return false;
}

/* No other script runs for ever, and a pointer is an entry point or at most an instruction behind
 * the RAM. */
static void check(struct bench *b)
{
    if (bench_reg(b, "a.ip") > 0x1ff + 5 ||
        (b->engine->instructions > 0x200 * (2 + HEAD) && !starts_itself(b)) ||
        (b->stop == CPS_STOP_IDLE && (bench_reg(b, "a.running") || bench_reg(b, "b.running"))))
        __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cps_gen chips[] = {CPS_NV17, CPS_NV41, CPS_G80, CPS_G92};
    static const char *const policies[] = {"", "abort-in-wait=illegal unset=clear",
                                           "bad-ip=at cost=3", "abort-in-wait=stop fb-delay=0"};
    if (size < HEAD)
        return 0;
    enum cps_gen chip = chips[data[0] % 4];
    struct bench *b = bench_new(chip, policies[data[1] % 4]);
    size_t code = size - HEAD < cps_hwsq_ram(chip) ? size - HEAD : cps_hwsq_ram(chip);
    bench_load(b, 0, data + HEAD, code);
    for (unsigned event = 0; event < 6; event++) {
        if (cps_bus_schedule(b->bus, data[2 + event] * 8u, event != 5, event, data[1] >> event & 1))
            abort();
    }
    bench_write(b, 0x1304, (uint32_t)data[2] << 8 | (uint32_t)data[3] << 16);
    for (unsigned i = 2; i < HEAD; i++)
        act(b, data[i]);
    run_to(b, UINT64_MAX);
    check(b);
    bench_free(b);
    return 0;
}
