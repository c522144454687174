/* SPDX-License-Identifier: MIT
 * Events gathered to packets: each ends where the next one of its processor begins. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "isa/packet.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/decode/decode.h"
#include "trace/form/words.h"

static void note_groups(struct decode *d, const struct decode_packet *p)
{
    enum { DISABLES = 6 };
    for (size_t i = 0; i + 2 < p->words; i += 3) {
        if (!(p->word[i] >> 16 & DISABLES))
            d->group[p->word[i] >> 24 & 31] = (uint64_t)p->word[i + 2] << 32 | p->word[i + 1];
    }
}

static void deliver(struct decode *d, unsigned who)
{
    struct decode_packet *p = &d->open[who];
    if (!d->is_open[who])
        return;
    d->is_open[who] = false;
    const struct cps_packet_row *row =
        cps_packet_row_(cps_pm4_decode_any(p->head.value).opcode, p->name);
    if (row && row->sets_groups)
        note_groups(d, p);
    d->each(d->context, p);
}

static int group_at(const struct decode *d, uint64_t addr)
{
    for (int i = 0; i < WALK_GROUPS; i++) {
        if (d->group[i] == addr && addr)
            return i;
    }
    return -1;
}

/* How deep the stream lies: a group one below the stream that runs it. */
static unsigned depth_of(struct decode *d, unsigned who, unsigned level)
{
    if (level == CPS_LEVEL_SDS || level == CPS_LEVEL_INT)
        return d->below[who] + (level == CPS_LEVEL_SDS);
    d->below[who] = level;
    return level;
}

static void begin(struct decode *d, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    unsigned level = cps_event_sub(event);
    struct decode_packet *p = &d->open[who];
    p->head = *event;
    p->words = p->effects = 0;
    p->name = cps_packet_name_(d->names[who], event->value);
    p->submission = d->submission;
    p->draw = d->launches.is_open ? d->launches.count - 1 : d->launches.count;
    p->starts = CPS_LAUNCH_NONE;
    p->depth = depth_of(d, who, level);
    p->is_first = level != d->level[who] || event->addr != d->next[who];
    p->group = level == CPS_LEVEL_SDS && p->is_first ? group_at(d, event->addr)
               : level == CPS_LEVEL_SDS              ? p->group
                                                     : -1;
    d->level[who] = level;
    d->next[who] = event->addr + 4 + 4 * (uint64_t)cps_pm4_decode_any(event->value).count;
    d->is_open[who] = true;
}

static void add_word(struct decode_packet *p, const struct cps_event *event)
{
    if (event->addr != p->words || p->words > 0x3fff)
        return;
    tool_need(CPS_LIST_RESERVE(p->word, p->word_room, p->words + 1));
    p->word[p->words++] = event->value;
}

static void add_effect(struct decode_packet *p, const struct cps_event *event)
{
    tool_need(CPS_LIST_RESERVE(p->effect, p->effect_room, p->effects + 1));
    p->effect[p->effects++] = *event;
}

/* The packet that is open is the one that begins a launch. */
static void note_launch(struct decode *d, enum cps_launch_step step)
{
    struct decode_packet *p = &d->open[d->launches.who];
    if (step != CPS_LAUNCH_BEGINS)
        return;
    p->starts = d->launches.last.kind;
    p->draw = d->launches.last.number;
}

/* Launches begin and end in front of an event. */
static void follow_launches(struct decode *d, const struct cps_event *event)
{
    enum cps_launch_step step;
    while ((step = cps_launches_take_(&d->launches, event)) != CPS_LAUNCH_INSIDE)
        note_launch(d, step);
}

static void take(struct decode *d, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    unsigned who = cps_event_who(event);
    follow_launches(d, event);
    if (kind == CPS_EV_SUBMIT) {
        for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
            deliver(d, i);
        d->submission = event->value;
        d->launches.names = d->names[d->launches.who]; /* known now, if not before */
    } else if (kind == CPS_EV_PKT && who < CPS_CPU_COUNT) {
        deliver(d, who);
        begin(d, event);
    } else if (who < CPS_CPU_COUNT && d->is_open[who] && kind == CPS_EV_WORD) {
        add_word(&d->open[who], event);
    } else if (who < CPS_CPU_COUNT && d->is_open[who] && kind != CPS_EV_END) {
        add_effect(&d->open[who], event);
    }
}

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct decode *d = (struct decode *)sink;
    for (size_t i = 0; i < count; i++)
        take(d, &events[i]);
}

void decode_init(struct decode *decode, unsigned draws)
{
    decode->sink.put = put;
    cps_launches_init_(&decode->launches, decode->names[draws], draws, true);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        decode->open[i].group = -1;
}

void decode_end(struct decode *d)
{
    note_launch(d, cps_launches_end_(&d->launches));
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        deliver(d, i);
}

void decode_packet_words(const struct decode_packet *packet, const struct cps_names *names,
                         const struct cps_words_form *form)
{
    struct cps_words words = {0};
    unsigned who = cps_event_who(&packet->head);
    cps_words_take_(&words, &packet->head);
    for (size_t i = 0; i < packet->words; i++) {
        const struct cps_event word = cps_event_make(CPS_EV_WORD, 0, who, 0, i, packet->word[i]);
        tool_need(cps_words_take_(&words, &word));
    }
    cps_words_lines_(&words, names, form);
    cps_words_free_(&words);
}

void decode_deinit(struct decode *decode)
{
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++) {
        free(decode->open[i].word);
        free(decode->open[i].effect);
    }
}
