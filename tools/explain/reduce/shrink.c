/* SPDX-License-Identifier: MIT
 * Moves together what a search has left: streams lose the room of what is gone and the words after
 * the last packet that runs, buffers lose unread words. Each change is kept if the job still ends
 * the same way, else undone. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

/* Unused words between two that are used, up to which both stay one buffer. */
#define GAP 8

/* One attempt: a copy of the job, its streams, and where their words go. */
struct attempt {
    struct job job;
    struct pm4_walk streams;
    uint32_t **moved; /* per item, of each word */
    size_t items;     /* of these */
    bool cut;         /* after the last packet that ran */
};

static uint32_t words_of(const struct cps_item *item)
{
    return item->kind == CPS_ITEM_DATA ? (uint32_t)(item->buffer.size / 4) : 0;
}

static uint32_t word(const struct attempt *a, size_t item, uint32_t at)
{
    return pm4_word_(&a->job.item[item], at);
}

static void move(struct attempt *a, size_t item, uint32_t from, uint32_t *to)
{
    a->moved[item][from] = *to;
    cps_put_le32(job_bytes(&a->job, item, (*to)++), word(a, item, from));
}

/* Groups that are disabled and lead nowhere go: those that a search has left out. */
static void move_groups(struct attempt *a, size_t item, uint32_t from, uint32_t length,
                        uint32_t *to)
{
    uint32_t header = (*to)++;
    for (uint32_t i = 1; i < length; i += 3) {
        bool whole = i + 3 <= length;
        uint32_t head = word(a, item, from + i);
        if (whole && (head & PM4_GROUP_DISABLE) && !(head & PM4_GROUP_SIZE) &&
            !word(a, item, from + i + 1) && !word(a, item, from + i + 2))
            continue;
        for (uint32_t k = i; k < i + 3 && k < length; k++)
            move(a, item, from + k, to);
    }
    cps_put_le32(job_bytes(&a->job, item, header),
                 cps_pm4_type7(PM4_CP_SET_DRAW_STATE, *to - header - 1));
}

static bool is_nop(const struct cps_item *load, uint32_t at)
{
    struct cps_pm4 packet = cps_pm4_decode(pm4_word_(load, at));
    return packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_NOP;
}

static void move_packet(struct attempt *a, size_t item, uint32_t from, uint32_t length,
                        uint32_t *to)
{
    struct cps_pm4 packet = cps_pm4_decode(word(a, item, from));
    if (is_nop(&a->job.item[item], from))
        return;
    if (packet.kind == CPS_PM4_TYPE7 && packet.opcode == PM4_CP_SET_DRAW_STATE) {
        move_groups(a, item, from, length, to);
        return;
    }
    for (uint32_t i = 0; i < length; i++)
        move(a, item, from + i, to);
}

/* After the last packet of a stream, but for CP_NOPs, that ran; its end if none did. */
static uint32_t end_of(const struct attempt *a, const struct pm4_stream *stream,
                       const struct walk *walk)
{
    uint32_t end = stream->at + stream->dwords;
    for (uint32_t at = end; a->cut && at > stream->at; at--) {
        if (!(walk->mark[stream->item][at - 1] & WALK_SEEN) ||
            is_nop(&a->job.item[stream->item], at - 1))
            continue;
        uint32_t length = pm4_length_(&a->job.item[stream->item], at - 1, end);
        return at - 1 + (length ? length : 1);
    }
    return end;
}

static void squeeze(struct attempt *a, struct pm4_stream *stream, const struct walk *walk)
{
    uint32_t end = end_of(a, stream, walk);
    uint32_t to = stream->at;
    uint32_t length = 0;
    for (uint32_t at = stream->at; at < end; at += length) {
        length = pm4_length_(&a->job.item[stream->item], at, end);
        if (length) {
            move_packet(a, stream->item, at, length, &to);
            continue;
        }
        for (length = 0; at + length < end; length++)
            move(a, stream->item, at + length, &to);
    }
    if (to == stream->at)
        cps_put_le32(job_bytes(&a->job, stream->item, to++), cps_pm4_type7(PM4_CP_NOP, 0));
    stream->dwords = to - stream->at;
}

/* Lets what names a stream have its new size. */
static void update(struct attempt *a, const struct pm4_ref *ref)
{
    uint32_t dwords = a->streams.stream[ref->stream].dwords;
    struct cps_item *item = &a->job.item[ref->item];
    if (ref->kind == PM4_REF_SUBMIT) {
        item->stream.dwords = dwords;
    } else if (ref->kind == PM4_REF_RING) {
        item->ring.wptr = item->ring.rptr + dwords;
    } else {
        uint32_t mask = ref->kind == PM4_REF_IB ? PM4_IB_SIZE : PM4_GROUP_SIZE;
        uint32_t at = a->moved[ref->item][ref->at];
        cps_put_le32(job_bytes(&a->job, ref->item, at), (word(a, ref->item, at) & ~mask) | dwords);
    }
}

