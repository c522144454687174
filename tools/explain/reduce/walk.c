/* SPDX-License-Identifier: MIT
 * What a run executed, as things that can be left out. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "trace/capture/pm4walk.h"

struct walker {
    struct walk *walk;
    const struct job *job;
    size_t *acts; /* items of the view that make packets run: submissions, by their index */
    size_t act_count;
    size_t act; /* the one that runs */
};

bool walk_bit(uint8_t *const *bits, size_t item, uint32_t at)
{
    return bits[item] && (bits[item][at / 8] >> at % 8 & 1);
}

/* @p ret  it was not set before */
static struct cps_err *set_bit(const struct walker *w, uint8_t **bits, size_t item, uint32_t at,
                               bool *ret)
{
    if (!bits[item])
        bits[item] = calloc(1, (size_t)(w->job->view[item].buffer.size / 32) + 1);
    if (!bits[item])
        return cps_err_nomem();
    *ret = !walk_bit(bits, item, at);
    bits[item][at / 8] |= (uint8_t)(1 << at % 8);
    return NULL;
}

static struct cps_err *add(struct drops *drops, enum drop_kind kind, uint32_t item, uint32_t at)
{
    if (!CPS_LIST_ROOM(drops->list, drops->count))
        return cps_err_nomem();
    drops->list[drops->count++] = (struct drop){kind, item, at};
    return NULL;
}

/* Also those that have no words: only one that is as job_drop() leaves it has nothing to lose. */
static struct cps_err *add_groups(struct walker *w, size_t view, uint32_t at, uint32_t count)
{
    const struct cps_item *load = &w->job->view[view];
    for (uint32_t i = 1; i + 2 <= count; i += 3) {
        uint32_t head = pm4_word_(load, at + i);
        uint32_t address = pm4_word_(load, at + i + 1) | pm4_word_(load, at + i + 2);
        if (!address && (head & ~(uint32_t)PM4_GROUP_ID) == PM4_GROUP_DISABLE)
            continue;
        w->walk->count.groups += !(head & PM4_GROUP_DISABLE) && (head & PM4_GROUP_SIZE);
        CPS_TRY(add(&w->walk->groups, DROP_GROUP, w->job->origin[view], at + i));
    }
    return NULL;
}

static struct cps_err *add_packet(struct walker *w, unsigned level, size_t view, uint32_t at)
{
    const struct cps_item *load = &w->job->view[view];
    struct walk *walk = w->walk;
    uint32_t item = w->job->origin[view];
    struct cps_pm4 packet = cps_pm4_decode(pm4_word_(load, at));
    bool type7 = packet.kind == CPS_PM4_TYPE7;
    if (type7 && packet.opcode == PM4_CP_NOP)
        return NULL;
    walk->count.packets++;
    if (packet.kind == CPS_PM4_BAD)
        return NULL; /* how long it would be is not known */
    if (type7 && pm4_is_call_(packet.opcode) && packet.count >= 3 &&
        load->buffer.size / 4 - at > 3) {
        walk->count.calls++;
        return add(&walk->calls[level], DROP_PACKET, item, at);
    }
    if (type7 && packet.opcode == PM4_CP_SET_DRAW_STATE &&
        packet.count < load->buffer.size / 4 - at)
        CPS_TRY(add_groups(w, view, at, packet.count));
    return add(&walk->packets, DROP_PACKET, item, at);
}

/* The word of the view that a place in memory has come from; false: of none. */
static bool source_of(const struct walker *w, uint64_t iova, size_t *view, uint32_t *at)
{
    *view = pm4_load_at_(w->job->view, w->act, iova, 4);
    if (*view == SIZE_MAX || (iova - w->job->view[*view].buffer.iova) % 4)
        return false;
    *at = (uint32_t)((iova - w->job->view[*view].buffer.iova) / 4);
    return true;
}

static struct cps_err *take_packet(struct walker *w, const struct cps_event *event)
{
    unsigned level = cps_event_sub(event);
    size_t view = 0;
    uint32_t at = 0;
    bool new = false;
    if (level >= CPS_LEVEL_INT || !source_of(w, event->addr, &view, &at) ||
        pm4_word_(&w->job->view[view], at) != event->value)
        return NULL;
    CPS_TRY(set_bit(w, w->walk->seen, view, at, &new));
    return new ? add_packet(w, level, view, at) : NULL;
}

static struct cps_err *take_read(struct walker *w, const struct cps_event *event)
{
    size_t view = 0;
    uint32_t at = 0;
    bool new = false;
    if (!source_of(w, event->addr & ~UINT64_C(3), &view, &at))
        return NULL;
    return set_bit(w, w->walk->read, view, at, &new);
}

static struct cps_err *take(struct walker *w, const struct cps_event *event)
{
    switch (cps_event_kind(event)) {
    case CPS_EV_SUBMIT:
        w->act = event->value < w->act_count ? w->acts[event->value] : w->act;
        w->walk->count.submissions++;
        return NULL;
    case CPS_EV_PKT:
        return take_packet(w, event);
    case CPS_EV_MEMR:
        return take_read(w, event);
    default:
        return NULL;
    }
}

static void find_acts(struct walker *w)
{
    for (size_t i = 0; i < w->job->views; i++) {
        if (w->job->view[i].kind == CPS_ITEM_SUBMIT)
            w->acts[w->act_count++] = i;
        if (w->job->view[i].kind == CPS_ITEM_RING)
            w->act = i;
    }
}

static struct cps_err *take_all(struct walker *w, const struct record *record)
{
    find_acts(w);
    for (size_t i = 0; i < record->count; i++)
        CPS_TRY(take(w, &record->event[i]));
    return NULL;
}

struct cps_err *walk_run(struct runner *runner, struct job *job, struct walk *ret,
                         struct ending *ending)
{
    uint32_t events = 1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_MEMR;
    struct walker w = {.walk = ret, .job = job};
    *ret = (struct walk){.items = job->count};
    *ending = (struct ending){{0}, {0}};
    ret->seen = calloc(job->count + 1, sizeof(*ret->seen));
    ret->read = calloc(job->count + 1, sizeof(*ret->read));
    if (!ret->seen || !ret->read)
        return cps_err_nomem();
    CPS_TRY(runner_run(runner, job, events, ending));
    CPS_FREE size_t *acts = calloc(job->views + 1, sizeof(*acts));
    w.acts = acts;
    return acts ? take_all(&w, &runner->record[0]) : cps_err_nomem();
}

void walk_deinit(struct walk *walk)
{
    for (unsigned i = 0; i < 6; i++)
        free(walk->calls[i].list);
    free(walk->groups.list);
    free(walk->packets.list);
    for (size_t i = 0; i < walk->items; i++) {
        if (walk->seen)
            free(walk->seen[i]);
        if (walk->read)
            free(walk->read[i]);
    }
    free(walk->seen);
    free(walk->read);
    *walk = (struct walk){0};
}
