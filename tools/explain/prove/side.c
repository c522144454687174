/* SPDX-License-Identifier: MIT
 * Runs code over terms: the rows of isa/afuc.def define operations; operands, ports, prefixes and
 * delay slots are here, as emu/afuc/body.h and port.c have them. */
#include "tools/explain/prove/prove.h"

#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/oom.h"

void runner_deinit(struct runner *runner)
{
    for (size_t i = 0; i < runner->arena_count; i++)
        free(runner->arena[i]);
    free(runner->arena);
    free(runner->effect);
    *runner = (struct runner){0};
}

/* The next word of a source: the same unknown in both revisions. Numbers that no longer fit would
 * be another word's. */
Z3_ast runner_heard_(struct runner *run, struct state *s, enum channel from)
{
    static const char *const names[CHANNELS] = {"data",    "memdata", "regdata",
                                                "control", "memory",  "secure"};
    if (s->heard[from] > UINT16_MAX || s->epoch > INT16_MAX)
        run->lost = "more words than are told apart";
    return smt_unknown(run->smt, names[from], s->epoch << 16 | s->heard[from]++);
}

/* A new effect, of which the caller fills in the words. */
struct effect *runner_effect_(struct runner *run, struct state *s, enum effect_kind kind)
{
    run->effects = s->effects;
    TOOL_ROOM(run->effect, run->effects);
    struct effect *effect = &run->effect[run->effects++];
    s->effects++;
    *effect = (struct effect){.kind = (uint8_t)kind, .pc = s->pc};
    memcpy(effect->taken, s->heard, sizeof(effect->taken));
    return effect;
}

void runner_add_word_(struct effect *effect, Z3_ast word)
{
    effect->word[effect->count++] = word;
}

Z3_ast runner_plus_(struct runner *run, Z3_ast a, uint32_t b)
{
    return smt_plain(run->smt, Z3_mk_bvadd(run->smt->z, a, smt_word(run->smt, b)));
}

Z3_ast runner_masked_(struct runner *run, Z3_ast a, uint32_t mask)
{
    return smt_plain(run->smt, Z3_mk_bvand(run->smt->z, a, smt_word(run->smt, mask)));
}

static Z3_ast choose(struct runner *run, Z3_ast condition, Z3_ast yes, Z3_ast no)
{
    return smt_plain(run->smt, Z3_mk_ite(run->smt->z, condition, yes, no));
}

static Z3_ast is_zero(struct runner *run, Z3_ast a)
{
    return smt_equal(run->smt, a, smt_word(run->smt, 0));
}

Z3_ast runner_source_(struct runner *run, struct state *s, const struct afuc_uop *uop,
                      unsigned number)
{
    if (number <= R_REM)
        return s->r[number];
    if (number == R_MEMDATA)
        return runner_heard_(run, s, FROM_MEMDATA);
    if (number == R_REGDATA)
        return runner_heard_(run, s, FROM_REGDATA);
    if (uop->flags & U_PEEK) {
        Z3_ast word = runner_heard_(run, s, FROM_DATA);
        s->heard[FROM_DATA]--;
        return word;
    }
    s->r[R_REM] = runner_plus_(run, s->r[R_REM], UINT32_MAX);
    return runner_heard_(run, s, FROM_DATA);
}

/* The address after one that was written: bit 18 holds it. */
static Z3_ast next_address(struct runner *run, Z3_ast address)
{
    Z3_ast one = is_zero(run, runner_masked_(run, address, 0xff000000));
    Z3_ast next =
        choose(run, one, runner_plus_(run, address, 1), runner_plus_(run, address, 1u << 24));
    return choose(run, is_zero(run, runner_masked_(run, address, 1u << 18)), next, address);
}

