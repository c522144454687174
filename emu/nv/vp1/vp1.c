/* SPDX-License-Identifier: MIT
 * NVIDIA's VP1: fetches bundles from memory, or takes one from the host, and has each unit do its
 * part. All of them read the registers as they were in front of the bundle. */
#include "emu/nv/vp1/vp1.h"
#include "emu/nv/vp1/vector.h"
#include "emu/nv/vp1/scalar.h"
#include "emu/nv/vp1/file.h"
#include "emu/nv/vp1/clash.h"
#include "emu/nv/vp1/branch.h"
#include "emu/nv/vp1/address.h"
#include "emu/nv/ops.h"
#include "emu/nv/loop.h"
#include "emu/nv/host.h"

#include <inttypes.h>
#include <string.h>

#define PC_MASK     0xfffffu
#define BASE_MASK   0xffffffe0u /* what of a code base is an address: a guess, reported */
#define START       0xc0000000u
#define START_READY 0x111u
#define SUBMIT_DATA 0xfc90u

/* ---- registers ---- */

#define read_view  vp1_view_read_
#define write_view vp1_view_write_

static bool is_busy(struct nv *e, const struct cps_by *by, uint32_t value)
{
    if (vp1_of_(e)->run != VP1_IDLE)
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_BUSY, by, value);
    return vp1_of_(e)->run != VP1_IDLE;
}

static void write_inject(const struct cps_access *at)
{
    struct vp1 *s = vp1_of_(nv_of_(at));
    if (!(at->value & 1) || is_busy(nv_of_(at), at->by, at->value))
        return;
    memcpy(s->word, &s->sr[VP1_SR_INJECT], sizeof(s->word));
    s->run = VP1_INJECTED;
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
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_BASE, by, base[0]);
    if (run == VP1_SWITCH)
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_SWITCH, by, 0);
    s->run = (uint8_t)run;
    s->pc = s->depth = 0;
    s->pending = s->calls = 0;
    e->engine.packets++;
}

/* The only method that is known to start anything. */
static void write_submit(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    if (at->value == START && cps_bus_stored_(e->bus, SUBMIT_DATA) == 1 &&
        vp1_of_(e)->sr[VP1_SR_ENABLE] == START_READY)
        start(e, VP1_METHOD, at->by);
    else
        cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_SUBMIT, at->by, at->value);
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
    cps_bus_unknown_stop_(e->bus, what, &by);
    return false;
}

/* The word at @p pc of the program; false where memory holds none. */
static bool fetch_word(const struct nv *e, uint32_t pc, uint32_t *ret)
{
    bool known = false;
    uint32_t base = vp1_of_(e)->sr[VP1_SR_BASE] & BASE_MASK;
    *ret = cps_bus_peek(e->bus, CPS_MEMORY_PROGRAM, base + 4 * (pc & PC_MASK), &known);
    return known;
}

/* Reads the bundle at pc; false where there is none. Memory may end behind it. */
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

/* Stops in front of what has an effect that nobody knows. */
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
    vp1_clash_(e);
    s->old = s->now;
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

static void raise(struct nv *e, const struct cps_by *by)
{
    cps_bus_unknown(e->bus, CPS_UNKNOWN_VP1_INTR, by, 0);
    cps_bus_put(e->bus, CPS_EV_IRQ, 0, by, 0, vp1_of_(e)->sr[VP1_SR_EXIT]);
}

static void finish(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    const struct cps_by by = vp1_by_(e);
    if (s->run == VP1_SWITCH)
        s->sr[3] &= 0x3fffffff;
    if (s->interrupt)
        raise(e, &by);
    if (s->ends)
        cps_bus_put(e->bus, CPS_EV_EXIT, CPS_EXIT_CODE, &by, 0, s->sr[VP1_SR_EXIT]);
    s->run = VP1_IDLE;
}

/* Goes on: behind a delay slot at the target, whatever the delay slot said. */
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
    if ((s->run != VP1_INJECTED && !fetch(e)) || !can_execute(e))
        return CPS_STOP_FAULT;
    s->calls = 0;
    perform(e);
    e->engine.instructions++;
    nv_step_(e, CPS_CPU_VP1, s->pc, s->old.a, s->now.a, 32);
    if (s->ends || s->run == VP1_INJECTED)
        finish(e);
    else
        advance(s, delayed, called);
    cps_bus_advance(e->bus, cps_bus_clock(e->bus) + 1 + cps_bus_policy_(e->bus)->cost);
    return CPS_STOP_IDLE;
}

static void *next_turn(struct nv *e)
{
    return vp1_of_(e)->run == VP1_IDLE ? NULL : vp1_of_(e);
}

static bool never_waits(const struct nv *e, const void *who)
{
    (void)e;
    (void)who;
    return false;
}

/* ---- what an opcode is ---- */

static const uint8_t kinds[CPS_VP1_OP_COUNT] = {
#define OP(id, text, kind, ...) [CPS_VP1_##id] = VP1_KIND_##kind,
#include "isa/vp1.def"
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
    read_table(vp1_of_(e), cps_bus_gen(e->bus));
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
    cps_bus_poke(e->bus, CPS_MEMORY_PROGRAM, base + 4 * (uint32_t)at, (uint32_t)value);
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
        cps_bus_poke(e->bus, CPS_MEMORY_PROGRAM, item->code.at + (uint32_t)at, nv_word_(item, at));
    return NULL;
}

