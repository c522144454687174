/* SPDX-License-Identifier: MIT
 * A clone that has run and is restored is the clone that it was: cores, registers with their flags,
 * memory, and what it does next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpscope.h"
#include "emu/afuc/core/machine.h"
#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tests/lib/engine_bench.h"
#include "tests/lib/demo_engine.h"

#define AT    UINT64_C(0x100000)
#define WORDS 600

/* Writes of registers all over the place, then one of memory. */
static void run(struct cps_engine *engine, uint32_t seed)
{
    uint8_t bytes[4 * (2 * WORDS + 4)];
    uint32_t at = 0;
    for (uint32_t i = 0; i < WORDS; i++) {
        cps_put_le32(bytes + 4 * (size_t)at++, cps_pm4_type4(seed * 7919 + i * 421, 1));
        cps_put_le32(bytes + 4 * (size_t)at++, seed ^ i * 2654435761u);
    }
    const uint32_t store[] = {cps_pm4_type7(0x3d, 3), 0x300000, 0, seed};
    for (unsigned i = 0; i < 4; i++)
        cps_put_le32(bytes + 4 * (size_t)at++, store[i]);
    const struct cps_item data = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = AT, .size = sizeof(bytes), .data = bytes}};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT, .stream = {.iova = AT, .dwords = at}};
    assert_null(cps_engine_feed(engine, &data));
    assert_null(cps_engine_feed(engine, &submit));
    cps_engine_run(engine, 1000000);
}

static void assert_same(struct cps_engine *a, struct cps_engine *b)
{
    struct cps_afuc *x = (struct cps_afuc *)a;
    struct cps_afuc *y = (struct cps_afuc *)b;
    const struct cps_location stored = {0, CPS_FILE_MEMORY, 0x300000};
    uint64_t u = 0;
    uint64_t v = 0;
    assert_int_equal(a->clock, b->clock);
    assert_int_equal(a->packets, b->packets);
    assert_memory_equal(x->reg, y->reg, sizeof(x->reg));
    assert_memory_equal(x->reg_flags, y->reg_flags, sizeof(x->reg_flags));
    for (unsigned i = 0; i < a->cores; i++)
        assert_memory_equal(&x->core[i].s, &y->core[i].s, sizeof(x->core[i].s));
    assert_int_equal(cps_engine_get(a, stored, &u), cps_engine_get(b, stored, &v));
    assert_int_equal(u, v);
}

static void restored_is_cloned(void **state)
{
    (void)state;
    struct cps_engine *original = booted();
    struct cps_engine *used = NULL;
    assert_null(cps_engine_clone(original, &used));
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct cps_engine *fresh = NULL;
        run(used, seed);
        assert_null(cps_engine_restore(&used, original));
        assert_same(used, original);
        assert_null(cps_engine_clone(original, &fresh));
        run(used, seed + 100);
        run(fresh, seed + 100);
        assert_same(used, fresh);
        cps_engine_destroy(fresh);
        assert_null(cps_engine_restore(&used, original));
    }
    cps_engine_destroy(used);
    cps_engine_destroy(original);
}

/* Engines without a way of their own to go back get another copy, which sends its events where they
 * went before. HWSQ: waits of 64 ns and writes, started and not run. */
static void scripts_are_restored(void **state)
{
    static const enum cps_gen gens[] = {CPS_NV41, CPS_G80, CPS_G92};
    (void)state;
    for (unsigned i = 0; i < sizeof(gens) / sizeof(gens[0]); i++) {
        struct bench *b =
            bench_hwsq(gens[i], "03 e2 78 56 34 12 e0 10 02 10 00 03 42 cd ab 40 14 02 7f", NULL);
        struct cps_engine *used = NULL;
        struct bench other = {.sink.put = bench_put};
        assert_null(cps_engine_clone(b->engine, &used));
        cps_engine_sink(used, &other.sink, ALL_EVENTS);
        uint64_t before = used->instructions, end = 0;
        size_t first = 0;
        for (unsigned round = 0; round < 3; round++) {
            nv_loop_((struct nv *)used, 1000);
            cps_tap_flush_(&used->tap);
            assert_int_not_equal(used->instructions, before);
            assert_true(other.count > 0 && (!round || other.count == first));
            assert_true(!round || used->instructions == end);
            first = other.count;
            end = used->instructions;
            other.count = 0;
            assert_null(cps_engine_restore(&used, b->engine));
            assert_int_equal(used->instructions, before);
        }
        cps_engine_destroy(used);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restored_is_cloned),
                                       cmocka_unit_test(scripts_are_restored)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
