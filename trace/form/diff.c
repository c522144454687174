/* SPDX-License-Identifier: MIT
 * Comparison of two traces. */
#include "trace/form/diff.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "trace/event/align.h"
#include "trace/form/forms.h"
#include "isa/base/pm4.h"

/* One packet of one processor: its PKT event and the compared events behind it. */
struct packet {
    const struct cps_event *pkt; /* NULL: what comes before the first packet */
    uint32_t submission;
    size_t first, count; /* in side.event */
    uint64_t key;        /* header and level */
    uint64_t content;    /* hash of the events, masked */
};

/* One trace, one processor. */
struct side {
    const struct cps_event **event;
    size_t event_count;
    struct packet *packet;
    size_t packet_count;
};

struct differ {
    const struct cps_diff_options *options;
    void (*each)(void *context, const struct cps_difference *difference);
    void *context;
    struct cps_diff *ret;
    struct side a, b;
    bool failed;
};

int cps_diff_packet_id(const struct cps_event *pkt)
{
    struct cps_pm4 packet = cps_pm4_decode(pkt->value);
    if (packet.kind == CPS_PM4_TYPE7)
        return (int)packet.opcode;
    return packet.kind == CPS_PM4_TYPE4 ? 4 : -1;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint32_t masked(const struct differ *d, const struct cps_event *event,
                       const struct cps_event *pkt)
{
    if (cps_event_kind(event) == CPS_EV_END)
        return 0; /* how many instructions a run took is no behaviour */
    const struct cps_mask *mask = d->options->mask;
    uint32_t bits = mask ? cps_mask_bits(mask, event, pkt ? cps_diff_packet_id(pkt) : -1) : 0;
    return event->value & ~bits;
}

/* The same place, whatever the value. */
static uint64_t event_key(const struct cps_event *event)
{
    uint64_t kind = cps_event_kind(event) << 16 | cps_event_sub(event);
    if (cps_event_kind(event) == CPS_EV_END)
        return mix(0, kind);
    uint64_t bank = cps_event_has_bank_(cps_event_kind(event)) ? UINT64_C(1) << 32 : 0;
    return mix(mix(0, kind), event->addr & ~bank);
}

static void end_packet(const struct differ *d, struct side *side)
{
    struct packet *p = &side->packet[side->packet_count - 1];
    p->count = side->event_count - p->first;
    for (size_t i = 0; i < p->count; i++) {
        const struct cps_event *event = side->event[p->first + i];
        p->content = mix(mix(p->content, event_key(event)), masked(d, event, p->pkt));
    }
}

static void begin_packet(struct side *side, const struct cps_event *pkt, uint32_t submission)
{
    uint64_t key = pkt ? mix(mix(1, pkt->value), cps_event_sub(pkt)) : 0;
    side->packet[side->packet_count++] =
        (struct packet){pkt, submission, side->event_count, 0, key, 0};
}

/* Takes one processor's events out of a trace. */
static bool split(const struct differ *d, const struct cps_event *events, size_t count,
                  unsigned who, struct side *side)
{
    uint32_t submission = UINT32_MAX;
    size_t packets = 1;
    for (size_t i = 0; i < count; i++)
        packets += cps_event_who(&events[i]) == who && cps_event_kind(&events[i]) == CPS_EV_PKT;
    *side = (struct side){.event = malloc((count + 1) * sizeof(*side->event)),
                          .packet = malloc(packets * sizeof(*side->packet))};
    if (!side->event || !side->packet)
        return false;
    begin_packet(side, NULL, submission);
    for (size_t i = 0; i < count; i++) {
        unsigned kind = cps_event_kind(&events[i]);
        if (kind == CPS_EV_SUBMIT)
            submission = events[i].value;
        if (cps_event_who(&events[i]) != who)
            continue;
        if (kind == CPS_EV_PKT) {
            end_packet(d, side);
            begin_packet(side, &events[i], submission);
        } else if (d->options->kinds >> kind & 1) {
            side->event[side->event_count++] = &events[i];
        }
    }
    end_packet(d, side);
    return true;
}

/* Counts a place; sorted by insertion, since few places differ in practice. */
static void count_place(struct differ *d, const struct cps_event *event)
{
    struct cps_diff *ret = d->ret;
    unsigned kind = cps_event_kind(event);
    uint64_t addr = kind == CPS_EV_PKT ? 0 : cps_event_place(event);
    size_t low = 0;
    size_t high = ret->places;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct cps_diff_count *at = &ret->by_place[middle];
        if (at->kind < kind || (at->kind == kind && at->addr < addr))
            low = middle + 1;
        else
            high = middle;
    }
    if (low < ret->places && ret->by_place[low].kind == kind && ret->by_place[low].addr == addr) {
        ret->by_place[low].count++;
        return;
    }
    if (!CPS_LIST_ROOM(ret->by_place, ret->places)) {
        d->failed = true;
        return;
    }
    memmove(ret->by_place + low + 1, ret->by_place + low,
            (ret->places - low) * sizeof(*ret->by_place));
    ret->by_place[low] = (struct cps_diff_count){kind, addr, 1};
    ret->places++;
}

