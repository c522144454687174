/* SPDX-License-Identifier: MIT
 * The record and its bytes in a `.cpt` hold kinds, subs and processors that event.def has no rows
 * for yet; the reader of files refuses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/form/cpt.h"
#include "trace/form/trace.h"

#define HEAD "# cpscope-trace 1\n# gen a7xx\n# processors yes\n"

static const unsigned subs[] = {0, 7, 8, 31, 32, 127, 128, 255};
static const unsigned whos[] = {0, CPS_CPU_NONE, 15, 16, 127, 128, 255};
static const uint32_t pcs[] = {0, 1, 0xfffff, 0x100000, UINT32_MAX};
static const uint64_t addrs[] = {0, 4, UINT32_MAX, UINT64_MAX};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t random_state = 1;

static size_t any(size_t count)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (size_t)(random_state >> 33) % count;
}

/* The headers are those of a type 7 and a type 4, so that all forms of values occur. */
static struct cps_event any_event(unsigned kind)
{
    const uint32_t values[] = {0, 1, 0x70388003, 0x48881801, UINT32_MAX};
    return cps_event_make(kind, subs[any(COUNT(subs))], whos[any(COUNT(whos))],
                          pcs[any(COUNT(pcs))], addrs[any(COUNT(addrs))],
                          values[any(COUNT(values))]);
}

static void the_record_keeps_every_number_of_its_width(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 256; kind++) {
        for (size_t i = 0; i < COUNT(subs) * COUNT(whos) * COUNT(pcs); i++) {
            unsigned sub = subs[i % COUNT(subs)];
            unsigned who = whos[i / COUNT(subs) % COUNT(whos)];
            uint32_t pc = pcs[i / COUNT(subs) / COUNT(whos)];
            struct cps_event event = cps_event_make(kind, sub, who, pc, UINT64_MAX, UINT32_MAX);
            assert_int_equal(cps_event_kind(&event), kind);
            assert_int_equal(cps_event_sub(&event), sub);
            assert_int_equal(cps_event_who(&event), who);
            assert_int_equal(cps_event_pc(&event), pc);
            assert_true(event.addr == UINT64_MAX && event.value == UINT32_MAX);
        }
    }
}

static void a_record_has_no_padding_so_equal_events_are_equal_bytes(void **state)
{
    const struct cps_event *none = NULL;
    (void)state;
    assert_int_equal(sizeof(none->head) + sizeof(none->addr) + sizeof(none->value) +
                         sizeof(none->zero),
                     sizeof(*none));
}

/* Each of them many times, so that predictions come true, too. */
static void a_frame_gives_back_kinds_subs_and_processors_that_have_no_row(void **state)
{
    enum { EVENTS = 20000 };
    struct cps_event *events = calloc(EVENTS, sizeof(*events));
    uint8_t *raw = malloc(EVENTS * CPT_MAX_EVENT);
    struct cpt_frame *put = calloc(1, sizeof(*put));
    struct cpt_frame *get = calloc(1, sizeof(*get));
    (void)state;
    assert_true(events && raw && put && get);
    *put = (struct cpt_frame){.version = CPT_VERSION, .raw = raw};
    for (unsigned i = 0; i < EVENTS; i++) {
        size_t before = put->size;
        events[i] = i < 10000 ? any_event(i % 256) : events[i - 1 - any(40)];
        cpt_put_event_(put, &events[i]);
        assert_true(put->size - before <= CPT_MAX_EVENT);
    }
    *get = (struct cpt_frame){.version = CPT_VERSION, .raw = raw, .size = put->size};
    for (unsigned i = 0; i < EVENTS; i++) {
        struct cps_event event;
        assert_true(cpt_get_event_(get, &event));
        assert_memory_equal(&event, &events[i], sizeof(event));
    }
    assert_int_equal(get->at, get->size);
    free(get);
    free(put);
    free(raw);
    free(events);
}

/* Writes one event to a file, and reads it. @return what the reader said, or NULL; to be freed */
static char *through_a_file(const struct cps_event *event)
{
    char path[] = "test_cpt.XXXXXX";
    struct cps_outfile *out = NULL;
    struct cps_trace_head head;
    struct cps_trace_writer *writer = NULL;
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event read;
    size_t count = 0;
    close(mkstemp(path));
    assert_null(cps_outfile_open(path, &out));
    assert_null(cps_trace_head_parse("head", HEAD, &head));
    assert_null(cps_trace_writer_create(CPS_FORM_CPT, out, &head, NULL, &writer));
    cps_trace_writer_sink(writer)->put(cps_trace_writer_sink(writer), event, 1);
    assert_null(cps_trace_writer_finish(writer));
    assert_null(cps_outfile_commit(out));
    assert_null(cps_stream_open(path, &stream));
    assert_null(cps_trace_open(stream, &trace));
    struct cps_err *err = cps_trace_next(trace, &read, 1, &count);
    char *said = err ? strdup(err->message) : NULL;
    assert_int_equal(count, err ? 0 : 1);
    assert_true(err || !memcmp(&read, event, sizeof(read)));
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
    cps_trace_head_deinit(&head);
    unlink(path);
    return said;
}

