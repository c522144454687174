/* SPDX-License-Identifier: MIT
 * Traces as files: what is written reads back equal in every form, and damage never gives other
 * events than were written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "trace/form/forms.h"
#include "trace/form/trace.h"

#define HEAD                                                                   \
    "# cpscope-trace 1\n# gen a7xx\n# firmware a b.fw sha256:00\n# capture c " \
    "sha256:unknown\n# policy waits=stop\n# events reg\n# note kept\n# processors yes\n"

/* A file in memory. */
struct file {
    uint8_t *bytes;
    size_t size;
};

static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return random_state >> 11 ^ random_state << 40;
}

/* Numbers near the edges of their width come often. */
static uint64_t any_number(unsigned bits)
{
    uint64_t all = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    switch (next_random() % 4) {
    case 0:
        return next_random() % 4;
    case 1:
        return all - next_random() % 4;
    case 2:
        return (UINT64_C(1) << next_random() % bits) & all;
    default:
        return next_random() & all;
    }
}

static uint32_t any_header(void)
{
    if (next_random() % 2)
        return cps_pm4_type7((uint32_t)any_number(7), (uint32_t)any_number(14));
    return next_random() % 2 ? cps_pm4_type4((uint32_t)any_number(18), (uint32_t)any_number(7))
                             : (uint32_t)any_number(32);
}

/* Registers are listed by value and address of a STEP: at most two in its mask. */
static struct cps_event any_step(unsigned kind, uint32_t pc, unsigned who)
{
    uint32_t first = 1u << next_random() % 16;
    uint32_t second = next_random() % 2 ? 1u << (16 + next_random() % 16) : 0;
    uint64_t values = (uint32_t)any_number(32) | (second ? any_number(32) << 32 : 0);
    return cps_event_make(kind, 0, who, pc, values, first | second);
}

static unsigned subs_of(unsigned kind)
{
    unsigned count = 0;
    while (*cps_event_sub_word(kind, count) != '?')
        count++;
    return count ? count : 1;
}

/* An event as cores make them: fields that its kind does not have are 0. */
static struct cps_event any_event(unsigned kind)
{
    bool of_core = kind != CPS_EV_SUBMIT && kind != CPS_EV_END && kind != CPS_EV_TICK;
    unsigned cpu = (unsigned)(next_random() % (CPS_CPU_COUNT - 1));
    unsigned who = !of_core ? (unsigned)CPS_CPU_NONE : cpu + (cpu >= CPS_CPU_NONE);
    bool narrow = kind == CPS_EV_REG || kind == CPS_EV_REGR || kind == CPS_EV_PIPE ||
                  kind == CPS_EV_CTRL || kind == CPS_EV_PROT || kind == CPS_EV_METHOD ||
                  kind == CPS_EV_SQE || kind == CPS_EV_WORD || kind == CPS_EV_LAUNCH;
    uint32_t pc = (uint32_t)any_number(32);
    if (kind == CPS_EV_STEP || kind == CPS_EV_STEPX)
        return any_step(kind, pc, who);
    uint32_t value = kind == CPS_EV_PKT ? any_header() : (uint32_t)any_number(32);
    uint64_t addr = any_number(narrow ? 18 : 64);
    if (kind == CPS_EV_REG || kind == CPS_EV_REGR ||
        kind == CPS_EV_PROT) /* the second bank of a5xx, or a pipe of a7xx and later */
        addr |= next_random() % 2 ? next_random() % 2 << 32 : next_random() % 8 << CPS_PIPE_SHIFT_;
    if (kind == CPS_EV_UNMODELLED || kind == CPS_EV_TICK)
        value = 0;
    if (kind == CPS_EV_IRQ || kind == CPS_EV_EXIT)
        addr = 0;
    if (kind == CPS_EV_END || kind == CPS_EV_TICK)
        pc = 0;
    return cps_event_make(kind, (unsigned)(next_random() % subs_of(kind)), who, pc, addr, value);
}

