/* SPDX-License-Identifier: MIT
 * What two paths leave behind, pair by pair; and how a comparison begins and ends. */
#include "tools/explain/prove/joint.h"
#include "tools/cmd/terminal/oom.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_STEPS 200000u /* instructions of one comparison */

/* Pairs that are being listed. */
struct pairs {
    const struct state *s; /* two */
    uint64_t live;
    struct left *left;
    unsigned count;
};

static void put_pair(struct pairs *p, const char *name, uint64_t bit, Z3_ast a, Z3_ast b)
{
    struct left *left = &p->left[p->count++];
    *left = (struct left){.bit = bit, .word = {a, b}};
    snprintf(left->name, sizeof(left->name), "%s", name);
}

/* ---- One function for each member of a core's state that is COMPARED ---- */

static void put_r(struct pairs *p)
{
    char name[24];
    for (unsigned i = 1; i <= R_REM; i++) {
        snprintf(name, sizeof(name), "register $%02x", i);
        if (p->live >> i & 1)
            put_pair(p, name, UINT64_C(1) << i, p->s[0].r[i], p->s[1].r[i]);
    }
}

static void put_carry(struct pairs *p)
{
    if (p->live & LIVE_CARRY)
        put_pair(p, "the carry", LIVE_CARRY, p->s[0].carry, p->s[1].carry);
}

static void put_user_selected(struct pairs *p)
{
    if (p->live & LIVE_ADDR)
        put_pair(p, "the selection", LIVE_ADDR, p->s[0].user, p->s[1].user);
}

static void put_addr(struct pairs *p)
{
    if (p->live & LIVE_ADDR)
        put_pair(p, "$addr", LIVE_ADDR, p->s[0].addr, p->s[1].addr);
}

static void put_usraddr(struct pairs *p)
{
    if (p->live & LIVE_ADDR)
        put_pair(p, "$usraddr", LIVE_ADDR, p->s[0].usraddr, p->s[1].usraddr);
}

/* The call stack is in state.call, as addresses of the old revision: joint.c compares it. */
static void put_sqe(struct pairs *p)
{
    char name[24];
    for (unsigned i = 0; i < SQE_COUNT; i++) {
        snprintf(name, sizeof(name), "SQE register 0x%02x", i);
        put_pair(p, name, 0, p->s[0].sqe[i], p->s[1].sqe[i]);
    }
}

unsigned left_words(const struct state *s, uint64_t live, struct left *ret)
{
    struct pairs p = {.s = s, .live = live, .left = ret};
#define STATE(type, name, dimensions, proof, meaning) PUT_##proof(name)
#define PUT_COMPARED(name)                            put_##name(&p);
#define PUT_PLACE(name)
#define PUT_EFFECT(name)
#define PUT_TAKEN(name)
#define PUT_GUARDED(name)
#define PUT_NOTES(name)
#include "emu/afuc/state.def"
    return p.count;
}

uint64_t left_live(const struct code_side *side, uint32_t pc)
{
    if (pc == PC_END) /* $01 is the next packet's header */
        return side->live_at_end | UINT64_C(1) << 1;
    if (pc == PC_SPIN)
        return 0;
    return pc == PC_IRET ? UINT64_MAX >> 30 : side->live_at_return;
}

void joint_init(const struct code *code, unsigned effort, struct joint *ret)
{
    *ret = (struct joint){.code = code,
                          .bound = 2,
                          .most_paths = 20000,
                          .most_queries = UINT64_MAX,
                          .most_steps = MOST_STEPS};
    ret->visits = tool_alloc((size_t)code->side[0].count + 1, sizeof(*ret->visits));
    smt_init(&ret->smt, effort);
    for (unsigned i = 0; i < 2; i++)
        ret->run[i] = (struct runner){.smt = &ret->smt, .code = code, .side = i};
}

void joint_deinit(struct joint *joint)
{
    runner_deinit(&joint->run[0]);
    runner_deinit(&joint->run[1]);
    free(joint->child);
    free(joint->visits);
    smt_deinit(&joint->smt);
    *joint = (struct joint){0};
}

void joint_assert_invariants(const struct joint *j, const struct state *s)
{
    Z3_context z = j->smt.z;
    uint32_t gen = cps_gen_bit(j->code->side[0].fw->gen);
#define INVARIANT(gens, reg, mask, most, text, evidence)                                       \
    if ((gens)&gen)                                                                            \
        smt_assert(&j->smt, Z3_mk_bvule(z, Z3_mk_bvand(z, s->r[reg], smt_word(&j->smt, mask)), \
                                        smt_word(&j->smt, most)));
#include "tools/explain/prove/invariant.def"
}
