/* SPDX-License-Identifier: MIT
 * Traces as other programs take them, line by line: Perfetto's JSON, waves, lines of JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "tests/lib/a6xx_names.h"
#include "tests/lib/scratch.h"
#include "trace/form/trace.h"

#define HEAD "# cpscope-trace 1\n# gen a6xx\n# events all\n"

static struct cps_event event(unsigned kind, unsigned sub, uint64_t addr, uint32_t value)
{
    return cps_event_make(kind, sub, CPS_CPU_SQE, 5, addr, value);
}

/* What a form makes of events, with names or without. */
static void write_form(enum cps_trace_form form, bool named, const struct cps_event *events,
                       size_t count, struct cps_buf *ret)
{
    struct cps_names *by_processor[CPS_CPU_COUNT] = {[CPS_CPU_SQE] = names};
    char path[64];
    struct cps_outfile *out = NULL;
    struct cps_trace_head head;
    struct cps_trace_writer *writer = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    assert_null(cps_outfile_open(scratch_file(path, ""), &out));
    assert_null(cps_trace_head_parse("head", HEAD, &head));
    assert_null(cps_trace_writer_create(form, out, &head, named ? by_processor : NULL, &writer));
    cps_trace_writer_sink(writer)->put(cps_trace_writer_sink(writer), events, count);
    assert_null(cps_trace_writer_finish(writer));
    assert_null(cps_outfile_commit(out));
    assert_null(cps_stream_read_file(path, (size_t)1 << 20, &data, &size));
    cps_buf_add(ret, (const char *)data, size);
    free(data);
    unlink(path);
    cps_trace_head_deinit(&head);
}

static unsigned count_of(const struct cps_buf *text, const char *part)
{
    unsigned count = 0;
    for (const char *at = cps_buf_text(text); (at = strstr(at, part)); at++)
        count++;
    return count;
}

/* A name stands in a wave where it changes; the SQE is processor 2. */
static void a_packet_that_comes_again_changes_no_wave(void **state)
{
    const struct cps_event events[] = {
        event(CPS_EV_PKT, 1, 0x1000, cps_pm4_type7(0x10, 0)),
        event(CPS_EV_PKT, 1, 0x1004, cps_pm4_type7(0x10, 0)),
        event(CPS_EV_PKT, 1, 0x1008, cps_pm4_type7(0x26, 0)),
        event(CPS_EV_PKT, 1, 0x100c, cps_pm4_type7(0x10, 0)),
        event(CPS_EV_PKT, 1, 0x1010, cps_pm4_type4(0x8810, 1)),
    };
    CPS_BUF out = {0};
    (void)state;
    write_form(CPS_FORM_VCD, true, events, 5, &out);
    assert_int_equal(count_of(&out, "\nsCP_NOP n2\n"), 2);
    assert_int_equal(count_of(&out, "\nsCP_WAIT_FOR_IDLE n2\n"), 1);
    assert_int_equal(count_of(&out, "\nstype4:RB_PS_SAMPLEFREQ_CNTL n2\n"), 1);
}

/* Where no source says what hardware does, the event says which of these places it is. */
static void perfetto_says_what_is_unknown(void **state)
{
    const struct cps_event events[] = {
        event(CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, CPS_UNKNOWN_UNALIGNED, 7),
        event(CPS_EV_UNMODELLED, CPS_PLACE_UNKNOWN, CPS_UNKNOWN_CODE_BEYOND, 0),
        event(CPS_EV_ASSUME, CPS_WHAT_WAIT, CPS_UNKNOWN_UNALIGNED, 7),
    };
    CPS_BUF out = {0};
    (void)state;
    write_form(CPS_FORM_PERFETTO, true, events, 3, &out);
    assert_int_equal(count_of(&out, "\"unknown\":\"unaligned\""), 1);
    assert_int_equal(count_of(&out, "\"unknown\":\"code-beyond\""), 1);
    assert_int_equal(count_of(&out, "\"unknown\":"), 2);
}

/* A number that a later writer has for a level has no word here. */
static void perfetto_names_streams_by_their_level(void **state)
{
    static const char *const levels[] = {"ring",       "IB1",      "IB2",    "IB3",
                                         "draw state", "internal", "stream", "stream"};
    (void)state;
    for (unsigned level = 0; level < sizeof(levels) / sizeof(levels[0]); level++) {
        const struct cps_event packet = event(CPS_EV_PKT, level, 0x1000, cps_pm4_type7(0x10, 0));
        CPS_BUF out = {0};
        CPS_BUF name = {0};
        write_form(CPS_FORM_PERFETTO, true, &packet, 1, &out);
        cps_buf_printf(&name, "\"name\":\"%s\"", levels[level]);
        assert_int_equal(count_of(&out, cps_buf_text(&name)), level != CPS_LEVEL_INT);
    }
}

/* A register of 64 bits is one value, of the lower word. */
static void two_words_of_a_wide_register_are_one_value(void **state)
{
    const struct cps_event events[] = {
        event(CPS_EV_PKT, 1, 0x1000, cps_pm4_type4(0x8825, 2)), /* RB_MRT[0].BASE */
        event(CPS_EV_WORD, 0, 0, 0x80001000),
        event(CPS_EV_WORD, 0, 1, 5),
    };
    CPS_BUF out = {0};
    (void)state;
    write_form(CPS_FORM_PERFETTO, true, events, 3, &out);
    assert_int_equal(count_of(&out, "580001000"), 1);
}

/* What a header says is said of packets, and where their names are known. */
static void lines_of_json_take_headers_of_packets_apart(void **state)
{
    const struct cps_event packet = event(CPS_EV_PKT, 1, 0x1000, cps_pm4_type7(0x10, 3));
    const struct cps_event write = event(CPS_EV_REG, 0, 0x8810, cps_pm4_type7(0x10, 3));
    CPS_BUF both = {0};
    CPS_BUF neither = {0};
    CPS_BUF other = {0};
    (void)state;
    write_form(CPS_FORM_JSONL, true, &packet, 1, &both);
    assert_int_equal(count_of(&both, "\"name\":\"CP_NOP\",\"count\":3"), 1);
    write_form(CPS_FORM_JSONL, false, &packet, 1, &neither);
    assert_int_equal(count_of(&neither, "\"count\"") + count_of(&neither, "\"name\""), 0);
    write_form(CPS_FORM_JSONL, true, &write, 1, &other);
    assert_int_equal(count_of(&other, "\"count\""), 0);
    assert_int_equal(count_of(&other, "\"name\":\"RB_PS_SAMPLEFREQ_CNTL\""), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_that_comes_again_changes_no_wave),
        cmocka_unit_test(perfetto_says_what_is_unknown),
        cmocka_unit_test(perfetto_names_streams_by_their_level),
        cmocka_unit_test(two_words_of_a_wide_register_are_one_value),
        cmocka_unit_test(lines_of_json_take_headers_of_packets_apart),
    };
    return cmocka_run_group_tests_name("views", tests, open_names, close_names);
}