static void write_data(struct runner *run, struct state *s, Z3_ast value)
{
    struct effect *effect = runner_effect_(run, s, EFFECT_REGISTER);
    Z3_ast privileged = is_zero(run, s->user);
    Z3_ast pipe = is_zero(run, runner_masked_(run, s->addr, 0xff000000));
    Z3_ast to = choose(run, pipe, runner_masked_(run, s->addr, 0x3ffff),
                       runner_masked_(run, s->addr, ~(1u << 18)));
    runner_add_word_(effect, s->user);
    runner_add_word_(effect,
                     choose(run, privileged, to, runner_masked_(run, s->usraddr, 0x13ffff)));
    runner_add_word_(effect, value);
    s->addr = choose(run, privileged, next_address(run, s->addr), s->addr);
    Z3_ast hold = is_zero(run, runner_masked_(run, s->usraddr, 1u << 18));
    Z3_ast next = choose(run, hold, runner_plus_(run, s->usraddr, 1), s->usraddr);
    s->usraddr = choose(run, privileged, s->usraddr, next);
}

/* Addressing a register does something where it is one of the pipe's (F: those wait), and on the ME
 * of a5xx, whose registers and memory are read by it: me.c. */
static void select_port(struct runner *run, struct state *s, unsigned number, Z3_ast value)
{
    uint32_t known = 0;
    bool is_me = run->code->side[run->side].fw->layout == CPS_LAYOUT_A5XX_ME;
    bool is_pipe = number == R_ADDR && !(smt_known(run->smt, value, &known) && !(known >> 24));
    if (!is_me && !is_pipe)
        return;
    struct effect *effect = runner_effect_(run, s, EFFECT_SELECT);
    Z3_ast seen = value;
    if (!is_me)
        seen = choose(run, is_zero(run, runner_masked_(run, value, 0xff000000)), s->r[0], value);
    runner_add_word_(effect, smt_word(run->smt, number));
    runner_add_word_(effect, seen);
}

static void write_port(struct runner *run, struct state *s, unsigned number, Z3_ast value)
{
    if (number == R_DATA) {
        write_data(run, s, value);
    } else if (number == R_USRADDR) {
        s->usraddr = value;
        s->user = smt_word(run->smt, 1);
        select_port(run, s, number, value);
    } else if (number == R_ADDR) {
        s->addr = value;
        s->user = smt_word(run->smt, 0);
        select_port(run, s, number, value);
    } else if (number && number != R_TRASH) {
        s->r[number] = value;
    }
}

static enum halt lost(struct runner *run, const char *why)
{
    run->why = why;
    return HALT_LOST;
}

static void next(struct state *s)
{
    s->pc = s->npc;
    s->npc = s->pc + 1;
}

/* The delay slot runs, then @p to. */
static void go_to(struct state *s, uint32_t to)
{
    s->pc = s->npc;
    s->npc = to;
}

static bool run_alu(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    struct meaning m = {.carry = s->carry};
    Z3_ast value = NULL;
    m.a = runner_source_(run, s, uop, uop->s1);
    m.b = uop->s2 == S2_IMM ? smt_word(run->smt, uop->imm) : runner_source_(run, s, uop, uop->s2);
    m.d = uop->dst <= R_REM ? s->r[uop->dst] : smt_word(run->smt, 0);
    if (!meaning_value(run->smt, afuc_row_(uop->code)->text, &m, &value))
        return false;
    s->carry = m.carry;
    write_port(run, s, uop->dst, value);
    return true;
}

/* The extra moves of (xmovN), with a known $rem: port.c. */
static void extra_moves(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    uint32_t rest = 0;
    smt_known(run->smt, s->r[R_REM], &rest);
    rest -= afuc_counts_itself_(uop);
    uint32_t count = uop->xmov < rest ? uop->xmov : rest;
    bool ported = uop->dst >= R_ADDR && uop->dst <= R_DATA;
    unsigned source = uop->s2 >= R_ADDR && uop->s2 != S2_IMM ? uop->s2 : uop->s1;
    for (uint32_t i = 0; i < count; i++) {
        Z3_ast value = runner_source_(run, s, uop, source);
        if (source != R_DATA)
            s->r[R_REM] = runner_plus_(run, s->r[R_REM], UINT32_MAX);
        unsigned target = count == 3 && i == 1 ? uop->dst : (unsigned)R_DATA;
        if (ported)
            write_port(run, s, target, value);
    }
}

