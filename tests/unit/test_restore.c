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
#include "emu/afuc/machine.h"
#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tests/demo_engine.h"

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
    const struct cps_place stored = {0, CPS_FILE_MEMORY, 0x300000};
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(restored_is_cloned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
