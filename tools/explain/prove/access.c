/* SPDX-License-Identifier: MIT
 * What a run reads and writes: control registers, loops that wait for one, memory, SQE registers.
 */
#include <stdio.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/prove.h"

static Z3_ast address_of(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast at = runner_plus_(run, s->r[uop->s1 & 31], uop->imm);
    if ((uop->flags & U_PRE) && uop->s1)
        s->r[uop->s1 & 31] = at;
    return at;
}

/* The number of a control register as the old revision has it: the map of private registers, over
 * all numbers that @p at can be. */
static Z3_ast control_number(struct runner *run, Z3_ast at)
{
    const struct code *code = run->code;
    uint32_t known = 0;
    if (!code->renumbered)
        return at;
    at = runner_masked_(run, at, CONTROL_COUNT - 1);
    if (!run->side)
        return at;
    if (smt_known(run->smt, at, &known))
        return smt_word(run->smt, code->scratch[known]);
    Z3_ast ret = at;
    for (uint32_t first = 0, end; first < CONTROL_COUNT; first = end) {
        uint32_t apart = code->scratch[first] - first;
        for (end = first + 1; end < CONTROL_COUNT && code->scratch[end] - end == apart; end++)
            ;
        Z3_ast inside = Z3_mk_bvult(run->smt->z, runner_plus_(run, at, -first),
                                    smt_word(run->smt, end - first));
        ret = apart ? Z3_mk_ite(run->smt->z, inside, runner_plus_(run, at, apart), ret) : ret;
    }
    return smt_plain(run->smt, ret);
}

static void set_control(struct runner *run, struct state *s, uint32_t number, Z3_ast value)
{
    struct kept *kept = tool_alloc(1, sizeof(*kept));
    TOOL_ROOM(run->arena, run->arena_count);
    run->arena[run->arena_count++] = kept;
    *kept = (struct kept){number, value, s->kept};
    s->kept = kept;
}

/* Whether a control write may be of the register that makes $data a peek: by its number, or by an
 * index that the code bounds. An index of which nothing is known stays in its array. */
static bool may_peek(struct runner *run, const struct afuc_uop *uop, Z3_ast at)
{
    enum { ARRAY = 0x100 };
    uint32_t peek = run->code->side[run->side].peek_switch;
    uint32_t known = 0;
    if (peek >= CONTROL_COUNT || smt_known(run->smt, at, &known))
        return peek < CONTROL_COUNT && known == peek;
    if (uop->imm > peek || uop->imm + ARRAY <= peek)
        return false;
    Z3_ast inside =
        Z3_mk_bvult(run->smt->z, runner_plus_(run, at, -uop->imm), smt_word(run->smt, ARRAY));
    return smt_possible(run->smt, smt_not(run->smt, inside)) == SMT_NO &&
           smt_possible(run->smt, smt_equal(run->smt, at, smt_word(run->smt, peek))) != SMT_NO;
}

void runner_control_write_(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = runner_source_(run, s, uop, uop->s2);
    Z3_ast extra[3] = {NULL};
    for (unsigned i = 0; i < uop->xmov; i++)
        extra[i] = runner_source_(run, s, uop, uop->s2);
    Z3_ast at = control_number(run, address_of(run, s, uop));
    struct effect *effect = runner_effect_(run, s, EFFECT_CWRITE);
    uint32_t number = 0;
    runner_add_word_(effect, at);
    runner_add_word_(effect, value);
    for (unsigned i = 0; i < uop->xmov; i++)
        runner_add_word_(effect, extra[i]);
    if (may_peek(run, uop, at))
        run->lost = "$data that is only looked at";
    if (run->world && smt_known(run->smt, at, &number))
        set_control(run, s, number % CONTROL_COUNT, value);
}

/* The value that ends a poll: the same in both revisions, where it is the same poll, which looks at
 * the same registers. Of a machine that is known the loop turns. */
Z3_ast runner_poll_value_(struct runner *run, struct state *s, Z3_ast at, unsigned id)
{
    unsigned before = 0; /* effects that both revisions must have */
    unsigned nth = 0;    /* of this poll since the last of those */
    for (unsigned i = 0; i < s->effects; i++) {
        const struct effect *effect = &run->effect[i];
        uint32_t number = 0;
        bool is_poll = effect->kind == EFFECT_POLL;
        before += !is_poll;
        nth = is_poll ? nth + (smt_known(run->smt, effect->word[1], &number) && number == id) : 0;
    }
    struct effect *effect = runner_effect_(run, s, EFFECT_POLL);
    runner_add_word_(effect, control_number(run, at));
    runner_add_word_(effect, smt_word(run->smt, id));
    for (unsigned i = 1; i <= R_REM; i++) {
        if (run->code->poll[id - 1].reads >> i &
            1) /* also what a branch on the spot looks at first */
            runner_add_word_(effect, s->r[i]);
    }
    if (s->epoch > 0x7f || before > 0xffff || nth > 0x7f)
        run->lost = "more polls than are told apart";
    char name[32];
    snprintf(name, sizeof(name), "poll %u %u", id, nth);
    return smt_unknown(run->smt, name, s->epoch << 16 | before);
}

