/* SPDX-License-Identifier: MIT
 * Events become frames. A packet stands in its stream, and in the call that waits for it, as a draw
 * waits for its draw state; calls and returns are seen at where the next instruction stands. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "isa/base/pm4.h"
#include "tools/profile/profile.h"

#define FLOW_SLOT     0x80u
#define FLOW_REGISTER 0x40u /* no field says where it goes */
#define FLOW_MASK     0x3fu
#define END_OF_IB     0x0au /* opcode of the header that hardware puts behind an IB */
#define MOST_WAITS    4096u
#define MOST_PC       CPS_FW_MAX_WORDS

static uint32_t top_node(const struct profile_core *core)
{
    return core->depth ? core->frame[core->depth - 1].node : 0;
}

static const struct profile_node *node_at(const struct profile *p, const struct profile_core *core,
                                          unsigned depth)
{
    return &p->tree.node[core->frame[depth].node];
}

static bool is_kind(const struct profile *p, const struct profile_core *core, unsigned depth,
                    enum profile_kind kind)
{
    return node_at(p, core, depth)->kind == kind;
}

/* Too deep is no deeper: what is called there counts for its caller. */
static void push(struct profile *p, struct profile_core *core, struct profile_node frame,
                 uint32_t back)
{
    if (core->depth == PROFILE_DEPTH)
        return;
    frame.parent = top_node(core);
    uint32_t node = profile_tree_frame(&p->tree, &frame);
    if (node >= p->tree.nodes)
        return;
    p->tree.node[node].visits++;
    core->frame[core->depth++] = (struct profile_frame){.node = node, .back = back};
    if (frame.kind == PROFILE_PACKET)
        core->packet = core->depth;
}

static void add_to_range(struct profile_range *range, uint64_t value)
{
    range->least = range->count && range->least < value ? range->least : value;
    range->most = range->most > value ? range->most : value;
    range->sum += value;
    range->count++;
}

/* A visit of a packet is over. */
static void end_packet(struct profile *p, struct profile_core *core, struct profile_frame *frame)
{
    struct profile_node *node = &p->tree.node[frame->node];
    const struct cps_engine *engine = p->play->engine;
    bool first = !node->own && !node->most;
    node->own += frame->own;
    node->least = first || frame->own < node->least ? frame->own : node->least;
    node->most = frame->own > node->most ? frame->own : node->most;
    if (node->key < PROFILE_TYPE4 && node->who == engine->who[0] &&
        profile_is_draw(p->play->names[node->who], cps_pm4_type7(node->key, 0))) {
        add_to_range(&p->draws, core->total - core->drawn);
        core->drawn = core->total;
    }
}

void profile_close_(struct profile *p, struct profile_core *core, unsigned depth)
{
    while (core->depth > depth) {
        struct profile_frame *frame = &core->frame[--core->depth];
        if (p->tree.node[frame->node].kind == PROFILE_PACKET)
            end_packet(p, core, frame);
    }
    core->packet = core->depth;
    while (core->packet && !is_kind(p, core, core->packet - 1, PROFILE_PACKET))
        core->packet--;
}

static void begin_core(struct profile *p, struct profile_core *core, unsigned who)
{
    if (core->depth)
        return;
    push(p, core, (struct profile_node){.kind = PROFILE_PROCESSOR, .who = (uint8_t)who}, 0);
    push(p, core, (struct profile_node){.kind = PROFILE_BOOT, .who = (uint8_t)who}, 0);
}

/* 1 + index of the innermost frame of a stream below @p depth, or 0. */
static unsigned stream_below(const struct profile *p, const struct profile_core *core,
                             unsigned depth)
{
    while (depth && !is_kind(p, core, depth - 1, PROFILE_LEVEL))
        depth--;
    return depth;
}

static bool calls_above(const struct profile *p, const struct profile_core *core, unsigned depth)
{
    for (; depth < core->depth; depth++) {
        if (is_kind(p, core, depth, PROFILE_CALL))
            return true;
    }
    return false;
}

