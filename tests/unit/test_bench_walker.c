/* SPDX-License-Identifier: MIT
 * The walker of `bench` and its built-in stream: the walker writes the same registers in the same
 * order as firmware does, and the stream has what its table says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tests/lib/demo_engine.h"
#include "tests/bench/stream.h"
#include "tests/bench/walker.h"
#include "tools/run/feed.h"
#include "trace/capture/capture.h"

enum { ROOM = 1 << 17, AT = 0x1000, BUFFER_WORDS = 64, SUBMISSIONS = BENCH_STREAM_LONG };
enum { CALL = 0x3f, SET_DRAW_STATE = 0x43, DRAW = 0x38, MARKER = 0x65, NOP = 0x10 };

struct gatherer {
    struct cps_item_sink sink;
    struct feed feed;
};

static struct cps_err *keep(struct cps_item_sink *sink, const struct cps_item *item)
{
    return feed_add(&((struct gatherer *)sink)->feed, item);
}

static struct feed built_in(void)
{
    CPS_BUF text = {0};
    struct cps_stream *stream = NULL;
    struct gatherer gatherer = {.sink = {keep}};
    bench_stream(BENCH_STREAM_LONG, &text);
    assert_false(text.failed);
    assert_null(cps_stream_open_memory("built-in.rd", text.data, text.size, &stream));
    assert_null(cps_capture_read(stream, NULL, &gatherer.sink));
    cps_stream_close(stream);
    return gatherer.feed;
}

static struct walker walk_all(const struct feed *feed)
{
    struct walker walker;
    assert_null(walker_init(&walker, ROOM));
    for (size_t i = 0; i < feed->count; i++)
        assert_null(walker_item(&walker, &feed->item[i]));
    assert_true(walker.records < ROOM);
    return walker;
}

/* Compares what the firmware writes for type-4 packets with the walker's records, one by one. */
struct follower {
    struct cps_sink sink;
    const struct walker *walker;
    size_t at;
    uint64_t packet;
    bool type4;
};

static void follow(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct follower *f = (struct follower *)sink;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_kind(&events[i]) == CPS_EV_PKT) {
            f->packet = events[i].addr;
            f->type4 = events[i].value >> 28 == 4;
            continue;
        }
        if (!f->type4)
            continue;
        while (f->at < f->walker->records && f->walker->record[f->at].number == WALKER_MEMORY)
            f->at++;
        assert_true(f->at < f->walker->records);
        const struct walker_record *record = &f->walker->record[f->at++];
        assert_int_equal(record->number, events[i].addr);
        assert_int_equal(record->value, events[i].value);
        assert_int_equal(record->at, f->packet);
    }
}

static void test_same_order(void **state)
{
    (void)state;
    struct feed feed = built_in();
    struct walker walker = walk_all(&feed);
    struct cps_engine *engine = booted();
    struct follower follower = {.sink = {follow}, .walker = &walker};
    cps_engine_sink(engine, &follower.sink, 1u << CPS_EV_REG | 1u << CPS_EV_PKT);
    for (size_t i = 0; i < feed.count; i++) {
        assert_null(cps_engine_feed(engine, &feed.item[i]));
        if (feed.item[i].kind == CPS_ITEM_SUBMIT)
            assert_int_equal(cps_engine_run(engine, UINT64_MAX), CPS_STOP_IDLE);
    }
    cps_engine_sink(engine, NULL, 0);
    while (follower.at < walker.records && walker.record[follower.at].number == WALKER_MEMORY)
        follower.at++;
    assert_int_equal(follower.at, walker.records);
    assert_int_equal(walker.records, walker.writes + walker.stores);
    cps_engine_destroy(engine);
    walker_deinit(&walker);
    feed_deinit(&feed);
}

