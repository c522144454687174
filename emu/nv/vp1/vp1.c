/* SPDX-License-Identifier: MIT
 * NVIDIA's VP1: fetches bundles from memory, or takes one from the host, and has each unit do its
 * part. All of them read the registers as they were before the bundle. */
#include "emu/nv/vp1/vp1.h"

#include <inttypes.h>
#include <string.h>

#define PC_MASK     0xfffffu
#define BASE_MASK   0xffffffe0u /* what of a code base is an address: a guess, reported */
#define START       0xc0000000u
#define START_READY 0x11u /* what stays of the 0x111 that is written */
#define SUBMIT_DATA 0xfc90u
enum { STATE_AFTER = 2, STATE_RUNNING = 8 }; /* of $sr73 */

/* ---- registers ---- */

#define read_view  vp1_view_read_
#define write_view vp1_view_write_

static bool is_busy(struct nv *e, const struct cps_by *by, uint32_t value)
{
    if (vp1_of_(e)->run != VP1_IDLE)
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_BUSY, by, value);
    return vp1_of_(e)->run != VP1_IDLE;
}

static void set_run(struct vp1 *s, enum vp1_run run)
{
    s->run = (uint8_t)run;
    s->sr[VP1_SR_STATE] = run == VP1_IDLE ? STATE_AFTER : STATE_RUNNING;
}

/* The words go back to nops. */
static void write_inject(const struct cps_access *at)
{
    struct vp1 *s = vp1_of_(nv_of_(at));
    if (!(at->value & 1) || is_busy(nv_of_(at), at->by, at->value))
        return;
    memcpy(s->word, &s->sr[VP1_SR_INJECT], sizeof(s->word));
    vp1_file_initial_(s, VP1_SR_INJECT, VP1_SR_INJECT + VP1_UNITS - 1);
    set_run(s, VP1_INJECTED);
    s->units = (1u << VP1_UNITS) - 1;
    s->pc = 0;
}

static void start(struct nv *e, enum vp1_run run, const struct cps_by *by)
{
    struct vp1 *s = vp1_of_(e);
    const uint32_t *base = &s->sr[VP1_SR_BASE];
    if (is_busy(e, by, run))
        return;
    if (base[0] || base[1] || base[2])
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_BASE, by, base[0]);
    if (run == VP1_SWITCH)
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_SWITCH, by, 0);
    set_run(s, run);
    s->pc = s->depth = 0;
    s->pending = s->calls = 0;
    e->engine.packets++;
}

/* The only method that is known to start anything. */
static void write_submit(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    if (at->value == START && cps_bus_stored_(e, SUBMIT_DATA) == 1 &&
        vp1_of_(e)->sr[VP1_SR_ENABLE] == START_READY)
        start(e, VP1_METHOD, at->by);
    else
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_SUBMIT, at->by, at->value);
}

static void write_switch(const struct cps_access *at)
{
    start(nv_of_(at), VP1_SWITCH, at->by);
}

