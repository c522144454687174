/* SPDX-License-Identifier: MIT
 * Masks, and the comparison of two traces, on small traces in text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "tests/lib/a6xx_names.h"
#include "trace/event/align.h"
#include "trace/form/diff.h"
#include "trace/form/trace.h"

#define HEAD "# cpscope-trace 1\n# gen a6xx\n"

static size_t read_text(const char *lines, struct cps_event *ret, size_t room)
{
    CPS_BUF text = {0};
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    size_t count = 0;
    cps_buf_printf(&text, "%s%s", HEAD, lines);
    assert_null(cps_stream_open_memory("test", text.data, text.size, &stream));
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        err = cps_trace_next(trace, ret, room, &count);
    if (err)
        fail_msg("%s", err->message);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return count;
}

#define PKT1 "PKT ib1 0x0000000000001000 0x70460001\n" /* CP_EVENT_WRITE */
#define PKT2 "PKT ib1 0x0000000000001008 0x70108000\n" /* CP_NOP */
#define PKT3 "PKT ib1 0x000000000000100c 0x70268000\n" /* CP_WAIT_FOR_IDLE */
#define A    "REG 0x8800 0x00000001 data\n"
#define A2   "REG 0x8800 0x00000002 data\n"
#define B    "REG 0x8801 0x00000003 data\n"
#define M    "MEMW 0x0000000000002000 0x00000004 nrt\n"
#define M2   "MEMW 0x0000000000002000 0x00000005 nrt\n"

#define M5 "MEMW 0x0000000000002004 0x00000005 nrt\n"
#define M6 "MEMW 0x0000000000002008 0x00000006 nrt\n"
#define N  "MEMW 0x0000000000003000 0x00000004 nrt\n"
#define N5 "MEMW 0x0000000000003004 0x00000005 nrt\n"
#define N6 "MEMW 0x0000000000003008 0x00000006 nrt\n"

static const struct comparison {
    const char *claim, *a, *b, *mask;
    uint64_t differences;
    int how; /* of the first */
} comparisons[] = {
    {"a mask of one place, as a range", PKT1 A B, PKT1 A2 B, "reg:0x8800-0x8800", 0, 0},
    {"a range that ends in front of the place", PKT1 A B, PKT1 A2 B, "reg:0x87ff-0x87ff", 1,
     CPS_DIFF_VALUE},
    {"a range that begins behind the place", PKT1 A B, PKT1 A2 B, "reg:0x8801-0x8801", 1,
     CPS_DIFF_VALUE},
    {"a range whose last place it is", PKT1 A B, PKT1 A2 B, "reg:0x87ff-0x8800", 0, 0},
    {"equal traces", PKT1 A B PKT2 M, PKT1 A B PKT2 M, "", 0, 0},
    {"another value is one difference", PKT1 A B PKT2 M, PKT1 A2 B PKT2 M, "", 1, CPS_DIFF_VALUE},
    {"an inserted write does not cascade", PKT1 A B PKT2 M, PKT1 A A2 B PKT2 M, "", 1,
     CPS_DIFF_ADDED},
    {"a write left out does not cascade", PKT1 A B PKT2 M, PKT1 B PKT2 M, "", 1, CPS_DIFF_REMOVED},
    {"a packet left out takes only its own writes along", PKT1 A PKT2 M PKT3 B, PKT1 A PKT3 B, "",
     1, CPS_DIFF_REMOVED},
    {"a packet more", PKT1 A PKT3 B, PKT1 A PKT2 M PKT3 B, "", 1, CPS_DIFF_ADDED},
    {"packets missing at the end", PKT1 A PKT2 M PKT3 B, PKT1 A, "", 2, CPS_DIFF_REMOVED},
    {"one side is empty", PKT1 A B, "", "", 2, CPS_DIFF_REMOVED},
    {"writes between others that go elsewhere are the same", PKT1 A M A M5 A2 M6,
     PKT1 A N A N5 A2 N6, "", 3, CPS_DIFF_PLACE},
    {"writes with the same values in another order do not all belong together", PKT1 M5 M6,
     PKT1 N6 N5, "", 3, CPS_DIFF_PLACE},
    {"a masked register", PKT1 A B, PKT1 A2 B, "reg:0x8800", 0, 0},
    {"a mask of another register", PKT1 A B, PKT1 A2 B, "reg:0x8801", 1, CPS_DIFF_VALUE},
    {"masked bits that hold the difference", PKT1 A B, PKT1 A2 B, "reg:0x8800/0x3", 0, 0},
    {"masked bits that do not", PKT1 A B, PKT1 A2 B, "reg:0x8800/0x1", 1, CPS_DIFF_VALUE},
    {"a masked range of memory", PKT1 M, PKT1 M2, "mem:0x1ffc-0x2003", 0, 0},
    {"memory outside of the range", PKT1 M, PKT1 M2, "mem:0x2004-0x2fff", 1, CPS_DIFF_VALUE},
    {"a masked packet", PKT1 A PKT2 M, PKT1 A2 PKT2 M, "pkt:CP_EVENT_WRITE", 0, 0},
    {"another packet is masked", PKT1 A PKT2 M, PKT1 A2 PKT2 M, "pkt:CP_NOP", 1, CPS_DIFF_VALUE},
    {"several rules", PKT1 A M, PKT1 A2 M2, "reg:0x8800,mem:0x2000", 0, 0},
    {"a write to another register", PKT1 A B, PKT1 "REG 0x8899 0x00000001 data\n" B, "", 1,
     CPS_DIFF_PLACE},
    {"a write to another register, with another one left out", PKT1 A B M,
     PKT1 "REG 0x8899 0x00000003 data\n" M, "", 2, CPS_DIFF_REMOVED},
    {"a 0 that was written somewhere else in the packet", PKT1 A "REG 0x8810 0 data\n" M,
     PKT1 "REG 0x8811 0 data\n" M, "", 3, CPS_DIFF_REMOVED},
    {"another register and another value", PKT1 A B, PKT1 "REG 0x8899 0x00000007 data\n" B, "", 2,
     CPS_DIFF_REMOVED},
    {"a write is no memory write", PKT1 "REG 0x8800 0x4 data\n" B, PKT1 M B, "", 2,
     CPS_DIFF_REMOVED},
    {"by name", PKT1 "REG 0x9842 0x1 data\n", PKT1 "REG 0x9842 0x2 data\n",
     "reg:PC_EVENT_INITIATOR", 0, 0},
};

