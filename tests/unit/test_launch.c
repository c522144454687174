/* SPDX-License-Identifier: MIT
 * Which packets start work, and how far it reaches: by rows that say what Mesa's cffdump counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "trace/event/launch.h"

enum { NOP = 0x10, WAIT = 0x26, EVENT_WRITE = 0x46, DRAW = 0x38, RUN_OPENCL = 0x31, BLIT = 0x2c };

static struct cps_names *names, *names7;

static int open_names(void **state)
{
    (void)state;
    return cps_names_create(CPS_LAYOUT_A6XX, NULL, &names) ||
                   cps_names_create(CPS_LAYOUT_A7XX, NULL, &names7)
               ? -1
               : 0;
}

static int close_names(void **state)
{
    (void)state;
    cps_names_destroy(names);
    cps_names_destroy(names7);
    return 0;
}

/* An event is told by bits 7:0 of the first word; BLIT, and CCU_RESOLVE of a7xx, are 30. */
static void packets_start_what_their_names_say(void **state)
{
    static const struct {
        bool is_a7xx;
        uint32_t opcode, count, word;
        enum cps_launch_kind kind;
    } rows[] = {
        {false, NOP, 1, 30, CPS_LAUNCH_NONE},
        {false, DRAW, 0, 0, CPS_LAUNCH_DRAW},
        {false, DRAW, 3, 0x84, CPS_LAUNCH_DRAW},
        {false, RUN_OPENCL, 1, 0, CPS_LAUNCH_DISPATCH},
        {false, BLIT, 1, 0, CPS_LAUNCH_BLIT},
        {false, EVENT_WRITE, 0, 30, CPS_LAUNCH_NONE},
        {false, EVENT_WRITE, 1, 29, CPS_LAUNCH_NONE},
        {false, EVENT_WRITE, 1, 30, CPS_LAUNCH_RESOLVE},
        {false, EVENT_WRITE, 1, 31, CPS_LAUNCH_NONE},
        {false, EVENT_WRITE, 1, 30 | 0xffffff00, CPS_LAUNCH_RESOLVE},
        {false, EVENT_WRITE, 1, 30 | 0x80, CPS_LAUNCH_NONE},
        {true, EVENT_WRITE, 1, 30, CPS_LAUNCH_RESOLVE},
        {true, EVENT_WRITE, 1, 31, CPS_LAUNCH_NONE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        enum cps_launch_kind kind =
            cps_launch_kind_of_(rows[i].is_a7xx ? names7 : names, cps_pm4_type7(rows[i].opcode, 1),
                                &rows[i].word, rows[i].count);
        if (kind != rows[i].kind)
            fail_msg("row %zu: %s", i, cps_launch_kind_text_(kind));
    }
    assert_int_equal(cps_launch_kind_of_(NULL, cps_pm4_type7(DRAW, 1), NULL, 0), CPS_LAUNCH_NONE);
    assert_int_equal(cps_launch_kind_of_(names, cps_pm4_type4(DRAW, 1), NULL, 0), CPS_LAUNCH_NONE);
}

static struct cps_event packet(unsigned level, uint32_t opcode)
{
    return cps_event_make(CPS_EV_PKT, level, CPS_CPU_SQE, 0, 0x1000, cps_pm4_type7(opcode, 1));
}

static struct cps_event word(uint32_t value)
{
    return cps_event_make(CPS_EV_WORD, 0, CPS_CPU_SQE, 0, 0, value);
}

/* How often each event is to be given, until nothing is new: 'b' begins, 'e' ends, '.' inside. */
static void expect(struct cps_launches *launches, struct cps_event event, const char *steps)
{
    for (; *steps; steps++) {
        enum cps_launch_step step = cps_launches_take_(launches, &event);
        assert_int_equal(step, *steps == 'b'   ? CPS_LAUNCH_BEGINS
                               : *steps == 'e' ? CPS_LAUNCH_ENDS
                                               : CPS_LAUNCH_INSIDE);
    }
}

static void a_launch_lasts_until_the_next_packet_of_its_stream(void **state)
{
    struct cps_launches l;
    (void)state;
    cps_launches_init_(&l, names, CPS_CPU_SQE, 1u << CPS_EV_WORD);
    expect(&l, packet(CPS_LEVEL_IB1, DRAW), ".");
    expect(&l, word(0x84), ".");
    expect(&l, packet(CPS_LEVEL_SDS, NOP), "b.");
    assert_int_equal(l.last.number, 0);
    assert_int_equal(l.last.words, 1);
    assert_int_equal(l.last.word[0], 0x84);
    expect(&l, packet(CPS_LEVEL_INT, 0x0a), "."); /* the end of its group */
    expect(&l, cps_event_make(CPS_EV_PKT, 0, CPS_CPU_BV, 0, 0, cps_pm4_type7(NOP, 1)), ".");
    expect(&l, packet(CPS_LEVEL_IB1, NOP), "e.");
    expect(&l, packet(CPS_LEVEL_IB1, BLIT), ".");
    expect(&l, packet(CPS_LEVEL_INT, NOP), "be."); /* one of no group */
    assert_int_equal(l.count, 2);
    expect(&l, packet(CPS_LEVEL_IB1, DRAW), ".");
    expect(&l, cps_event_make(CPS_EV_SUBMIT, 0, CPS_CPU_NONE, 0, 0, 5), "be.");
    assert_int_equal(l.submission, 5);
}

/* A predicate switches draws and dispatches off: nothing is started, or what says so. */
static void a_draw_that_starts_nothing_is_skipped(void **state)
{
    enum { NONE = -1 };
    static const struct {
        bool is_a7xx, is_recorded;
        uint32_t opcode;
        int first, second;
        enum cps_launch_kind kind;
    } rows[] = {
        {false, true, DRAW, NONE, NONE, CPS_LAUNCH_SKIPPED},
        {false, true, RUN_OPENCL, NONE, NONE, CPS_LAUNCH_SKIPPED},
        {false, true, BLIT, NONE, NONE, CPS_LAUNCH_BLIT},
        {false, false, DRAW, NONE, NONE, CPS_LAUNCH_DRAW},
        {false, true, DRAW, CPS_WORK_INDEXED, NONE, CPS_LAUNCH_DRAW},
        {false, true, DRAW, CPS_WORK_SKIPPED, CPS_WORK_SKIPPED, CPS_LAUNCH_SKIPPED},
        {false, true, DRAW, CPS_WORK_SKIPPED, CPS_WORK_DRAW, CPS_LAUNCH_DRAW},
        {true, true, DRAW, CPS_WORK_SKIPPED, NONE, CPS_LAUNCH_SKIPPED},
        {true, true, DRAW, NONE, NONE, CPS_LAUNCH_SKIPPED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int works[] = {rows[i].first, rows[i].second};
        struct cps_launches l;
        uint32_t kinds = 1u << CPS_EV_WORD | (rows[i].is_recorded ? 1u << CPS_EV_LAUNCH : 0);
        cps_launches_init_(&l, rows[i].is_a7xx ? names7 : names, CPS_CPU_SQE, kinds);
        expect(&l, packet(CPS_LEVEL_IB1, rows[i].opcode), ".");
        for (unsigned k = 0; k < 2 && works[k] != NONE; k++)
            expect(&l, cps_event_make(CPS_EV_LAUNCH, (unsigned)works[k], CPS_CPU_SQE, 0, 0, 0),
                   k ? "." : "b.");
        if (works[0] == NONE)
            expect(&l, packet(CPS_LEVEL_IB1, NOP), "b");
        expect(&l, packet(CPS_LEVEL_IB1, NOP), "e");
        assert_int_equal(l.last.kind, rows[i].kind);
        assert_int_equal(l.count, 1);
    }
}

/* What is open at the end ends there, once. */
static void the_end_of_a_run_ends_what_is_open(void **state)
{
    struct cps_launches l;
    (void)state;
    cps_launches_init_(&l, names, CPS_CPU_SQE, 1u << CPS_EV_WORD);
    assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_INSIDE);
    expect(&l, packet(CPS_LEVEL_IB1, DRAW), ".");
    assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_BEGINS);
    assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_ENDS);
    assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_INSIDE);
    expect(&l, packet(CPS_LEVEL_IB1, NOP), ".");
    assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_INSIDE);
}

