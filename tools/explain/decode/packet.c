/* SPDX-License-Identifier: MIT
 * Events gathered to packets: each ends where the next one of its processor begins. */
#include <stdlib.h>

#include "isa/base/pm4.h"
#include "isa/packet.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/decode/decode.h"

/* The packet of a processor is over. */
static void deliver(struct decode *d, unsigned who)
{
    enum { DISABLES = 6 };
    struct decode_packet *p = &d->open[who];
    const uint32_t *word = p->words.value;
    if (!d->is_open[who])
        return;
    d->is_open[who] = false;
    const struct cps_packet_row *row =
        cps_packet_row_(cps_pm4_decode_any(p->head.value).opcode, p->name);
    for (size_t i = 0; row && row->sets_groups && i + 2 < p->words.count; i += 3) {
        if (!(word[i] >> 16 & DISABLES))
            d->group[word[i] >> 24 & 31] = (uint64_t)word[i + 2] << 32 | word[i + 1];
    }
    d->each(d->context, p);
}

static void deliver_all(struct decode *d)
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        deliver(d, i);
}

static int find_group(const struct decode *d, uint64_t addr)
{
    for (int i = 0; addr && i < WALK_GROUPS; i++) {
        if (d->group[i] == addr)
            return i;
    }
    return -1;
}

static void open_packet(struct decode *d, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    unsigned level = cps_event_sub(event);
    bool is_group = level == CPS_LEVEL_SDS;
    struct decode_packet *p = &d->open[who];
    p->head = *event;
    p->words.count = p->effects = 0;
    cps_words_take_(&p->words, event);
    p->name = cps_packet_name_(d->names[who], event->value);
    p->submission = d->submission;
    p->draw = d->launches.is_open ? d->launches.count - 1 : d->launches.count;
    p->starts = CPS_LAUNCH_NONE;
    if (!is_group && level != CPS_LEVEL_INT)
        d->below[who] = level;
    p->depth = d->below[who] + is_group; /* a group is one below the stream that runs it */
    p->is_first = level != d->level[who] || event->addr != d->next[who];
    if (!is_group || p->is_first)
        p->group = is_group ? find_group(d, event->addr) : -1;
    d->level[who] = level;
    d->next[who] = event->addr + 4 + 4 * (uint64_t)cps_pm4_decode_any(event->value).count;
    d->is_open[who] = true;
}

/* Launches begin and end before an event; the packet that is open is the one that begins them.
 * Whether it was skipped is known where it ends. */
static void note_launch(struct decode *d, enum cps_launch_step step)
{
    struct decode_packet *p = &d->open[d->launches.who];
    bool is_its = p->starts != CPS_LAUNCH_NONE && p->draw == d->launches.last.number;
    if (step != CPS_LAUNCH_BEGINS && !is_its)
        return; /* groups ran, so that the draw was not skipped */
    p->starts = d->launches.last.kind;
    p->draw = d->launches.last.number;
}

static void take_event(struct decode *d, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    enum cps_launch_step step;
    while ((step = cps_launches_take_(&d->launches, event)) != CPS_LAUNCH_INSIDE)
        note_launch(d, step);
    if (kind == CPS_EV_SUBMIT) {
        deliver_all(d);
        d->submission = event->value;
        d->launches.names = d->names[d->launches.who]; /* known now, if not before */
    } else if (kind == CPS_EV_PKT && who < CPS_CPU_COUNT) {
        deliver(d, who);
        open_packet(d, event);
    } else if (who < CPS_CPU_COUNT && d->is_open[who] && kind != CPS_EV_END &&
               kind != CPS_EV_LAUNCH) {
        struct decode_packet *p = &d->open[who];
        bool is_next = event->addr == p->words.count &&
                       p->words.count < cps_pm4_decode_any(p->head.value).count;
        if (kind == CPS_EV_WORD) {
            tool_need(!is_next || cps_words_take_(&p->words, event));
            return;
        }
        tool_need(CPS_LIST_RESERVE(p->effect, p->effect_room, p->effects + 1));
        p->effect[p->effects++] = *event;
    }
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take_event((struct decode *)sink, &events[i]);
}

void decode_init(struct decode *d, unsigned draws, uint32_t kinds)
{
    d->sink.put = take_events;
    cps_launches_init_(&d->launches, d->names[draws], draws, kinds);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        d->open[i].group = -1;
}

void decode_end(struct decode *d)
{
    note_launch(d, cps_launches_end_(&d->launches));
    deliver_all(d);
}

void decode_packet_words(const struct decode_packet *packet, const struct cps_names *names,
                         const struct cps_words_form *form)
{
    struct cps_words words = packet->words; /* which are forgotten */
    cps_words_lines_(&words, names, form);
}

void decode_deinit(struct decode *d)
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++) {
        cps_words_free_(&d->open[i].words);
        free(d->open[i].effect);
    }
}
