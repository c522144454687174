/* SPDX-License-Identifier: MIT
 * CP_ROQ against the streams that the emulated processor reads: what it has consumed of each
 * level's current fetch, the rest of it, and the fetches that wait behind it. Fetches are stored in
 * granules of 4 dwords at both ends (H: a630). */
#include "emu/afuc/afuc.h"
#include "tools/run/replay.h"

enum { GRANULE = 16 };

/* One level of the emulated processor beside its region. */
struct level {
    struct replay *r;
    uint32_t level;
    const struct cps_afuc *machine;
    struct cps_position now;
    unsigned fetches;
    uint32_t rest;   /* dwords of the last fetch that did not come yet */
    bool rest_known; /* registers are about that fetch */
};

const char *fetched_level(uint32_t level)
{
    static const char *const names[] = {"ring", "ib1", "ib2", "sds"};
    return names[level & 3];
}

unsigned fetched_count(const struct replay *r, uint32_t level)
{
    const struct cps_afuc *machine = cps_afuc_of(r->play->engine);
    unsigned count = 0;
    while (cps_afuc_queued(machine, 0, hang_event_level(level), count).active)
        count++;
    return count;
}

static bool begin(const struct replay *r, uint32_t number, struct level *ret)
{
    struct roq_fetch newest;
    const struct cps_afuc *machine = cps_afuc_of(r->play->engine);
    unsigned level = hang_event_level(number);
    *ret = (struct level){.r = (struct replay *)r, .level = number, .machine = machine};
    ret->now = cps_afuc_position(machine, 0, level);
    if (!number || !r->roq.queue[roq_of_level(number)].known || !ret->now.active ||
        !ret->now.dwords)
        return false;
    ret->fetches = fetched_count(r, number);
    struct cps_position last = cps_afuc_queued(machine, 0, level, ret->fetches - 1);
    bool same = roq_fetch(r->dump, number, &newest) && newest.iova == last.iova &&
                newest.dwords == last.dwords;
    ret->rest_known = same && newest.rest <= last.dwords;
    ret->rest = ret->rest_known ? newest.rest : 0;
    return true;
}

static struct cps_position fetch_of(const struct level *l, unsigned index)
{
    return cps_afuc_queued(l->machine, 0, hang_event_level(l->level), index);
}

static uint64_t begin_of(const struct level *l, unsigned index)
{
    struct cps_position fetch = fetch_of(l, index);
    return index ? (fetch.iova / GRANULE * GRANULE) : fetch.iova + 4 * (uint64_t)fetch.consumed;
}

static uint64_t end_of(const struct level *l, unsigned index)
{
    /* Behind the last word that was fetched; of the last fetch, some words may not have come. */
    struct cps_position fetch = fetch_of(l, index);
    uint32_t rest = index + 1 == l->fetches ? l->rest : 0;
    uint64_t end = fetch.iova + 4 * (uint64_t)(fetch.dwords - rest);
    return (end + GRANULE - 1) / GRANULE * GRANULE;
}

static int64_t more_waiting(const struct level *l)
{
    int64_t expected = 0;
    for (unsigned i = 0; i < l->fetches; i++)
        expected += ((int64_t)end_of(l, i) - (int64_t)begin_of(l, i)) / 4;
    return (int64_t)roq_waiting(&l->r->roq.queue[roq_of_level(l->level)]) - expected;
}

/* The position stays on the last word of a fetch until its end mark is popped (H: one case). */
static bool stays_on_last(const struct level *l)
{
    return l->now.consumed == l->now.dwords && more_waiting(l) == 1;
}

bool fetched_ahead(const struct replay *r, uint32_t number, int64_t *ret)
{
    struct level l;
    if (!begin(r, number, &l))
        return false;
    *ret = stays_on_last(&l) ? 0 : more_waiting(&l);
    int64_t consumed = (int64_t)l.now.consumed - *ret; /* of the stream by the hardware */
    return (l.rest_known || !*ret) && consumed >= 0 && consumed <= (int64_t)l.now.dwords;
}

static void compare_word(const struct level *l, uint64_t iova, int64_t distance)
{
    uint64_t word = 0;
    uint32_t hardware = roq_word(&l->r->roq, roq_of_level(l->level), distance);
    bool known =
        cps_engine_get(l->r->play->engine, (struct cps_location){0, CPS_FILE_MEMORY, iova}, &word);
    enum replay_verdict verdict = !known                       ? REPLAY_NO_VALUE
                                  : hardware == (uint32_t)word ? REPLAY_EQUAL
                                                               : REPLAY_DIFFERENT;
    rows_add(&l->r->rows, REPLAY_ROQ, verdict, hardware, (uint32_t)word,
             known ? NULL : "the dump lacks the stream", "%s[%+lld]", fetched_level(l->level),
             (long long)distance);
}

static void compare_level(const struct level *l, int64_t skew)
{
    const struct roq_queue *queue = &l->r->roq.queue[roq_of_level(l->level)];
    int64_t waiting = roq_waiting(queue);
    int64_t history = queue->size - waiting;
    int64_t distance = -(int64_t)l->now.consumed + skew;
    for (uint32_t i = 0; i < l->now.consumed; i++, distance++) {
        if (-distance <= history)
            compare_word(l, l->now.iova + 4 * (uint64_t)i, distance);
    }
    for (unsigned i = 0; i < l->fetches; i++) {
        for (uint64_t at = begin_of(l, i); at < end_of(l, i) && distance < waiting; at += 4)
            compare_word(l, at, distance++);
    }
}

void compare_fetched(struct replay *r)
{
    for (uint32_t number = 1; number <= 3; number++) {
        struct level l;
        if (begin(r, number, &l))
            compare_level(&l, stays_on_last(&l));
    }
}