#define KINDS (1u << CPS_EV_REG | 1u << CPS_EV_MEMW)

static void traces_are_compared_packet_by_packet(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        const struct comparison *c = &comparisons[i];
        struct cps_event a[32];
        struct cps_event b[32];
        struct cps_mask mask = {0};
        struct cps_diff diff = {0};
        const struct cps_diff_options options = {.kinds = KINDS, .mask = &mask};
        size_t a_count = read_text(c->a, a, 32);
        size_t b_count = read_text(c->b, b, 32);
        assert_null(cps_mask_add(&mask, c->mask, names));
        assert_null(cps_diff_events(a, a_count, b, b_count, &options, NULL, NULL, &diff));
        if (diff.differences != c->differences)
            fail_msg("%s: %llu differences, expected %llu", c->claim,
                     (unsigned long long)diff.differences, (unsigned long long)c->differences);
        if (diff.differences && (int)diff.first.how != c->how)
            fail_msg("%s: the first is %d, expected %d", c->claim, (int)diff.first.how, c->how);
        cps_diff_deinit(&diff);
        cps_mask_deinit(&mask);
    }
}

static void the_report_counts_by_packet_and_place(void **state)
{
    (void)state;
    struct cps_event a[32];
    struct cps_event b[32];
    struct cps_diff diff = {0};
    const struct cps_diff_options options = {.kinds = KINDS};
    size_t a_count = read_text(PKT1 A M PKT2 A PKT3 B, a, 32);
    size_t b_count = read_text(PKT1 A2 M2 PKT2 A2 PKT3 B, b, 32);
    assert_null(cps_diff_events(a, a_count, b, b_count, &options, NULL, NULL, &diff));
    assert_int_equal(diff.differences, 3);
    assert_int_equal(diff.by_packet[0x46], 2);
    assert_int_equal(diff.by_packet[0x10], 1);
    assert_int_equal(diff.places, 2);
    assert_int_equal(diff.by_place[0].kind, CPS_EV_REG);
    assert_int_equal(diff.by_place[0].addr, 0x8800);
    assert_int_equal(diff.by_place[0].count, 2);
    assert_int_equal(diff.by_place[1].count, 1);
    assert_ptr_equal(diff.first.pkt_a, &a[0]);
    assert_ptr_equal(diff.first.b, &b[1]);
    cps_diff_deinit(&diff);
}

