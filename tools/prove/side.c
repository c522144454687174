/* SPDX-License-Identifier: MIT
 * Runs code over terms: the rows of isa/afuc.def say what operations mean, what is here is how
 * operands, ports, prefixes and delay slots work, as emu/afuc/body.h and port.c have it. */
#include "tools/prove/side.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/prove/meaning.h"

void runner_deinit(struct runner *runner)
{
    for (size_t i = 0; i < runner->arena_count; i++)
        free(runner->arena[i]);
    free(runner->arena);
    free(runner->effect);
    *runner = (struct runner){0};
}

static Z3_ast heard(struct runner *run, struct state *s, enum channel from)
{
    static const char *const names[CHANNELS] = {"data",    "memdata", "regdata",
                                                "control", "memory",  "secure"};
    return smt_unknown(run->smt, names[from], s->epoch << 16 | s->heard[from]++);
}

/* A new effect, of which the caller fills in the words. */
static struct effect *add_effect(struct runner *run, struct state *s, enum effect_kind kind)
{
    static struct effect none;
    run->effects = s->effects;
    if (!CPS_LIST_ROOM(run->effect, run->effects)) {
        run->failed = true;
        return &none;
    }
    struct effect *effect = &run->effect[run->effects++];
    s->effects++;
    *effect = (struct effect){.kind = (uint8_t)kind, .pc = s->pc};
    return effect;
}

static void add_word(struct effect *effect, Z3_ast word)
{
    effect->word[effect->count++] = word;
}

/* Words taken so far: the stream may be another one behind a control write. */
static void add_taken(struct runner *run, const struct state *s, struct effect *effect)
{
    uint32_t taken =
        s->heard[FROM_DATA] << 16 | s->heard[FROM_MEMDATA] << 8 | s->heard[FROM_REGDATA];
    add_word(effect, smt_word(run->smt, taken));
}

static Z3_ast plus(struct runner *run, Z3_ast a, uint32_t b)
{
    return smt_plain(run->smt, Z3_mk_bvadd(run->smt->z, a, smt_word(run->smt, b)));
}

static Z3_ast masked(struct runner *run, Z3_ast a, uint32_t mask)
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

static Z3_ast read_source(struct runner *run, struct state *s, const struct afuc_uop *uop,
                          unsigned number)
{
    if (number <= R_REM)
        return s->r[number];
    if (number == R_MEMDATA)
        return heard(run, s, FROM_MEMDATA);
    if (number == R_REGDATA)
        return heard(run, s, FROM_REGDATA);
    if (uop->flags & U_PEEK) {
        Z3_ast word = heard(run, s, FROM_DATA);
        s->heard[FROM_DATA]--;
        return word;
    }
    s->r[R_REM] = plus(run, s->r[R_REM], UINT32_MAX);
    return heard(run, s, FROM_DATA);
}

/* The address behind one that was written: bit 18 holds it. */
static Z3_ast next_address(struct runner *run, Z3_ast address)
{
    Z3_ast one = is_zero(run, masked(run, address, 0xff000000));
    Z3_ast next = choose(run, one, plus(run, address, 1), plus(run, address, 1u << 24));
    return choose(run, is_zero(run, masked(run, address, 1u << 18)), next, address);
}

static void write_data(struct runner *run, struct state *s, Z3_ast value)
{
    struct effect *effect = add_effect(run, s, EFFECT_REGISTER);
    Z3_ast privileged = is_zero(run, s->user);
    Z3_ast pipe = is_zero(run, masked(run, s->addr, 0xff000000));
    Z3_ast to = choose(run, pipe, masked(run, s->addr, 0x3ffff), masked(run, s->addr, ~(1u << 18)));
    add_word(effect, s->user);
    add_word(effect, choose(run, privileged, to, masked(run, s->usraddr, 0x13ffff)));
    add_word(effect, value);
    s->addr = choose(run, privileged, next_address(run, s->addr), s->addr);
    Z3_ast hold = is_zero(run, masked(run, s->usraddr, 1u << 18));
    Z3_ast next = choose(run, hold, plus(run, s->usraddr, 1), s->usraddr);
    s->usraddr = choose(run, privileged, s->usraddr, next);
}

