/* SPDX-License-Identifier: MIT
 * A job whose parts can be left out, and which of them a run executed. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

uint8_t *job_bytes(const struct job *job, size_t item, uint32_t at)
{
    return (uint8_t *)job->item[item].buffer.data + 4 * (size_t)at;
}

/* Appends the item, and contents that follow it: readers give long buffers in pieces, and PM4 text
 * packet by packet. @return how many items it was */
static size_t add(struct job *job, const struct cps_item *item, size_t left)
{
    struct cps_item joined = *item;
    size_t count = 1;
    for (; item->kind == CPS_ITEM_DATA && count < left && item[count].kind == CPS_ITEM_DATA &&
           item[count].buffer.iova == joined.buffer.iova + joined.buffer.size;
         count++)
        joined.buffer.size += item[count].buffer.size;
    if (item->kind == CPS_ITEM_DATA) {
        uint8_t *to = tool_alloc((size_t)joined.buffer.size + 1, 1);
        joined.buffer.data = to;
        for (size_t i = 0; i < count; to += item[i++].buffer.size)
            memcpy(to, item[i].buffer.data, (size_t)item[i].buffer.size);
    }
    TOOL_ROOM(job->item, job->count);
    job->item[job->count++] = joined;
    return count;
}

void job_init(struct job *job, struct feed *feed)
{
    *job = (struct job){0};
    for (size_t i = 0; i < feed->count;)
        i += add(job, &feed->item[i], feed->count - i);
    feed_deinit(feed);
    job->gone = tool_alloc(job->count, sizeof(*job->gone));
}

void job_copy(struct job *job, const struct job *from)
{
    *job = (struct job){0};
    for (size_t i = 0; i < from->count; i++)
        add(job, &from->item[i], 1);
    job->gone = tool_alloc(job->count, sizeof(*job->gone));
    memcpy(job->gone, from->gone, job->count * sizeof(*job->gone));
}

void job_compact(struct job *job)
{
    size_t kept = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (!job->gone[i])
            job->item[kept++] = job->item[i];
        else if (job->item[i].kind == CPS_ITEM_DATA)
            free((void *)job->item[i].buffer.data);
    }
    job->count = kept;
    memset(job->gone, false, kept * sizeof(*job->gone));
}

void job_swap(struct job *a, struct job *b)
{
    struct job other = *a;
    *a = *b;
    *b = other;
}

bool job_has(const struct job *job, enum cps_item_kind kind)
{
    bool found = false;
    for (size_t i = 0; i < job->count; i++)
        found |= job->item[i].kind == kind;
    return found;
}

void job_deinit(struct job *job)
{
    for (size_t i = 0; i < job->count; i++) {
        if (job->item[i].kind == CPS_ITEM_DATA)
            free((void *)job->item[i].buffer.data);
    }
    free(job->item);
    free(job->gone);
    free(job->view);
    free(job->origin);
    *job = (struct job){0};
}

void job_list(struct feed *feed, const struct cps_item *item)
{
    cps_err_free(tool_err(feed_add_shared(feed, item)));
}

/* Spreads a number over 64 bits (SplitMix64). */
static uint64_t mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void job_key_add(struct drop_key *key, const struct drop *drop)
{
    uint64_t place = (uint64_t)drop->item << 32 | drop->at;
    key->low += mix(mix(place) + drop->kind);
    key->high += mix(~mix(place ^ UINT64_C(0x5851f42d4c957f2d)) - drop->kind);
}

void job_drop(struct job *job, const struct drop *drop)
{
    if (drop->kind == DROP_ITEM) {
        job->gone[drop->item] = true;
        return;
    }
    uint8_t *bytes = job_bytes(job, drop->item, drop->at);
    uint32_t head = cps_le32(bytes);
    if (drop->kind == DROP_PACKET) {
        cps_put_le32(bytes, cps_pm4_type7(PM4_CP_NOP, cps_pm4_decode(head).count));
        return;
    }
    cps_put_le32(bytes, (head & PM4_GROUP_ID) | PM4_GROUP_DISABLE);
    memset(bytes + 4, 0, 8);
}

void job_restore(struct job *job, const struct job *from, const struct drop *drop)
{
    if (drop->kind == DROP_ITEM)
        job->gone[drop->item] = from->gone[drop->item];
    else
        memcpy(job_bytes(job, drop->item, drop->at), job_bytes(from, drop->item, drop->at),
               drop->kind == DROP_GROUP ? 12 : 4);
}

void job_view(struct job *job)
{
    if (!job->view) {
        job->view = tool_alloc(job->count, sizeof(*job->view));
        job->origin = tool_alloc(job->count, sizeof(*job->origin));
    }
    job->views = 0;
    for (size_t i = 0; i < job->count; i++) {
        if (job->gone[i])
            continue;
        job->origin[job->views] = (uint32_t)i;
        job->view[job->views++] = job->item[i];
    }
}

/* ---- What a run executed ---- */

