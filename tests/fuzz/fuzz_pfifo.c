/* SPDX-License-Identifier: MIT
 * Fuzz target: bytes as what a host does to PFIFO. The first chooses the chip, the second the
 * policies; then eight each: what, three of an address, four of a value. */
#include "tests/lib/engine_bench.h"
#include "isa/base/le.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 2, RECORD = 8 };

/* Of the four areas, the registers of the caches are the smallest: a shorter way to them. */
static void act(struct bench *b, const uint8_t *r)
{
    static const uint32_t bases[] = {0, 0x2000, 0x3000, 0x800000};
    uint32_t addr = bases[r[0] & 3] + (cps_le32(r + 1) & (r[0] & 3 ? 0xffff : 0xffffff));
    uint32_t value = cps_le32(r + 4);
    switch (r[0] >> 2 & 7) {
    case 0:
        bench_read(b, addr);
        break;
    case 1:
        cps_bus_write_lanes(b->bus, addr, r[0] >> 5 | 8, value, &bench_host);
        break;
    case 2:
        cps_bus_poke(b->bus, CPS_MEMORY_RAMIN + (r[0] >> 7), addr & 0xffff, value);
        break;
    case 3:
        bench_write(b, 0xfffff800 + (addr & 0xc), value);
        break;
    default:
        bench_write(b, addr, value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum cps_gen chips[] = {CPS_NV1, CPS_NV3, CPS_NV3T};
    static const char *const policies[] = {"", "pull=run", "graph=wait", "nv3t-pointer=six"};
    if (size < HEAD)
        return 0;
    struct bench *b = bench_new(chips[data[0] % 3], policies[data[1] % 4]);
    for (size_t at = HEAD; at + RECORD <= size && b->stop != CPS_STOP_FAULT; at += RECORD) {
        act(b, data + at);
        if (data[at] == 0xff)
            bench_run(b);
    }
    bool line = bench_reg(b, "intr") & bench_reg(b, "intr_enable");
    if (bench_reg(b, "cache1.put") & ~UINT64_C(0x1fc) || bench_reg(b, "line") != line)
        __builtin_trap();
    bench_free(b);
    return 0;
}
