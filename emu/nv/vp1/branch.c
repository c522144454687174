/* SPDX-License-Identifier: MIT
 * VP1's branch unit: where to go on after the bundle after this one, loops, the end. */
#include "emu/nv/vp1/vp1.h"

#define LOOP_FLAG (1u << 13)

/* Whether a branch with a condition is taken, of the flag that its word names. */
static bool is_taken(unsigned op, bool c)
{
    switch (op) {
#define ROW_IF(id, loops, ...) \
    case CPS_VP1_##id:         \
        return __VA_ARGS__;
#include "emu/nv/vp1/rows.h"
    default:
        return false;
    }
}

static const bool counts_down[CPS_VP1_OP_COUNT] = {
#define ONCE                   false
#define LOOP                   true
#define ROW_IF(id, loops, ...) [CPS_VP1_##id] = loops,
#include "emu/nv/vp1/rows.h"
};

static bool is_call(unsigned op)
{
    return cps_op_flow(&cps_isa_vp1, op) == CPS_FLOW_CALLIF;
}

bool vp1_calls_(const struct vp1 *s)
{
    uint32_t word = s->word[VP1_B];
    unsigned op = vp1_op_(s, VP1_B);
    return is_call(op) && is_taken(op, s->now.c[VP1(word, COND)] >> VP1(word, SLCT) & 1);
}

static void go(struct vp1 *s, uint32_t target)
{
    s->branches = 1;
    s->branch_to = target;
}

/* The counter is in the low byte, what it begins again with in the high one. */
static void count_down(struct vp1 *s, uint32_t word)
{
    uint32_t value = s->old.l[VP1(word, LOOPS)];
    if (value & 0xff)
        value--;
    else
        value |= value >> 8;
    s->now.l[VP1(word, LOOPD)] = (uint16_t)value;
    vp1_set_c_(s, VP1(word, CDST), LOOP_FLAG, value & 0xff ? 0 : LOOP_FLAG);
}

static void own_ABRA(struct nv *e, uint32_t word)
{
    go(vp1_of_(e), 4 * VP1(word, TABS) & 0xfffff);
}

static void own_LSET(struct nv *e, uint32_t word)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t number = VP1(word, LSET);
    uint32_t value = VP1(word, IMM16);
    s->now.l[number] = (uint16_t)value;
    vp1_set_c_(s, number, LOOP_FLAG, value & 0xff ? 0 : LOOP_FLAG);
}

static void own_EXIT(struct nv *e, uint32_t word)
{
    struct vp1 *s = vp1_of_(e);
    s->ends = 1;
    s->interrupt = word >> 16 & 1;
    s->sr[VP1_SR_EXIT] = VP1(word, IMM16);
    vp1_unknown_(e, CPS_UNKNOWN_VP1_EXIT, word & 0x1ffff);
}

static void own_RET(struct nv *e, uint32_t word)
{
    struct vp1 *s = vp1_of_(e);
    go(s, s->stack[--s->depth]); /* not empty: vp1.c has looked */
    vp1_set_c_(s, VP1(word, CDST), LOOP_FLAG, LOOP_FLAG);
}

#define own_BNOP NULL
/* NULL for what is not of this unit: the host may inject it. */
static void (*const handlers[CPS_VP1_OP_COUNT])(struct nv *e, uint32_t word) = {
#define ROW_B(id, ...) [CPS_VP1_##id] = own_##id,
#include "emu/nv/vp1/rows.h"
};

static void branch(struct vp1 *s, uint32_t word, unsigned op)
{
    if (is_taken(op, vp1_condition_(s, word))) {
        go(s, ((s->pc & ~3u) + 4 * (uint32_t)VP1_SIGNED(word, TARGET)) & 0xfffff);
        s->calls = is_call(op);
    }
    if (counts_down[op])
        count_down(s, word);
    else
        vp1_set_c_(s, VP1(word, CDST), LOOP_FLAG, LOOP_FLAG);
}

void vp1_branch_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_B];
    unsigned op = vp1_op_(s, VP1_B);
    if (s->code[word >> 24].kind == VP1_KIND_IF)
        branch(s, word, op);
    else if (handlers[op])
        handlers[op](e, word);
}
