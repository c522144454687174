/* SPDX-License-Identifier: MIT
 * PFIFO's pusher on NV1 against a second one, written from the reference's text alone: lists and
 * counts instead of tables and Gray code arithmetic. CPSCOPE_RANDOM says how many accesses. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/lib/engine_bench.h"

/* The pointers in their order, as the reference lists them. */
static const uint8_t walk[32] = {0x00, 0x04, 0x0c, 0x08, 0x18, 0x1c, 0x14, 0x10, 0x30, 0x34, 0x3c,
                                 0x38, 0x28, 0x2c, 0x24, 0x20, 0x60, 0x64, 0x6c, 0x68, 0x78, 0x7c,
                                 0x74, 0x70, 0x50, 0x54, 0x5c, 0x58, 0x48, 0x4c, 0x44, 0x40};
static const struct {
    uint32_t ramro, ramro_size, ramfc, channels;
} layouts[4] = {{0x1000, 0x800, 0x1800, 64},
                {0x2000, 0x1000, 0x3000, 128},
                {0x2000, 0x2000, 0x6000, 128},
                {0x8000, 0x4000, 0xc000, 128}};

struct model {
    unsigned layout;
    uint32_t chid, push, chsw, other_chid, other_push, lie_size;
    unsigned put, get;             /* places in the walk */
    uint32_t addr[128], data[128]; /* by pointer */
    uint32_t ctx[8], last, dirty, object;
    bool latch;
    uint32_t ro_put, ro_get, intr;
    uint32_t ramin[0x10000 / 4];
};

static uint64_t seed;
static uint32_t random32(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(seed >> 33) ^ (uint32_t)(seed << 5);
}

static unsigned place_of(uint32_t pointer)
{
    unsigned i = 0;
    while (walk[i] != pointer)
        i++;
    return i;
}

static void model_reject(struct model *m, uint32_t chid, uint32_t rest, uint32_t data, int reason)
{
    uint32_t size = layouts[m->layout].ramro_size;
    uint32_t next = (m->ro_put + 8) % size;
    if (chid == m->chid)
        m->latch = true;
    if (reason >= 0)
        m->intr |= 0x10;
    if (next == m->ro_get) {
        if (reason >= 0)
            m->intr |= 0x100;
        return;
    }
    if (reason >= 0) {
        uint32_t at = (layouts[m->layout].ramro + m->ro_put % size) / 4;
        m->ramin[at] = rest | chid << 16 | (uint32_t)reason << 28;
        m->ramin[at + 1] = data;
    }
    m->ro_put = next;
}

static void model_switch(struct model *m, uint32_t chid)
{
    uint32_t *old =
        m->ramin + layouts[m->layout].ramfc / 4 + m->chid % layouts[m->layout].channels * 8;
    const uint32_t *new =
        m->ramin + layouts[m->layout].ramfc / 4 + chid % layouts[m->layout].channels * 8;
    for (int i = 0; i < 8; i++) {
        if (i == 0 || m->dirty)
            old[i] = m->ctx[i] | m->last << 28 | m->object << 31;
    }
    for (int i = 0; i < 8; i++)
        m->ctx[i] = new[i] & 0x017fffff;
    m->last = new[0] >> 28 & 7;
    m->object = new[0] >> 31;
    m->dirty = 0;
    m->chid = chid;
}

static void model_write(struct model *m, uint32_t chid, uint32_t low, unsigned lanes, uint32_t data)
{
    uint32_t method = low & 0x1fff;
    uint32_t first = lanes & 1 ? 0 : lanes & 2 ? 1 : lanes & 4 ? 2 : 3;
    bool others = m->chsw && m->ro_put == m->ro_get && m->put == m->get;
    int reason = -2; /* it is taken */
    if (method >= 0x20 && method <= 0x2f) {
        if (lanes == 15 && (chid == m->chid || others))
            return;
        reason = -1;
    } else if (method >= 0x10 && method <= 0x1f && (lanes == 15 || lanes == 3 || lanes == 12)) {
        reason = 5;
    } else if (lanes != 15) {
        reason = 0;
    } else if (method && method < 0x100) {
        reason = 5;
    } else if (!m->push || (chid == m->other_chid && m->other_push)) {
        reason = 1;
    } else if (chid != m->chid) {
        reason = others ? -2 : 1;
    } else if (m->latch) {
        reason = 2;
    } else if ((m->put + 1) % 32 == m->get) {
        reason = m->ctx[m->last] & 0x1000000 ? 4 : 3;
    }
    if (reason > -2) {
        model_reject(m, chid, low | first, data, reason);
        return;
    }
    if (chid != m->chid)
        model_switch(m, chid);
    m->addr[walk[m->put]] = low;
    m->data[walk[m->put]] = data;
    m->put = (m->put + 1) % 32;
}

static uint32_t model_free(const struct model *m, uint32_t chid)
{
    static const uint32_t lies[] = {0, 252, 508, 1020};
    if (m->latch)
        return 0;
    if (chid != m->chid || !m->push)
        return m->ro_put == m->ro_get ? 0x7c : 0;
    if (m->ctx[m->last] & 0x1000000 && m->lie_size)
        return lies[m->lie_size];
    return (31 - (m->put + 32 - m->get) % 32) * 4;
}

/* ---- both do the same ---- */