struct walker {
    struct walk *walk;
    const struct job *job;
    size_t *acts; /* submissions, as items of the view */
    size_t act_count;
    size_t act; /* the submission that runs, or the ring */
};

static void add_drop(struct walker *w, unsigned list, enum drop_kind kind, size_t view, uint32_t at)
{
    struct drops *drops = &w->walk->drops[list];
    TOOL_ROOM(drops->list, drops->count);
    drops->list[drops->count++] = (struct drop){kind, w->job->origin[view], at};
}

/* Also those that have no words: only one that is as job_drop() leaves it has nothing to lose. */
static void add_groups(struct walker *w, size_t view, uint32_t at, uint32_t count)
{
    const struct cps_item *load = &w->job->view[view];
    for (uint32_t i = 1; i + 2 <= count; i += 3) {
        uint32_t head = pm4_word_(load, at + i);
        uint32_t address = pm4_word_(load, at + i + 1) | pm4_word_(load, at + i + 2);
        if (!address && (head & ~(uint32_t)PM4_GROUP_ID) == PM4_GROUP_DISABLE)
            continue;
        w->walk->count.groups += !(head & PM4_GROUP_DISABLE) && (head & PM4_GROUP_SIZE);
        add_drop(w, WALK_GROUPS, DROP_GROUP, view, at + i);
    }
}

static void add_packet(struct walker *w, unsigned level, size_t view, uint32_t at)
{
    const struct cps_item *load = &w->job->view[view];
    uint64_t left = load->buffer.size / 4 - at;
    struct cps_pm4 packet = cps_pm4_decode(pm4_word_(load, at));
    bool type7 = packet.kind == CPS_PM4_TYPE7;
    if (type7 && packet.opcode == PM4_CP_NOP)
        return;
    w->walk->count.packets++;
    if (packet.kind == CPS_PM4_BAD)
        return; /* how long it would be is not known */
    bool is_call = type7 && pm4_is_call_(packet.opcode) && packet.count >= 3 && left > 3;
    w->walk->count.calls += is_call;
    if (type7 && packet.opcode == PM4_CP_SET_DRAW_STATE && packet.count < left)
        add_groups(w, view, at, packet.count);
    add_drop(w, is_call ? level : WALK_PACKETS, DROP_PACKET, view, at);
}

/* The mark of the word that a place in memory has come from; NULL: it is of no item. */
static uint8_t *find_mark(const struct walker *w, uint64_t iova, size_t *view, uint32_t *at)
{
    *view = pm4_load_at_(w->job->view, w->act, iova, 4);
    if (*view == SIZE_MAX || (iova - w->job->view[*view].buffer.iova) % 4)
        return NULL;
    *at = (uint32_t)((iova - w->job->view[*view].buffer.iova) / 4);
    return &w->walk->mark[*view][*at];
}

static void take(struct walker *w, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    unsigned level = cps_event_sub(event);
    size_t view = 0;
    uint32_t at = 0;
    if (kind == CPS_EV_SUBMIT) {
        w->act = event->value < w->act_count ? w->acts[event->value] : w->act;
        w->walk->count.submissions++;
    } else if (kind == CPS_EV_PKT && level < CPS_LEVEL_INT) {
        uint8_t *mark = find_mark(w, event->addr, &view, &at);
        if (!mark || *mark & WALK_SEEN || pm4_word_(&w->job->view[view], at) != event->value)
            return;
        *mark |= WALK_SEEN;
        add_packet(w, level, view, at);
    } else if (kind == CPS_EV_MEMR) {
        uint8_t *mark = find_mark(w, event->addr & ~UINT64_C(3), &view, &at);
        if (mark)
            *mark |= WALK_READ;
    }
}

struct cps_err *walk_run(struct runner *runner, struct job *job, struct walk *ret,
                         struct ending *ending)
{
    const struct record *record = &runner->side[0].record;
    struct walker w = {.walk = ret, .job = job};
    *ret = (struct walk){.items = job->count};
    ret->mark = tool_alloc(job->count, sizeof(*ret->mark));
    CPS_TRY(runner_run(runner, job, 1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_MEMR,
                       ending));
    w.acts = tool_alloc(job->views, sizeof(*w.acts));
    for (size_t i = 0; i < job->views; i++) {
        const struct cps_item *item = &job->view[i];
        if (item->kind == CPS_ITEM_SUBMIT)
            w.acts[w.act_count++] = i;
        else if (item->kind == CPS_ITEM_RING)
            w.act = i;
        else if (item->kind == CPS_ITEM_DATA)
            ret->mark[i] = tool_alloc((size_t)item->buffer.size / 4 + 1, 1);
    }
    for (size_t i = 0; i < record->count; i++)
        take(&w, &record->event[i]);
    free(w.acts);
    return NULL;
}

void walk_deinit(struct walk *walk)
{
    for (unsigned i = 0; i < WALK_KINDS; i++)
        free(walk->drops[i].list);
    for (size_t i = 0; i < walk->items; i++)
        free(walk->mark[i]);
    free(walk->mark);
}
