/* SPDX-License-Identifier: MIT
 * Which values come from the assumed clock alone, and how: the instructions that made a value are
 * computed again with other times in place of those that were read. Two values that answer alike
 * differ only by the clock, whichever instructions made them. */
#include "emu/afuc/core/act.h"
#include "emu/afuc/origin/state.h"

/* Nodes of a chain: a time stamp, or a difference of two, has about 20. */
enum { MOST = 128, ROUNDS = 4, REAL = ROUNDS };

struct step {
    uint32_t node;
    uint32_t value[ROUNDS + 1]; /* with other times; REAL: as it was, which proves the step */
    uint64_t place;             /* of times: where and in which packet they were read; else 0 */
};

struct chain {
    const struct origin *o;
    struct step step[MOST]; /* inputs first */
    uint32_t count;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool is_time(const struct origin_node *node)
{
    return node->kind == ORIGIN_ASSUMED && node->sub == CPS_WHAT_CLOCK;
}

/* Whether it has the value of its input. */
static bool is_copy(const struct origin *o, const struct origin_node *node)
{
    switch (node->kind) {
    case ORIGIN_WORD:
    case ORIGIN_MEMORY:
    case ORIGIN_PASSED:
    case ORIGIN_REGREAD:
    case ORIGIN_CREAD:
    case ORIGIN_SREAD:
    case ORIGIN_REG:
    case ORIGIN_PIPE:
    case ORIGIN_CTRL:
    case ORIGIN_SQE:
    case ORIGIN_MEMW:
        return if_value_(o, node->in[ORIGIN_A], node->value);
    default:
        return false;
    }
}

static struct step *find(struct chain *c, uint32_t node)
{
    for (uint32_t i = 0; i < c->count; i++) {
        if (c->step[i].node == node)
            return &c->step[i];
    }
    return NULL;
}

/* Lists @p node and all that it comes from. @return false: something else is among it, or much */
static bool list_nodes(struct chain *c, uint32_t node)
{
    c->step[c->count++].node = node;
    for (uint32_t i = 0; i < c->count; i++) {
        const struct origin_node *at = node_(c->o, c->step[i].node);
        if (is_time(at))
            continue;
        if (at->kind != ORIGIN_INSN && at->kind != ORIGIN_OFFSET && !is_copy(c->o, at))
            return false;
        for (unsigned k = 0; k < ORIGIN_INPUTS; k++) {
            if (!at->in[k] || find(c, at->in[k]))
                continue;
            if (c->count == MOST)
                return false;
            c->step[c->count++].node = at->in[k];
        }
    }
    return true;
}

static void sort_nodes(struct chain *c)
{
    for (uint32_t i = 1; i < c->count; i++) {
        const struct step step = c->step[i];
        uint32_t k = i;
        for (; k && c->step[k - 1].node > step.node; k--)
            c->step[k] = c->step[k - 1];
        c->step[k] = step;
    }
}

/* The time of one read: the same in both runs if it was the same read of the same packet. */
static void put_time(struct chain *c, struct step *step, const struct origin_node *node)
{
    const struct origin_node *packet = node_(c->o, node->packet);
    uint64_t number = 0;
    step->place = mix(mix(mix(1, node->place), packet->place), node->submission) | 1;
    for (const struct step *s = c->step; s < step; s++)
        number += s->place == step->place;
    for (unsigned i = 0; i < ROUNDS; i++)
        step->value[i] = (uint32_t)(mix(mix(step->place, number), i) >> 16);
    step->value[REAL] = node->value;
}

static const struct afuc_uop *uop_of(const struct origin *o, const struct origin_node *node)
{
    const struct cps_afuc *machine = o->machine;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (machine->core[i].who == node->who)
            return &machine->core[i].uops[node->pc];
    }
    return NULL;
}

static uint32_t value_of(struct chain *c, uint32_t node, unsigned round)
{
    const struct step *step = node ? find(c, node) : NULL;
    return step ? step->value[round] : 0;
}

/* What the instruction computes of its inputs. */
static bool compute(struct chain *c, struct step *step, const struct origin_node *node)
{
    const struct afuc_uop *uop = uop_of(c->o, node);
    const struct afuc_row *row = uop ? afuc_row_(uop->code) : NULL;
    bool reads_carry = row && row->reads & AFUC_CARRY;
    if (!row || row->act != ACT_EXPRESSION || (reads_carry && !node->in[ORIGIN_D]))
        return false;
    for (unsigned i = 0; i <= ROUNDS; i++) {
        uint32_t b = node->has_imm ? (uint32_t)node->place : value_of(c, node->in[ORIGIN_B], i);
        uint32_t d = value_of(c, node->in[ORIGIN_D], i);
        uint32_t carry = d;
        uint32_t value =
            afuc_evaluate_(uop->code, value_of(c, node->in[ORIGIN_A], i), b, d, &carry);
        step->value[i] = node->dst == TAG_CARRY ? carry : value;
    }
    return true;
}

static bool evaluate(struct chain *c, struct step *step)
{
    const struct origin_node *node = node_(c->o, step->node);
    bool has_inputs = node->in[ORIGIN_A] || node->in[ORIGIN_B] || node->in[ORIGIN_D];
    if (is_time(node)) {
        put_time(c, step, node);
    } else if (node->kind == ORIGIN_INSN && has_inputs) {
        if (!compute(c, step, node))
            return false;
    } else {
        uint32_t more = node->kind == ORIGIN_OFFSET ? (uint32_t)node->place : 0;
        for (unsigned i = 0; i <= ROUNDS; i++)
            step->value[i] = has_inputs ? value_of(c, node->in[ORIGIN_A], i) + more : node->value;
    }
    return step->value[REAL] == node->value;
}

uint64_t origin_clock_(const struct origin *o, uint32_t node)
{
    struct chain c = {.o = o};
    uint64_t ret = 1;
    bool timed = false;
    if (!node || !list_nodes(&c, node))
        return 0;
    sort_nodes(&c);
    for (struct step *step = c.step; step < c.step + c.count; step++) {
        if (!evaluate(&c, step))
            return 0;
        timed |= step->place != 0;
    }
    for (unsigned i = 0; i < ROUNDS; i++)
        ret = mix(ret, c.step[c.count - 1].value[i]);
    return timed ? ret | 1 : 0;
}