static struct cps_event *any_events(size_t count, uint64_t seed)
{
    struct cps_event *events = calloc(count, sizeof(*events));
    assert_non_null(events);
    random_state = seed;
    for (size_t i = 0; i < count; i++)
        events[i] = any_event((unsigned)(i < 2 * CPS_EV_COUNT ? i : next_random()) % CPS_EV_COUNT);
    return events;
}

static struct file slurp(const char *path)
{
    struct file ret = {0};
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    ret.size = (size_t)ftell(in);
    rewind(in);
    ret.bytes = malloc(ret.size + 1);
    assert_non_null(ret.bytes);
    assert_int_equal(fread(ret.bytes, 1, ret.size, in), ret.size);
    fclose(in);
    unlink(path);
    return ret;
}

static struct file write_trace(enum cps_trace_form form, const struct cps_event *events,
                               size_t count)
{
    char path[] = "test_forms.XXXXXX";
    struct cps_outfile *out = NULL;
    struct cps_trace_head head;
    struct cps_trace_writer *writer = NULL;
    close(mkstemp(path));
    assert_null(cps_outfile_open(path, &out));
    assert_null(cps_trace_head_parse("head", HEAD, &head));
    assert_null(cps_trace_writer_create(form, out, &head, NULL, &writer));
    struct cps_sink *sink = cps_trace_writer_sink(writer);
    sink->put(sink, events, count / 2);
    sink->put(sink, count ? events + count / 2 : NULL, count - count / 2);
    assert_null(cps_trace_writer_finish(writer));
    assert_null(cps_outfile_commit(out));
    cps_trace_head_deinit(&head);
    return slurp(path);
}

/* What a reader gave. */
struct reading {
    struct cps_event *events;
    size_t count;
    char *head;
    char *error; /* or NULL */
};

static void read_events(struct cps_trace *trace, struct reading *ret)
{
    struct cps_event batch[100];
    size_t got = 1;
    struct cps_err *err = NULL;
    while (!err && got) {
        got = 0;
        err = cps_trace_next(trace, batch, 100, &got);
        ret->events = realloc(ret->events, (ret->count + got + 1) * sizeof(*ret->events));
        memcpy(ret->events + ret->count, batch, got * sizeof(*batch));
        ret->count += got;
    }
    ret->error = err ? strdup(err->message) : NULL;
    cps_err_free(err);
}

static struct reading read_trace(const void *bytes, size_t size)
{
    struct reading ret = {0};
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_err *err = cps_stream_open_memory("memory", bytes, size, &stream);
    if (!err)
        err = cps_trace_open(stream, &trace);
    if (err) {
        ret.error = strdup(err->message);
    } else {
        ret.head = strdup(cps_trace_head(trace)->text);
        read_events(trace, &ret);
    }
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return ret;
}

static void free_reading(struct reading *r)
{
    free(r->events);
    free(r->head);
    free(r->error);
}

/* Whole, or the first of what was written, and never anything else. */
static void assert_prefix(const struct reading *r, const struct cps_event *events, size_t count)
{
    assert_true(r->count <= count);
    assert_true(!r->count || !memcmp(r->events, events, r->count * sizeof(*events)));
    assert_true(!r->head || !strcmp(r->head, HEAD));
    if (r->count < count)
        assert_non_null(r->error);
}

static const enum cps_trace_form forms[] = {CPS_FORM_TEXT, CPS_FORM_CPT, CPS_FORM_JSONL};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void every_form_reads_back_what_was_written(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        size_t count = (size_t)(seed * seed * 10);
        struct cps_event *events = any_events(count, seed);
        for (size_t i = 0; i < FORMS; i++) {
            struct file file = write_trace(forms[i], events, count);
            struct reading r = read_trace(file.bytes, file.size);
            if (r.error)
                fail_msg("form %zu: %s", i, r.error);
            assert_int_equal(r.count, count);
            assert_prefix(&r, events, count);
            free_reading(&r);
            free(file.bytes);
        }
        free(events);
    }
}

