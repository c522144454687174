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

#include "isa/base/le.h"
#include "isa/base/pm4.h"
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

/* Puts events in batches of any size: the same bytes. @return how many bytes */
static size_t put_all(const struct cps_event *events, size_t count, size_t most, uint8_t *raw)
{
    struct cpt_frame *put = calloc(1, sizeof(*put));
    size_t at = 0;
    assert_non_null(put);
    cpt_frame_begin_(put, raw, 0);
    for (size_t some = 1; at < count; some = some % most + 1) {
        size_t now = at + some < count ? some : count - at;
        size_t before = put->size;
        assert_int_equal(cpt_put_events_(put, events + at, now), now);
        assert_true(put->size - before <= now * CPT_MAX_EVENT);
        at += now;
    }
    cpt_put_end_(put);
    assert_int_equal(put->events, count);
    assert_true(put->size <= count * CPT_MAX_EVENT);
    size_t size = put->size;
    free(put);
    return size;
}

static void assert_reads_as(uint8_t *raw, size_t size, const struct cps_event *events, size_t count)
{
    struct cpt_frame *get = calloc(1, sizeof(*get));
    assert_non_null(get);
    cpt_frame_begin_(get, raw, size);
    for (size_t i = 0; i < count; i++) {
        struct cps_event event;
        assert_true(cpt_get_event_(get, &event));
        assert_memory_equal(&event, &events[i], sizeof(event));
    }
    assert_true(cpt_is_read_(get));
    free(get);
}

enum { EVENTS = 20000 };

static void assert_round_trip(const struct cps_event *events)
{
    uint8_t *raw = malloc(2 * EVENTS * CPT_MAX_EVENT);
    assert_non_null(raw);
    uint8_t *again = raw + EVENTS * CPT_MAX_EVENT;
    size_t size = put_all(events, EVENTS, 4096, raw);
    assert_int_equal(put_all(events, EVENTS, 140, again), size);
    assert_memory_equal(raw, again, size);
    assert_reads_as(raw, size, events, EVENTS);
    free(raw);
}

/* Each of them many times, so that predictions come true, too. */
static void a_frame_gives_back_kinds_subs_and_processors_that_have_no_row(void **state)
{
    struct cps_event *events = calloc(EVENTS, sizeof(*events));
    (void)state;
    assert_non_null(events);
    for (unsigned i = 0; i < EVENTS; i++)
        events[i] = i < 10000 ? any_event(i % 256) : events[i - 1 - any(40)];
    assert_round_trip(events);
    free(events);
}

/* A type-4 packet and its registers, of which any may be missing, or be another one. */
static size_t any_packet(struct cps_event *to, size_t room)
{
    uint32_t counts[] = {0, 1, 2, 3, 4, 5, 8, 126, 127};
    uint32_t values[] = {0, 1, 0xff, 0x100, 0xffff, 0x10000, UINT32_MAX};
    uint64_t bank[] = {0, 0, 0, 0, UINT64_C(1) << 32, UINT64_C(5) << 36};
    uint32_t count = counts[any(COUNT(counts))];
    uint32_t reg = any(2) ? 0x8800 + (uint32_t)any(64) : 0x3ffc0 + (uint32_t)any(64);
    uint32_t pc = any(8) ? 0xd9 : (uint32_t)any(4);
    unsigned who = any(8) ? CPS_CPU_SQE : CPS_CPU_BV;
    uint64_t base = reg + bank[any(COUNT(bank))];
    size_t at = 0;
    to[at++] = cps_event_make(CPS_EV_PKT, (unsigned)any(4), who, 0xda, 4 * any(1000),
                              cps_pm4_type4(reg, count) ^ (any(8) ? 0u : 1u << 27));
    for (uint32_t i = 0; i < count && at < room && any(200); i++)
        to[at++] = cps_event_make(CPS_EV_REG, any(100) ? 1 : 0, who, pc, base + i + !any(300),
                                  values[any(any(3) ? 2 : COUNT(values))]);
    return at;
}

static void packets_and_their_registers_come_back_however_they_come(void **state)
{
    struct cps_event *events = calloc(EVENTS, sizeof(*events));
    (void)state;
    assert_non_null(events);
    for (unsigned round = 0; round < 20; round++) {
        for (size_t at = 0; at < EVENTS;) {
            at += any_packet(events + at, EVENTS - at);
            if (at < EVENTS && !any(4))
                events[at++] = any_event((unsigned)any(20));
        }
        assert_round_trip(events);
    }
    free(events);
}

/* A stream that comes again, at another address and with another value: flags and address of its
 * first packet, a run, flags and value, and a run. */