unsigned runner_poll_(const struct runner *run, uint32_t pc)
{
    return run->world ? 0 : run->code->side[run->side].poll[pc];
}

/* The first read of a branch to itself that reads the same again: part of that poll. */
static bool begins_poll(const struct runner *run, const struct state *s, const struct afuc_uop *uop)
{
    return s->npc == s->pc + 1 && uop->s1 == 0 && runner_poll_(run, s->npc) &&
           afuc_row_(uop[1].code)->act == ACT_CONDITION && uop[1].s1 == uop->dst &&
           uop[2].imm == uop->imm && !(uop->flags & (U_PRE | U_REP));
}

/* Control register SELECTED shows $addr or $usraddr. */
static void add_shown(struct runner *run, const struct state *s, Z3_ast at, struct effect *effect)
{
    uint32_t number = 0;
    if (!smt_known(run->smt, at, &number) || number != run->code->side[run->side].selected)
        return;
    runner_add_word_(effect, s->user);
    runner_add_word_(effect, s->addr);
    runner_add_word_(effect, s->usraddr);
}

Z3_ast runner_control_read_(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    if (begins_poll(run, s, uop)) /* the poll writes what it ends with */
        return smt_unknown(run->smt, "first", runner_poll_(run, s->npc));
    Z3_ast at = address_of(run, s, uop);
    if (runner_poll_(run, s->pc) && s->npc == s->pc + 1) {
        s->poll = s->pc;
        return runner_poll_value_(run, s, at, runner_poll_(run, s->pc));
    }
    at = control_number(run, at);
    struct effect *effect = runner_effect_(run, s, EFFECT_CREAD);
    runner_add_word_(effect, at);
    add_shown(run, s, at, effect);
    /* Where the machine is known: the last write, or its state. */
    uint32_t number = 0;
    if (!run->world || !smt_known(run->smt, at, &number))
        return runner_heard_(run, s, FROM_CONTROL);
    number %= CONTROL_COUNT;
    for (const struct kept *kept = s->kept; kept; kept = kept->before) {
        if (kept->number == number)
            return kept->value;
    }
    return smt_word(run->smt, run->world->control[number]);
}

void runner_store_(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = runner_source_(run, s, uop, uop->s2);
    Z3_ast at = address_of(run, s, uop);
    struct effect *effect = runner_effect_(run, s, EFFECT_STORE);
    runner_add_word_(effect, smt_word(run->smt, afuc_row_(uop->code)->op));
    runner_add_word_(effect, at);
    runner_add_word_(effect, value);
}

Z3_ast runner_load_(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast at = address_of(run, s, uop);
    struct effect *effect = runner_effect_(run, s, EFFECT_LOAD);
    runner_add_word_(effect, smt_word(run->smt, afuc_row_(uop->code)->op));
    runner_add_word_(effect, at);
    return runner_heard_(run, s, FROM_MEMORY);
}

/* Which SQE register it is of; the call stack and its depth are the run's own, which only calls and
 * returns change. */
static bool sqe_number(struct runner *run, struct state *s, const struct afuc_uop *uop,
                       uint32_t *ret)
{
    return smt_known(run->smt, address_of(run, s, uop), ret) && *ret < SQE_COUNT &&
           !(*ret >= SQE_STACK && *ret < SQE_STACK + STACK_DEPTH);
}

bool runner_sqe_write_(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = runner_source_(run, s, uop, uop->s2);
    uint32_t number = 0;
    if (!sqe_number(run, s, uop, &number) || number == SQE_SP)
        return false;
    s->sqe[number] = value;
    return true;
}

bool runner_sqe_read_(struct runner *run, struct state *s, const struct afuc_uop *uop, Z3_ast *ret)
{
    uint32_t number = 0;
    if (!sqe_number(run, s, uop, &number))
        return false;
    *ret = runner_plus_(run, s->sqe[number], number == SQE_SP ? s->calls : 0);
    return true;
}