static void an_empty_trace_is_a_head(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMS; i++) {
        struct file file = write_trace(forms[i], NULL, 0);
        struct reading r = read_trace(file.bytes, file.size);
        assert_null(r.error);
        assert_int_equal(r.count, 0);
        assert_string_equal(r.head, HEAD);
        free_reading(&r);
        free(file.bytes);
    }
}

static void frames_are_many_in_long_traces(void **state)
{
    (void)state;
    size_t count = 150000;
    struct cps_event *events = any_events(count, 7);
    struct file file = write_trace(CPS_FORM_CPT, events, count);
    struct reading r = read_trace(file.bytes, file.size);
    assert_null(r.error);
    assert_int_equal(r.count, count);
    assert_prefix(&r, events, count);
    free_reading(&r);
    /* Cut anywhere, the whole frames before are there. */
    size_t whole[3] = {0, 65536, 131072};
    for (size_t size = file.size - 1; size > 4000; size -= size / 9) {
        r = read_trace(file.bytes, size);
        assert_prefix(&r, events, count);
        assert_non_null(r.error);
        assert_non_null(strstr(r.error, "cut short"));
        assert_true(r.count == whole[0] || r.count == whole[1] || r.count == whole[2] ||
                    r.count == count);
        free_reading(&r);
    }
    free(file.bytes);
    free(events);
}

static void a_cut_at_any_byte_gives_an_error_and_a_prefix(void **state)
{
    (void)state;
    struct cps_event *events = any_events(60, 3);
    struct file file = write_trace(CPS_FORM_CPT, events, 60);
    for (size_t size = 0; size < file.size; size++) {
        struct reading r = read_trace(file.bytes, size);
        assert_non_null(r.error);
        assert_prefix(&r, events, 60);
        free_reading(&r);
    }
    free(file.bytes);
    free(events);
}

static void a_flipped_bit_is_noticed_or_does_no_harm(void **state)
{
    (void)state;
    struct cps_event *events = any_events(60, 4);
    struct file file = write_trace(CPS_FORM_CPT, events, 60);
    /* Every bit of the beginning, which says the form and the head's length; behind it one of each
     * byte. */
    for (size_t bit = 0; bit < 8 * file.size; bit += bit < 8 * 64 ? 1 : 9) {
        file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        struct reading r = read_trace(file.bytes, file.size);
        assert_prefix(&r, events, 60);
        free_reading(&r);
        file.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(file.bytes);
    free(events);
}

static void cpt_takes_few_bytes_for_what_repeats(void **state)
{
    (void)state;
    enum { COUNT = 60000 };
    struct cps_event *events = any_events(30, 5);
    struct cps_event *loop = calloc(COUNT, sizeof(*loop));
    assert_non_null(loop);
    for (size_t i = 0; i < COUNT; i++)
        loop[i] = events[i % 30];
    struct file file = write_trace(CPS_FORM_CPT, loop, COUNT);
    assert_true(file.size < COUNT / 20);
    free(file.bytes);
    free(loop);
    free(events);
}

static const struct bad {
    const char *claim;
    const char *bytes;
    size_t size;
    const char *said;
} bads[] = {
    {"another version", "CPTRACE4\0\0\0\0", 12, "found .cpt version 4, expected version 3"},
    {"an old version", "CPTRACE2\0\0\0\0", 12, "found .cpt version 2, expected version 3"},
    {"a head of 4 GiB", "CPTRACE3\xff\xff\xff\xff\0\0\0\0", 16, "4 MiB"},
    {"no head line", "CPTRACE3\0\0\0\0\r\xf3\x83W", 16, "cpscope-trace 1"},
    {"text with an unknown keyword", HEAD "NOPE 1 2\n", sizeof(HEAD "NOPE 1 2\n") - 1, "NOPE"},
    {"text with a missing column", HEAD "sqe REG 0x1\n", sizeof(HEAD "sqe REG 0x1\n") - 1,
     "offset"},
    {"text with a value of 33 bits", HEAD "sqe REG 0x0001 0x100000000 data\n",
     sizeof(HEAD "sqe REG 0x0001 0x100000000 data\n") - 1, "offset"},
    {"text with a sub of another kind", HEAD "sqe REG 0x0001 0x1 nrt\n",
     sizeof(HEAD "sqe REG 0x0001 0x1 nrt\n") - 1, "offset"},
    {"JSON that is none", "{\"cpscope-trace\":1,\"head\":\n", 27, "cpscope-trace"},
    {"JSON without a head", "{\"cpscope-trace\":1}\n", 20, "head"},
    {"a head of another version", "# cpscope-trace 2\n", 18, "cpscope-trace 1"},
};

static void damage_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
        struct reading r = read_trace(bads[i].bytes, bads[i].size);
        if (!r.error || !strstr(r.error, bads[i].said) || r.count)
            fail_msg("%s: \"%s\"", bads[i].claim, r.error ? r.error : "no error");
        free_reading(&r);
    }
}