static void a_stream_that_comes_again_takes_few_bytes(void **state)
{
    enum { ONE = 40 };
    struct cps_event events[4 * ONE];
    uint8_t raw[4 * ONE * CPT_MAX_EVENT];
    size_t size[5] = {0};
    (void)state;
    for (unsigned i = 0; i < 4 * ONE; i += 2) {
        uint32_t at = i % ONE;
        uint64_t addr = 0x1000 + 0x10000 * (i / ONE) + 4 * at;
        uint32_t value = at == 10 ? i : at;
        events[i] =
            cps_event_make(CPS_EV_PKT, 1, CPS_CPU_SQE, 7, addr, cps_pm4_type4(0x8800 + at, 1));
        events[i + 1] = cps_event_make(CPS_EV_REG, 1, CPS_CPU_SQE, 9, 0x8800 + at, value);
    }
    for (unsigned times = 1; times <= 4; times++)
        size[times] = put_all(events, (size_t)times * ONE, 4096, raw);
    assert_true(size[4] - size[3] == size[3] - size[2] && size[3] - size[2] <= 12);
    assert_reads_as(raw, size[4], events, 4 * ONE);
}

/* Runs of all lengths that are written in another way, at the end of a frame and before its end. */
static void runs_of_any_length_come_back(void **state)
{
    const size_t counts[] = {1, 2, 62, 63, 64, 65, 66, 191, 192, 193, 16448, 65534, 65535};
    struct cps_event *events = calloc(CPT_FRAME_EVENTS, sizeof(*events));
    uint8_t *raw = malloc((size_t)CPT_FRAME_EVENTS * CPT_MAX_EVENT);
    (void)state;
    assert_true(events && raw);
    for (size_t row = 0; row < COUNT(counts); row++) {
        for (size_t i = 0; i < CPT_FRAME_EVENTS; i++)
            events[i] = cps_event_make(CPS_EV_REG, 0, CPS_CPU_SQE, 3, 0x8800, i > counts[row]);
        size_t size = put_all(events, 1 + counts[row], 4096, raw);
        assert_reads_as(raw, size, events, 1 + counts[row]);
        size = put_all(events, CPT_FRAME_EVENTS, 4096, raw);
        assert_reads_as(raw, size, events, CPT_FRAME_EVENTS);
    }
    free(events);
    free(raw);
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
    const char *bytes;
    size_t size;
    bool good;
} rows[] = {
    {"a kind and a sub in a byte", "\x16\x22", 2, true},
    {"the kind 31", "\x16\x1f", 2, true},
    {"the kind 32", "\x36\x20\x00", 3, true},
    {"two numbers for what fits a byte", "\x36\x1f\x07", 3, false},
    {"the kind 255", "\x36\xff\x01\x00", 4, true},
    {"the kind 256", "\x36\x80\x02\x00", 4, false},
    {"the sub 256", "\x36\x02\x80\x02", 4, false},
    {"a wide tag beside the same one", "\x37\x20\x00", 3, false},
    {"two addresses", "\x1f", 1, false},
    {"the processor 255", "\x97\xff\x01", 3, true},
    {"the processor 256", "\x97\x80\x02", 3, false},
    {"a pc of 32 bits", "\x15\xfe\xff\xff\xff\x1f", 6, true},
    {"a pc of 33 bits", "\x15\x80\x80\x80\x80\x20", 6, false},
    {"a header of type 7", "\x06\x01\xf0\xff\x7f", 5, true},
    {"one with too many dwords", "\x06\x01\xf0\x80\x80\x01", 6, false},
    {"a header of type 4", "\x06\x01\x05\xfe\xff\x1f", 6, true},
    {"one of register 2^18", "\x06\x01\x05\x80\x80\x20", 6, false},
    {"one of register -1", "\x06\x01\x05\x01", 4, false},
    {"a header as it is", "\x06\x01\x7f\xff\xff\xff\xff\x0f", 8, true},
    {"one of 33 bits", "\x06\x01\x7f\xff\xff\xff\xff\x1f", 8, false},
    {"a tag that is cut", "\x06", 1, false},
    {"a header that is cut", "\x06\x01", 2, false},
    {"a header of type 7 that is cut", "\x06\x01\xf0", 3, false},
    {"a header of type 4 that is cut", "\x06\x01\x05", 3, false},
    {"a header as it is that is cut", "\x06\x01\x7f", 3, false},
    {"a value that is cut", "\x07", 1, false},
    {"a value of 32 bits", "\x07\xff\xff\xff\xff\x0f", 6, true},
    {"a value of 33 bits", "\x07\x80\x80\x80\x80\x10", 6, false},
    {"a run of one", "\x41", 1, true},
    {"a run whose length is cut", "\x40", 1, false},
    {"a run of more than a frame holds", "\x40\x81\x80\x04", 4, false},
    {"a run of a processor", "\xc1\x01", 2, false},
};

