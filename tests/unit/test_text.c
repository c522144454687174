/* SPDX-License-Identifier: MIT
 * The text form of a trace, against lines written by hand from event.def's columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "tests/lib/a6xx_names.h"
#include "trace/form/forms.h"
#include "trace/form/text.h"
#include "trace/form/trace.h"

#define TRACE "test_text.trace"

static struct cps_event event(unsigned kind, unsigned sub, uint32_t pc, uint64_t addr,
                              uint32_t value)
{
    return cps_event_make(kind, sub, CPS_CPU_SQE, pc, addr, value);
}

static void expect(struct cps_event of, const struct cps_names *with, bool processor,
                   const char *line)
{
    CPS_BUF out = {0};
    cps_text_event(&out, &of, with, processor);
    assert_string_equal(cps_buf_text(&out), line);
}

static void every_kind_has_its_columns(void **state)
{
    (void)state;
    expect(event(CPS_EV_PKT, CPS_LEVEL_IB1, 0xc6, 0x1d91000, 0x70268000), NULL, false,
           "PKT ib1 0x0000000001d91000 0x70268000 ; pc=0x00c6\n");
    expect(event(CPS_EV_REG, CPS_PATH_USER, 0xd9, 0x8a0, 1), NULL, false,
           "REG 0x08a0 0x00000001 user ; pc=0x00d9\n");
    expect(event(CPS_EV_REG, CPS_PATH_CTRL, 5, UINT64_C(2) << 36 | 0x8800, 1), NULL, false,
           "REG 0x8800 0x00000001 ctrl ; pipe=2 pc=0x0005\n");
    expect(event(CPS_EV_REGR, 0, 5, 0x12345, 0xdeadbeef), NULL, false,
           "REGR 0x12345 0xdeadbeef ; pc=0x0005\n");
    expect(event(CPS_EV_PIPE, 0, 5, 0x10, 2), NULL, false, "PIPE 0x0010 0x00000002 ; pc=0x0005\n");
    expect(event(CPS_EV_CTRL, 0, 5, 0x10, 2), NULL, false, "CTRL 0x0010 0x00000002 ; pc=0x0005\n");
    expect(event(CPS_EV_PROT, 0, 5, 0x10, 2), NULL, false, "PROT 0x0010 0x00000002 ; pc=0x0005\n");
    expect(event(CPS_EV_MEMW, CPS_VIA_STORE, 5, UINT64_MAX, 7), NULL, false,
           "MEMW 0xffffffffffffffff 0x00000007 store ; pc=0x0005\n");
    expect(event(CPS_EV_MEMR, CPS_VIA_MEMDATA, 5, 16, 7), NULL, false,
           "MEMR 0x0000000000000010 0x00000007 memdata ; pc=0x0005\n");
    expect(event(CPS_EV_IRQ, 0, 5, 0, UINT32_MAX), NULL, false, "IRQ 4294967295 ; pc=0x0005\n");
    expect(event(CPS_EV_ASSUME, CPS_WHAT_WAIT, 0xfffff, 16, 7), NULL, false,
           "ASSUME wait 0x0000000000000010 0x00000007 ; pc=0xfffff\n");
    expect(event(CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, 5, 16, 0), NULL, false,
           "UNMODELLED mem 0x0000000000000010 ; pc=0x0005\n");
}

static void steps_list_the_registers_they_changed(void **state)
{
    (void)state;
    expect(event(CPS_EV_STEP, 0, 0x123, 1, 1u << 2 | 1u << 0x1c), NULL, false,
           "STEP 0x0123 $02=0x00000001 $1c=0x00000000\n");
    expect(event(CPS_EV_STEP, 0, 0x123, UINT64_C(0x1122334455667788), 1u << 31 | 1u), names, true,
           "sqe STEP 0x0123 $00=0x55667788 $1f=0x11223344\n");
    expect(event(CPS_EV_STEP, 0, 0, 0, 0), NULL, false, "STEP 0x0000 -\n");
    expect(event(CPS_EV_STEPX, 0, 1, 9, 1u << 16), NULL, false, "STEPX 0x0001 $10=0x00000009\n");
}

static void what_no_core_did_has_neither_processor_nor_pc(void **state)
{
    (void)state;
    struct cps_event submit = cps_event_make(CPS_EV_SUBMIT, 0, CPS_CPU_NONE, 1023, 0x1d91000, 0);
    struct cps_event end =
        cps_event_make(CPS_EV_END, CPS_REASON_BAD_PACKET, CPS_CPU_NONE, 0, UINT64_MAX, 12);
    expect(submit, names, true, "SUBMIT 0 0x0000000001d91000 1023\n");
    expect(end, names, true, "END bad-packet 12 18446744073709551615\n");
}

static void packets_are_named(void **state)
{
    (void)state;
    struct cps_event wait = event(CPS_EV_PKT, CPS_LEVEL_RB, 0xc6, 0, 0x70268000);
    expect(wait, names, false,
           "PKT rb 0x0000000000000000 0x70268000 ; CP_WAIT_FOR_IDLE pc=0x00c6\n");
    expect(wait, names, true,
           "sqe PKT rb 0x0000000000000000 0x70268000 ; CP_WAIT_FOR_IDLE pc=0x00c6\n");
    expect(event(CPS_EV_PKT, CPS_LEVEL_SDS, 1, 0, cps_pm4_type4(0x8e07, 12)), names, false,
           "PKT sds 0x0000000000000000 0x408e078c ; type4 RB_CCU_CNTL x12 pc=0x0001\n");
    expect(event(CPS_EV_PKT, CPS_LEVEL_IB2, 1, 0, 0), names, false,
           "PKT ib2 0x0000000000000000 0x00000000 ; malformed pc=0x0001\n");
}

static void registers_are_named_with_their_fields(void **state)
{
    (void)state;
    expect(event(CPS_EV_REG, CPS_PATH_DATA, 0x23, 0x8810, 1), names, false,
           "REG 0x8810 0x00000001 data ; RB_PS_SAMPLEFREQ_CNTL PER_SAMP_MODE pc=0x0023\n");
    expect(event(CPS_EV_REG, CPS_PATH_DATA, 0x23, 0x8810, 0), names, false,
           "REG 0x8810 0x00000000 data ; RB_PS_SAMPLEFREQ_CNTL pc=0x0023\n");
    expect(event(CPS_EV_REGR, 0, 5, 0x831, 0x1ffff), names, false,
           "REGR 0x0831 0x0001ffff ; CP_SQE_INSTR_BASE+0x1 pc=0x0005\n");
    expect(event(CPS_EV_UNMODELLED, CPS_PLACE_GPU, 5, 0x841, 0), names, false,
           "UNMODELLED gpu 0x0000000000000841 ; CP_CHICKEN_DBG pc=0x0005\n");
    expect(event(CPS_EV_REG, CPS_PATH_CTRL, 5, 0x3ffff, 3), names, false,
           "REG 0x3ffff 0x00000003 ctrl ; pc=0x0005\n");
}

static void class_lists_are_masks(void **state)
{
    (void)state;
    uint32_t mask = 1;
    assert_true(cps_text_classes("reg,step", &mask));
    assert_int_equal(mask, 1u << CPS_EV_REG | 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX);
    assert_true(cps_text_classes("all", &mask));
    assert_int_equal(mask, (1u << CPS_EV_COUNT) - 1);
    uint32_t some = 0;
    assert_true(cps_text_classes("default", &some));
    assert_int_equal(mask & ~some, 1u << CPS_EV_CTRL | 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX |
                                       1u << CPS_EV_SQE | 1u << CPS_EV_WORD | 1u << CPS_EV_LAUNCH);
    assert_true(cps_text_classes("default,ctrl,step,sqe,payload,launch", &some));
    assert_int_equal(some, mask);
    const char *const wrong[] = {"", "reg,", ",reg", "REG", "re", "regx", "reg pkt", "al"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(cps_text_classes(wrong[i], &some));
    assert_int_equal(some, mask);
}

static void unknown_numbers_have_words_too(void **state)
{
    (void)state;
    assert_string_equal(cps_event_keyword(CPS_EV_STEPX), "STEPX");
    assert_string_equal(cps_event_keyword(CPS_EV_COUNT), "?");
    assert_string_equal(cps_event_sub_word(CPS_EV_REG, CPS_PATH_USER), "user");
    assert_string_equal(cps_event_sub_word(CPS_EV_PKT, 7), "?");
    assert_string_equal(cps_event_sub_word(CPS_EV_COUNT, 8), "?");
    assert_string_equal(cps_processor_name(CPS_CPU_BV), "bv");
    assert_string_equal(cps_processor_name(CPS_CPU_COUNT), "?");
    expect(event(CPS_EV_COUNT, 0, 0, 0, 0), names, true, "");
}

/* One line as a trace with this head reads it. */
static struct cps_event read_line(const char *head, const char *line)
{
    CPS_BUF text = {0};
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event ret = {0};
    size_t count = 0;
    cps_buf_printf(&text, "# cpscope-trace 1\n%s%s\n", head, line);
    assert_null(cps_stream_open_memory("test", text.data, text.size, &stream));
    assert_null(cps_trace_open(stream, &trace));
    assert_null(cps_trace_next(trace, &ret, 1, &count));
    assert_int_equal(count, 1);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return ret;
}