/* Makes @p a of @p from. @return false: streams share words, so that none can move by itself */
static bool compact(struct attempt *a, const struct job *from, const struct walk *walk)
{
    bool apart = true;
    job_copy(&a->job, from);
    cps_err_free(tool_err(pm4_walk_(a->job.item, a->job.count, &a->streams)));
    a->items = a->job.count;
    a->moved = tool_alloc(a->items, sizeof(*a->moved));
    for (size_t i = 0; i < a->items; i++)
        a->moved[i] = tool_alloc(words_of(&a->job.item[i]), sizeof(**a->moved));
    for (size_t i = 0; i < a->streams.streams; i++) {
        const struct pm4_stream *stream = &a->streams.stream[i];
        for (uint32_t k = 0; k < stream->dwords; k++)
            apart &= !a->moved[stream->item][stream->at + k]++;
    }
    for (size_t i = 0; i < a->items; i++) {
        for (uint32_t k = 0; k < words_of(&a->job.item[i]); k++)
            a->moved[i][k] = k;
    }
    for (size_t i = 0; i < a->streams.streams && apart; i++)
        squeeze(a, &a->streams.stream[i], walk);
    for (size_t i = 0; i < a->streams.refs && apart; i++)
        update(a, &a->streams.ref[i]);
    return apart;
}

static struct cps_err *try_compact(struct reduce *r, const struct walk *walk, bool cut, bool *ret)
{
    struct attempt a = {.cut = cut};
    struct cps_err *err = NULL;
    *ret = compact(&a, &r->job, walk);
    if (*ret)
        err = reduce_accept(r, &a.job, ret);
    for (size_t i = 0; i < a.items; i++)
        free(a.moved[i]);
    free(a.moved);
    pm4_walk_deinit_(&a.streams);
    job_deinit(&a.job);
    return err;
}

/* Flags the words of an item that a stream has, or that the run read. */
static void mark_item(const struct job *job, size_t item, const struct pm4_walk *streams,
                      const struct walk *walk, bool *used)
{
    uint32_t count = words_of(&job->item[item]);
    for (size_t i = 0; i < streams->streams; i++) {
        const struct pm4_stream *stream = &streams->stream[i];
        if (stream->item == item)
            memset(used + stream->at, true, stream->dwords);
    }
    for (uint32_t at = 0; at < count; at++) {
        uint8_t bits = walk->mark[item][at];
        uint32_t length = bits & WALK_SEEN ? pm4_length_(&job->item[item], at, count) : 0;
        if (bits)
            memset(used + at, true, length ? length : 1);
    }
}

static void add_used(const struct cps_item *item, const bool *used, struct feed *feed)
{
    uint32_t count = words_of(item);
    for (uint32_t at = 0; at < count; at++) {
        uint32_t end = at;
        for (uint32_t i = at; i < count && i <= end + GAP && used[at]; i++)
            end = used[i] ? i : end;
        struct cps_item part = *item;
        part.buffer.iova += 4 * (uint64_t)at;
        part.buffer.data += 4 * (size_t)at;
        part.buffer.size = 4 * ((uint64_t)end - at + 1);
        if (!used[at])
            continue;
        job_list(feed, &part);
        at = end;
    }
}

/* Contents without words that are never read. */
static struct cps_err *trim(struct reduce *r, const struct walk *walk)
{
    struct feed feed = {0};
    struct pm4_walk streams = {0};
    struct job job;
    bool same = false;
    cps_err_free(tool_err(pm4_walk_(r->job.item, r->job.count, &streams)));
    for (size_t i = 0; i < r->job.count; i++) {
        const struct cps_item *item = &r->job.item[i];
        if (item->kind != CPS_ITEM_DATA) {
            job_list(&feed, item);
            continue;
        }
        CPS_FREE bool *used = tool_alloc(words_of(item), sizeof(*used));
        mark_item(&r->job, i, &streams, walk, used);
        add_used(item, used, &feed);
    }
    job_init(&job, &feed);
    struct cps_err *err = reduce_accept(r, &job, &same);
    pm4_walk_deinit_(&streams);
    job_deinit(&job);
    return err;
}

/* Runs the job to learn what it executes and reads, then does @p with it. */
static struct cps_err *with_walk(struct reduce *r,
                                 struct cps_err *(*with)(struct reduce *, const struct walk *))
{
    struct walk walk;
    struct ending ending;
    struct cps_err *err = walk_run(&r->runner, &r->job, &walk, &ending);
    r->ran++;
    if (!err)
        err = with(r, &walk);
    ending_deinit(&ending);
    walk_deinit(&walk);
    return err;
}

static struct cps_err *compact_as_far(struct reduce *r, const struct walk *walk)
{
    bool done = false;
    CPS_TRY(try_compact(r, walk, true, &done));
    return done ? NULL : try_compact(r, walk, false, &done);
}

static struct cps_err *count_after(struct reduce *r, const struct walk *walk)
{
    r->after = walk->count;
    return NULL;
}

struct cps_err *reduce_shrink(struct reduce *r)
{
    job_compact(&r->job);     /* from here on items of the job and of its view are the same */
    r->runner.place.iova = 0; /* its packet may move */
    CPS_TRY(with_walk(r, compact_as_far));
    CPS_TRY(with_walk(r, trim));
    return with_walk(r, count_after);
}