/* Goes to where a packet of @p level stands: in a stream that is open, else in a new one inside of
 * it. A stream that a call waits for is inside of the call. */
static void enter_stream(struct profile *p, struct profile_core *core, unsigned who, unsigned level)
{
    unsigned at = stream_below(p, core, core->depth);
    while (at && (node_at(p, core, at - 1)->key > level || core->frame[at - 1].ended)) {
        profile_close_(p, core, at - 1);
        at = stream_below(p, core, core->depth);
    }
    bool deeper = !at || node_at(p, core, at - 1)->key != level;
    if (!deeper || !calls_above(p, core, at))
        profile_close_(p, core, at ? at : 1);
    if (deeper)
        push(p, core,
             (struct profile_node){.kind = PROFILE_LEVEL, .who = (uint8_t)who, .key = level}, 0);
}

static void take_packet(struct profile *p, struct profile_core *core, const struct cps_event *event)
{
    struct cps_pm4 packet = cps_pm4_decode_any(event->value);
    unsigned who = cps_event_who(event);
    unsigned level = cps_event_sub(event);
    uint32_t key = packet.kind == CPS_PM4_TYPE7   ? packet.opcode
                   : packet.kind == CPS_PM4_TYPE4 ? PROFILE_TYPE4
                                                  : PROFILE_BAD;
    unsigned at = stream_below(p, core, core->depth);
    if (level != CPS_LEVEL_INT)
        enter_stream(p, core, who, level);
    else
        profile_close_(p, core, at ? at : 1);
    if (at && level == CPS_LEVEL_INT && key == END_OF_IB)
        core->frame[at - 1].ended = true;
    push(p, core, (struct profile_node){.kind = PROFILE_PACKET, .who = (uint8_t)who, .key = key},
         0);
    p->packets++;
}

/* The flow of the instruction at a dword, decoded once. */
static uint8_t flow_at(const struct profile *p, unsigned who, uint32_t pc)
{
    struct cps_engine *engine = p->play->engine;
    struct cps_insn insn;
    uint8_t bytes[16];
    uint32_t target = 0;
    unsigned number = 0;
    while (number + 1 < engine->cores && engine->who[number] != who)
        number++;
    if (!cps_engine_decode(engine, number, pc, bytes, &insn))
        return 1 + CPS_FLOW_NEXT;
    const struct cps_isa *isa = engine->ops->isa;
    return (uint8_t)((1 + cps_insn_flow(isa, &insn)) |
                     (cps_insn_has_slot(isa, &insn) ? FLOW_SLOT : 0) |
                     (cps_insn_target(isa, &insn, pc, &target) ? 0 : FLOW_REGISTER));
}

static uint8_t flow_of(struct profile *p, struct profile_core *core, unsigned who, uint32_t pc)
{
    if (pc >= MOST_PC)
        return 1 + CPS_FLOW_NEXT;
    if (pc >= core->flows) {
        uint32_t room = (pc | 0xfff) + 1;
        uint8_t *flow = realloc(core->flow, room);
        if (!flow) {
            p->tree.lost = true;
            return 1 + CPS_FLOW_NEXT;
        }
        memset(flow + core->flows, 0, room - core->flows);
        core->flow = flow;
        core->flows = room;
    }
    if (!core->flow[pc])
        core->flow[pc] = flow_at(p, who, pc);
    return core->flow[pc];
}

/* A return leaves everything up to the call that it belongs to; one without a call is a jump. */
static void leave(struct profile *p, struct profile_core *core, uint32_t pc, bool innermost)
{
    for (unsigned depth = core->depth; depth-- > 0;) {
        unsigned kind = node_at(p, core, depth)->kind;
        if (kind != PROFILE_CALL && kind != PROFILE_INTERRUPT)
            continue;
        if (core->frame[depth].back == pc) {
            profile_close_(p, core, depth);
            return;
        }
        if (innermost)
            return;
    }
}