#define OF(name, field, size)                   \
    {                                           \
        name, offsetof(struct vp1, field), size \
    }
static const struct cps_reg regs[] = {
    OF("pc", pc, 4),
    OF("run", run, 1),
    OF("pending", pending, 1),
    OF("target", target, 4),
    OF("exit", sr[VP1_SR_EXIT], 4),
    OF("depth", depth, 4),
    OF("a0", now.a[0], 4),
    OF("a1", now.a[1], 4),
    OF("a2", now.a[2], 4),
    OF("a3", now.a[3], 4),
    OF("a4", now.a[4], 4),
    OF("a5", now.a[5], 4),
    OF("a6", now.a[6], 4),
    OF("a7", now.a[7], 4),
    OF("a8", now.a[8], 4),
    OF("a9", now.a[9], 4),
    OF("a10", now.a[10], 4),
    OF("a11", now.a[11], 4),
    OF("a12", now.a[12], 4),
    OF("a13", now.a[13], 4),
    OF("a14", now.a[14], 4),
    OF("a15", now.a[15], 4),
    OF("a16", now.a[16], 4),
    OF("a17", now.a[17], 4),
    OF("a18", now.a[18], 4),
    OF("a19", now.a[19], 4),
    OF("a20", now.a[20], 4),
    OF("a21", now.a[21], 4),
    OF("a22", now.a[22], 4),
    OF("a23", now.a[23], 4),
    OF("a24", now.a[24], 4),
    OF("a25", now.a[25], 4),
    OF("a26", now.a[26], 4),
    OF("a27", now.a[27], 4),
    OF("a28", now.a[28], 4),
    OF("a29", now.a[29], 4),
    OF("a30", now.a[30], 4),
    OF("a31", now.a[31], 4),
    OF("c0", now.c[0], 2),
    OF("c1", now.c[1], 2),
    OF("c2", now.c[2], 2),
    OF("c3", now.c[3], 2),
    OF("l0", now.l[0], 2),
    OF("l1", now.l[1], 2),
    OF("l2", now.l[2], 2),
    OF("l3", now.l[3], 2),
    OF("r0", now.r[0], 4),
    OF("r1", now.r[1], 4),
    OF("r2", now.r[2], 4),
    OF("r3", now.r[3], 4),
    OF("r4", now.r[4], 4),
    OF("r5", now.r[5], 4),
    OF("r6", now.r[6], 4),
    OF("r7", now.r[7], 4),
    OF("r8", now.r[8], 4),
    OF("r9", now.r[9], 4),
    OF("r10", now.r[10], 4),
    OF("r11", now.r[11], 4),
    OF("r12", now.r[12], 4),
    OF("r13", now.r[13], 4),
    OF("r14", now.r[14], 4),
    OF("r15", now.r[15], 4),
    OF("r16", now.r[16], 4),
    OF("r17", now.r[17], 4),
    OF("r18", now.r[18], 4),
    OF("r19", now.r[19], 4),
    OF("r20", now.r[20], 4),
    OF("r21", now.r[21], 4),
    OF("r22", now.r[22], 4),
    OF("r23", now.r[23], 4),
    OF("r24", now.r[24], 4),
    OF("r25", now.r[25], 4),
    OF("r26", now.r[26], 4),
    OF("r27", now.r[27], 4),
    OF("r28", now.r[28], 4),
    OF("r29", now.r[29], 4),
    OF("r30", now.r[30], 4),
    OF("r31", now.r[31], 4),
};
static const struct cps_file files[] = {
    {CPS_FILE_SCALAR, 64, 1, "value", sizeof(regs) / sizeof(regs[0])},
    {CPS_FILE_PC, 32, 1, "pc", 2},
    {CPS_FILE_STACK, 32, 1, "return", VP1_STACK},
    {CPS_FILE_CODE, 32, 1, "code", PC_MASK + 1},
    {CPS_FILE_REGISTER, 32, 4, "register", UINT64_C(1) << 32},
    {CPS_FILE_PROGRAM, 32, 4, "program", UINT64_C(1) << 32},
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct vp1),
    .rows = CPS_REG_TABLE(rows),
    .inner = &vp1_special_,
    .loop = {.next = next_turn, .waits = never_waits, .execute = execute},
    .who = {CPS_CPU_VP1},
    .reset = reset,
    .load = load,
    .where = where,
    .set_pc = set_pc,
    .code = get_code,
    .set_code = put_code,
    .back = back,
};

extern const struct cps_engine_ops cps_vp1_ops_;
const struct cps_engine_ops cps_vp1_ops_ = {
    .name = "vp1",
    .isa = &cps_isa_vp1,
    .file = files,
    .files = sizeof(files) / sizeof(files[0]),
    .reg = regs,
    .regs = sizeof(regs) / sizeof(regs[0]),
    .kind = &kind,
    NV_OPS,
};