static void write_port(struct runner *run, struct state *s, unsigned number, Z3_ast value)
{
    uint32_t known = 0;
    if (number == R_DATA) {
        write_data(run, s, value);
    } else if (number == R_USRADDR) {
        s->usraddr = value;
        s->user = smt_word(run->smt, 1);
    } else if (number == R_ADDR) {
        s->addr = value;
        s->user = smt_word(run->smt, 0);
        if (!smt_known(run->smt, value, &known) || known >> 24)
            add_word(add_effect(run, s, EFFECT_SELECT),
                     choose(run, is_zero(run, masked(run, value, 0xff000000)),
                            smt_word(run->smt, 0), value));
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
    m.a = read_source(run, s, uop, uop->s1);
    m.b = uop->s2 == S2_IMM ? smt_word(run->smt, uop->imm) : read_source(run, s, uop, uop->s2);
    m.d = uop->dst <= R_REM ? s->r[uop->dst] : smt_word(run->smt, 0);
    if (!meaning_value(run->smt, code_row(uop->code)->text, &m, &value))
        return false;
    s->carry = m.carry;
    write_port(run, s, uop->dst, value);
    return true;
}

/* What (xmovN) adds, with a known $rem: port.c. */
static void extra_moves(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    uint32_t rest = 0;
    smt_known(run->smt, s->r[R_REM], &rest);
    rest -= afuc_counts_itself_(uop);
    uint32_t count = uop->xmov < rest ? uop->xmov : rest;
    bool ported = uop->dst >= R_ADDR && uop->dst <= R_DATA;
    unsigned source = uop->s2 >= R_ADDR && uop->s2 != S2_IMM ? uop->s2 : uop->s1;
    for (uint32_t i = 0; i < count; i++) {
        Z3_ast value = read_source(run, s, uop, source);
        if (source != R_DATA)
            s->r[R_REM] = plus(run, s->r[R_REM], UINT32_MAX);
        unsigned target = count == 3 && i == 1 ? uop->dst : (unsigned)R_DATA;
        if (ported)
            write_port(run, s, target, value);
    }
}

static Z3_ast address_of(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast at = plus(run, s->r[uop->s1 & 31], uop->imm);
    if ((uop->flags & U_PRE) && uop->s1)
        s->r[uop->s1 & 31] = at;
    return at;
}

static void keep(struct runner *run, struct state *s, uint32_t number, Z3_ast value)
{
    struct kept *kept = malloc(sizeof(*kept));
    if (!kept || !CPS_LIST_ROOM(run->arena, run->arena_count)) {
        run->failed = true;
        free(kept);
        return;
    }
    run->arena[run->arena_count++] = kept;
    *kept = (struct kept){number, value, s->kept};
    s->kept = kept;
}

static void control_write(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = read_source(run, s, uop, uop->s2);
    Z3_ast extra[3] = {NULL};
    for (unsigned i = 0; i < uop->xmov; i++)
        extra[i] = read_source(run, s, uop, uop->s2);
    Z3_ast at = address_of(run, s, uop);
    struct effect *effect = add_effect(run, s, EFFECT_CWRITE);
    uint32_t number = 0;
    add_word(effect, at);
    add_word(effect, value);
    add_taken(run, s, effect);
    for (unsigned i = 0; i < uop->xmov; i++)
        add_word(effect, extra[i]);
    if (run->world && smt_known(run->smt, at, &number))
        keep(run, s, number % CONTROL_COUNT, value);
}

/* Of a machine that is known, what was written last, or what it has; else nobody knows. */
static Z3_ast control_value(struct runner *run, struct state *s, Z3_ast at)
{
    uint32_t number = 0;
    if (!run->world || !smt_known(run->smt, at, &number))
        return heard(run, s, FROM_CONTROL);
    number %= CONTROL_COUNT;
    for (const struct kept *kept = s->kept; kept; kept = kept->before) {
        if (kept->number == number)
            return kept->value;
    }
    return smt_word(run->smt, run->world->control[number]);
}

/* The value that ends a poll: the same in both revisions, where it is the same poll. Of a machine
 * that is known the loop turns. */
static Z3_ast poll_value(struct runner *run, struct state *s, Z3_ast at, unsigned id)
{
    unsigned nth = 0;
    for (unsigned i = 0; i < s->effects; i++) {
        const struct effect *effect = &run->effect[i];
        uint32_t number = 0;
        nth += effect->kind == EFFECT_POLL && smt_known(run->smt, effect->word[1], &number) &&
               number == id;
    }
    struct effect *effect = add_effect(run, s, EFFECT_POLL);
    add_word(effect, at);
    add_word(effect, smt_word(run->smt, id));
    return smt_unknown(run->smt, "poll", s->epoch << 24 ^ id << 12 ^ nth);
}

static unsigned poll_at(const struct runner *run, uint32_t pc)
{
    return run->world ? 0 : run->code->side[run->side].poll[pc];
}

/* The first read of a branch to itself that reads the same again: part of that poll. */
static bool begins_poll(const struct runner *run, const struct state *s, const struct afuc_uop *uop)
{
    return s->npc == s->pc + 1 && uop->s1 == 0 && poll_at(run, s->npc) &&
           code_row(uop[1].code)->kind == KIND_IF && uop[1].s1 == uop->dst &&
           uop[2].imm == uop->imm && !(uop->flags & (U_PRE | U_REP));
}

static Z3_ast control_read(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    if (begins_poll(run, s, uop))
        return s->r[uop->dst]; /* which the poll writes */
    Z3_ast at = address_of(run, s, uop);
    if (poll_at(run, s->pc)) {
        s->poll = s->pc;
        return poll_value(run, s, at, poll_at(run, s->pc));
    }
    add_word(add_effect(run, s, EFFECT_CREAD), at);
    return control_value(run, s, at);
}

static void store(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast value = read_source(run, s, uop, uop->s2);
    Z3_ast at = address_of(run, s, uop);
    struct effect *effect = add_effect(run, s, EFFECT_STORE);
    add_word(effect, at);
    add_word(effect, value);
}

static Z3_ast load(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    add_word(add_effect(run, s, EFFECT_LOAD), address_of(run, s, uop));
    return heard(run, s, FROM_MEMORY);
}

/* SQE registers are storage; where one is unknown, so is what comes of it. */
static bool sqe_access(struct runner *run, struct state *s, const struct afuc_uop *uop, bool write)
{
    Z3_ast value = write ? read_source(run, s, uop, uop->s2) : NULL;
    uint32_t number = 0;
    if (!smt_known(run->smt, address_of(run, s, uop), &number) || number >= SQE_COUNT ||
        (number == SQE_SP && write) || (number >= SQE_STACK && number < SQE_STACK + STACK_DEPTH))
        return false;
    if (write)
        s->sqe[number] = value;
    else
        write_port(run, s, uop->dst, plus(run, s->sqe[number], number == SQE_SP ? s->calls : 0));
    return true;
}

static bool run_own(struct runner *run, struct state *s, const struct afuc_uop *uop, unsigned op)
{
    switch (op) {
    case CPS_AFUC_STORE:
    case CPS_AFUC_STOREP:
        store(run, s, uop);
        return true;
    case CPS_AFUC_LOAD:
    case CPS_AFUC_LOADP:
        write_port(run, s, uop->dst, load(run, s, uop));
        return true;
    case CPS_AFUC_CWRITE:
        control_write(run, s, uop);
        return true;
    case CPS_AFUC_CREAD:
        write_port(run, s, uop->dst, control_read(run, s, uop));
        return true;
    case CPS_AFUC_SWRITE:
    case CPS_AFUC_SREAD:
        return sqe_access(run, s, uop, op == CPS_AFUC_SWRITE);
    default:
        return op == CPS_AFUC_NOP;
    }
}

/* One execution, without what (rep) makes of it. */
static bool execute(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    const struct row *row = code_row(uop->code);
    if (row->kind != KIND_ALU)
        return run_own(run, s, uop, row->op);
    if (!run_alu(run, s, uop))
        return false;
    if (uop->xmov)
        extra_moves(run, s, uop);
    return true;
}

/* An instruction whose number of repetitions, or of extra moves, is not known, as one effect: it
 * does the same with the same operands. What it leaves is unknown. */
static void bulk(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    struct effect *effect = add_effect(run, s, EFFECT_BULK);
    effect->uop = uop;
    add_word(effect, s->r[R_REM]);
    add_word(effect, uop->s1 <= R_REM ? s->r[uop->s1] : s->r[0]);
    add_word(effect, uop->s2 <= R_REM ? s->r[uop->s2] : s->r[0]);
    add_word(effect, s->addr);
    add_word(effect, choose(run, is_zero(run, s->user), s->r[0], s->usraddr));
    add_taken(run, s, effect);
    add_word(effect, uop->dst <= R_REM ? s->r[uop->dst] : s->r[0]);
    add_word(effect, s->carry);
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
    if (code_row(uop->code)->kind == KIND_ALU)
        s->carry = smt_unknown(run->smt, "bulkcarry", name);
}

static bool repeat(struct runner *run, struct state *s, const struct afuc_uop *uop, uint32_t left)
{
    while (left && run->steps) {
        run->steps--;
        if (!execute(run, s, uop))
            return false;
        if (!(uop->flags & U_POPS))
            s->r[R_REM] = plus(run, s->r[R_REM], UINT32_MAX);
        if (!smt_known(run->smt, s->r[R_REM], &left))
            return false;
    }
    return true;
}

static enum halt plain(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    uint32_t left = 0;
    unsigned op = code_row(uop->code)->op;
    bool counted = (uop->flags & U_REP) || (uop->xmov && code_row(uop->code)->kind == KIND_ALU);
    bool unknown = counted && !smt_known(run->smt, s->r[R_REM], &left);
    if (unknown && (op == CPS_AFUC_SWRITE || op == CPS_AFUC_SREAD))
        return lost(run, "SQE registers in a number that is not known");
    if (unknown)
        bulk(run, s, uop);
    else if (!(uop->flags & U_REP ? repeat(run, s, uop, left) : execute(run, s, uop)))
        return lost(run, "an instruction that is not followed");
    next(s);
    return HALT_CUT;
}

/* A branch to itself, as often as it takes; what its delay slot has read last nobody has looked at.
 */
static enum halt poll_on_the_spot(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    Z3_ast at = smt_word(run->smt, uop[1].imm);
    s->r[uop[1].dst] = poll_value(run, s, at, poll_at(run, s->pc));
    s->pc += 2;
    s->npc = s->pc + 1;
    return HALT_CUT;
}

static enum halt branch(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    if (poll_at(run, s->pc) && s->npc == s->pc + 1)
        return poll_on_the_spot(run, s, uop);
    struct meaning m = {.carry = s->carry};
    bool taken = false;
    m.a = read_source(run, s, uop, uop->s1);
    m.b = smt_word(run->smt, uop->imm);
    m.d = m.b;
    if (!meaning_condition(run->smt, code_row(uop->code)->text, &m, &s->condition))
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
    return s->poll && code_row(uop->code)->kind == KIND_IF && uop->target == s->poll;
}

void runner_branch(struct runner *run, struct state *s, bool taken)
{
    const struct afuc_uop *uop = &run->code->side[run->side].image->uop[s->pc];
    s->poll = 0;
    if (code_row(uop->code)->op == CPS_AFUC_SETSECURE) { /* no delay slot */
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
    if (pc >= run->code->side[run->side].count)
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

static enum halt setsecure(struct runner *run, struct state *s)
{
    Z3_ast one = smt_word(run->smt, 1);
    add_word(add_effect(run, s, EFFECT_SECURE), s->r[2]);
    s->condition = smt_equal(run->smt, heard(run, s, FROM_SECURE), one);
    return HALT_BRANCH;
}

static enum halt flow(struct runner *run, struct state *s, const struct afuc_uop *uop)
{
    switch (code_row(uop->code)->op) {
    case CPS_AFUC_JUMPA:
        go_to(s, uop->target);
        return HALT_CUT;
    case CPS_AFUC_CALL:
        return call(run, s, uop);
    case CPS_AFUC_RET:
        return ret(run, s);
    case CPS_AFUC_BL:
        s->r[R_LR] = smt_word(run->smt, kept_address(run, s->pc + 2));
        go_to(s, uop->target);
        return HALT_CUT;
    case CPS_AFUC_SRET:
        return leave(s, s->r[R_LR]);
    case CPS_AFUC_JUMPR:
    case CPS_AFUC_JUMPD:
        return leave(s, read_source(run, s, uop, uop->s1));
    case CPS_AFUC_IRET:
        go_to(s, PC_IRET);
        return HALT_CUT;
    case CPS_AFUC_WAITIN:
        s->r[R_REM] = smt_unknown(run->smt, "next", 0);
        go_to(s, PC_END);
        return HALT_CUT;
    case CPS_AFUC_SETSECURE:
        return setsecure(run, s);
    case CPS_AFUC_NONE:
        return lost(run, "an illegal instruction");
    default:
        return plain(run, s, uop);
    }
}

static enum halt step(struct runner *run, struct state *s)
{
    const struct code_side *side = &run->code->side[run->side];
    const struct afuc_uop *uop = &side->image->uop[s->pc];
    switch (code_row(uop->code)->kind) {
    case KIND_ALU:
        return plain(run, s, uop);
    case KIND_IF:
        return branch(run, s, uop);
    default:
        return flow(run, s, uop);
    }
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
        if (halt != HALT_CUT)
            return halt;
        if (s->pc < side->count && s->npc == s->pc + 1 && side->cut[s->pc] && !poll_at(run, s->pc))
            return HALT_CUT;
    }
}