static void report(struct differ *d, enum cps_diff_how how, const struct packet *pa,
                   const struct packet *pb, const struct cps_event *a, const struct cps_event *b)
{
    const struct packet *p = pa ? pa : pb;
    const struct cps_difference difference = {
        how, p->submission, pa ? pa->pkt : NULL, pb ? pb->pkt : NULL, a, b};
    int id = p->pkt ? cps_diff_packet_id(p->pkt) : -1;
    if (!d->ret->differences++)
        d->ret->first = difference;
    d->ret->by_packet[id >= 0 ? id : 128]++;
    count_place(d, a ? a : b);
    if (d->each)
        d->each(d->context, &difference);
}

/* Events of a gap between two that have partners, at most so many at a time. */
#define GAP 256u

struct inside {
    struct differ *d;
    const struct packet *pa, *pb;
    const struct cps_event *gone[GAP], *came[GAP];
    size_t gone_count, came_count;
};

static uint64_t key_in_a(const void *context, size_t i)
{
    const struct inside *in = context;
    return event_key(in->d->a.event[in->pa->first + i]);
}

static uint64_t key_in_b(const void *context, size_t i)
{
    const struct inside *in = context;
    return event_key(in->d->b.event[in->pb->first + i]);
}

/* The same write; elements that agree again for too short a time do not align. */
static bool is_same(const struct inside *in, const struct cps_event *a, const struct cps_event *b)
{
    return event_key(a) == event_key(b) &&
           masked(in->d, a, in->pa->pkt) == masked(in->d, b, in->pb->pkt);
}

/* Whether one write stands for the other. A 0 is written to many places: there it must also stand
 * where the other one did. */
static bool replaces(const struct inside *in, size_t i, size_t k)
{
    const uint32_t can_replace = 1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_CTRL |
                                 1u << CPS_EV_SQE | 1u << CPS_EV_MEMW;
    const struct cps_event *a = in->gone[i];
    const struct cps_event *b = in->came[k];
    uint32_t value = masked(in->d, a, in->pa->pkt);
    return b && can_replace >> cps_event_kind(a) & 1 && cps_event_kind(a) == cps_event_kind(b) &&
           value == masked(in->d, b, in->pb->pkt) && (value || i == k || is_same(in, a, b));
}

/* Reports what has no partner; writes with one value, in one order, belong together. */
static void end_gap(struct inside *in)
{
    size_t next = 0;
    for (size_t i = 0; i < in->gone_count; i++) {
        size_t k = next;
        while (k < in->came_count && !replaces(in, i, k))
            k++;
        bool found = k < in->came_count;
        if (!found || !is_same(in, in->gone[i], in->came[k]))
            report(in->d, found ? CPS_DIFF_PLACE : CPS_DIFF_REMOVED, in->pa, in->pb, in->gone[i],
                   found ? in->came[k] : NULL);
        if (found) {
            in->came[k] = NULL;
            next = k + 1;
        }
    }
    for (size_t k = 0; k < in->came_count; k++) {
        if (in->came[k])
            report(in->d, CPS_DIFF_ADDED, in->pa, in->pb, NULL, in->came[k]);
    }
    in->gone_count = in->came_count = 0;
}

static void report_value(struct inside *in, const struct cps_event *a, const struct cps_event *b)
{
    const struct cps_diff_options *options = in->d->options;
    if (options->is_excused && options->is_excused(options->excuse_context, a, b))
        in->d->ret->excused++;
    else
        report(in->d, CPS_DIFF_VALUE, in->pa, in->pb, a, b);
}

