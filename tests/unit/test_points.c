/* SPDX-License-Identifier: MIT
 * What people type at the debugger: expressions, and every form of a breakpoint or watchpoint, in
 * a session of the built-in firmware and in one of a script. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tools/cmd/options/opt.h"
#include "tools/face/debugger/session.h"

static struct cps_options options;

static int open_session(void **state, int argc, char **argv)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s || opt_parse(OPT_SHIFT_STEP, argc, argv, &options))
        return -1;
    *state = s;
    s->config = &options.run;
    s->capture = options.arg_count ? options.arg[0] : NULL;
    struct cps_err *err = session_open(s);
    if (err)
        fprintf(stderr, "%s\n", err->message);
    return err ? -1 : 0;
}

static int open_demo(void **state)
{
    static char demo[] = "--demo";
    static char *argv[] = {demo};
    return open_session(state, 1, argv);
}

static int open_script(void **state)
{
    static char option[] = "--engine";
    static char engine[] = "seq";
    static char script[] = TEST_SCRIPT;
    static char *argv[] = {option, engine, script};
    return open_session(state, 3, argv);
}

static int close_session(void **state)
{
    struct session *s = *state;
    point_clear(s);
    session_close(s);
    free(s);
    return 0;
}

static void computes(const struct session *s, const char *text, uint64_t expected)
{
    uint64_t value = ~expected;
    struct cps_err *err = expr_eval(s, 0, NULL, text, &value);
    if (err || value != expected)
        fail_msg("%s: %s 0x%" PRIx64, text, err ? err->message : "is", value);
}

static void refuses(const struct session *s, const char *text, const char *said)
{
    uint64_t value = 0x5a;
    struct cps_err *err = expr_eval(s, 0, NULL, text, &value);
    if (!err || err->code != CPS_ERR_SYNTAX || !strstr(err->message, said))
        fail_msg("%s: %s, expected %s", text, err ? err->message : "no error", said);
    assert_int_equal(value, 0x5a);
    cps_err_free(err);
}

static void each_operator_computes_on_64_bits(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        {"7 + 3", 10},
        {"7 - 3", 4},
        {"3 - 7", UINT64_MAX - 3},
        {"7 * 3", 21},
        {"7 / 3", 2},
        {"7 % 3", 1},
        {"0xc & 0xa", 8},
        {"0xc | 0xa", 14},
        {"0xc ^ 0xa", 6},
        {"~0", UINT64_MAX},
        {"!0", 1},
        {"!7", 0},
        {"-1", UINT64_MAX},
        {"1 << 40", UINT64_C(1) << 40},
        {"1 << 63 >> 63", 1},
        {"1 << 64", 0},
        {"7 == 7", 1},
        {"7 == 3", 0},
        {"7 != 3", 1},
        {"3 < 7", 1},
        {"-1 < 7", 0},
        {"7 > 3", 1},
        {"7 <= 7", 1},
        {"7 >= 8", 0},
        {"2 && 1", 1},
        {"2 && 0", 0},
        {"0 || 2", 1},
        {"0 || 0", 0},
        {"*0x10", 0x10},
        {"(((5)))", 5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        computes(*state, rows[i].text, rows[i].value);
}

/* Of each two neighbours in C's order, the second one binds more. */
static void precedence_is_that_of_c(void **state)
{
    static const struct {
        const char *text;
        uint64_t value;
    } rows[] = {
        {"1 || 0 && 0", 1},  {"0 && 1 | 1", 0}, {"1 | 1 ^ 1", 1},    {"1 ^ 1 & 0", 1},
        {"0 & 0 == 0", 0},   {"2 == 1 < 2", 0}, {"8 > 1 << 2", 1},   {"1 << 1 + 1", 4},
        {"2 + 3 * 4", 14},   {"-1 + 2", 1},     {"~0 & 0xf", 15},    {"!0 + 1", 2},
        {"(2 + 3) * 4", 20}, {"10 - 3 - 2", 5}, {"100 / 10 / 5", 2}, {"1 << 2 << 3", 32},
        {"  1\t+  1  ", 2},  {"7 % 4 * 2", 6},  {"0x10+0x20", 0x30}, {"- - 3", 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        computes(*state, rows[i].text, rows[i].value);
}

static void errors_of_expressions_name_the_column(void **state)
{
    refuses(*state, "", "column 1: expected a number, register or place");
    refuses(*state, "1 +", "column 4: ");
    refuses(*state, "1 2", "column 3: expected an operator or the end");
    refuses(*state, "(1", "column 3: expected \")\"");
    refuses(*state, "[0x100000", "expected \"]\"");
    refuses(*state, "4 / 0", "a divisor other than 0");
    refuses(*state, "4 % (1 - 1)", "a divisor other than 0");
    refuses(*state, "$nothing", "column 2: ");
    refuses(*state, "@NOTHING", "a control register");
    refuses(*state, "%NOTHING", "an SQE register");
    refuses(*state, "NOTHING_AT_ALL", "column 1: ");
    refuses(*state, "1 + NOTHING_AT_ALL", "column 5: ");
    refuses(*state, "value", "column 1: ");
    refuses(*state, "((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1",
            "fewer nested");
}

static void places_of_the_machine_have_their_values(void **state)
{
    struct session *s = *state;
    uint64_t value = 0;
    computes(s, "$00", 0);
    assert_null(expr_assign(s, 0, "$05", "0x1234 + 1", &value));
    assert_int_equal(value, 0x1235);
    computes(s, "$05 * 2", 0x246a);
    assert_null(expr_assign(s, 0, "reg:0x8810", "1 << 32 | 7", &value));
    assert_int_equal(value, 7);
    computes(s, "reg:0x8810", 7);
    assert_null(expr_assign(s, 0, "[0x100000]", "0xabcd", NULL));
    computes(s, "[0x100000] == 0xabcd && [0x0ff000 + 0x1000] == 0xabcd", 1);
    computes(s, "$pc", cps_engine_where(session_engine(s), 0).pc);
    computes(s, "CP_NOP + 1 - CP_NOP", 1);
    struct cps_err *err = expr_assign(s, 0, "5", "1", NULL);
    assert_non_null(err);
    cps_err_free(err);
}

static void value_and_offset_are_those_of_the_event(void **state)
{
    const struct cps_event event = cps_event_make(CPS_EV_REG, 0, 0, 0, 0x8810, 42);
    uint64_t value = 0;
    assert_null(expr_eval(*state, 0, &event, "value == 42 && offset == 0x8810", &value));
    assert_int_equal(value, 1);
}

/* The point that @p text makes; the caller releases it. */
static struct cps_debug_point breakpoint(const struct session *s, const char *text)
{
    struct cps_debug_point point = {0};
    struct cps_err *err = point_break(s, 0, text, &point);
    if (err)
        fail_msg("%s", err->message);
    return point;
}

static struct cps_debug_point watchpoint(const struct session *s, unsigned access, const char *text)
{
    struct cps_debug_point point = {0};
    struct cps_err *err = point_watch(s, 0, access, text, &point);
    if (err)
        fail_msg("%s", err->message);
    return point;
}

static void breakpoints_on_code(void **state)
{
    static const char *const same[] = {"CP_NOP", "CP_NOP+0x0", "*CP_NOP", "CP_NOP + 0"};
    uint64_t nop = 0;
    assert_null(expr_eval(*state, 0, NULL, "CP_NOP", &nop));
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        struct cps_debug_point point = breakpoint(*state, same[i]);
        assert_int_equal(point.what, CPS_AT_PC);
        assert_int_equal(point.core, 0);
        assert_int_equal(point.pc, nop);
        assert_true(point_is_break(&point));
        point_release(&point);
    }
    struct cps_debug_point next = breakpoint(*state, "CP_NOP+0x1");
    assert_int_equal(next.pc, nop + 1);
    point_release(&next);
}

static void breakpoints_on_packets_and_events(void **state)
{
    struct cps_debug_point point = breakpoint(*state, "pkt:CP_NOP@ib1");
    assert_int_equal(point.what, CPS_AT_EVENT);
    assert_int_equal(point.kinds, 1u << CPS_EV_PKT);
    assert_int_equal(point.value, 0x70100000);
    assert_int_equal(point.subs, 1u << CPS_LEVEL_IB1);
    assert_false(point_is_break(&point));
    point_release(&point);
    point = breakpoint(*state, "pkt:0x10");
    assert_int_equal(point.value, 0x70100000);
    assert_int_equal(point.subs, 0);
    point_release(&point);
    point = breakpoint(*state, "pkt:@sds");
    assert_int_equal(point.mask, 0);
    assert_int_equal(point.subs, 1u << CPS_LEVEL_SDS);
    point_release(&point);
    point = breakpoint(*state, "event:reg,prot");
    assert_int_equal(point.kinds, 1u << CPS_EV_REG | 1u << CPS_EV_PROT);
    point_release(&point);
}

static void a_condition_is_kept_apart_from_the_place(void **state)
{
    struct cps_debug_point point = breakpoint(*state, "CP_NOP   if $05 == 0x77");
    const struct typed_point *typed = point.context;
    assert_string_equal(typed->text, "CP_NOP");
    assert_string_equal(typed->condition, "$05 == 0x77");
    assert_false(point.when(point.context, NULL, 0, NULL));
    assert_null(expr_assign(*state, 0, "$05", "0x77", NULL));
    assert_true(point.when(point.context, NULL, 0, NULL));
    struct cps_err *err = point_condition(&point, "$05 ==");
    assert_non_null(err);
    cps_err_free(err);
    assert_string_equal(typed->condition, "$05 == 0x77");
    assert_null(point_condition(&point, ""));
    assert_null(typed->condition);
    point_release(&point);
}

static void watchpoints_on_what_makes_events(void **state)
{
    static const struct {
        const char *text;
        unsigned access;
        uint32_t kinds;
        uint64_t first, last;
    } rows[] = {
        {"reg:0x8810", POINT_WRITE, 1u << CPS_EV_REG, 0x8810, 0x8810},
        {"reg:0x8810", POINT_READ, 1u << CPS_EV_REGR, 0x8810, 0x8810},
        {"reg:0x8810-0x8820", POINT_WRITE | POINT_READ, 1u << CPS_EV_REG | 1u << CPS_EV_REGR,
         0x8810, 0x8820},
        {"[0x1000]", POINT_WRITE, 1u << CPS_EV_MEMW, 0x1000, 0x1003},
        {"[0x1000]-[0x1fff]", POINT_READ, 1u << CPS_EV_MEMR, 0x1000, 0x1fff},
        {"@0x054", POINT_WRITE, 1u << CPS_EV_CTRL, 0x54, 0x54},
        {"|0x81", POINT_WRITE, 1u << CPS_EV_PIPE, 0x81, 0x81},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_debug_point point = watchpoint(*state, rows[i].access, rows[i].text);
        assert_int_equal(point.what, CPS_AT_EVENT);
        assert_int_equal(point.kinds, rows[i].kinds);
        assert_int_equal(point.first, rows[i].first);
        assert_int_equal(point.last, rows[i].last);
        point_release(&point);
    }
}

static void other_places_are_watched_by_their_value(void **state)
{
    struct cps_debug_point point = watchpoint(*state, POINT_WRITE, "$02");
    assert_int_equal(point.what, CPS_AT_PLACE);
    assert_int_equal(point.place.file, CPS_FILE_GENERAL);
    assert_int_equal(point.place.number, 2);
    assert_int_equal(point.core, 0);
    point_release(&point);
}

static void refused_points_say_what_was_expected(void **state)
{
    static const struct {
        const char *text, *said;
    } breaks[] = {
        {"CP_BOGUS_NAME", "a packet, label, address"},
        {"*0x100000", "has no code there"},
        {"pkt:CP_BOGUS_NAME", "pkt:NAME or pkt:OPCODE"},
        {"pkt:CP_NOP@ib9", "@rb, @ib1"},
        {"event:bogus", "event:CLASS"},
        {"line:0", "line:N"},
        {"line:x", "line:N"},
        {"CP_NOP if 1 +", "column"},
    };
    static const struct {
        const char *text;
        unsigned access;
        const char *said;
    } watches[] = {
        {"bogus", POINT_WRITE, "a range FIRST-LAST"},
        {"$02", POINT_READ, "reads of memory or GPU registers"},
        {"$pc", POINT_WRITE, "reads of memory or GPU registers"},
        {"|0x81", POINT_READ, "reads of memory or GPU registers"},
        {"$02-$04", POINT_WRITE, "reads of memory or GPU registers"},
        {"reg:0x8810-[0x20]", POINT_WRITE, "a range FIRST-LAST"},
    };
    struct cps_debug_point point;
    for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
        struct cps_err *err = point_break(*state, 0, breaks[i].text, &point);
        if (!err || !strstr(err->message, breaks[i].said))
            fail_msg("%s: %s", breaks[i].text, err ? err->message : "no error");
        assert_null(point.context);
        cps_err_free(err);
    }
    for (size_t i = 0; i < sizeof(watches) / sizeof(watches[0]); i++) {
        struct cps_err *err = point_watch(*state, 0, watches[i].access, watches[i].text, &point);
        if (!err || !strstr(err->message, watches[i].said))
            fail_msg("%s: %s", watches[i].text, err ? err->message : "no error");
        assert_null(point.context);
        cps_err_free(err);
    }
}

