/* SPDX-License-Identifier: MIT
 * Events become frames. Calls and returns are seen at where the next instruction stands. */
#include "trace/form/frames.h"

#include "isa/base/pm4.h"
#include "trace/form/trace.h"

#define END_OF_IB 0x0au /* opcode of the header that hardware puts behind an IB */

static void open_frame(struct cps_frames *f, const struct cps_frames_user *user,
                       struct cps_frame frame)
{
    if (f->depth == CPS_FRAMES_MOST_)
        return;
    f->frame[f->depth++] = frame;
    if (frame.kind == CPS_FRAME_PACKET)
        f->packet = f->depth;
    user->opened(user->context, f, &f->frame[f->depth - 1]);
}

void cps_frames_close_(struct cps_frames *f, const struct cps_frames_user *user, unsigned depth)
{
    while (f->depth > depth) {
        struct cps_frame *frame = &f->frame[--f->depth];
        user->closed(user->context, f, frame);
    }
    f->packet = f->depth;
    while (f->packet && f->frame[f->packet - 1].kind != CPS_FRAME_PACKET)
        f->packet--;
}

void cps_frames_begin_(struct cps_frames *f, const struct cps_frames_user *user)
{
    if (!f->depth)
        open_frame(f, user, (struct cps_frame){.kind = CPS_FRAME_BOOT});
}

/* 1 + index of the innermost stream, or 0. */
static unsigned innermost_stream(const struct cps_frames *f)
{
    unsigned depth = f->depth;
    while (depth && f->frame[depth - 1].kind != CPS_FRAME_LEVEL)
        depth--;
    return depth;
}

/* Goes to where a packet of @p level stands: in a stream that is open, else in a new one inside of
 * it. A stream that a call waits for is inside of the call. */
static void enter_stream(struct cps_frames *f, const struct cps_frames_user *user, unsigned level)
{
    unsigned at = innermost_stream(f);
    while (at && (f->frame[at - 1].key > level || f->frame[at - 1].ended)) {
        cps_frames_close_(f, user, at - 1);
        at = innermost_stream(f);
    }
    bool deeper = !at || f->frame[at - 1].key != level;
    bool is_called = false;
    for (unsigned depth = at; depth < f->depth; depth++)
        is_called = is_called || f->frame[depth].kind == CPS_FRAME_CALL;
    if (!deeper || !is_called)
        cps_frames_close_(f, user, at);
    if (deeper)
        open_frame(f, user, (struct cps_frame){.kind = CPS_FRAME_LEVEL, .key = level});
}

void cps_frames_packet_(struct cps_frames *f, const struct cps_frames_user *user,
                        const struct cps_event *packet)
{
    struct cps_pm4 header = cps_pm4_decode_any(packet->value);
    unsigned level = cps_event_sub(packet);
    unsigned at = innermost_stream(f);
    if (level != CPS_LEVEL_INT)
        enter_stream(f, user, level);
    else
        cps_frames_close_(f, user, at);
    if (at && level == CPS_LEVEL_INT && header.kind == CPS_PM4_TYPE7 && header.opcode == END_OF_IB)
        f->frame[at - 1].ended = true;
    open_frame(f, user, (struct cps_frame){.kind = CPS_FRAME_PACKET, .key = packet->value});
}

/* A return leaves everything up to the call that it belongs to; one without a call is a jump. */
static void leave(struct cps_frames *f, const struct cps_frames_user *user, uint32_t pc,
                  bool innermost)
{
    for (unsigned depth = f->depth; depth-- > 0;) {
        unsigned kind = f->frame[depth].kind;
        if (kind != CPS_FRAME_CALL && kind != CPS_FRAME_INTERRUPT)
            continue;
        if (f->frame[depth].back == pc) {
            cps_frames_close_(f, user, depth);
            return;
        }
        if (innermost)
            return;
    }
}

/* The branch before has arrived at @p pc. */
static void arrive(struct cps_frames *f, const struct cps_frames_user *user, uint32_t pc)
{
    uint8_t flow = f->branch.flow;
    uint32_t behind = f->branch.pc + 1 + (flow & CPS_FLOW_CODE_SLOT ? 1 : 0);
    struct cps_frame call = {
        .kind = CPS_FRAME_CALL, .key = pc, .site = f->branch.pc, .back = behind};
    switch ((flow & CPS_FLOW_CODE_MASK) - 1) {
    case CPS_FLOW_CALLIF:
        if (pc != behind)
            open_frame(f, user, call);
        break;
    case CPS_FLOW_CALL:
        open_frame(f, user, call);
        break;
    case CPS_FLOW_RETURN:
        leave(f, user, pc, false);
        break;
    case CPS_FLOW_JUMP:
        if (flow & CPS_FLOW_CODE_REGISTER)
            leave(f, user, pc, true);
        break;
    default:
        break;
    }
    f->branch = f->second;
    f->second = (struct cps_frames_branch){0};
}

/* A branch may stand in the slot of another one, which then goes first. */
static void note_branch(struct cps_frames *f, uint32_t pc, uint8_t flow)
{
    const struct cps_frames_branch branch = {
        .pc = pc, .flow = flow, .slots = flow & CPS_FLOW_CODE_SLOT ? 1 : 0};
    bool is_branch = flow && (flow & CPS_FLOW_CODE_MASK) != 1 + CPS_FLOW_NEXT;
    if (f->branch.flow && f->branch.slots) {
        f->branch.slots--;
        f->second = is_branch ? branch : f->second;
    } else if (is_branch) {
        f->branch = branch;
    }
}

/* What hardware entered stands neither behind the last instruction nor where that goes. The same
 * place again is a (rep), perhaps in a delay slot. */
void cps_frames_step_(struct cps_frames *f, const struct cps_frames_user *user, uint32_t pc,
                      uint8_t flow)
{
    if (f->stepped && pc == f->pc)
        return;
    if (f->branch.flow && !f->branch.slots)
        arrive(f, user, pc);
    else if (f->stepped && pc != f->pc + 1)
        open_frame(f, user,
                   (struct cps_frame){.kind = CPS_FRAME_INTERRUPT, .key = pc, .back = f->pc + 1});
    note_branch(f, pc, flow);
    f->pc = pc;
    f->stepped = true;
}

uint8_t cps_flow_code(const struct cps_isa *isa, const struct cps_insn *insn, uint32_t pc)
{
    uint32_t target = 0;
    unsigned code = 1 + (unsigned)cps_insn_flow(isa, insn);
    code |= cps_insn_has_slot(isa, insn) ? CPS_FLOW_CODE_SLOT : 0;
    return (uint8_t)(code | (cps_insn_target(isa, insn, pc, &target) ? 0 : CPS_FLOW_CODE_REGISTER));
}