static void a_frame_takes_what_its_numbers_can_be(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct cpt_frame *frame = calloc(1, sizeof(*frame));
        uint8_t raw[16];
        struct cps_event event;
        assert_non_null(frame);
        memcpy(raw, rows[i].bytes, rows[i].size);
        cpt_frame_begin_(frame, raw, rows[i].size);
        bool good = cpt_get_event_(frame, &event);
        if (good != rows[i].good || (good && !cpt_is_read_(frame)))
            fail_msg("%s", rows[i].claim);
        free(frame);
    }
}

/* docs/formats.md: what is added to the address of the last event of this kind. */
static void the_next_address_is_that_of_the_kind(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 32; kind++) {
        bool one = kind == CPS_EV_REG || kind == CPS_EV_REGR || kind == CPS_EV_PIPE ||
                   kind == CPS_EV_CTRL || kind == CPS_EV_WORD;
        bool none = kind == CPS_EV_STEP || kind == CPS_EV_STEPX;
        uint64_t step = one ? 1 : none ? 0 : 4;
        /* a kind and a distance of 1, then the same kind behind it */
        uint8_t raw[] = {CPT_SAME_PC | CPT_SAME_VALUE, (uint8_t)kind, 2,
                         CPT_SAME_TAG | CPT_SAME_PC | CPT_NEXT_ADDR | CPT_SAME_VALUE};
        struct cpt_frame *frame = calloc(1, sizeof(*frame));
        struct cps_event first, second;
        assert_non_null(frame);
        cpt_frame_begin_(frame, raw, sizeof(raw));
        assert_true(cpt_get_event_(frame, &first) && cpt_get_event_(frame, &second));
        assert_true(cpt_is_read_(frame));
        assert_int_equal(cps_event_kind(&second), kind);
        if (second.addr - first.addr != step)
            fail_msg("kind %u: %d", kind, (int)(second.addr - first.addr));
        free(frame);
    }
}

/* A file that is a head and the head of a frame. @return what the reader says; to be freed */
static char *frame_of(uint32_t bytes)
{
    static const char head[] = HEAD;
    const uint32_t words[] = {CPT_FRAME, 1, bytes, 0};
    uint8_t file[32 + sizeof(head)];
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    struct cps_event event;
    size_t count = 0;
    memcpy(file, CPT_MAGIC, 8);
    cps_put_le32(file + 8, sizeof(head) - 1);
    cps_put_le32(file + 12, cpt_sum(head, sizeof(head) - 1));
    memcpy(file + 16, head, sizeof(head) - 1);
    for (size_t i = 0; i < 4; i++)
        cps_put_le32(file + 16 + sizeof(head) - 1 + 4 * i, words[i]);
    assert_null(cps_stream_open_memory("test", file, 32 + sizeof(head) - 1, &stream));
    assert_null(cps_trace_open(stream, &trace));
    struct cps_err *err = cps_trace_next(trace, &event, 1, &count);
    assert_non_null(err);
    char *said = strdup(err->message);
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return said;
}

static void a_frame_has_so_many_bytes_for_an_event(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        char *said = frame_of(65536 * 40 + more);
        if (!strstr(said, more ? "expected a frame or the index" : "this frame is corrupt"))
            fail_msg("%s", said);
        free(said);
    }
}

/* What a frame may say is more than it may hold. */
static void a_frame_ends_at_its_most_events(void **state)
{
    uint8_t raw[] = {CPT_RUN, 0x80, 0x80, 0x04, CPT_RUN | 1};
    struct cpt_frame *frame = calloc(1, sizeof(*frame));
    struct cps_event event;
    (void)state;
    assert_non_null(frame);
    cpt_frame_begin_(frame, raw, sizeof(raw));
    for (unsigned i = 0; i < CPT_FRAME_EVENTS; i++)
        assert_true(cpt_get_event_(frame, &event));
    assert_false(cpt_get_event_(frame, &event) || cpt_is_read_(frame));
    free(frame);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_record_keeps_every_number_of_its_width),
        cmocka_unit_test(a_record_has_no_padding_so_equal_events_are_equal_bytes),
        cmocka_unit_test(a_frame_gives_back_kinds_subs_and_processors_that_have_no_row),
        cmocka_unit_test(packets_and_their_registers_come_back_however_they_come),
        cmocka_unit_test(a_stream_that_comes_again_takes_few_bytes),
        cmocka_unit_test(runs_of_any_length_come_back),
        cmocka_unit_test(files_with_what_has_no_row_are_refused),
        cmocka_unit_test(the_next_address_is_that_of_the_kind),
        cmocka_unit_test(a_frame_has_so_many_bytes_for_an_event),
        cmocka_unit_test(a_frame_ends_at_its_most_events),
        cmocka_unit_test(a_frame_takes_what_its_numbers_can_be),
    };
    return cmocka_run_group_tests_name("cpt", tests, NULL, NULL);
}