static void match_event(void *context, size_t i, size_t k)
{
    struct inside *in = context;
    const struct cps_event *a = i == ALIGN_NONE ? NULL : in->d->a.event[in->pa->first + i];
    const struct cps_event *b = k == ALIGN_NONE ? NULL : in->d->b.event[in->pb->first + k];
    if ((a && b) || in->gone_count == GAP || in->came_count == GAP)
        end_gap(in);
    if (!a)
        in->came[in->came_count++] = b;
    else if (!b)
        in->gone[in->gone_count++] = a;
    else if (masked(in->d, a, in->pa->pkt) != masked(in->d, b, in->pb->pkt))
        report_value(in, a, b);
}

static void compare_inside(struct differ *d, const struct packet *pa, const struct packet *pb)
{
    struct inside in = {.d = d, .pa = pa, .pb = pb};
    const struct align align = {key_in_a, key_in_b, pa->count, pb->count, match_event, &in};
    if (pa->content == pb->content && pa->count == pb->count)
        return;
    align_run_(&align);
    end_gap(&in);
}

/* A packet without a partner is a difference itself, and so is each of its events. */
static void report_packet(struct differ *d, enum cps_diff_how how, const struct packet *p)
{
    bool removed = how == CPS_DIFF_REMOVED;
    const struct packet *pa = removed ? p : NULL;
    const struct packet *pb = removed ? NULL : p;
    const struct cps_event **event = (removed ? d->a.event : d->b.event) + p->first;
    if (p->pkt && (d->options->kinds >> CPS_EV_PKT & 1))
        report(d, how, pa, pb, removed ? p->pkt : NULL, removed ? NULL : p->pkt);
    for (size_t i = 0; i < p->count; i++)
        report(d, how, pa, pb, removed ? event[i] : NULL, removed ? NULL : event[i]);
}

static uint64_t packet_in_a(const void *context, size_t i)
{
    return ((const struct differ *)context)->a.packet[i].key;
}

static uint64_t packet_in_b(const void *context, size_t i)
{
    return ((const struct differ *)context)->b.packet[i].key;
}

static void match_packet(void *context, size_t i, size_t k)
{
    struct differ *d = context;
    if (i == ALIGN_NONE)
        report_packet(d, CPS_DIFF_ADDED, &d->b.packet[k]);
    else if (k == ALIGN_NONE)
        report_packet(d, CPS_DIFF_REMOVED, &d->a.packet[i]);
    else
        compare_inside(d, &d->a.packet[i], &d->b.packet[k]);
}

static struct cps_err *compare_processor(struct differ *d, const struct cps_event *a,
                                         size_t a_count, const struct cps_event *b, size_t b_count,
                                         unsigned who)
{
    bool good = split(d, a, a_count, who, &d->a);
    good = split(d, b, b_count, who, &d->b) && good;
    if (good) {
        const struct align align = {packet_in_a,       packet_in_b,  d->a.packet_count,
                                    d->b.packet_count, match_packet, d};
        align_run_(&align);
    }
    free(d->a.event);
    free(d->a.packet);
    free(d->b.event);
    free(d->b.packet);
    return good && !d->failed ? NULL : cps_err_nomem();
}

struct cps_err *
cps_diff_events(const struct cps_event *a, size_t a_count, const struct cps_event *b,
                size_t b_count, const struct cps_diff_options *options,
                void (*each)(void *context, const struct cps_difference *difference), void *context,
                struct cps_diff *ret)
{
    struct differ d = {.options = options, .each = each, .context = context, .ret = ret};
    uint32_t there = 0;
    for (size_t i = 0; i < a_count; i++)
        there |= UINT32_C(1) << cps_event_who(&a[i]) % CPS_CPU_COUNT;
    for (size_t i = 0; i < b_count; i++)
        there |= UINT32_C(1) << cps_event_who(&b[i]) % CPS_CPU_COUNT;
    *ret = (struct cps_diff){0};
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        if (there >> who & 1)
            CPS_TRY(compare_processor(&d, a, a_count, b, b_count, who));
    }
    return NULL;
}

void cps_diff_deinit(struct cps_diff *diff)
{
    free(diff->by_place);
    diff->by_place = NULL;
}