/* Instructions, and what has a program counter, are the SQE's unless a processor is named; the rest
 * is of nobody. */
static void lines_without_a_name_are_of_the_sqe(void **state)
{
    static const char gen[] = "# gen a6xx\n";
    (void)state;
    struct cps_event e = read_line(gen, "STEP 0x0010 -");
    assert_int_equal(cps_event_who(&e), CPS_CPU_SQE);
    e = read_line(gen, "STEPX 0x0010 $02=0x00000001");
    assert_int_equal(cps_event_who(&e), CPS_CPU_SQE);
    e = read_line(gen, "REG 0x8800 0x00000001 data ; pc=0x0010");
    assert_int_equal(cps_event_who(&e), CPS_CPU_SQE);
    e = read_line(gen, "REG 0x8800 0x00000001 data");
    assert_int_equal(cps_event_who(&e), CPS_CPU_NONE);
    e = read_line(gen, "SUBMIT 0 0x0000000000100000 0x00000004");
    assert_int_equal(cps_event_who(&e), CPS_CPU_NONE);
    e = read_line("# gen a7xx\n", "bv STEP 0x0010 -");
    assert_int_equal(cps_event_who(&e), CPS_CPU_BV);
}

/* What editors of other systems make of a text: its head ends lines with CR, too. */
static void ends_of_lines_may_be_those_of_other_systems(void **state)
{
    (void)state;
    struct cps_event e = read_line("# gen a7xx\r\n# events reg\r\n", "bv STEP 0x0010 -\r");
    assert_int_equal(cps_event_who(&e), CPS_CPU_BV);
    assert_int_equal(cps_event_pc(&e), 0x10);
    e = read_line("# gen a6xx\r\n", "REG 0x8800 0x00000001 data ; pc=0x0010\r");
    assert_int_equal(e.value, 1);
    assert_int_equal(cps_event_pc(&e), 0x10);
}