/* Without words, what comes behind a packet that may have been one has no number. */
static void packets_without_words_leave_numbers_open(void **state)
{
    static const struct {
        bool words;
        uint32_t opcode, number;
    } rows[] = {
        {false, NOP, 0},        {false, WAIT, 0},
        {false, BLIT, 1},       {false, EVENT_WRITE, CPS_LAUNCH_UNNUMBERED},
        {true, EVENT_WRITE, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_launches l;
        cps_launches_init_(&l, names, CPS_CPU_SQE, rows[i].words ? 1u << CPS_EV_WORD : 0);
        expect(&l, packet(CPS_LEVEL_IB1, rows[i].opcode), ".");
        expect(&l, packet(CPS_LEVEL_IB1, DRAW), rows[i].opcode == BLIT ? "be." : ".");
        assert_int_equal(cps_launches_end_(&l), CPS_LAUNCH_BEGINS);
        assert_int_equal(l.last.number, rows[i].number);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_start_what_their_names_say),
        cmocka_unit_test(a_draw_that_starts_nothing_is_skipped),
        cmocka_unit_test(a_launch_lasts_until_the_next_packet_of_its_stream),
        cmocka_unit_test(the_end_of_a_run_ends_what_is_open),
        cmocka_unit_test(packets_without_words_leave_numbers_open),
    };
    return cmocka_run_group_tests_name("launch", tests, open_names, close_names);
}