static const struct cps_reg_row rows[] = {
#define NV_REG_VP1(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

/* ---- bundles ---- */

static bool stop_at(struct nv *e, enum cps_unknown what)
{
    const struct cps_by by = vp1_by_(e);
    cps_bus_unknown_stop_(e, what, &by);
    return false;
}

/* The word at @p pc of the program; false where memory holds none. */
static bool fetch_word(const struct nv *e, uint32_t pc, uint32_t *ret)
{
    bool known = false;
    uint32_t base = vp1_of_(e)->sr[VP1_SR_BASE] & BASE_MASK;
    *ret = cps_bus_peek(e, CPS_MEMORY_PROGRAM, base + 4 * (pc & PC_MASK), &known);
    return known;
}

/* Reads the bundle at pc; false where there is none. Memory may end after it. */
static bool fetch(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    static const uint32_t nops[VP1_UNITS] = {0xdfffffff, 0x4fffffff, 0xbfffffff, 0xefffffff};
    uint32_t before = 0;
    uint32_t word = 0;
    memcpy(s->word, nops, sizeof(nops));
    s->units = 0;
    for (s->size = 0; fetch_word(e, s->pc + s->size, &word); before = word) {
        if (s->size && !cps_insn_joins(&cps_isa_vp1, s->pc + s->size, before, word))
            return true;
        unsigned unit = cps_insn_unit(&cps_isa_vp1, word);
        s->word[unit] = word;
        s->units |= (uint8_t)(1u << unit);
        s->size++;
    }
    return s->size || stop_at(e, CPS_UNKNOWN_VP1_FETCH);
}

/* The scalar `mov` that goes where nobody knows. */
static bool can_move(struct nv *e, uint32_t word, unsigned op)
{
    uint32_t selector = VP1(word, RFILE);
    uint32_t number = 32 * (selector - VP1_SEL_SR) + VP1(word, DST);
    if (op != CPS_VP1_MOVTO && op != CPS_VP1_MOVFROM)
        return true;
    if (selector >= 4 && selector < VP1_SEL_SR && !vp1_is_g80_(e))
        return stop_at(e, CPS_UNKNOWN_VP1_SELECTOR);
    if (op == CPS_VP1_MOVTO && selector == VP1_SEL_SR + 2 &&
        (number == VP1_SR_PC || number == VP1_SR_STATE))
        return stop_at(e, CPS_UNKNOWN_VP1_CONTROL);
    return true;
}

static bool can_branch(struct nv *e, unsigned op)
{
    const struct vp1 *s = vp1_of_(e);
    bool calls = vp1_calls_(s);
    if (s->run == VP1_INJECTED && op != CPS_VP1_BNOP && op != CPS_VP1_LSET)
        return stop_at(e, CPS_UNKNOWN_VP1_INJECT);
    if (s->pending && (calls || (op == CPS_VP1_RET && s->calls)))
        return stop_at(e, CPS_UNKNOWN_VP1_CALL_DELAY);
    if ((calls && s->depth == VP1_STACK) || (op == CPS_VP1_RET && !s->depth))
        return stop_at(e, CPS_UNKNOWN_VP1_STACK);
    return true;
}

/* Whether it is known what an operation does. */
static bool is_known(struct nv *e, unsigned op)
{
    switch (op) {
#define ROW_STOP(id, what) \
    case CPS_VP1_##id:     \
        return stop_at(e, CPS_UNKNOWN_VP1_##what);
#include "emu/nv/vp1/rows.h"
    default:
        return true;
    }
}

/* Stops before an instruction of unknown effect. */
static bool can_execute(struct nv *e)
{
    const struct vp1 *s = vp1_of_(e);
    unsigned branch = vp1_op_(s, VP1_B);
    return is_known(e, vp1_op_(s, VP1_A)) && can_move(e, s->word[VP1_S], vp1_op_(s, VP1_S)) &&
           is_known(e, branch) && can_branch(e, branch);
}

/* What is done last wins: a load over a `mov` from a slow file, a result over a load. */
static void perform(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    struct vp1_s2v s2v;
    s->branches = s->ends = s->interrupt = 0;
    s->old = s->now;
    vp1_clash_(e);
    s->ties_down = s->sr[VP1_SR_CONFIG] & 1;
    bool first = vp1_mov_is_first_(s);
    if (first)
        vp1_scalar_(e, &s2v);
    vp1_address_(e);
    if (!first)
        vp1_scalar_(e, &s2v);
    vp1_vector_(e, &s2v);
    vp1_branch_(e);
}

/* ---- the program ---- */

static void finish(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    const struct cps_by by = vp1_by_(e);
    if (s->run == VP1_SWITCH)
        s->sr[3] &= 0x3fffffff;
    if (s->interrupt) {
        cps_bus_unknown(e, CPS_UNKNOWN_VP1_INTR, &by, 0);
        cps_bus_put(e, CPS_EV_IRQ, 0, &by, 0, s->sr[VP1_SR_EXIT]);
    }
    if (s->ends)
        cps_bus_put(e, CPS_EV_EXIT, CPS_EXIT_CODE, &by, 0, s->sr[VP1_SR_EXIT]);
    set_run(s, VP1_IDLE);
}

/* Goes on: after a delay slot at the target, whatever the delay slot said. */
static void advance(struct vp1 *s, bool delayed, bool called)
{
    uint32_t next = (s->pc + s->size) & PC_MASK;
    if (delayed && called) {
        s->stack[s->depth++] = next;
        s->sr[VP1_SR_RETURN] = next;
    }
    s->pc = delayed ? s->target : next;
    s->pending = s->branches;
    s->target = s->branch_to;
}

static enum cps_stop execute(struct nv *e, void *who)
{
    struct vp1 *s = who;
    bool delayed = s->pending;
    bool called = s->calls;
    uint32_t words[VP1_UNITS]; /* as they are, whoever takes another's register */
    if ((s->run != VP1_INJECTED && !fetch(e)) || !can_execute(e))
        return CPS_STOP_FAULT;
    s->calls = 0;
    memcpy(words, s->word, sizeof(words));
    perform(e);
    for (unsigned i = 0; i < VP1_UNITS; i++)
        s->last[i] = s->units >> i & 1 ? words[i] : s->last[i];
    e->engine.instructions++;
    nv_step_(e, CPS_CPU_VP1, s->pc, s->old.a, s->now.a, 32);
    if (s->ends || s->run == VP1_INJECTED)
        finish(e);
    else
        advance(s, delayed, called);
    cps_bus_advance(e, e->bus.clock + 1 + e->engine.policy.cost);
    return CPS_STOP_IDLE;
}

static void *next_turn(struct nv *e)
{
    return vp1_of_(e)->run == VP1_IDLE ? NULL : vp1_of_(e);
}

/* ---- what an opcode is ---- */

static const uint8_t kinds[CPS_VP1_OP_COUNT] = {
#define OP(id, text, kind, ...) [CPS_VP1_##id] = VP1_KIND_##kind,
#include "isa/nv/vp1.def"
};

static uint8_t source_of(const struct cps_insn *insn)
{
    if (cps_insn_position(&cps_isa_vp1, insn, CPS_VP1_F_IMM) >= 0)
        return VP1_FROM_IMM;
    if (cps_insn_position(&cps_isa_vp1, insn, CPS_VP1_F_BIMM) >= 0)
        return VP1_FROM_BIMM;
    return cps_insn_position(&cps_isa_vp1, insn, CPS_VP1_F_SRC2) >= 0 ? VP1_FROM_REG
                                                                      : VP1_FROM_SELECT;
}

static void read_table(struct vp1 *s, enum cps_gen gen)
{
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_vp1, gen, opcode << 24, &insn);
        s->code[opcode] = (struct vp1_code){(uint8_t)insn.op, kinds[insn.op], source_of(&insn)};
    }
}