static void banks_and_pipes_are_bits_of_the_place(void **state)
{
    (void)state;
    struct cps_event e = read_line("# gen a5xx\n", "REG 0x8800 0x00000001 data ; bank=1 pc=0x0010");
    assert_true(e.addr == (UINT64_C(1) << 32 | 0x8800));
    for (unsigned pipe = 1; pipe < 8; pipe++) {
        char line[80];
        snprintf(line, sizeof(line), "REG 0x8800 0x00000001 data ; A_NAME pipe=%u pc=0x0010", pipe);
        e = read_line("# gen a7xx\n", line);
        assert_true(e.addr == ((uint64_t)pipe << 36 | 0x8800));
    }
}

/* A name may end in what only looks like one. */
static void names_are_no_pipes(void **state)
{
    static const char *const names_[] = {"pipe_2", "pipes2", "bank=2", "xpipe=2", "bank_1"};
    (void)state;
    for (size_t i = 0; i < sizeof(names_) / sizeof(names_[0]); i++) {
        char line[80];
        snprintf(line, sizeof(line), "REG 0x8800 0x00000001 data ; %s pc=0x0010", names_[i]);
        struct cps_event e = read_line("# gen a7xx\n", line);
        assert_true(e.addr == 0x8800);
        assert_int_equal(cps_event_pc(&e), 0x10);
    }
}

