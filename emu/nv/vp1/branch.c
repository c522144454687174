/* SPDX-License-Identifier: MIT
 * VP1's branch unit: where to go on behind the bundle behind this one, loops, the end. */
#include "emu/nv/vp1/vp1.h"

#define LOOP_FLAG (1u << 13)

static uint32_t target_of(const struct vp1 *s, uint32_t word)
{
    return ((s->pc & ~3u) + 4 * (uint32_t)VP1_SIGNED(word, TARGET)) & 0xfffff;
}

bool vp1_calls_(const struct vp1 *s)
{
    uint32_t word = s->word[VP1_B];
    unsigned op = vp1_op_(s, VP1_B);
    bool inverse = op == CPS_VP1_CALLN || op == CPS_VP1_LCALLN;
    bool holds = s->now.c[VP1(word, COND)] >> VP1(word, SLCT) & 1;
    return op >= CPS_VP1_CALL && op <= CPS_VP1_LCALLN && holds != inverse;
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

static void load_loop(struct vp1 *s, uint32_t word)
{
    uint32_t number = VP1(word, LSET);
    uint32_t value = VP1(word, IMM16);
    s->now.l[number] = (uint16_t)value;
    vp1_set_c_(s, number, LOOP_FLAG, value & 0xff ? 0 : LOOP_FLAG);
}

static void end(struct nv *e, uint32_t word)
{
    struct vp1 *s = vp1_of_(e);
    s->ends = 1;
    s->interrupt = word >> 16 & 1;
    s->sr[VP1_SR_EXIT] = VP1(word, IMM16);
    vp1_unknown_(e, CPS_UNKNOWN_VP1_EXIT, word & 0x1ffff);
}

void vp1_branch_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_B];
    unsigned op = vp1_op_(s, VP1_B);
    bool wants = vp1_condition_(s, word);
    switch (op) {
    case CPS_VP1_BNOP:
        return;
    case CPS_VP1_ABRA:
        go(s, 4 * VP1(word, TABS) & 0xfffff);
        return;
    case CPS_VP1_LSET:
        load_loop(s, word);
        return;
    case CPS_VP1_EXIT:
        end(e, word);
        return;
    case CPS_VP1_RET:
        go(s, s->stack[--s->depth]); /* not empty: vp1.c has looked */
        break;
    case CPS_VP1_BRAN:
    case CPS_VP1_LBRAN:
    case CPS_VP1_CALLN:
    case CPS_VP1_LCALLN:
        wants = !wants;
        /* fall through */
    default:
        if (wants)
            go(s, target_of(s, word));
        s->calls = wants && op >= CPS_VP1_CALL && op <= CPS_VP1_LCALLN;
        break;
    }
    bool loops =
        op == CPS_VP1_LBRA || op == CPS_VP1_LBRAN || op == CPS_VP1_LCALL || op == CPS_VP1_LCALLN;
    if (loops)
        count_down(s, word);
    else
        vp1_set_c_(s, VP1(word, CDST), LOOP_FLAG, LOOP_FLAG);
}
