/* SPDX-License-Identifier: MIT
 * Control registers of afuc against a literal list (facts/control.h), in every layout: which
 * numbers are registers, what the first read of each gives, which keep what is written, and what
 * writes of the others do. Everything that happens beside is compared, too. */
#include "tests/lib/afuc_facts.h"

/* ---- which numbers are registers ---- */

/* Reads of all numbers; the values from memory @p to on. */
static void put_reads(struct cps_buf *code, enum cps_layout layout, bool kept)
{
    for (uint32_t n = 0; n < NUMBERS; n++) {
        const struct fact *fact = fact_at(layout, n);
        if (!kept || (fact && fact->keeps))
            cps_buf_printf(code,
                           "cread $03, [$00 + 0x%03x]\nmov $05, 0x%x\nstore $03, [$05 + 0x000]\n",
                           n, 0x4000 + 4 * n);
    }
}

static void check_reset(const struct bench *b, enum cps_layout layout, uint32_t number)
{
    const struct fact *fact = fact_at(layout, number);
    uint32_t found = machine_memory(b->engine, 0x4000 + 4 * number, NULL);
    if (found != (fact ? fact->reset : 0))
        fail_msg("%s: control register 0x%03x (%s) reads 0x%x at first", names[layout], number,
                 fact ? fact->name : "none", found);
}

static void numbers_that_are_none_are_reported_once(enum cps_layout layout)
{
    CPS_BUF code = {0};
    put_reads(&code, layout, false);
    put_reads(&code, layout, false);
    struct bench *b = create(layout, cps_buf_text(&code), "");
    cps_engine_sink(b->engine, &b->sink, 1u << CPS_EV_UNMODELLED);
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    cps_tap_flush_(&b->engine->tap);
    size_t at = 0;
    for (uint32_t n = 0; n < NUMBERS; n++) {
        const struct fact *fact = fact_at(layout, n);
        bool reported = at < b->count && b->event[at].addr == n &&
                        cps_event_sub(&b->event[at]) == CPS_PLACE_CONTROL;
        at += reported;
        if (reported == (fact != NULL))
            fail_msg("%s: control register 0x%03x is %s, listed as %s", names[layout], n,
                     reported ? "none" : "one", fact ? fact->name : "none");
    }
    assert_int_equal(at, b->count);
    bench_free(b);
}

static void the_first_read_gives(enum cps_layout layout)
{
    CPS_BUF code = {0};
    put_reads(&code, layout, false);
    struct bench *b = create(layout, cps_buf_text(&code), "");
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    for (uint32_t n = 0; n < NUMBERS; n++)
        check_reset(b, layout, n);
    bench_free(b);
}

static uint32_t pattern(uint32_t number, uint32_t turn)
{
    return (0x9e3779b9 * (number + 1)) ^ (0u - turn);
}

/* All at once, so that none is another one's; then the complement, so that all bits are kept. */
static void what_keeps_gives_back(enum cps_layout layout, uint32_t turn)
{
    CPS_BUF code = {0};
    for (uint32_t n = 0; n < NUMBERS; n++) {
        const struct fact *fact = fact_at(layout, n);
        uint32_t value = pattern(n, turn);
        if (fact && fact->keeps)
            cps_buf_printf(&code,
                           "mov $02, 0x%x << 16\nor $02, $02, 0x%x\ncwrite $02, [$00 + 0x%03x]\n",
                           value >> 16, value & 0xffff, n);
    }
    uint32_t high = layout >= CPS_LAYOUT_A7XX ? layout == CPS_LAYOUT_A7XX ? 0x058 : 0x07a : 0;
    high = layout == CPS_LAYOUT_A6XX || layout == CPS_LAYOUT_A660 ? 0x058 : high ? high : 0x038;
    cps_buf_printf(&code, "cread $06, [$00 + 0x%03x]\ncwrite $00, [$00 + 0x%03x]\n", high, high);
    put_reads(&code, layout, true);
    struct bench *b = create(layout, cps_buf_text(&code), "");
    cps_engine_sink(b->engine, &b->sink,
                    ~(1u << CPS_EV_MEMW | 1u << CPS_EV_CTRL | 1u << CPS_EV_STEP));
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    cps_tap_flush_(&b->engine->tap);
    assert_int_equal(machine_value(b->engine, core_of(layout), CPS_FILE_GENERAL, 6),
                     pattern(high, turn));
    for (uint32_t n = 0; n < NUMBERS; n++) {
        const struct fact *fact = fact_at(layout, n);
        uint32_t found = machine_memory(b->engine, 0x4000 + 4 * n, NULL);
        if (fact && fact->keeps && n != high && found != pattern(n, turn))
            fail_msg("%s: control register 0x%03x (%s) gives 0x%x back, not 0x%x", names[layout], n,
                     fact->name, found, pattern(n, turn));
    }
    assert_int_equal(b->count, 0);
    bench_free(b);
}