/* One execution of an instruction that does not branch, without (rep). */
static bool execute(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = NULL;
    switch (afuc_row_(uop->code)->act) {
    case ACT_EXPRESSION:
        if (!run_alu(run, s, uop))
            return false;
        if (uop->xmov)
            extra_moves(run, s, uop);
        return true;
    case ACT_MEMORY_WRITE:
        runner_store_(run, s, uop);
        return true;
    case ACT_MEMORY_READ:
        write_port(run, s, uop->dst, runner_load_(run, s, uop));
        return true;
    case ACT_CONTROL_WRITE:
        runner_control_write_(run, s, uop);
        return true;
    case ACT_CONTROL_READ:
        write_port(run, s, uop->dst, runner_control_read_(run, s, uop));
        return true;
    case ACT_SQE_WRITE:
        return runner_sqe_write_(run, s, uop);
    case ACT_SQE_READ:
        if (!runner_sqe_read_(run, s, uop, &value))
            return false;
        write_port(run, s, uop->dst, value);
        return true;
    case ACT_NOTHING:
        return true;
    default: /* not followed here: step() has a case for each */
        return false;
    }
}

/* An instruction whose number of repetitions, or of extra moves, is not known, as one effect: it
 * does the same with the same operands. What it leaves is unknown. */
static void bulk(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    struct effect *effect = runner_effect_(run, s, EFFECT_BULK);
    effect->uop = uop;
    runner_add_word_(effect, s->r[R_REM]);
    runner_add_word_(effect, uop->s1 <= R_REM ? s->r[uop->s1] : s->r[0]);
    runner_add_word_(effect, uop->s2 <= R_REM ? s->r[uop->s2] : s->r[0]);
    runner_add_word_(effect, s->user);
    runner_add_word_(effect, s->addr);
    runner_add_word_(effect, s->usraddr);
    runner_add_word_(effect, uop->dst <= R_REM ? s->r[uop->dst] : s->r[0]);
    runner_add_word_(effect, s->carry);
    unsigned name = ++s->epoch;
    memset(s->heard, 0, sizeof(s->heard));
    if (uop->dst && uop->dst <= R_REM)
        s->r[uop->dst] = smt_unknown(run->smt, "bulk", name);
    if ((uop->flags & U_PRE) && uop->s1 && uop->s1 <= R_REM)
        s->r[uop->s1] = smt_unknown(run->smt, "bulkat", name);
    s->r[R_REM] = uop->flags & U_REP ? s->r[0] : smt_unknown(run->smt, "bulkrem", name);
    s->addr = smt_unknown(run->smt, "bulkaddr", name);
    s->usraddr = smt_unknown(run->smt, "bulkusraddr", name);
    if (uop->dst == R_ADDR || uop->dst == R_USRADDR)
        s->user = smt_unknown(run->smt, "bulkuser", name);
    if (afuc_row_(uop->code)->act == ACT_EXPRESSION)
        s->carry = smt_unknown(run->smt, "bulkcarry", name);
}

/* @return HALT_CUT: it goes on */
static enum halt repeat(struct runner *run, struct state *s, const struct afuc_uop *uop,
                        uint32_t left)
{
    while (left) {
        if (!run->steps)
            return HALT_BUDGET;
        run->steps--;
        if (!execute(run, s, uop))
            return lost(run, "an instruction that is not followed");
        if (!(uop->flags & U_POPS))
            s->r[R_REM] = runner_plus_(run, s->r[R_REM], UINT32_MAX);
        if (!smt_known(run->smt, s->r[R_REM], &left))
            return lost(run, "an instruction that is not followed");
    }
    return HALT_CUT;
}

/* Whether one effect can stand for all repetitions of an instruction: not where the numbers of
 * registers are in question. */