static void both_user(struct bench *b, struct model *m)
{
    static const uint32_t methods[] = {0, 4, 0x10, 0x18, 0x20, 0x2c, 0x30, 0xfc, 0x100, 0x1ffc};
    uint32_t r = random32();
    uint32_t chid = r & 1 ? m->chid : r >> 1 & 3;
    uint32_t method = r & 0x300 ? 0x100 + (r >> 10 & 0x1ffc) % 0x1f00
                                : methods[r >> 10 & 15 ? (r >> 10) % 10 : 0];
    uint32_t low = (r >> 24 & 7) << 13 | (method & 0x1ffc);
    static const uint8_t parts[] = {1, 2, 4, 8, 3, 6, 12, 15};
    unsigned lanes = r >> 27 & 3 ? 15 : parts[r >> 29 & 7];
    uint32_t data = random32();
    uint32_t bytes = 0;
    for (unsigned i = 0; i < 4; i++)
        bytes |= lanes >> i & 1 ? UINT32_C(0xff) << 8 * i : 0;
    cps_bus_write_lanes(b->bus, 0x800000 + (chid << 16) + low, lanes, data, &bench_host);
    model_write(m, chid, low, lanes, data & bytes);
}

static void both_register(struct bench *b, struct model *m)
{
    uint32_t r = random32();
    uint32_t value = random32();
    uint32_t ring = layouts[m->layout].ramro_size;
    switch (r % 14) {
    case 0:
    case 1:
        bench_write(b, 0x3200, m->push = (value & 7) != 0);
        break;
    case 2:
        bench_write(b, 0x2500, m->chsw = (value & 3) != 0);
        break;
    case 3:
        bench_write(b, 0x3000, m->other_push = (value & 3) == 0);
        bench_write(b, 0x3010, m->other_chid = value >> 8 & 3);
        break;
    case 4:
    case 5: /* what is queued is done: mostly all of it */
        m->get = r & 0x300 ? m->put : place_of(value & 0x7c);
        bench_write(b, 0x3270, walk[m->get]);
        break;
    case 6:
    case 7: /* the driver has read RAMRO: mostly all of it */
        m->ro_get = r & 0x300 ? m->ro_put : value & (ring - 8);
        bench_write(b, 0x2420, m->ro_get);
        m->latch = m->latch && m->ro_get != m->ro_put;
        break;
    case 8:
        m->ro_put = r & 0x300 ? m->ro_put : value & (ring - 8);
        bench_write(b, 0x2410, m->ro_put);
        m->latch = m->latch && m->ro_get != m->ro_put;
        break;
    case 9:
        bench_write(b, 0x2100, value);
        m->intr &= ~value;
        break;
    case 10:
        bench_write(b, 0x3280 + 0x10 * (r >> 8 & 7), value);
        m->ctx[r >> 8 & 7] = value & 0x017fffff;
        break;
    case 11:
        bench_write(b, 0x3250, value);
        m->last = value & 7;
        m->dirty = value >> 4 & 1;
        m->object = value >> 8 & 1;
        break;
    case 12:
        bench_write(b, 0x2200, m->lie_size = value & 3);
        break;
    default:
        if (r & 0x300)
            break;
        bench_write(b, 0x3210, m->chid = value & 3);
    }
}

static void expect(struct bench *b, uint32_t addr, uint32_t value, uint64_t step)
{
    uint32_t got = bench_read(b, addr);
    if (got != value)
        fail_msg("access %llu: 0x%x is 0x%x, the model has 0x%x", (unsigned long long)step,
                 (unsigned)addr, (unsigned)got, (unsigned)value);
}

static void compare(struct bench *b, const struct model *m, uint64_t step)
{
    bool full = (m->put + 1) % 32 == m->get;
    uint32_t next = (m->ro_put + 8) % layouts[m->layout].ramro_size;
    uint32_t chid = random32() & 3;
    expect(b, 0x3210, m->chid, step);
    expect(b, 0x3230, walk[m->put], step);
    expect(b, 0x3220, (m->latch ? 1u : 0) | (m->put == m->get ? 0x10u : 0) | (full ? 0x100u : 0),
           step);
    expect(b, 0x2410, m->ro_put, step);
    expect(b, 0x2400, m->ro_put == m->ro_get ? 0x10 : next == m->ro_get ? 0x101 : 1, step);
    expect(b, 0x2100, m->intr, step);
    expect(b, 0x3250, m->last | m->dirty << 4 | m->object << 8, step);
    expect(b, 0x800010 | chid << 16, model_free(m, chid), step);
}

static void compare_all(struct bench *b, const struct model *m, uint64_t step)
{
    for (uint32_t i = 0; i < 8; i++)
        expect(b, 0x3280 + 0x10 * i, m->ctx[i], step);
    for (uint32_t i = 0; i < 32; i++) {
        expect(b, 0x3300 + 8 * i, m->addr[4 * i], step);
        expect(b, 0x3304 + 8 * i, m->data[4 * i], step);
    }
    for (uint32_t i = 0; i < 0x10000 / 4; i++)
        assert_int_equal(cps_bus_peek(b->bus, CPS_MEMORY_RAMIN, 4 * i, NULL), m->ramin[i]);
}

static void test_model(void **state)
{
    const char *text = getenv("CPSCOPE_RANDOM");
    uint64_t count = text ? strtoull(text, NULL, 10) : 200000;
    struct model *m = calloc(1, sizeof(*m));
    (void)state;
    for (uint64_t done = 0; done < count;) {
        seed = done + 77;
        struct bench *b = bench_new(CPS_NV1, NULL);
        cps_engine_sink(b->engine, NULL, 0);
        *m = (struct model){.layout = random32() & 3};
        bench_write(b, 0x602200, m->layout);
        for (unsigned n = 0; n < 4000 && done < count; n++, done++) {
            if (random32() & 3)
                both_user(b, m);
            else
                both_register(b, m);
            compare(b, m, done);
        }
        compare_all(b, m, done);
        bench_free(b);
    }
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
