/* SPDX-License-Identifier: MIT
 * Who asks an engine to return early: a run that is asked and goes on is the run that nobody asks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cpscope.h"
#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tests/lib/demo_engine.h"

#define AT    UINT64_C(0x100000)
#define WORDS 40000u
#define MOST  1000000u

struct asker {
    unsigned times; /* asked */
    unsigned after; /* says so behind that many */
};

static bool asked(void *context)
{
    struct asker *asker = context;
    return asker->times++ >= asker->after;
}

/* Writes of one register, more than what is run between two questions. */
static void submit(struct cps_engine *engine)
{
    static uint8_t bytes[8 * WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        cps_put_le32(bytes + (size_t)8 * i, cps_pm4_type4(0x8810, 1));
        cps_put_le32(bytes + (size_t)8 * i + 4, i);
    }
    const struct cps_item data = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = AT, .size = sizeof(bytes), .data = bytes}};
    const struct cps_item stream = {.kind = CPS_ITEM_SUBMIT,
                                    .stream = {.iova = AT, .dwords = 2 * WORDS}};
    assert_null(cps_engine_feed(engine, &data));
    assert_null(cps_engine_feed(engine, &stream));
}

static void ends_and_goes_on(void **state)
{
    struct cps_engine *engine = booted();
    struct cps_engine *alone = NULL;
    struct asker asker = {.after = 1};
    (void)state;
    submit(engine);
    assert_null(cps_engine_clone(engine, &alone));
    uint64_t clock = engine->clock;
    assert_int_equal(cps_engine_run(alone, MOST), CPS_STOP_IDLE);
    assert_true(alone->clock - clock > 2 * 65536);
    cps_engine_interrupt(engine, asked, &asker);
    assert_int_equal(cps_engine_run(engine, MOST), CPS_STOP_BUDGET);
    assert_int_equal(asker.times, 2);
    assert_true(engine->clock > clock && engine->clock - clock <= 65536);
    asker.after = UINT32_MAX;
    assert_int_equal(cps_engine_run(engine, MOST), CPS_STOP_IDLE);
    assert_true(asker.times > 2);
    assert_int_equal(engine->clock, alone->clock);
    assert_int_equal(engine->packets, alone->packets);
    cps_engine_destroy(alone);
    cps_engine_destroy(engine);
}

/* A copy has nobody who asks; one that is restored keeps who asked it. */
static void is_not_copied(void **state)
{
    struct cps_engine *engine = booted();
    struct cps_engine *copy = NULL;
    struct asker first = {.after = 0};
    struct asker second = {.after = 0};
    (void)state;
    cps_engine_interrupt(engine, asked, &first);
    assert_null(cps_engine_clone(engine, &copy));
    assert_int_equal(cps_engine_run(copy, MOST), CPS_STOP_IDLE);
    assert_int_equal(first.times, 0);
    cps_engine_interrupt(copy, asked, &second);
    assert_null(cps_engine_restore(&copy, engine));
    assert_int_equal(cps_engine_run(copy, MOST), CPS_STOP_BUDGET);
    assert_int_equal(first.times, 0);
    assert_int_equal(second.times, 1);
    cps_engine_destroy(copy);
    cps_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends_and_goes_on),
                                       cmocka_unit_test(is_not_copied)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