/* The branch before has arrived at @p pc. */
static void arrive(struct profile *p, struct profile_core *core, unsigned who, uint32_t pc)
{
    struct profile_node call = {
        .kind = PROFILE_CALL, .who = (uint8_t)who, .key = pc, .site = core->branch.pc};
    uint32_t behind = core->branch.pc + 1 + (core->branch.going & FLOW_SLOT ? 1 : 0);
    switch ((core->branch.going & FLOW_MASK) - 1) {
    case CPS_FLOW_CALLIF:
        if (pc == behind)
            break;
        /* fallthrough */
    case CPS_FLOW_CALL:
        push(p, core, call, behind);
        break;
    case CPS_FLOW_RETURN:
        leave(p, core, pc, false);
        break;
    case CPS_FLOW_JUMP:
        if (core->branch.going & FLOW_REGISTER)
            leave(p, core, pc, true);
        break;
    default:
        break;
    }
    core->branch = core->second;
    core->second = (struct profile_branch){0};
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
    if (!CPS_LIST_ROOM(p->wait, p->waits)) {
        p->is_wait_lost = true;
        return NULL;
    }
    p->wait[p->waits] = *wait;
    return &p->wait[p->waits++];
}

static void add_wait(struct profile *p, const struct profile_core *core, struct profile_wait wait,
                     uint64_t spent)
{
    wait.packet = core->packet ? node_at(p, core, core->packet - 1)->key : PROFILE_NONE;
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

/* What hardware entered stands neither behind the last instruction nor where that goes. */
static void follow_pc(struct profile *p, struct profile_core *core, unsigned who, uint32_t pc)
{
    struct profile_node interrupt = {.kind = PROFILE_INTERRUPT, .who = (uint8_t)who, .key = pc};
    if (core->branch.going && !core->branch.slots)
        arrive(p, core, who, pc);
    else if (core->total && pc != core->pc + 1)
        push(p, core, interrupt, core->pc + 1);
    if (core->total && pc < core->pc)
        go_back(p, core, who, pc);
}

/* A branch may stand in the slot of another one, which then goes first. */
static void note_branch(struct profile_core *core, uint32_t pc, uint8_t flow)
{
    const struct profile_branch branch = {
        .pc = pc, .going = flow, .slots = flow & FLOW_SLOT ? 1 : 0};
    bool is_branch = (flow & FLOW_MASK) != 1 + CPS_FLOW_NEXT;
    if (core->branch.going && core->branch.slots) {
        core->branch.slots--;
        core->second = is_branch ? branch : core->second;
    } else if (is_branch) {
        core->branch = branch;
    }
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
    unsigned who = cps_event_who(event);
    if (!core->total || pc != core->pc) { /* else a (rep), perhaps in a delay slot */
        follow_pc(p, core, who, pc);
        note_branch(core, pc, flow_of(p, core, who, pc));
    }
    profile_tree_count(&p->tree, top_node(core), pc);
    if (core->packet)
        core->frame[core->packet - 1].own++;
    note_registers(core, event);
    core->pc = pc;
    core->total++;
    p->instructions++;
}

void profile_follow_(struct profile *p, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_END)
        p->reason = cps_event_sub(event);
    if (who == CPS_CPU_NONE || who >= CPS_CPU_COUNT || kind == CPS_EV_END || !p->tree.nodes)
        return;
    struct profile_core *core = &p->core[who];
    begin_core(p, core, who);
    if (kind == CPS_EV_PKT)
        take_packet(p, core, event);
    else if (kind == CPS_EV_STEP)
        take_step(p, core, event);
    else if (kind == CPS_EV_STEPX)
        note_registers(core, event);
    else if (kind != CPS_EV_ASSUME)
        core->quiet = false;
    else if (cps_event_sub(event) == CPS_WHAT_WAIT)
        add_wait(
            p, core,
            (struct profile_wait){
                .who = (uint8_t)who, .assumed = true, .pc = cps_event_pc(event), .at = event->addr},
            0);
}
