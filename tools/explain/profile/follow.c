/* SPDX-License-Identifier: MIT
 * Events become nodes of the tree, and counts. */
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/profile/profile.h"

#define MOST_WAITS 4096u

static uint32_t key_of(const struct cps_frame *frame)
{
    struct cps_pm4 packet = cps_pm4_decode_any(frame->key);
    if (frame->kind != CPS_FRAME_PACKET)
        return frame->key;
    return packet.kind == CPS_PM4_TYPE7   ? packet.opcode
           : packet.kind == CPS_PM4_TYPE4 ? PROFILE_TYPE4
                                          : PROFILE_BAD;
}

static struct profile_core *core_of(struct cps_frames *frames)
{
    return (struct profile_core *)frames; /* its first member */
}

static uint32_t top_node(const struct profile_core *core)
{
    const struct cps_frames *frames = &core->frames;
    return frames->depth ? (uint32_t)frames->frame[frames->depth - 1].user : core->node;
}

static uint32_t add_node(struct profile *p, struct profile_node node)
{
    uint32_t number = profile_tree_frame(&p->tree, &node);
    p->tree.node[number].visits += number != node.parent;
    return number;
}

static void opened(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct profile *p = context;
    struct profile_core *core = core_of(frames);
    const struct profile_node node = {
        .parent = frames->depth > 1 ? (uint32_t)frames->frame[frames->depth - 2].user : core->node,
        .key = key_of(frame),
        .site = frame->site,
        .kind = (uint8_t)(PROFILE_LEVEL + frame->kind),
        .who = (uint8_t)(core - p->core)};
    frame->user = add_node(p, node);
}

static void add_to_range(struct profile_range *range, uint64_t value)
{
    range->least = range->count && range->least < value ? range->least : value;
    range->most = range->most > value ? range->most : value;
    range->sum += value;
    range->count++;
}

/* A visit of a packet is over. */
static void closed(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    struct profile *p = context;
    struct profile_node *node = &p->tree.node[frame->user];
    (void)frames;
    if (frame->kind != CPS_FRAME_PACKET || node->kind != PROFILE_PACKET)
        return;
    bool first = !node->own && !node->most;
    node->own += frame->own;
    node->least = first || frame->own < node->least ? frame->own : node->least;
    node->most = frame->own > node->most ? frame->own : node->most;
}

static void end_launch(struct profile *p)
{
    uint64_t total = p->core[p->launches.who].total;
    add_to_range(&p->launch[p->launches.last.kind], total - p->launched);
    p->launched = total;
}

/* A launch is over where the packet behind it begins. */
static void follow_launches(struct profile *p, const struct cps_event *event)
{
    enum cps_launch_step step;
    while ((step = cps_launches_take_(&p->launches, event)) != CPS_LAUNCH_INSIDE) {
        if (step == CPS_LAUNCH_ENDS)
            end_launch(p);
    }
}

void profile_finish(struct profile *p)
{
    const struct cps_frames_user user = {opened, closed, p};
    enum cps_launch_step step;
    while ((step = cps_launches_end_(&p->launches)) != CPS_LAUNCH_INSIDE) {
        if (step == CPS_LAUNCH_ENDS)
            end_launch(p);
    }
    for (unsigned i = 0; i < CPS_CPU_COUNT; i++)
        cps_frames_close_(&p->core[i].frames, &user, 0);
}

static struct profile_wait *find_wait(struct profile *p, const struct profile_wait *wait)
{
    for (size_t i = 0; i < p->waits; i++) {
        struct profile_wait *found = &p->wait[i];
        if (found->who == wait->who && found->pc == wait->pc && found->packet == wait->packet &&
            found->assumed == wait->assumed && found->at == wait->at)
            return found;
    }
    if (p->waits >= MOST_WAITS)
        return NULL;
    TOOL_ROOM(p->wait, p->waits);
    p->wait[p->waits] = *wait;
    return &p->wait[p->waits++];
}

static void add_wait(struct profile *p, const struct profile_core *core, struct profile_wait wait,
                     uint64_t spent)
{
    const struct cps_frames *frames = &core->frames;
    wait.packet = frames->packet ? key_of(&frames->frame[frames->packet - 1]) : PROFILE_NONE;
    struct profile_wait *row = find_wait(p, &wait);
    if (!row)
        return;
    row->count++;
    row->spent += spent;
}

/* A way back: a round of a loop. One that leaves all as it was can only wait. */
static void go_back(struct profile *p, struct profile_core *core, unsigned who, uint32_t pc)
{
    uint64_t round = core->total - core->looped;
    const struct profile_wait wait = {.who = (uint8_t)who, .pc = pc};
    bool same = core->quiet && !memcmp(core->general, core->before, sizeof(core->before));
    if (core->loop == pc && core->looped && same)
        add_wait(p, core, wait, round);
    core->loop = pc;
    core->looped = core->total;
    core->quiet = true;
    memcpy(core->before, core->general, sizeof(core->before));
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
    const struct cps_frames_user user = {opened, closed, p};
    uint32_t pc = cps_event_pc(event);
    unsigned who = cps_event_who(event);
    struct cps_frames *frames = &core->frames;
    cps_frames_step_(frames, &user, pc, play_flow(p->play, who, pc));
    if (core->total && pc < core->pc)
        go_back(p, core, who, pc);
    profile_tree_count(&p->tree, top_node(core), pc);
    if (frames->packet)
        frames->frame[frames->packet - 1].own++;
    note_registers(core, event);
    core->pc = pc;
    core->total++;
    p->instructions++;
}

static void follow(struct profile *p, const struct cps_event *event)
{
    const struct cps_frames_user user = {opened, closed, p};
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
            add_node(p, (struct profile_node){.kind = PROFILE_PROCESSOR, .who = (uint8_t)who});
        cps_frames_begin_(&core->frames, &user);
    }
    if (kind == CPS_EV_PKT) {
        cps_frames_packet_(&core->frames, &user, event);
        p->packets++;
    } else if (kind == CPS_EV_STEP) {
        take_step(p, core, event);
    } else if (kind == CPS_EV_STEPX) {
        note_registers(core, event);
    } else if (kind != CPS_EV_ASSUME) {
        core->quiet = false;
    } else if (cps_event_sub(event) == CPS_WHAT_WAIT) {
        const struct profile_wait wait = {
            .who = (uint8_t)who, .assumed = true, .pc = cps_event_pc(event), .at = event->addr};
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
    const struct profile_node root = {.kind = PROFILE_ROOT};
    unsigned who = cps_gen_row(play->gen)->draws;
    p->sink.put = take_events;
    p->play = play;
    profile_tree_frame(&p->tree, &root);
    cps_launches_init_(&p->launches, play->names[who], who, true);
    play->trace = &p->sink;
    play->kinds = 1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_PKT | 1u << CPS_EV_REG |
                  1u << CPS_EV_PIPE | 1u << CPS_EV_MEMW | 1u << CPS_EV_ASSUME | 1u << CPS_EV_END |
                  1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT;
}

void profile_deinit(struct profile *p)
{
    profile_tree_deinit(&p->tree);
    free(p->wait);
}