/* Places come in the order of kinds and of their addresses, whichever differed first. */
static void places_are_in_order(void **state)
{
    static const uint64_t order[] = {0x8800, 0x8802, 0x8803, 0x8805, 0x2000, 0x3000};
    static const uint64_t counts[] = {1, 1, 1, 2, 1, 1};
    struct cps_event a[32];
    struct cps_event b[32];
    struct cps_diff diff = {0};
    const struct cps_diff_options options = {.kinds = KINDS};
    (void)state;
#define LINES(value)                                                                \
    PKT1 "MEMW 0x0000000000003000 0x0000000" value " nrt\n"                         \
         "REG 0x8803 0x0000000" value " data\nREG 0x8805 0x0000000" value " data\n" \
         "REG 0x8802 0x0000000" value " data\nREG 0x8805 0x0000001" value " data\n" \
         "REG 0x8800 0x0000000" value " data\n"                                     \
         "MEMW 0x0000000000002000 0x0000000" value " nrt\n"
    size_t a_count = read_text(LINES("1"), a, 32);
    size_t b_count = read_text(LINES("2"), b, 32);
    assert_null(cps_diff_events(a, a_count, b, b_count, &options, NULL, NULL, &diff));
    assert_int_equal(diff.places, 6);
    for (size_t i = 0; i < diff.places; i++) {
        assert_int_equal(diff.by_place[i].addr, order[i]);
        assert_int_equal(diff.by_place[i].kind, i < 4 ? CPS_EV_REG : CPS_EV_MEMW);
        assert_int_equal(diff.by_place[i].count, counts[i]);
    }
    cps_diff_deinit(&diff);
}

static void packets_are_counted_by_their_operation(void **state)
{
    struct cps_event pkt = {0};
    (void)state;
    pkt.value = cps_pm4_type7(0x46, 1);
    assert_int_equal(cps_diff_packet_id(&pkt), 0x46);
    pkt.value = cps_pm4_type4(0x8800, 1);
    assert_int_equal(cps_diff_packet_id(&pkt), 4);
    pkt.value = cps_pm4_type4(0x8800, 1) ^ 1; /* of a wrong parity */
    assert_int_equal(cps_diff_packet_id(&pkt), -1);
    pkt.value = 0;
    assert_int_equal(cps_diff_packet_id(&pkt), -1);
}

/* Only writes can be the same ones at another place. */
static void what_is_written_may_be_written_elsewhere(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < CPS_EV_COUNT; kind++) {
        bool writes = kind == CPS_EV_REG || kind == CPS_EV_PIPE || kind == CPS_EV_CTRL ||
                      kind == CPS_EV_SQE || kind == CPS_EV_MEMW;
        const struct cps_event a = cps_event_make(kind, 0, CPS_CPU_SQE, 0, 0x10, 7);
        const struct cps_event b = cps_event_make(kind, 0, CPS_CPU_SQE, 0, 0x20, 7);
        const struct cps_diff_options options = {.kinds = (1u << CPS_EV_COUNT) - 1};
        struct cps_diff diff = {0};
        if (kind == CPS_EV_PKT || kind == CPS_EV_END) /* which have no place */
            continue;
        assert_null(cps_diff_events(&a, 1, &b, 1, &options, NULL, NULL, &diff));
        assert_int_equal(diff.differences, writes ? 1 : 2);
        assert_int_equal(diff.first.how, writes ? CPS_DIFF_PLACE : CPS_DIFF_REMOVED);
        cps_diff_deinit(&diff);
    }
}

/* Where packets are asked for, one without a partner is a difference in front of its events. */
static void a_packet_itself_is_a_difference(void **state)
{
    struct cps_event a[32];
    struct cps_event b[32];
    const struct cps_diff_options options = {.kinds = KINDS | 1u << CPS_EV_PKT};
    (void)state;
    size_t a_count = read_text(PKT1 A PKT3 B, a, 32);
    size_t b_count = read_text(PKT1 A PKT2 M PKT3 B, b, 32);
    for (unsigned removed = 0; removed < 2; removed++) {
        struct cps_diff diff = {0};
        if (removed)
            assert_null(cps_diff_events(b, b_count, a, a_count, &options, NULL, NULL, &diff));
        else
            assert_null(cps_diff_events(a, a_count, b, b_count, &options, NULL, NULL, &diff));
        assert_int_equal(diff.differences, 2);
        assert_int_equal(diff.first.how, removed ? CPS_DIFF_REMOVED : CPS_DIFF_ADDED);
        assert_ptr_equal(diff.first.pkt_a, removed ? &b[2] : NULL);
        assert_ptr_equal(diff.first.pkt_b, removed ? NULL : &b[2]);
        assert_ptr_equal(diff.first.a, removed ? &b[2] : NULL);
        assert_ptr_equal(diff.first.b, removed ? NULL : &b[2]);
        assert_int_equal(diff.by_packet[0x10], 2);
        cps_diff_deinit(&diff);
    }
}