/* Perhaps with a head that is only right in the end. */
static struct file write_headed(enum cps_trace_form form, const struct cps_event *events,
                                size_t count, bool late)
{
    char path[] = "test_forms.XXXXXX";
    struct cps_outfile *out = NULL;
    struct cps_trace_head head[2];
    struct cps_trace_writer *writer = NULL;
    close(mkstemp(path));
    assert_null(cps_outfile_open(path, &out));
    assert_true(cps_outfile_patchable(out));
    assert_null(cps_trace_head_parse("head", HEAD, &head[0]));
    assert_null(cps_trace_head_parse("head", HEAD, &head[1]));
    if (late)
        memcpy(strstr(head[0].text, "\n# ") + 3, "zzz", 3);
    assert_null(cps_trace_writer_create(form, out, &head[0], NULL, &writer));
    for (size_t at = 0; at < count; at += 777)
        cps_trace_writer_sink(writer)->put(cps_trace_writer_sink(writer), events + at,
                                           count - at < 777 ? count - at : 777);
    if (late)
        cps_trace_writer_rehead(writer, &head[1]);
    assert_null(cps_trace_writer_finish(writer));
    assert_null(cps_outfile_commit(out));
    cps_trace_head_deinit(&head[0]);
    cps_trace_head_deinit(&head[1]);
    return slurp(path);
}

static void late_heads_change_no_byte(void **state)
{
    const size_t count = 70000; /* a frame and a part of one */
    struct cps_event *events = calloc(count, sizeof(*events));
    (void)state;
    for (uint32_t i = 0; i < count; i++)
        events[i] =
            cps_event_make(CPS_EV_REG, 0, CPS_CPU_SQE, i % 500, 0x8800 + i % 97, i * 2654435761u);
    for (unsigned form = 0; form < CPS_FORM_COUNT; form++) {
        struct file plain = write_headed(form, events, count, false);
        struct file other = write_headed(form, events, count, true);
        assert_int_equal(other.size, plain.size);
        assert_memory_equal(other.bytes, plain.bytes, plain.size);
        free(other.bytes);
        free(plain.bytes);
    }
    free(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form_reads_back_what_was_written),
        cmocka_unit_test(an_empty_trace_is_a_head),
        cmocka_unit_test(frames_are_many_in_long_traces),
        cmocka_unit_test(a_cut_at_any_byte_gives_an_error_and_a_prefix),
        cmocka_unit_test(a_flipped_bit_is_noticed_or_does_no_harm),
        cmocka_unit_test(cpt_takes_few_bytes_for_what_repeats),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(late_heads_change_no_byte),
    };
    return cmocka_run_group_tests_name("forms", tests, NULL, NULL);
}