static bool is_bulk(const struct runner *run, const struct afuc_uop *uop)
{
    enum afuc_act act = afuc_row_(uop->code)->act;
    switch (act) {
    case ACT_EXPRESSION:
    case ACT_MEMORY_WRITE:
    case ACT_MEMORY_READ:
    case ACT_NOTHING:
        return true;
    case ACT_CONTROL_WRITE:
    case ACT_CONTROL_READ:
        return !run->code->renumbered && !(act == ACT_CONTROL_WRITE && !uop->s1 &&
                                           uop->imm == run->code->side[run->side].peek_switch);
    default:
        return false;
    }
}

static enum halt plain(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    uint32_t left = 0;
    enum halt halt = HALT_CUT;
    enum afuc_act act = afuc_row_(uop->code)->act;
    bool counted = (uop->flags & U_REP) || (uop->xmov && act == ACT_EXPRESSION);
    bool unknown = counted && !smt_known(run->smt, s->r[R_REM], &left);
    if (unknown && !is_bulk(run, uop))
        return lost(run, "registers in a number that is not known");
    if (unknown)
        bulk(run, s, uop);
    else if (uop->flags & U_REP)
        halt = repeat(run, s, uop, left);
    else if (!execute(run, s, uop))
        return lost(run, "an instruction that is not followed");
    next(s);
    return halt;
}

static enum halt branch(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    if (runner_poll_(run, s->pc) && s->npc == s->pc + 1) {
        /* A branch to itself, as often as it takes; the last read of its delay slot is unused. */
        Z3_ast at = smt_word(run->smt, uop[1].imm);
        s->r[uop[1].dst] = runner_poll_value_(run, s, at, runner_poll_(run, s->pc));
        s->pc += 2;
        s->npc = s->pc + 1;
        return HALT_CUT;
    }
    struct meaning m = {.carry = s->carry};
    bool taken = false;
    m.a = runner_source_(run, s, uop, uop->s1);
    m.b = smt_word(run->smt, uop->imm);
    m.d = m.b;
    if (!meaning_condition(run->smt, afuc_row_(uop->code)->text, &m, &s->condition))
        return lost(run, "a branch that is not followed");
    if (!smt_decided(run->smt, s->condition, &taken))
        return HALT_BRANCH;
    if (taken && uop->target == s->pc && s->npc == s->pc) {
        s->pc = PC_SPIN;
        return HALT_CUT;
    }
    runner_branch(run, s, taken);
    return HALT_CUT;
}

bool runner_polls(const struct runner *run, const struct state *s)
{
    const struct afuc_uop *uop = &run->code->side[run->side].image->uop[s->pc];
    return s->poll && afuc_row_(uop->code)->act == ACT_CONDITION && uop->target == s->poll;
}

void runner_branch(struct runner *run, struct state *s, bool taken)
{
    const struct afuc_uop *uop = &run->code->side[run->side].image->uop[s->pc];
    s->poll = 0;
    if (afuc_row_(uop->code)->act == ACT_SECURE) { /* no delay slot */
        s->pc += taken ? 3 : 1;
        s->npc = s->pc + 1;
    } else if (taken) {
        go_to(s, uop->target);
    } else {
        next(s);
    }
}

/* An address of this revision, as both keep it. */
static uint32_t kept_address(const struct runner *run, uint32_t pc)
{
    return run->side ? code_to_old(run->code, pc) : pc;
}

bool runner_jump(const struct runner *run, struct state *s, uint32_t old)
{
    uint32_t pc = run->side ? code_to_new(run->code, old) : old;
    if (pc >= run->code->side[run->side].count || !code_may_jump(run->code, old))
        return false;
    s->pc = pc;
    s->npc = pc + 1;
    return true;
}

static enum halt leave(struct state *s, Z3_ast target)
{
    s->target = target;
    go_to(s, PC_JUMP);
    return HALT_CUT;
}