static void lines_and_named_values_are_places_of_scripts(void **state)
{
    struct session *s = *state;
    struct cps_debug_point point = breakpoint(s, "line:12");
    assert_int_equal(point.what, CPS_AT_LINE);
    assert_int_equal(point.first, 12);
    assert_true(point_is_break(&point));
    point_release(&point);
    assert_null(expr_assign(s, 0, "val", "0x31", NULL));
    computes(s, "val + 1", 0x32);
    point = watchpoint(s, POINT_WRITE, "val");
    assert_int_equal(point.what, CPS_AT_PLACE);
    assert_int_equal(point.place.file, CPS_FILE_SCALAR);
    point_release(&point);
    refuses(s, "opcode", "column 1: ");
}

#define DEMO_TEST(name)   cmocka_unit_test_setup_teardown(name, open_demo, close_session)
#define SCRIPT_TEST(name) cmocka_unit_test_setup_teardown(name, open_script, close_session)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DEMO_TEST(each_operator_computes_on_64_bits),
        DEMO_TEST(precedence_is_that_of_c),
        DEMO_TEST(errors_of_expressions_name_the_column),
        DEMO_TEST(places_of_the_machine_have_their_values),
        DEMO_TEST(value_and_offset_are_those_of_the_event),
        DEMO_TEST(breakpoints_on_code),
        DEMO_TEST(breakpoints_on_packets_and_events),
        DEMO_TEST(a_condition_is_kept_apart_from_the_place),
        DEMO_TEST(watchpoints_on_what_makes_events),
        DEMO_TEST(other_places_are_watched_by_their_value),
        DEMO_TEST(refused_points_say_what_was_expected),
        SCRIPT_TEST(lines_and_named_values_are_places_of_scripts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