static void reset(struct nv *e)
{
    read_table(vp1_of_(e), e->engine.gen);
    vp1_file_reset_(e);
}

/* ---- for people and the host ---- */

/* Where the bundle at @p pc ends. */
static uint32_t behind(const struct nv *e, uint32_t pc)
{
    uint32_t size = 0;
    uint32_t before = 0;
    uint32_t word = 0;
    while (fetch_word(e, pc + size, &word) &&
           (!size || cps_insn_joins(&cps_isa_vp1, pc + size, before, word))) {
        before = word;
        size++;
    }
    return (pc + (size ? size : 1)) & PC_MASK;
}

static struct cps_where where(const struct nv *e, unsigned core)
{
    const struct vp1 *s = vp1_of_(e);
    (void)core;
    return (struct cps_where){.pc = s->pc,
                              .npc = s->pending ? s->target : behind(e, s->pc),
                              .depth = s->depth,
                              .started = s->run != VP1_IDLE,
                              .slot = s->pending};
}

/* Setting what comes next makes the bundle at pc a delay slot. */
static bool set_pc(struct nv *e, unsigned core, bool next, uint32_t pc)
{
    struct vp1 *s = vp1_of_(e);
    (void)core;
    if (pc > PC_MASK)
        return false;
    s->pending = next;
    *(next ? &s->target : &s->pc) = pc;
    return true;
}

static bool get_code(struct nv *e, uint64_t at, uint64_t *ret)
{
    uint32_t word = 0;
    bool known = fetch_word(e, (uint32_t)at, &word);
    *ret = word;
    return known;
}

static bool put_code(struct nv *e, uint64_t at, uint64_t value)
{
    uint32_t base = vp1_of_(e)->sr[VP1_SR_BASE] & BASE_MASK;
    cps_bus_poke(e, CPS_MEMORY_PROGRAM, base + 4 * (uint32_t)at, (uint32_t)value);
    return true;
}

static uint32_t back(const struct nv *e, unsigned level)
{
    return vp1_of_(e)->stack[vp1_of_(e)->depth - 1 - level];
}

/* To memory; nothing starts by it. */
static struct cps_err *load(struct nv *e, const struct cps_item *item)
{
    if (item->code.at % 4)
        return cps_err_new(CPS_ERR_INPUT, "upload to byte %" PRIu32 ", expected a multiple of 4",
                           item->code.at);
    for (size_t at = 0; at < item->code.size; at += 4)
        cps_bus_poke(e, CPS_MEMORY_PROGRAM, item->code.at + (uint32_t)at, nv_word_(item, at));
    return NULL;
}

#define VALUE(name, member)    NV_VALUE(struct vp1, name, member)
#define ONE(file, n)           VALUE(#file #n, now.file[n])
#define FOUR(file, a, b, c, d) ONE(file, a), ONE(file, b), ONE(file, c), ONE(file, d)
#define ALL_32(file)                                                                        \
    FOUR(file, 0, 1, 2, 3), FOUR(file, 4, 5, 6, 7), FOUR(file, 8, 9, 10, 11),               \
        FOUR(file, 12, 13, 14, 15), FOUR(file, 16, 17, 18, 19), FOUR(file, 20, 21, 22, 23), \
        FOUR(file, 24, 25, 26, 27), FOUR(file, 28, 29, 30, 31)
static const struct cps_reg regs[] = {
    VALUE("pc", pc),
    VALUE("run", run),
    VALUE("pending", pending),
    VALUE("target", target),
    VALUE("exit", sr[VP1_SR_EXIT]),
    VALUE("depth", depth),
    ALL_32(a),
    FOUR(c, 0, 1, 2, 3),
    FOUR(l, 0, 1, 2, 3),
    ALL_32(r),
};
static const struct cps_file files[] = {
    NV_FILE_VALUES,
    {CPS_FILE_PC, 32, 1, "pc", 2},
    {CPS_FILE_STACK, 32, 1, "return", VP1_STACK},
    {CPS_FILE_CODE, 32, 1, "code", PC_MASK + 1},
    NV_FILE_REGISTERS,
    {CPS_FILE_PROGRAM, 32, 4, "program", UINT64_C(1) << 32},
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct vp1),
    .rows = CPS_REG_TABLE(rows),
    .inner = &vp1_special_,
    .loop = {.next = next_turn, .execute = execute},
    .who = {CPS_CPU_VP1},
    .reset = reset,
    .load = load,
    .where = where,
    .set_pc = set_pc,
    .code = get_code,
    .set_code = put_code,
    .back = back,
};

NV_ENGINE(vp1);
