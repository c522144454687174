/* SPDX-License-Identifier: MIT
 * Events become nodes of the tree, and counts. */
#include "tools/explain/profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"

#define MOST_NODES (1u << 20) /* firmware that calls itself in ever new ways ends here */
#define MOST_WAITS 4096u

/* ---- The tree ---- */

/* The slot of two keys, or the free one that is theirs. */
static struct profile_slot *probe(const struct profile *p, uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    size_t at = h ^ h >> 32;
    struct profile_slot *slot;
    do
        slot = &p->slot[at++ & (p->slots - 1)];
    while (slot->number && (slot->key[0] != a || slot->key[1] != b));
    return slot;
}

/* The same, with room for one more: at most half of the slots are taken. */
static struct profile_slot *find_slot(struct profile *p, uint64_t a, uint64_t b)
{
    if (2 * (p->nodes + p->costs) >= p->slots) {
        struct profile_slot *old = p->slot;
        size_t slots = p->slots;
        p->slots = slots ? 2 * slots : 256;
        p->slot = tool_alloc(p->slots, sizeof(*p->slot));
        for (size_t i = 0; i < slots; i++) {
            if (old[i].number)
                *probe(p, old[i].key[0], old[i].key[1]) = old[i];
        }
        free(old);
    }
    return probe(p, a, b);
}

/* Counts a visit of a frame. @return its number; that of its parent where there is no room */
static uint32_t enter_node(struct profile *p, struct profile_node node)
{
    uint64_t key[2] = {(uint64_t)node.parent << 32 | node.key,
                       (uint64_t)node.site << 32 | 1u << 16 | (unsigned)node.kind << 8 | node.who};
    struct profile_slot *slot = find_slot(p, key[0], key[1]);
    if (!slot->number && p->nodes >= MOST_NODES)
        return node.parent;
    if (!slot->number) {
        TOOL_ROOM(p->node, p->nodes);
        p->node[p->nodes++] = node;
        *slot = (struct profile_slot){{key[0], key[1]}, (uint32_t)p->nodes};
    }
    p->node[slot->number - 1].visits++;
    return slot->number - 1;
}

static void count_instruction(struct profile *p, uint32_t node, uint32_t pc)
{
    uint64_t key = (uint64_t)node << 32 | pc;
    struct profile_slot *slot = find_slot(p, key, 0); /* the second key of a frame is not 0 */
    if (!slot->number) {
        TOOL_ROOM(p->cost, p->costs);
        p->cost[p->costs++] = (struct profile_cost){node, pc, 0};
        *slot = (struct profile_slot){{key, 0}, (uint32_t)p->costs};
    }
    p->cost[slot->number - 1].count++;
    p->node[node].self++;
}

uint64_t *profile_totals(const struct profile *p)
{
    uint64_t *ret = tool_alloc(p->nodes, sizeof(*ret));
    for (size_t i = p->nodes; i-- > 0;) {
        ret[i] += p->node[i].self;
        if (i)
            ret[p->node[i].parent] += ret[i];
    }
    return ret;
}

int profile_compare(const struct profile_node *a, const struct profile_node *b)
{
    const uint32_t left[] = {a->who, a->kind, a->site, a->key};
    const uint32_t right[] = {b->who, b->kind, b->site, b->key};
    for (unsigned i = 0; i < 4; i++) {
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    }
    return 0;
}

/* ---- Frames ---- */

static uint32_t key_of(const struct cps_frame *frame)
{
    struct cps_pm4 packet = cps_pm4_decode_any(frame->key);
    if (frame->kind != CPS_FRAME_PACKET)
        return frame->key;
    return packet.kind == CPS_PM4_TYPE7   ? packet.opcode
           : packet.kind == CPS_PM4_TYPE4 ? PROFILE_TYPE4
                                          : PROFILE_BAD;
}

/* The node of the innermost but @p skip frames, or the processor's. */
static uint32_t node_at(const struct profile_core *core, unsigned skip)
{
    const struct cps_frames *frames = &core->frames;
    return frames->depth > skip ? (uint32_t)frames->frame[frames->depth - skip - 1].user
                                : core->node;
}

static void open_frame(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct profile *p = context;
    const struct profile_core *core = (struct profile_core *)frames; /* its first member */
    frame->user =
        enter_node(p, (struct profile_node){.parent = node_at(core, 1),
                                            .key = key_of(frame),
                                            .site = frame->site,
                                            .kind = (uint8_t)(PROFILE_LEVEL + frame->kind),
                                            .who = (uint8_t)(core - p->core)});
}

static void close_frame(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct profile *p = context;
    struct profile_node *node = &p->node[frame->user];
    (void)frames;
    if (frame->kind != CPS_FRAME_PACKET || node->kind != PROFILE_PACKET)
        return;
    bool first = !node->own && !node->most;
    node->own += frame->own;
    node->least = first || frame->own < node->least ? frame->own : node->least;
    node->most = frame->own > node->most ? frame->own : node->most;
}

