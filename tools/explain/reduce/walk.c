/* SPDX-License-Identifier: MIT
 * What a run executed, as things that can be left out. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
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

/* @return it was not set before */
static bool set_bit(const struct walker *w, uint8_t **bits, size_t item, uint32_t at)
{
    if (!bits[item])
        bits[item] = tool_alloc((size_t)(w->job->view[item].buffer.size / 32) + 1, 1);
    bool new = !walk_bit(bits, item, at);
    bits[item][at / 8] |= (uint8_t)(1 << at % 8);
    return new;
}

static void add(struct drops *drops, enum drop_kind kind, uint32_t item, uint32_t at)
{
    TOOL_ROOM(drops->list, drops->count);
    drops->list[drops->count++] = (struct drop){kind, item, at};
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
        add(&w->walk->groups, DROP_GROUP, w->job->origin[view], at + i);
    }
}

static void add_packet(struct walker *w, unsigned level, size_t view, uint32_t at)
{
    const struct cps_item *load = &w->job->view[view];
    struct walk *walk = w->walk;
    uint32_t item = w->job->origin[view];
    struct cps_pm4 packet = cps_pm4_decode(pm4_word_(load, at));
    bool type7 = packet.kind == CPS_PM4_TYPE7;
    if (type7 && packet.opcode == PM4_CP_NOP)
        return;
    walk->count.packets++;
    if (packet.kind == CPS_PM4_BAD)
        return; /* how long it would be is not known */
    if (type7 && pm4_is_call_(packet.opcode) && packet.count >= 3 &&
        load->buffer.size / 4 - at > 3) {
        walk->count.calls++;
        add(&walk->calls[level], DROP_PACKET, item, at);
        return;
    }
    if (type7 && packet.opcode == PM4_CP_SET_DRAW_STATE &&
        packet.count < load->buffer.size / 4 - at)
        add_groups(w, view, at, packet.count);
    add(&walk->packets, DROP_PACKET, item, at);
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

static void take(struct walker *w, const struct cps_event *event)
{
    struct walk *walk = w->walk;
    unsigned kind = cps_event_kind(event);
    unsigned level = cps_event_sub(event);
    size_t view = 0;
    uint32_t at = 0;
    if (kind == CPS_EV_SUBMIT) {
        w->act = event->value < w->act_count ? w->acts[event->value] : w->act;
        walk->count.submissions++;
    } else if (kind == CPS_EV_PKT && level < CPS_LEVEL_INT &&
               source_of(w, event->addr, &view, &at) &&
               pm4_word_(&w->job->view[view], at) == event->value) {
        if (set_bit(w, walk->seen, view, at))
            add_packet(w, level, view, at);
    } else if (kind == CPS_EV_MEMR && source_of(w, event->addr & ~UINT64_C(3), &view, &at)) {
        set_bit(w, walk->read, view, at);
    }
}

struct cps_err *walk_run(struct runner *runner, struct job *job, struct walk *ret,
                         struct ending *ending)
{
    uint32_t events = 1u << CPS_EV_SUBMIT | 1u << CPS_EV_PKT | 1u << CPS_EV_MEMR;
    struct walker w = {.walk = ret, .job = job};
    *ret = (struct walk){.items = job->count};
    *ending = (struct ending){{0}, {0}};
    ret->seen = tool_alloc(job->count, sizeof(*ret->seen));
    ret->read = tool_alloc(job->count, sizeof(*ret->read));
    CPS_TRY(runner_run(runner, job, events, ending));
    CPS_FREE size_t *acts = tool_alloc(job->views, sizeof(*acts));
    w.acts = acts;
    for (size_t i = 0; i < job->views; i++) {
        if (job->view[i].kind == CPS_ITEM_SUBMIT)
            acts[w.act_count++] = i;
        if (job->view[i].kind == CPS_ITEM_RING)
            w.act = i;
    }
    for (size_t i = 0; i < runner->record[0].count; i++)
        take(&w, &runner->record[0].event[i]);
    return NULL;
}

void walk_deinit(struct walk *walk)
{
    for (unsigned i = 0; i < 6; i++)
        free(walk->calls[i].list);
    free(walk->groups.list);
    free(walk->packets.list);
    for (size_t i = 0; i < walk->items; i++) {
        free(walk->seen[i]);
        free(walk->read[i]);
    }
    free(walk->seen);
    free(walk->read);
    *walk = (struct walk){0};
}