/* What a kind has no column for is 0: the smallest number is refused as the largest is. */
static void numbers_without_a_column_are_refused(void **state)
{
    static const struct {
        unsigned kind, sub;
        uint64_t addr;
        uint32_t value;
        bool good;
    } rows[] = {
        {CPS_EV_IRQ, 0, 0, 7, true},
        {CPS_EV_IRQ, 0, 1, 7, false},
        {CPS_EV_IRQ, 0, UINT64_MAX, 7, false},
        {CPS_EV_TICK, 0, 1, 0, true},
        {CPS_EV_TICK, 0, 1, 1, false},
        {CPS_EV_UNMODELLED, CPS_PLACE_GPU, 1, 0, true},
        {CPS_EV_UNMODELLED, CPS_PLACE_GPU, 1, 1, false},
        {CPS_EV_PIPE, 0, UINT32_MAX, 1, true},
        {CPS_EV_PIPE, 0, UINT64_C(1) << 33, 1, false},
        {CPS_EV_MEMW, CPS_VIA_NRT, UINT64_MAX, 1, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cps_event e = event(rows[i].kind, rows[i].sub, 0, rows[i].addr, rows[i].value);
        const char *says = cps_event_check_(&e, true);
        assert_int_equal(!says, rows[i].good);
        if (says)
            assert_string_equal(says, "numbers that this event can have");
    }
}

static void what_cannot_be_is_named(void **state)
{
    const struct {
        struct cps_event event;
        bool with_processor;
        const char *says;
    } rows[] = {
        {event(CPS_EV_COUNT - 1, 0, 0, 0, 0), true, NULL},
        {event(CPS_EV_COUNT, 0, 0, 0, 0), true, "an event of a known kind"},
        {event(255, 0, 0, 0, 0), true, "an event of a known kind"},
        {event(CPS_EV_PKT, CPS_LEVEL_INT, 0, 0, 0), true, NULL},
        {event(CPS_EV_PKT, CPS_LEVEL_INT + 1, 0, 0, 0), true, "a word that this event can have"},
        {cps_event_make(CPS_EV_IRQ, 0, CPS_CPU_COUNT - 1, 0, 0, 0), true, NULL},
        {cps_event_make(CPS_EV_IRQ, 0, CPS_CPU_COUNT, 0, 0, 0), true,
         "the processor that the event is of"},
        {cps_event_make(CPS_EV_STEP, 0, CPS_CPU_NONE, 0, 0, 0), true,
         "the processor that the event is of"},
        {cps_event_make(CPS_EV_IRQ, 0, CPS_CPU_BV, 0, 0, 0), false,
         "sqe, because the head names no processors"},
        {cps_event_make(CPS_EV_IRQ, 0, CPS_CPU_NONE, 0, 0, 0), false, NULL},
        {cps_event_make(CPS_EV_IRQ, 0, CPS_CPU_NONE, 1, 0, 0), false,
         "a processor's name, because there is a program counter"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *says = cps_event_check_(&rows[i].event, rows[i].with_processor);
        assert_string_equal(says ? says : "", rows[i].says ? rows[i].says : "");
    }
}

/* What a reader says of a line behind a head, or "". */
static void expect_error(const char *line, const char *message)
{
    CPS_BUF text = {0};
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event read = {0};
    size_t count = 0;
    cps_buf_printf(&text, "# cpscope-trace 1\n# gen a6xx\n%s\n", line);
    assert_null(cps_stream_open_memory("test", text.data, text.size, &stream));
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        err = cps_trace_next(trace, &read, 1, &count);
    if (!strstr(err ? err->message : "", message) || !*message != !err)
        fail_msg("\"%s\": %s", line, err ? err->message : "no error");
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
}

static void lines_that_are_none_are_refused(void **state)
{
    static const char *const numbers[] = {"REG",
                                          "REG 0x8800",
                                          "REG 0x8800 data",
                                          "REG zz 0x1 data",
                                          "REG -1 0x1 data",
                                          "REG 0x8800 +1 data",
                                          "REG 0x8800 0x1g data",
                                          "REG 0x8800 0x100000000 data",
                                          "MEMW 0x10000000000000000 0x1 nrt",
                                          "REG 0x8800 000000000000000000000001 data",
                                          "IRQ 4294967296",
                                          "IRQ :"};
    static const char *const heads[] = {"#", "# ", "#note x", "#\tx"};
    (void)state;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        expect_error(numbers[i], "a number in its column's form");
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        expect_error(heads[i], "is no line of a trace's head, expected \"# key value\"");
    expect_error("# x", "");
    const size_t most = (4u << 20) - strlen("# cpscope-trace 1\n# gen a6xx\n");
    for (size_t more = 0; more < 2; more++) {
        CPS_BUF line = {0};
        cps_buf_str(&line, "# note ");
        while (line.size < most + more)
            cps_buf_str(&line, "x");
        expect_error(cps_buf_text(&line), more ? "line of more than 4194275 bytes, expected its end"
                                               : "a head of at most 4 MiB"); /* with its end */
    }
    expect_error("MEMW 0x0000000000000000001 0x1 nrt", "");
    expect_error("REG 0x8800 00000000000000000000001 data", ""); /* 23 digits are the most */
}

/* Writes @p count events, in batches of different sizes, into TRACE. */
static void write_trace(size_t count)
{
    const struct cps_trace_header header = {
        .gen = CPS_A6XX,
        .firmware = {{"a.fw", "12ab"}},
        .firmware_count = 1,
        .capture = {"b.rd", "unknown"},
        .policy = "waits=satisfy visibility=all prefetch=off",
        .events = "reg",
    };
    struct cps_names *const none[CPS_CPU_COUNT] = {NULL};
    struct cps_outfile *out = NULL;
    struct cps_trace_head head;
    struct cps_trace_writer *writer = NULL;
    assert_null(cps_trace_head_make(&header, CPS_LAYOUT_A6XX, false, &head));
    assert_null(cps_outfile_open(TRACE, &out));
    assert_null(cps_trace_writer_create(CPS_FORM_TEXT, out, &head, none, &writer));
    struct cps_sink *sink = cps_trace_writer_sink(writer);
    for (size_t done = 0, batch = 0; done < count; done += batch, batch++) {
        struct cps_event events[64];
        batch %= 64;
        batch = batch < count - done ? batch : count - done;
        for (size_t i = 0; i < batch; i++)
            events[i] = event(CPS_EV_REG, CPS_PATH_USER, 5, 0x10, (uint32_t)(done + i));
        sink->put(sink, events, batch);
    }
    assert_null(cps_trace_writer_finish(writer));
    assert_null(cps_outfile_commit(out));
    cps_trace_head_deinit(&head);
}

static void a_trace_is_its_header_and_every_event_in_order(void **state)
{
    (void)state;
    char line[128];
    char expected[128];
    size_t count = 10000; /* several times the buffer */
    write_trace(count);
    FILE *file = fopen(TRACE, "r");
    assert_non_null(file);
    const char *const header[] = {
        "# cpscope-trace 1\n",
        "# gen a6xx\n",
        "# firmware a.fw sha256:12ab\n",
        "# capture b.rd sha256:unknown\n",
        "# policy waits=satisfy visibility=all prefetch=off\n",
        "# events reg\n",
    };
    for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++) {
        assert_non_null(fgets(line, sizeof(line), file));
        assert_string_equal(line, header[i]);
    }
    for (unsigned i = 0; i < count; i++) {
        snprintf(expected, sizeof(expected), "REG 0x0010 0x%08x user ; pc=0x0005\n", i);
        assert_non_null(fgets(line, sizeof(line), file));
        assert_string_equal(line, expected);
    }
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    unlink(TRACE);
    assert_null(cps_trace_writer_finish(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_has_its_columns),
        cmocka_unit_test(steps_list_the_registers_they_changed),
        cmocka_unit_test(what_no_core_did_has_neither_processor_nor_pc),
        cmocka_unit_test(packets_are_named),
        cmocka_unit_test(registers_are_named_with_their_fields),
        cmocka_unit_test(class_lists_are_masks),
        cmocka_unit_test(unknown_numbers_have_words_too),
        cmocka_unit_test(lines_without_a_name_are_of_the_sqe),
        cmocka_unit_test(ends_of_lines_may_be_those_of_other_systems),
        cmocka_unit_test(banks_and_pipes_are_bits_of_the_place),
        cmocka_unit_test(names_are_no_pipes),
        cmocka_unit_test(numbers_without_a_column_are_refused),
        cmocka_unit_test(what_cannot_be_is_named),
        cmocka_unit_test(lines_that_are_none_are_refused),
        cmocka_unit_test(a_trace_is_its_header_and_every_event_in_order),
    };
    return cmocka_run_group_tests_name("text", tests, open_names, close_names);
}
