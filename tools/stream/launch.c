/* SPDX-License-Identifier: MIT
 * Which packets start work, and how far what they start reaches. */
#include "tools/stream/launch.h"

#include <inttypes.h>
#include <string.h>

#include "isa/base/pm4.h"

static const struct {
    const char *packet, *event;
    enum launch_kind kind;
} rows[] = {
#define LAUNCH(packet, event, kind) {packet, event, LAUNCH_##kind},
#include "tools/stream/launch.def"
};

const char *launch_kind_text(enum launch_kind kind)
{
    static const char *const texts[] = {"none", "draw", "dispatch", "blit", "resolve"};
    return texts[kind];
}

void launches_init(struct launches *ret, const struct cps_names *names, unsigned who)
{
    *ret = (struct launches){.names = names, .who = who};
}

static const char *packet_name(const struct cps_names *names, uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode_any(header);
    return packet.kind == CPS_PM4_TYPE7 ? cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL)
                                        : NULL;
}

static bool has_event(const struct cps_names *names, const uint32_t *words, size_t count,
                      const char *wanted)
{
    const char *name = count ? cps_name(names, CPS_SPACE_EVENT, words[0] & 0xff, NULL) : NULL;
    return !wanted || (name && !strcmp(name, wanted));
}

enum launch_kind launch_kind_of(const struct cps_names *names, uint32_t header,
                                const uint32_t *words, size_t count)
{
    const char *name = packet_name(names, header);
    for (size_t i = 0; name && i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!strcmp(rows[i].packet, name) && has_event(names, words, count, rows[i].event))
            return rows[i].kind;
    }
    return LAUNCH_NONE;
}

/* A packet of the processor. It ends what is open unless it belongs to its draw-state groups. */
static bool ends(struct launches *launches, const struct cps_event *packet)
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

static void begin_packet(struct launches *launches, const struct cps_event *event)
{
    launches->last = (struct launch){.packet = *event,
                                     .submission = launches->submission,
                                     .name = packet_name(launches->names, event->value)};
    launches->is_fresh = true;
    launches->in_group = false;
}

/* The packet has all the words that came. */
static enum launch_step settle(struct launches *launches)
{
    launches->is_fresh = false;
    struct launch *last = &launches->last;
    last->kind = launch_kind_of(launches->names, last->packet.value, last->word, last->words);
    if (!launches->last.kind)
        return LAUNCH_INSIDE;
    launches->last.number = launches->count++;
    launches->is_open = true;
    return LAUNCH_BEGINS;
}

enum launch_step launches_take(struct launches *launches, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    bool is_mine = cps_event_who(event) == launches->who;
    if (kind == CPS_EV_WORD && is_mine && launches->is_fresh) {
        struct launch *launch = &launches->last;
        if (launch->words < LAUNCH_WORDS)
            launch->word[launch->words++] = event->value;
        return LAUNCH_INSIDE;
    }
    if (launches->is_fresh && settle(launches) == LAUNCH_BEGINS)
        return LAUNCH_BEGINS;
    bool is_end = kind == CPS_EV_SUBMIT || kind == CPS_EV_END ||
                  (kind == CPS_EV_PKT && is_mine && (!launches->is_open || ends(launches, event)));
    if (!is_end)
        return LAUNCH_INSIDE;
    if (launches->is_open) {
        launches->is_open = false;
        return LAUNCH_ENDS;
    }
    if (kind == CPS_EV_SUBMIT)
        launches->submission = event->value;
    if (kind == CPS_EV_PKT)
        begin_packet(launches, event);
    return LAUNCH_INSIDE;
}

enum launch_step launches_end(struct launches *launches)
{
    if (launches->is_fresh && settle(launches) == LAUNCH_BEGINS)
        return LAUNCH_BEGINS;
    enum launch_step step = launches->is_open ? LAUNCH_ENDS : LAUNCH_INSIDE;
    launches->is_open = false;
    return step;
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

void launch_put(const struct launch *launch, const struct cps_names *names, struct cps_buf *out)
{
    struct cps_pm4 packet = cps_pm4_decode_any(launch->packet.value);
    cps_buf_str(out, launch->name ? launch->name : "?");
    cps_packet_values(names, packet.opcode, launch->word, launch->words, put_field, out);
}