static uint64_t of_a(const void *context, size_t i)
{
    (void)context;
    return 1000 + i;
}

static uint64_t of_b(const void *context, size_t i)
{
    (void)context;
    return 2000 + i;
}

static void note_match(void *context, size_t i, size_t k)
{
    cps_buf_str(context, i == ALIGN_NONE ? "b" : k == ALIGN_NONE ? "a" : "=");
}

/* What both have up to their ends, as far as it is looked for, is left out of one and then of the
 * other. */
static void ends_without_partners_are_left_out_in_turn(void **state)
{
    static const size_t counts[][2] = {{1, 0}, {0, 1}, {100, 50}, {50, 100}, {190, 2}, {2, 190}};
    (void)state;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        CPS_BUF log = {0};
        const struct align align = {of_a, of_b, counts[i][0], counts[i][1], note_match, &log};
        align_run_(&align);
        assert_int_equal(log.size, counts[i][0] + counts[i][1]);
        assert_int_equal(strspn(cps_buf_text(&log), "a"), counts[i][0]);
    }
}

static const char *const bad_masks[] = {
    "reg",
    "reg:",
    "reg:NO_SUCH_REGISTER",
    "reg:0x2-0x1",
    "mem:0x1-",
    "mem:PC_EVENT",
    "reg:0x1/",
    "reg:0x1 ",
    "foo:0x1",
    "reg:0x1,,reg:0x2",
    "pkt:NOTHING",
    "reg:0x1/zz",
    ",reg:0x1",
};

static void bad_masks_say_what_was_expected(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad_masks) / sizeof(bad_masks[0]); i++) {
        struct cps_mask mask = {0};
        struct cps_err *err = cps_mask_add(&mask, bad_masks[i], names);
        if (!err || err->code != CPS_ERR_SYNTAX || !strstr(err->message, "expected"))
            fail_msg("\"%s\" is accepted", bad_masks[i]);
        cps_err_free(err);
        cps_mask_deinit(&mask);
    }
}

/* A trace compared with itself minus one event: exactly that event, wherever it was. */
static void one_event_less_is_one_difference_anywhere(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    static struct cps_event a[COUNT];
    static struct cps_event b[COUNT];
    const struct cps_diff_options options = {.kinds = KINDS};
    for (uint32_t i = 0; i < COUNT; i++) {
        bool pkt = i % 5 == 0;
        a[i] = cps_event_make(pkt ? CPS_EV_PKT : CPS_EV_REG, 1, CPS_CPU_SQE, i,
                              pkt ? 0x1000 + 4 * i : 0x8000 + i % 13, pkt ? 0x70460001 : i * 7);
    }
    for (uint32_t gone = 0; gone < COUNT; gone++) {
        struct cps_diff diff = {0};
        if (gone % 5 == 0)
            continue;
        memcpy(b, a, gone * sizeof(*a));
        memcpy(b + gone, a + gone + 1, (COUNT - gone - 1) * sizeof(*a));
        assert_null(cps_diff_events(a, COUNT, b, COUNT - 1, &options, NULL, NULL, &diff));
        assert_int_equal(diff.differences, 1);
        assert_int_equal(diff.first.how, CPS_DIFF_REMOVED);
        assert_ptr_equal(diff.first.a, &a[gone]);
        cps_diff_deinit(&diff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_compared_packet_by_packet),
        cmocka_unit_test(the_report_counts_by_packet_and_place),
        cmocka_unit_test(places_are_in_order),
        cmocka_unit_test(packets_are_counted_by_their_operation),
        cmocka_unit_test(what_is_written_may_be_written_elsewhere),
        cmocka_unit_test(a_packet_itself_is_a_difference),
        cmocka_unit_test(ends_without_partners_are_left_out_in_turn),
        cmocka_unit_test(bad_masks_say_what_was_expected),
        cmocka_unit_test(one_event_less_is_one_difference_anywhere),
    };
    return cmocka_run_group_tests_name("diff", tests, open_names, close_names);
}
