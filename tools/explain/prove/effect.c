/* SPDX-License-Identifier: MIT
 * Names of effects and of their words; a state of which nothing is known; the state that two paths
 * leave, pair by pair; the beginning and end of a comparison. */
#include "tools/explain/prove/prove.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>

#include "tools/cmd/terminal/oom.h"

const char *effect_name(enum effect_kind kind)
{
    static const char *const names[EFFECT_KINDS] = {
        "register write", "pipe register", "control write", "control read", "store",
        "load",           "setsecure",     "poll",          "repetition",   "waitin"};
    return names[kind];
}

bool effect_fits(const struct effect *a, const struct effect *b, char *ret, size_t size)
{
    const char *name = effect_name((enum effect_kind)b->kind);
    if (a->kind != b->kind) {
        snprintf(ret, size, "a %s where the old revision has a %s", name,
                 effect_name((enum effect_kind)a->kind));
        return false;
    }
    if (a->count != b->count) {
        snprintf(ret, size, "a %s with other operands than in the old revision", name);
        return false;
    }
    if (a->uop != b->uop &&
        !(a->uop && b->uop && code_same(a->uop, b->uop) && a->uop->imm == b->uop->imm)) {
        snprintf(ret, size, "a %s of another instruction than in the old revision", name);
        return false;
    }
    if (memcmp(a->taken, b->taken, sizeof(a->taken)) != 0) {
        snprintf(ret, size, "a %s at another place among the words taken", name);
        return false;
    }
    return true;
}

const char *effect_word_name(enum effect_kind kind, unsigned index)
{
    static const char *const names[EFFECT_KINDS][EFFECT_WORDS] = {
        [EFFECT_REGISTER] = {"selection", "address", "value"},
        [EFFECT_SELECT] = {"port", "value"},
        [EFFECT_CWRITE] = {"number", "value", "second value", "third value", "fourth value"},
        [EFFECT_CREAD] = {"number", "selection", "$addr", "$usraddr"},
        [EFFECT_STORE] = {"operation", "offset", "value"},
        [EFFECT_LOAD] = {"operation", "offset"},
        [EFFECT_SECURE] = {"mode"},
        [EFFECT_POLL] = {"number", "loop", "register", "register", "register", "register"},
        [EFFECT_BULK] = {"count", "source", "source", "selection", "$addr", "$usraddr",
                         "destination", "carry"},
    };
    return names[kind][index] ? names[kind][index] : "word";
}

void state_unknown(const struct smt *smt, uint32_t pc, struct state *ret)
{
    *ret = (struct state){.pc = pc, .npc = pc + 1};
    for (unsigned i = 1; i < R_COUNT; i++)
        ret->r[i] = smt_unknown(smt, "r", i);
    ret->r[0] = smt_word(smt, 0);
    ret->carry = smt_unknown(smt, "carry", 0);
    ret->addr = smt_unknown(smt, "addr", 0);
    ret->usraddr = smt_unknown(smt, "usraddr", 0);
    ret->user = smt_unknown(smt, "user", 0);
    for (unsigned i = 0; i < SQE_COUNT; i++)
        ret->sqe[i] = smt_unknown(smt, "sqe", i);
}

#define MOST_STEPS 200000u /* instructions of one comparison */

/* Pairs that are being listed. */
struct pairs {
    const struct state *s; /* two */
    uint64_t live;
    struct left *left;
    unsigned count;
};

/* @param bit  as LIVE_*; 0: always live */
static void put_pair(struct pairs *p, const char *name, uint64_t bit, Z3_ast a, Z3_ast b)
{
    if (bit && !(p->live & bit))
        return;
    struct left *left = &p->left[p->count++];
    *left = (struct left){.bit = bit, .word = {a, b}};
    snprintf(left->name, sizeof(left->name), "%s", name);
}

/* One function for each member of a core's state that is COMPARED. */
static void put_r(struct pairs *p)
{
    char name[24];
    for (unsigned i = 1; i <= R_REM; i++) {
        snprintf(name, sizeof(name), "register $%02x", i);
        put_pair(p, name, UINT64_C(1) << i, p->s[0].r[i], p->s[1].r[i]);
    }
}

static void put_carry(struct pairs *p)
{
    put_pair(p, "the carry", LIVE_CARRY, p->s[0].carry, p->s[1].carry);
}

static void put_user_selected(struct pairs *p)
{
    put_pair(p, "the selection", LIVE_ADDR, p->s[0].user, p->s[1].user);
}

static void put_addr(struct pairs *p)
{
    put_pair(p, "$addr", LIVE_ADDR, p->s[0].addr, p->s[1].addr);
}

static void put_usraddr(struct pairs *p)
{
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
#include "emu/afuc/core/state.def"
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
