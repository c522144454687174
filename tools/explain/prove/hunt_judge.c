/* SPDX-License-Identifier: MIT
 * Whether a random stream shows a difference, and whether it is the handler's. */
#include "tools/explain/prove/hunt_judge.h"

#include "isa/base/pm4.h"
#include "trace/capture/pm4walk.h"

/* ---- Both revisions ---- */

static bool is_counted(const struct hunt *h, const struct cps_event *event, uint32_t kinds)
{
    return cps_event_who(event) == (unsigned)h->who && kinds >> cps_event_kind(event) & 1;
}

static const struct cps_event *next_event(const struct hunt *h, const struct record *record,
                                          uint32_t kinds, size_t *at)
{
    while (*at < record->count && !is_counted(h, &record->event[*at], kinds))
        ++*at;
    return *at < record->count ? &record->event[(*at)++] : NULL;
}

static uint64_t old_number(const struct hunt *h, const struct cps_event *event)
{
    const uint16_t *scratch = h->part->code.scratch;
    bool control = cps_event_kind(event) == CPS_EV_CTRL && event->addr < CONTROL_COUNT;
    return control && scratch[event->addr] < CONTROL_COUNT ? scratch[event->addr] : event->addr;
}

static bool same_event(const struct hunt *h, const struct cps_event *a, const struct cps_event *b)
{
    uint32_t free = cps_mask_bits(&h->stage->mask, a, -1);
    if (cps_event_kind(a) == CPS_EV_MEMW && stage_is_context(&h->context, a->addr))
        free = UINT32_MAX;
    return cps_event_kind(a) == cps_event_kind(b) && cps_event_sub(a) == cps_event_sub(b) &&
           a->addr == old_number(h, b) && !((a->value ^ b->value) & ~free);
}

enum { IN_PREEMPT = 0x0f };

static unsigned packet_id(const struct cps_event *event)
{
    return oracle_packet(event->value) % CPS_FW_TABLE_SIZE;
}

/* Packets up to an event: the first of the handler, and whether all others are of handlers that are
 * equal. */
static bool look_back(const struct hunt *h, const struct record *record, size_t end,
                      struct shown *ret)
{
    bool only = true;
    for (size_t i = 0; i < end; i++) {
        const struct cps_event *event = &record->event[i];
        if (!is_counted(h, event, 1u << CPS_EV_PKT))
            continue;
        unsigned id = packet_id(event);
        ret->inside = h->wanted[id];
        ret->saved = id == IN_PREEMPT;
        if (h->wanted[id] && !ret->header) {
            ret->header = event->value;
            ret->iova = event->addr;
            ret->level = (uint8_t)cps_event_sub(event);
        }
        only = only && (h->wanted[id] || h->equal[id]);
    }
    return only;
}

static enum cps_stop ending(enum cps_stop stop)
{
    return stop == CPS_STOP_BUDGET ? CPS_STOP_DEADLOCK : stop;
}

/* The first difference of the last run, in events of some kinds. @param only  gets whether no other
 * handler can be its cause */
static void first_difference(const struct hunt *h, uint32_t kinds, struct shown *ret, bool *only)
{
    const struct run_side *side = h->run.side;
    const struct cps_event *a = NULL;
    const struct cps_event *b = NULL;
    size_t at[2] = {0, 0};
    *ret = (struct shown){0};
    do {
        a = next_event(h, &side[0].record, kinds, &at[0]);
        b = next_event(h, &side[1].record, kinds, &at[1]);
    } while (a && b && same_event(h, a, b));
    bool cut = side[0].stop == CPS_STOP_BUDGET || side[1].stop == CPS_STOP_BUDGET;
    ret->different = (a && b) || ((a || b) && !cut) || ending(side[0].stop) != ending(side[1].stop);
    *only = ret->different && look_back(h, &side[0].record, at[0], ret) &&
            look_back(h, &side[1].record, at[1], ret);
    ret->saved = ret->saved && a && b && cps_event_kind(a) == CPS_EV_MEMW;
    ret->different = ret->different && ret->header && !side[0].internal && !side[1].internal;
}

void hunt_run(struct hunt *h, const struct fuzz_case *input)
{
    for (unsigned i = 0; i < 2; i++) {
        uint64_t before = h->run.side[i].booted->clock;
        run_one(&h->run, i, input, h->run.limit);
        h->instructions += h->run.side[i].engine->clock - before;
    }
    judge_side(&h->run.side[0]); /* which teaches the grammar */
}

/* ---- Whether a difference is the handler's ---- */

bool hunt_wants(const struct hunt *h, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    bool known = packet.kind == CPS_PM4_TYPE7 || packet.kind == CPS_PM4_TYPE4;
    return known && h->wanted[oracle_packet(header) % CPS_FW_TABLE_SIZE];
}

/* @return how many packets of the handler have become CP_NOP */
static unsigned leave_out(const struct hunt *h, struct fuzz_case *changed)
{
    unsigned count = 0;
    for (unsigned i = 0; i < changed->streams; i++) {
        struct case_stream *s = &changed->stream[i];
        for (uint32_t at = 0; at < s->count; at += case_packet_at(changed, i, at).length) {
            if (!hunt_wants(h, s->word[at]))
                continue;
            s->word[at] = cps_pm4_type7(PM4_CP_NOP, cps_pm4_decode(s->word[at]).count);
            count++;
        }
    }
    return count;
}

static bool shows_without(struct hunt *h, const struct fuzz_case *input, bool inside)
{
    struct shown shown;
    bool only = false;
    if (h->doubts++ >= HUNT_DOUBTS)
        return true;
    case_copy(&h->smaller, input);
    if (!leave_out(h, &h->smaller)) /* hardware makes them */
        return !inside;
    hunt_run(h, &h->smaller);
    h->wanted[PM4_CP_NOP] = true; /* what follows it counts */
    first_difference(h, HUNT_VISIBLE | 1u << CPS_EV_PKT | 1u << CPS_EV_CTRL, &shown, &only);
    h->wanted[PM4_CP_NOP] = false;
    return shown.different;
}

struct shown hunt_judge(struct hunt *h, const struct fuzz_case *input)
{
    const uint32_t control = 1u << CPS_EV_CTRL;
    const uint32_t packets = 1u << CPS_EV_PKT;
    struct shown ret;
    bool only = false;
    first_difference(h, HUNT_VISIBLE | packets, &ret, &only);
    if (!ret.different) {
        first_difference(h, HUNT_VISIBLE | packets | control, &ret, &only);
        ret.hidden = true;
    }
    /* After a switch the clock is another one. */
    if (*h->inject && !ret.saved && !ret.inside)
        ret.different = false;
    if (ret.different && !only && shows_without(h, input, ret.inside))
        ret.different = false;
    if (!ret.different || *h->inject || (ret.hidden && h->found_hidden))
        return ret;
    h->run.compared = HUNT_VISIBLE;
    ret.different = !run_is_clock(&h->run, input);
    h->run.compared = 0;
    return ret;
}