static void every_number_is_a_register_or_none(void **state)
{
    (void)state;
    for (enum cps_layout layout = CPS_LAYOUT_A5XX_PFP; layout <= CPS_LAYOUT_A8XX; layout++) {
        numbers_that_are_none_are_reported_once(layout);
        the_first_read_gives(layout);
        what_keeps_gives_back(layout, 0);
        what_keeps_gives_back(layout, 1);
    }
}

/* Where the register database knows a name, too, it is that number's; but for scratch, in which
 * every firmware has its own (a6xx's MODE_BITMASK is a word of it), and 0x04c, which is LPAC's of
 * the two DRAW_STATE_SET_HDR of a740. */
static void names_are_those_of_the_database(void **state)
{
    unsigned known = 0;
    (void)state;
    for (enum cps_layout layout = CPS_LAYOUT_A5XX_PFP; layout <= CPS_LAYOUT_A8XX; layout++) {
        struct cps_names *database = NULL;
        assert_null(cps_names_create(layout, NULL, &database));
        for (size_t i = 0; i < FACTS; i++) {
            uint32_t listed = number_of(&facts[i], layout);
            uint32_t number = NONE;
            const char *name = facts[i].name;
            bool found = listed != NONE && layout != CPS_LAYOUT_A5XX_ME &&
                         cps_name_number(database, CPS_SPACE_CONTROL, name, strlen(name), &number);
            const struct fact *other = found ? fact_at(layout, number) : NULL;
            known += found;
            bool theirs = other && (!strcmp(other->name, "SCRATCH") || number == 0x04c);
            if (found && number != listed && !theirs)
                fail_msg("%s: the database has %s at 0x%03x", names[layout], name, number);
        }
        cps_names_destroy(database);
    }
    assert_true(known >= 200);
}

/* ---- what writes do ---- */

#define IB1(dwords) "IB1_BASE=1000 IB1_BASE+1=0 IB1_DWORDS=" #dwords " "
#define IB2(dwords) "IB2_BASE=1010 IB2_BASE+1=0 IB2_DWORDS=" #dwords " "
#define IB3(dwords) "IB3_BASE=1020 IB3_BASE+1=0 IB3_DWORDS=" #dwords " "
#define GROUP       "DRAW_STATE_SEL=3 DRAW_STATE_BASE=1000 DRAW_STATE_BASE+1=0 DRAW_STATE_HDR=70004 "
#define SEEN        ", ASSUME visibility "
#define ACK         ", ASSUME ack "

static const struct effect effects[] = {
#include "tests/facts/control_effects.h"
};

static void writes_have_their_effect_and_no_other(void **state)
{
    (void)state;
    assert_int_equal(effects_wrong(effects, sizeof(effects) / sizeof(effects[0])), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_is_a_register_or_none),
        cmocka_unit_test(names_are_those_of_the_database),
        cmocka_unit_test(writes_have_their_effect_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
