/* SPDX-License-Identifier: MIT
 * What the rest of the GPU sees of a run: names of effects and of their words; and a
 * state of which nothing is known. */
#include "tools/explain/prove/side.h"

#include <stdio.h>
#include <string.h>

const char *effect_name(enum effect_kind kind)
{
    static const char *const names[EFFECT_KINDS] = {
        "register write", "pipe register", "control write", "control read", "store",
        "load",           "setsecure",     "poll",          "repetition",   "waitin"};
    return names[kind];
}

/* Whether two repetitions are of the same instruction. */
static bool same_instruction(const struct effect *a, const struct effect *b)
{
    if (!a->uop || !b->uop)
        return a->uop == b->uop;
    return a->uop->code == b->uop->code && a->uop->dst == b->uop->dst && a->uop->s1 == b->uop->s1 &&
           a->uop->s2 == b->uop->s2 && a->uop->flags == b->uop->flags &&
           a->uop->xmov == b->uop->xmov && a->uop->imm == b->uop->imm;
}

bool effect_fits(const struct effect *a, const struct effect *b, char *ret, size_t size)
{
    const char *name = effect_name((enum effect_kind)b->kind);
    if (a->kind != b->kind || a->count != b->count || !same_instruction(a, b)) {
        snprintf(ret, size, "a %s where the old revision has a %s", name,
                 effect_name((enum effect_kind)a->kind));
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
