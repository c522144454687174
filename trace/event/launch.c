/* SPDX-License-Identifier: MIT
 * Which packets start work, and how far what they start reaches. */
#include "trace/event/launch.h"

#include <inttypes.h>
#include <string.h>

#include "isa/base/pm4.h"

const char *cps_launch_kind_text_(enum cps_launch_kind kind)
{
    static const char *const texts[CPS_LAUNCH_KINDS] = {"none", "draw",    "dispatch",
                                                        "blit", "resolve", "skipped"};
    return texts[kind];
}

void cps_launches_init_(struct cps_launches *ret, const struct cps_names *names, unsigned who,
                        uint32_t kinds)
{
    *ret = (struct cps_launches){.names = names, .who = who, .kinds = kinds};
}

const char *cps_packet_name_(const struct cps_names *names, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    return packet.kind == CPS_PM4_TYPE7 && names
               ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
               : NULL;
}

enum cps_launch_kind cps_launch_kind_of_(const struct cps_names *names, uint32_t header,
                                         const uint32_t *words, size_t count)
{
    const struct cps_packet_row *row =
        cps_packet_row_(cps_pm4_decode_any(header).opcode, cps_packet_name_(names, header));
    if (!row || !row->start.event)
        return row ? row->start.kind : CPS_LAUNCH_NONE;
    const char *event = count ? cps_name(names, CPS_SPACE_EVENT, words[0] & 0xff, NULL) : NULL;
    return event && !strcmp(event, row->start.event) ? row->start.kind : CPS_LAUNCH_NONE;
}

/* Where a packet's words were not recorded, it may have been one, and every number behind it is
 * unknown. */
static bool may_be(const struct cps_launch *launch)
{
    const struct cps_packet_row *row =
        cps_packet_row_(cps_pm4_decode_any(launch->packet.value).opcode, launch->name);
    return row && row->start.event && !launch->words;
}

/* A packet of the processor. It ends what is open unless it belongs to its draw-state groups. */
static bool ends(struct cps_launches *launches, const struct cps_event *packet)
{
    unsigned level = cps_event_sub(packet);
    if (level == CPS_LEVEL_SDS) {
        launches->in_group = true;
        return false;
    }
    if (level == CPS_LEVEL_INT && launches->in_group) {
        launches->in_group = false;
        return false;
    }
    return true;
}

/* The packet has all the words that came. */
static enum cps_launch_step end_packet(struct cps_launches *launches)
{
    launches->is_fresh = false;
    struct cps_launch *last = &launches->last;
    launches->is_unsure |= !(launches->kinds >> CPS_EV_WORD & 1) && may_be(last);
    last->kind = cps_launch_kind_of_(launches->names, last->packet.value, last->word, last->words);
    if (!last->kind)
        return CPS_LAUNCH_INSIDE;
    last->number = launches->is_unsure ? CPS_LAUNCH_UNNUMBERED : launches->count;
    launches->count++;
    launches->is_open = true;
    return CPS_LAUNCH_BEGINS;
}

/* Whether no LAUNCH event of a processor means that it started nothing. On a8xx a DDE starts later
 * what the processor sent it. */
static bool starts_at_once(const struct cps_launches *launches)
{
    return launches->kinds >> CPS_EV_LAUNCH & 1 && launches->names &&
           cps_names_gen_(launches->names) != CPS_A8XX;
}

/* All events of the last one have come. A predicate skips draws and dispatches: firmware before
 * a650 starts nothing then, later firmware starts them with a bit that says so. */
static enum cps_launch_step end_launch(struct cps_launches *launches)
{
    struct cps_launch *last = &launches->last;
    bool is_predicated = last->kind == CPS_LAUNCH_DRAW || last->kind == CPS_LAUNCH_DISPATCH;
    if (is_predicated && !last->works && (last->skips || starts_at_once(launches)))
        last->kind = CPS_LAUNCH_SKIPPED;
    launches->is_open = false;
    return CPS_LAUNCH_ENDS;
}

/* A packet, a submission, the end of the run. */
static enum cps_launch_step advance(struct cps_launches *launches, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    if (launches->is_open && (kind != CPS_EV_PKT || ends(launches, event)))
        return end_launch(launches);
    if (kind == CPS_EV_SUBMIT)
        launches->submission = event->value;
    if (kind != CPS_EV_PKT || launches->is_open)
        return CPS_LAUNCH_INSIDE;
    launches->last = (struct cps_launch){.packet = *event,
                                         .submission = launches->submission,
                                         .name = cps_packet_name_(launches->names, event->value)};
    launches->is_fresh = true;
    launches->in_group = false;
    return CPS_LAUNCH_INSIDE;
}

enum cps_launch_step cps_launches_take_(struct cps_launches *launches,
                                        const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    bool is_everyones = kind == CPS_EV_SUBMIT || kind == CPS_EV_END;
    if (!is_everyones && cps_event_who(event) != launches->who)
        return CPS_LAUNCH_INSIDE;
    if (kind == CPS_EV_WORD) {
        struct cps_launch *launch = &launches->last;
        if (launches->is_fresh && launch->words < CPS_LAUNCH_WORDS)
            launch->word[launch->words++] = event->value;
        return CPS_LAUNCH_INSIDE;
    }
    if (launches->is_fresh && end_packet(launches) == CPS_LAUNCH_BEGINS)
        return CPS_LAUNCH_BEGINS;
    if (kind == CPS_EV_LAUNCH && cps_event_sub(event) == CPS_WORK_SKIPPED)
        launches->last.skips++;
    else if (kind == CPS_EV_LAUNCH)
        launches->last.works++;
    return is_everyones || kind == CPS_EV_PKT ? advance(launches, event) : CPS_LAUNCH_INSIDE;
}

enum cps_launch_step cps_launches_end_(struct cps_launches *launches)
{
    if (launches->is_fresh && end_packet(launches) == CPS_LAUNCH_BEGINS)
        return CPS_LAUNCH_BEGINS;
    return launches->is_open ? end_launch(launches) : CPS_LAUNCH_INSIDE;
}

/* What of a packet's fields says how much is drawn. */
static void put_field(void *context, const struct cps_value *value)
{
    static const char *const told[] = {"PRIM_TYPE", "NUM_INSTANCES", "NUM_INDICES", "OPCODE",
                                       "OP",        "EVENT",         "NGROUPS_X",   "NGROUPS_Y",
                                       "NGROUPS_Z", "DRAW_COUNT"};
    struct cps_buf *out = context;
    for (size_t i = 0; value->name && i < sizeof(told) / sizeof(told[0]); i++) {
        const char *name = value->name[0] ? value->name : value->word;
        if (!name || strcmp(told[i], name) != 0)
            continue;
        cps_buf_str(out, " ");
        if (!value->text)
            cps_buf_printf(out, "%s=", name);
        cps_value_put(value, out);
    }
}

void cps_launch_put_(const struct cps_launch *launch, const struct cps_names *names,
                     struct cps_buf *out)
{
    struct cps_pm4 packet = cps_pm4_decode_any(launch->packet.value);
    cps_buf_str(out, launch->name ? launch->name : "?");
    cps_packet_values(names, packet.opcode, launch->word, launch->words, put_field, out);
}
