/* SPDX-License-Identifier: MIT
 * A machine that is fed with items that were read before, and the walker on the same ones: nothing
 * is read, inflated, hashed or written. */
#include "tests/bench/bench.h"

#include <inttypes.h>

/* A round is to take two tenths of a second and more, and its files must have room. */
#define MOST_COPIES_PACKETS 2000000u
#define MOST_COPIES_BYTES   (UINT64_C(48) << 20)
#define RECORDS             4096u

static void drop(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    (void)sink;
    (void)events;
    (void)count;
}

/* Copies have nothing to do with each other, also of captures that never say so. */
static const struct cps_item reset = {.kind = CPS_ITEM_RESET};

static struct cps_err *play_copy(struct bench *b)
{
    CPS_TRY(play_item(&b->play, &reset));
    for (size_t i = 0; i < b->feed.count; i++)
        CPS_TRY(play_item(&b->play, &b->feed.item[i]));
    return NULL;
}

static struct cps_err *walk_copy(struct bench *b)
{
    CPS_TRY(walker_item(&b->walker, &reset));
    for (size_t i = 0; i < b->feed.count; i++)
        CPS_TRY(walker_item(&b->walker, &b->feed.item[i]));
    return NULL;
}

/* Most bytes that buffers of one submission have. */
static void measure_live(struct bench *b)
{
    uint64_t now = 0;
    for (size_t i = 0; i < b->feed.count; i++) {
        const struct cps_item *item = &b->feed.item[i];
        now = item->kind == CPS_ITEM_RESET ? 0 : now;
        now += item->kind == CPS_ITEM_DATA ? item->buffer.size : 0;
        b->bytes += item->kind == CPS_ITEM_DATA ? item->buffer.size : 0;
        b->live = now > b->live ? now : b->live;
    }
}

static struct cps_err *check_end(struct bench *b)
{
    const char *name = b->capture[0] ? b->capture : "the built-in stream";
    if (b->play.stopped)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: the firmware %s stops before its end, expected one of its GPU "
                           "(--fw) that runs it whole",
                           name, b->play.fw->name);
    if (!b->play.executed)
        return cps_err_new(CPS_ERR_INPUT, "%s: expected a capture with a stream that it holds",
                           name);
    return NULL;
}

/* A second copy finds the caches of the first, and leaves out the boot. */
static struct cps_err *count_copy(struct bench *b)
{
    const struct cps_tap *tap = &b->play.engine->tap;
    CPS_TRY(play_copy(b));
    CPS_TRY(check_end(b));
    uint64_t instructions = b->play.engine->instructions;
    uint64_t packets = tap->count[CPS_EV_PKT];
    uint64_t writes = tap->count[CPS_EV_REG];
    CPS_TRY(play_copy(b));
    CPS_TRY(walk_copy(b));
    b->count[BENCH_INSTRUCTIONS] = (double)(b->play.engine->instructions - instructions);
    b->count[BENCH_PACKETS] = (double)(tap->count[CPS_EV_PKT] - packets);
    b->count[BENCH_WRITES] = (double)(tap->count[CPS_EV_REG] - writes);
    b->count[BENCH_WALKER_PACKETS] = (double)b->walker.packets;
    b->count[BENCH_WALKER_WRITES] = (double)b->walker.writes;
    return check_end(b);
}

struct cps_err *bench_count_work(struct bench *b)
{
    CPS_TRY(play_open(&b->play, &b->with.run, NULL));
    CPS_TRY(walker_init(&b->walker, RECORDS));
    play_boot(&b->play);
    CPS_TRY(cps_engine_clone(b->play.engine, &b->booted));
    measure_live(b);
    CPS_TRY(count_copy(b));
    uint64_t packets = (uint64_t)b->count[BENCH_PACKETS];
    uint64_t room = MOST_COPIES_BYTES / (b->bytes + 1) + 1;
    b->copies = MOST_COPIES_PACKETS / (packets + 1) + 1;
    b->copies = b->copies < room ? b->copies : room;
    for (unsigned i = BENCH_INSTRUCTIONS; i <= BENCH_WALKER_WRITES; i++)
        b->count[i] *= (double)b->copies;
    return NULL;
}

/* CPU seconds that all copies take; 0 if one fails. */
static double measure(struct bench *b, struct cps_err *(*copy)(struct bench *b))
{
    struct cps_err *err = NULL;
    double start = bench_cpu();
    for (uint64_t i = 0; !err && i < b->copies; i++)
        err = copy(b);
    double seconds = bench_cpu() - start;
    bool failed = err || b->play.stopped;
    cps_err_free(err);
    return failed ? 0 : seconds;
}

double bench_memory(struct bench *b)
{
    play_watch(&b->play);
    return measure(b, play_copy);
}

double bench_memory_kept(struct bench *b)
{
    struct cps_sink sink = {drop};
    cps_engine_sink(b->play.engine, &sink, 1u << CPS_EV_REG);
    double seconds = measure(b, play_copy);
    play_watch(&b->play);
    return seconds;
}

double bench_walker(struct bench *b)
{
    return measure(b, walk_copy);
}