/* A launch is over where the packet after it begins. @param event  NULL: the run is over */
static void follow_launches(struct profile *p, const struct cps_event *event)
{
    enum cps_launch_step step;
    while ((step = event ? cps_launches_take_(&p->launches, event)
                         : cps_launches_end_(&p->launches)) != CPS_LAUNCH_INSIDE) {
        if (step != CPS_LAUNCH_ENDS)
            continue;
        struct profile_range *range = &p->launch[p->launches.last.kind];
        uint64_t total = p->core[p->launches.who].total;
        uint64_t spent = total - p->launched;
        p->launched = total;
        range->least = range->count && range->least < spent ? range->least : spent;
        range->most = range->most > spent ? range->most : spent;
        range->sum += spent;
        range->count++;
    }
}

/* ---- Waits ---- */

static void add_wait(struct profile *p, const struct profile_core *core, struct profile_wait wait,
                     uint64_t spent)
{
    const struct cps_frames *frames = &core->frames;
    size_t at = 0;
    wait.who = (uint8_t)(core - p->core);
    wait.packet = frames->packet ? key_of(&frames->frame[frames->packet - 1]) : PROFILE_NONE;
    while (at < p->waits && (p->wait[at].who != wait.who || p->wait[at].pc != wait.pc ||
                             p->wait[at].packet != wait.packet ||
                             p->wait[at].assumed != wait.assumed || p->wait[at].at != wait.at))
        at++;
    if (at == p->waits) {
        if (p->waits >= MOST_WAITS)
            return;
        TOOL_ROOM(p->wait, p->waits);
        p->wait[p->waits++] = wait;
    }
    p->wait[at].count++;
    p->wait[at].spent += spent;
}

/* The registers that a step changed, two to an event. */
static void note_registers(struct profile_core *core, const struct cps_event *event)
{
    uint64_t values = event->addr;
    for (unsigned i = 0; i < 32; i++) {
        if (!(event->value >> i & 1))
            continue;
        core->general[i] = (uint32_t)values;
        values >>= 32;
    }
}

static void take_step(struct profile *p, struct profile_core *core, const struct cps_event *event)
{
    uint32_t pc = cps_event_pc(event);
    struct cps_frames *frames = &core->frames;
    cps_frames_step_(frames, &p->user, pc, play_flow(p->play, cps_event_who(event), pc));
    if (core->total && pc < core->pc) { /* a round of a loop; one that changes nothing waits */
        bool same = core->quiet && !memcmp(core->general, core->before, sizeof(core->before));
        if (core->loop == pc && core->looped && same)
            add_wait(p, core, (struct profile_wait){.pc = pc}, core->total - core->looped);
        core->loop = pc;
        core->looped = core->total;
        core->quiet = true;
        memcpy(core->before, core->general, sizeof(core->before));
    }
    count_instruction(p, node_at(core, 0), pc);
    if (frames->packet)
        frames->frame[frames->packet - 1].own++;
    note_registers(core, event);
    core->pc = pc;
    core->total++;
    p->instructions++;
}

/* ---- Events ---- */

static void follow(struct profile *p, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    unsigned kind = cps_event_kind(event);
    follow_launches(p, event);
    if (kind == CPS_EV_END)
        p->reason = cps_event_sub(event);
    if (kind == CPS_EV_WORD || kind == CPS_EV_SUBMIT || kind == CPS_EV_END || who == CPS_CPU_NONE ||
        who >= CPS_CPU_COUNT)
        return;
    struct profile_core *core = &p->core[who];
    if (!core->node) {
        core->node =
            enter_node(p, (struct profile_node){.kind = PROFILE_PROCESSOR, .who = (uint8_t)who});
        cps_frames_begin_(&core->frames, &p->user);
    }
    if (kind == CPS_EV_PKT) {
        cps_frames_packet_(&core->frames, &p->user, event);
        p->packets++;
    } else if (kind == CPS_EV_STEP) {
        take_step(p, core, event);
    } else if (kind == CPS_EV_STEPX) {
        note_registers(core, event);
    } else if (kind != CPS_EV_ASSUME) {
        core->quiet = false;
    } else if (cps_event_sub(event) == CPS_WHAT_WAIT) {
        const struct profile_wait wait = {
            .assumed = true, .pc = cps_event_pc(event), .at = event->addr};
        add_wait(p, core, wait, 0);
    }
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        follow((struct profile *)sink, &events[i]);
}

void profile_begin(struct profile *p, struct play *play)
{
    unsigned who = cps_gen_row(play->gen)->draws;
    p->sink.put = take_events;
    p->user = (struct cps_frames_user){open_frame, close_frame, p};
    p->play = play;
    enter_node(p, (struct profile_node){.kind = PROFILE_ROOT});
    play->trace = &p->sink;
    play->kinds = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_PKT | 1u << CPS_EV_REG |
                  1u << CPS_EV_PIPE | 1u << CPS_EV_MEMW | 1u << CPS_EV_ASSUME | 1u << CPS_EV_END |
                  1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT | 1u << CPS_EV_LAUNCH;
    cps_launches_init_(&p->launches, play->names[who], who, play->kinds);
}

void profile_finish(struct profile *p)
{
    follow_launches(p, NULL);
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_frames_close_(&p->core[i].frames, &p->user, 0);
}

void profile_deinit(struct profile *p)
{
    free(p->node);
    free(p->cost);
    free(p->slot);
    free(p->wait);
}