static enum halt call(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    if (s->calls == CALLS)
        return lost(run, "calls that are nested deeper than the stack");
    s->call[s->calls++] = kept_address(run, s->pc + 2);
    go_to(s, uop->target);
    return HALT_CUT;
}

static enum halt ret(struct runner *run, struct state *s)
{
    if (!s->calls) {
        go_to(s, PC_RET);
        return HALT_CUT;
    }
    uint32_t old = s->call[--s->calls];
    uint32_t pc = run->side ? code_to_new(run->code, old) : old;
    if (pc >= run->code->side[run->side].count)
        return lost(run, "a return to code that is not there");
    go_to(s, pc);
    return HALT_CUT;
}

static enum halt step(struct runner *run, struct state *s)
{
    const struct code_side *side = &run->code->side[run->side];
    const struct afuc_uop *uop = &side->image->uop[s->pc];
    Z3_ast one = NULL;
    if (code_slot_branches(side, s->pc))
        return lost(run, "a delay slot that branches");
    switch (afuc_row_(uop->code)->act) {
    case ACT_CONDITION:
        return branch(run, s, uop);
    case ACT_JUMP:
        go_to(s, uop->target);
        return HALT_CUT;
    case ACT_STACK_CALL:
        return call(run, s, uop);
    case ACT_STACK_RETURN:
        return ret(run, s);
    case ACT_LINK_CALL:
        s->r[R_LR] = smt_word(run->smt, kept_address(run, s->pc + 2));
        go_to(s, uop->target);
        return HALT_CUT;
    case ACT_LINK_RETURN:
        return leave(s, s->r[R_LR]);
    case ACT_JUMP_REGISTER:
        return leave(s, runner_source_(run, s, uop, uop->s1));
    case ACT_LEAVE:
        go_to(s, PC_IRET);
        return HALT_CUT;
    case ACT_DISPATCH:
        runner_effect_(run, s, EFFECT_DISPATCH);
        s->r[R_REM] = smt_unknown(run->smt, "next", 0);
        go_to(s, PC_END);
        return HALT_CUT;
    case ACT_SECURE:
        one = smt_word(run->smt, 1);
        runner_add_word_(runner_effect_(run, s, EFFECT_SECURE), s->r[2]);
        s->condition = smt_equal(run->smt, runner_heard_(run, s, FROM_SECURE), one);
        return HALT_BRANCH;
    case ACT_ILLEGAL:
        return lost(run, "an illegal instruction");
    case ACT_EXPRESSION:
    case ACT_MEMORY_WRITE:
    case ACT_MEMORY_READ:
    case ACT_CONTROL_WRITE:
    case ACT_CONTROL_READ:
    case ACT_SQE_WRITE:
    case ACT_SQE_READ:
    case ACT_NOTHING:
        break;
    }
    return plain(run, s, uop);
}

/* A jump to a known address goes on. */
static enum halt ended(struct runner *run, struct state *s)
{
    uint32_t known = 0;
    if (s->pc != PC_JUMP || !smt_known(run->smt, s->target, &known))
        return HALT_END;
    return runner_jump(run, s, known) ? HALT_CUT : lost(run, "a jump to code that is not there");
}

enum halt runner_go(struct runner *run, struct state *s)
{
    const struct code_side *side = &run->code->side[run->side];
    for (;;) {
        enum halt halt = HALT_CUT;
        if (s->pc >= PC_LAST)
            halt = ended(run, s);
        else if (s->pc >= side->count)
            return lost(run, "a jump out of the code");
        else if (!run->steps)
            return HALT_BUDGET;
        else
            halt = step(run, s);
        run->steps -= run->steps != 0;
        if (run->lost)
            return lost(run, CPS_TAKE(run->lost));
        if (halt != HALT_CUT)
            return halt;
        if (s->pc < side->count && s->npc == s->pc + 1 && side->cut[s->pc] &&
            !runner_poll_(run, s->pc))
            return HALT_CUT;
    }
}