/* Every packet of the table is dealt, once for each time that it says. */
static void test_mix(void **state)
{
    (void)state;
    uint64_t packets = 0;
    uint64_t writes = 0;
#define STREAM(level, count, times, draws) \
    packets += (times)*2 * (draws) + (strcmp(#level, "IB2") ? 0 : (times));
#define TYPE4(level, registers, times)            packets += (times), writes += (registers) * (times);
#define PACKET(level, opcode, dwords, times, ...) packets += (times);
#include "tests/bench/mix.def"
    struct feed feed = built_in();
    struct walker walker = walk_all(&feed);
    assert_int_equal(feed.submissions, SUBMISSIONS);
    assert_int_equal(walker.packets, SUBMISSIONS * packets);
    assert_int_equal(walker.writes, SUBMISSIONS * writes);
    walker_deinit(&walker);
    feed_deinit(&feed);
}

/* Packets of the first level in front of each call and behind the last one. @return calls */
static unsigned count_between(const struct cps_item *buffer, unsigned between[])
{
    const uint32_t words = (uint32_t)(buffer->buffer.size / 4);
    unsigned calls = 0;
    between[0] = 0;
    for (uint32_t at = 0; at < words;) {
        struct cps_pm4 packet = cps_pm4_decode(cps_le32(buffer->buffer.data + 4 * (size_t)at));
        bool call = packet.kind == CPS_PM4_TYPE7 && packet.opcode == CALL;
        assert_true(packet.kind == CPS_PM4_TYPE4 || packet.kind == CPS_PM4_TYPE7);
        at += 1 + packet.count;
        between[calls] += !call;
        if (call)
            between[++calls] = 0;
        assert_true(calls < BUFFER_WORDS);
    }
    return calls;
}

/* The calls of IB2, one for each of its streams, stand at even distances in the first level. */
static void test_distances(void **state)
{
    (void)state;
    struct feed feed = built_in();
    unsigned between[BUFFER_WORDS];
    unsigned streams = 0, first = 0;
#define STREAM(level, count, times, draws)        streams += strcmp(#level, "IB2") ? 0 : (times);
#define TYPE4(level, registers, times)            first += strcmp(#level, "IB1") ? 0 : (times);
#define PACKET(level, opcode, dwords, times, ...) first += strcmp(#level, "IB1") ? 0 : (times);
#include "tests/bench/mix.def"
    for (size_t i = 0; i < feed.count; i++) {
        const struct cps_item *submit = &feed.item[i];
        if (submit->kind != CPS_ITEM_SUBMIT)
            continue;
        size_t at = i;
        while (at && (feed.item[at].kind != CPS_ITEM_DATA ||
                      feed.item[at].buffer.iova != submit->stream.iova))
            at--;
        assert_int_equal(count_between(&feed.item[at], between), streams);
        for (unsigned k = 0; k <= streams; k++)
            assert_in_range(between[k], first / (streams + 1), first / (streams + 1) + 1);
    }
    feed_deinit(&feed);
}

/* The walker after one submission of these words. */
static struct walker walk_words(const uint32_t *words, uint32_t count)
{
    struct walker walker;
    uint8_t bytes[4 * BUFFER_WORDS];
    assert_true(count <= BUFFER_WORDS);
    for (uint32_t i = 0; i < count; i++)
        cps_put_le32(bytes + 4 * (size_t)i, words[i]);
    const struct cps_item data = {
        .kind = CPS_ITEM_DATA, .buffer = {.iova = AT, .size = 4 * (uint64_t)count, .data = bytes}};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT,
                                    .stream = {.iova = AT, .dwords = count}};
    assert_null(walker_init(&walker, ROOM));
    assert_null(walker_item(&walker, &data));
    assert_null(walker_item(&walker, &submit));
    return walker;
}
#define WALK(...)                               \
    walk_words((const uint32_t[]){__VA_ARGS__}, \
               sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void test_groups(void **state)
{
    (void)state;
    const uint32_t set = cps_pm4_type7(SET_DRAW_STATE, 3);
    const uint32_t draw = cps_pm4_type7(DRAW, 0);
    const uint32_t one = cps_pm4_type4(5, 1);
    /* A group at the end of the stream, which is skipped there by a NOP. */
    const uint32_t nop = cps_pm4_type7(NOP, 2);
    struct {
        uint32_t head;
        unsigned runs;
    } cases[] = {
        {0x00700002, 1}, {0x1f700002, 1}, {0x00400002, 1},
        {0x00300002, 0}, {0x00020002, 0}, {0x00000002, 0},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct walker w = WALK(set, cases[i].head, AT + 4 * 7, 0, draw, draw, nop, one, 0x77);
        assert_int_equal(w.writes, cases[i].runs);
        assert_int_equal(w.reg[5], cases[i].runs ? 0x77 : 0);
        walker_deinit(&w);
    }
    struct walker gmem =
        WALK(cps_pm4_type7(MARKER, 1), 4, set, 0x00200002, AT + 4 * 8, 0, draw, nop, one, 0x77);
    assert_int_equal(gmem.writes, 1);
    walker_deinit(&gmem);
    struct walker none =
        WALK(set, 0x00700002, AT + 4 * 9, 0, set, 0x00040000, 0, 0, draw, nop, one, 0x77);
    assert_int_equal(none.writes, 0);
    walker_deinit(&none);
}

/* What real hardware would hang at ends here. */
static void test_ends(void **state)
{
    (void)state;
    const uint32_t call = cps_pm4_type7(CALL, 3);
    struct walker own = WALK(call, AT, 0, 4, call, AT, 0, 8);
    assert_true(own.packets > 2 && own.packets < 100);
    walker_deinit(&own);
    struct walker cut = WALK(cps_pm4_type4(5, 3), 1);
    assert_int_equal(cut.writes, 1);
    walker_deinit(&cut);
    struct walker nowhere = WALK(call, 0x900000, 0, 4, 0, 0xffffffff);
    assert_int_equal(nowhere.packets, 1);
    walker_deinit(&nowhere);
    struct walker beyond = WALK(call, AT + 16, 0, 0xfffff, cps_pm4_type4(0x3ffff, 2), 1, 2);
    assert_int_equal(beyond.writes, 4);
    assert_int_equal(beyond.reg[0], 2);
    walker_deinit(&beyond);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_order), cmocka_unit_test(test_mix),
        cmocka_unit_test(test_distances),  cmocka_unit_test(test_groups),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