static void files_with_what_has_no_row_are_refused(void **state)
{
    const struct {
        struct cps_event event;
        bool good;
    } rows[] = {
        {cps_event_make(CPS_EV_REG, CPS_PATH_HALF, CPS_CPU_BV, UINT32_MAX, 1, 2), true},
        {cps_event_make(CPS_EV_REG, 8, CPS_CPU_BV, 0, 1, 2), false},
        {cps_event_make(CPS_EV_REG, 255, CPS_CPU_BV, 0, 1, 2), false},
        {cps_event_make(CPS_EV_REG, 0, CPS_CPU_COUNT, 0, 1, 2), false},
        {cps_event_make(CPS_EV_REG, 0, 16, 0, 1, 2), false},
        {cps_event_make(CPS_EV_REG, 0, 255, 0, 1, 2), false},
        {cps_event_make(CPS_EV_COUNT, 0, CPS_CPU_BV, 0, 1, 2), false},
        {cps_event_make(28, 0, CPS_CPU_BV, 0, 1, 2), false},
        {cps_event_make(32, 0, CPS_CPU_BV, 0, 1, 2), false},
        {cps_event_make(255, 0, CPS_CPU_BV, 0, 1, 2), false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *said = through_a_file(&rows[i].event);
        if (rows[i].good ? said != NULL : !said || !strstr(said, "an event that cannot be"))
            fail_msg("row %zu: %s", i, said ? said : "no error");
        free(said);
    }
}

/* All that stands behind the flags is as zero as the bytes say. */
static const struct {
    const char *claim;
    unsigned version;
    const char *bytes;
    size_t size;
    bool good;
} rows[] = {
    {"version 2, a form and a sub in a byte", 2, "\x16\x22", 2, true},
    {"version 2, the form 31", 2, "\x16\x1f", 2, true},
    {"version 2, the form 32", 2, "\x36\x20\x00", 3, true},
    {"version 2, the sub 8", 2, "\x36\x02\x08", 3, true},
    {"version 2, two numbers for what fits a byte", 2, "\x36\x1f\x07", 3, false},
    {"version 2, the sub 255", 2, "\x36\x02\xff\x01", 4, true},
    {"version 2, the sub 256", 2, "\x36\x02\x80\x02", 4, false},
    {"version 2, a wide tag beside the same one", 2, "\x37\x20\x00", 3, false},
    {"version 2, the kind 255", 2, "\x36\x81\x02\x00", 4, true},
    {"version 2, the kind 256", 2, "\x36\x82\x02\x00", 4, false},
    {"version 2, flag 64", 2, "\x57", 1, false},
    {"version 2, the processor 255", 2, "\x97\xff\x01", 3, true},
    {"version 2, the processor 256", 2, "\x97\x80\x02", 3, false},
    {"version 2, a pc of 32 bits", 2, "\x15\xfe\xff\xff\xff\x1f", 6, true},
    {"version 2, a pc of 33 bits", 2, "\x15\x80\x80\x80\x80\x20", 6, false},
    {"version 2, a pc below 0", 2, "\x15\x01", 2, false},
    {"version 1, a tag", 1, "\x16\x22", 2, true},
    {"version 1, flag 32", 1, "\x36\x20\x00", 3, false},
    {"version 1, a pc of 20 bits", 1, "\x15\xfe\xff\x7f", 4, true},
    {"version 1, a pc of 21 bits", 1, "\x15\x80\x80\x80\x01", 5, false},
};

static void each_version_takes_what_its_numbers_can_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cpt_frame *frame = calloc(1, sizeof(*frame));
        uint8_t raw[8];
        struct cps_event event;
        assert_non_null(frame);
        memcpy(raw, rows[i].bytes, rows[i].size);
        *frame = (struct cpt_frame){.version = rows[i].version, .raw = raw, .size = rows[i].size};
        bool good = cpt_get_event_(frame, &event);
        if (good != rows[i].good || (good && frame->at != frame->size))
            fail_msg("%s", rows[i].claim);
        free(frame);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_keeps_every_number_of_its_width),
        cmocka_unit_test(a_record_has_no_padding_so_equal_events_are_equal_bytes),
        cmocka_unit_test(a_frame_gives_back_kinds_subs_and_processors_that_have_no_row),
        cmocka_unit_test(files_with_what_has_no_row_are_refused),
        cmocka_unit_test(each_version_takes_what_its_numbers_can_be),
    };
    return cmocka_run_group_tests_name("cpt", tests, NULL, NULL);
}
