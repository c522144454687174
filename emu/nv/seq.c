/* SPDX-License-Identifier: MIT
 * The script interpreter of NVIDIA's PDAEMON firmware (SEQ): how it starts, and its loop. */
#include <inttypes.h>
#include <string.h>

#include "emu/nv/seq.h"

#define INPUT0_PAUSED 4u
#define AUTO_INC      (UINT32_C(1) << 24)
#define DATA_INDEX    0x10a1c0u
#define DATA_PORT     0x10a1c4u
/* Not of hardware: how a script is started, and given OUT. */
#define START    0xfffff000u
#define OUT_SIZE 0xfffff004u
#define OUT      0xfffff400u

/* ---- data memory as the host sees it: the ports to it, the scratch words, the stack ----
 *
 * The scratch words are the registers of the interpreter, so that memory and registers can not
 * differ. The stack is what the firmware writes there; nothing is read back from it. */

#define READ_INC   (UINT32_C(1) << 25)
#define WRITE_INC  (UINT32_C(1) << 24)
#define INDEX_MASK (READ_INC | WRITE_INC | (DATA_BYTES - 4))
/* Where the scratch words begin. */
#define SCRATCH 0x3e0u

/* How many bytes of the script's frame lie before a byte of data. */
static uint32_t in_frame(const struct nv *e, uint32_t byte)
{
    return (byte - seq_place_(e->engine.policy.seq_stack)) % DATA_BYTES;
}

void seq_frame_(struct nv *e, enum frame offset, uint32_t value)
{
    *seq_data_(e, seq_place_(e->engine.policy.seq_stack) + offset) = value;
}

static bool is_kept(uint32_t offset)
{
    static const uint8_t kept[] = {FRAME_IN_WORDS, FRAME_IN_END, FRAME_INSN_LEN, FRAME_RET,
                                   FRAME_IN_START};
    for (unsigned i = 0; i < sizeof(kept); i++) {
        if (kept[i] == offset)
            return true;
    }
    return false;
}

static uint32_t read_word(const struct cps_access *at, uint32_t byte)
{
    struct nv *e = nv_of_(at);
    const struct seq *s = seq_of_(e);
    uint32_t frame = in_frame(e, byte);
    switch (byte - SCRATCH) {
    case 0x00:
        return s->out_words;
    case 0x04:
        return s->out_start;
    case 0x08:
        return s->eq | (uint32_t)s->lt << 8;
    case 0x0c:
        return s->val;
    case 0x10:
        return s->reg;
    case 0x14:
        return s->ret;
    default:
        if (s->words && frame < FRAME_BYTES && !is_kept(frame))
            cps_bus_unknown(e, CPS_UNKNOWN_SEQ_STACK, at->by, frame);
        return *seq_data_(e, byte);
    }
}

static void write_word(struct nv *e, uint32_t byte, uint32_t value)
{
    struct seq *s = seq_of_(e);
    switch (byte - SCRATCH) {
    case 0x00:
        s->out_words = (uint8_t)value;
        break;
    case 0x04:
        s->out_start = value & (DATA_BYTES - 4);
        break;
    case 0x08:
        s->eq = (uint8_t)value;
        s->lt = (uint8_t)(value >> 8);
        break;
    case 0x0c:
        s->val = value;
        break;
    case 0x10:
        s->reg = value;
        break;
    case 0x14:
        s->ret = value;
        break;
    default:
        *seq_data_(e, byte) = value;
    }
}

/* Where a port is, and where it goes on if the bit for that is set. */
static uint32_t step(struct seq *s, unsigned port, uint32_t bit, bool moves)
{
    uint32_t index = s->index[port];
    if (moves && index & bit)
        s->index[port] = (index & ~(DATA_BYTES - 4)) | ((index + 4) & (DATA_BYTES - 4));
    return index & (DATA_BYTES - 4);
}

/* Index and data of each port take turns. */
static uint32_t read_port(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct seq *s = seq_of_(e);
    unsigned port = at->index / 2;
    if (at->index % 2 == 0)
        return s->index[port];
    return read_word(at, step(s, port, READ_INC, !e->engine.tap.quiet));
}

static void write_port(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct seq *s = seq_of_(e);
    unsigned port = at->index / 2;
    if (at->index % 2 == 0) {
        s->index[port] = at->value & INDEX_MASK;
        return;
    }
    if (s->running)
        cps_bus_unknown(e, CPS_UNKNOWN_REWRITTEN, at->by, s->index[port]);
    write_word(e, step(s, port, WRITE_INC, true), at->value);
}

/* ---- how a script starts ---- */

/* A word of OUT; NULL past it, or if there is none. */
static uint32_t *find_out(const struct cps_access *at)
{
    const struct seq *s = seq_of_(nv_of_(at));
    bool there = s->out_start && at->index < OUT_WORDS;
    return there ? seq_data_(nv_of_(at), s->out_start + 4 * at->index) : NULL;
}

static uint32_t read_out(const struct cps_access *at)
{
    const uint32_t *word = find_out(at);
    return word ? *word : 0;
}

static void write_out(const struct cps_access *at)
{
    uint32_t *word = find_out(at);
    if (word)
        *word = at->value;
}

static void write_out_size(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    seq_of_(e)->out_start = seq_place_(e->engine.policy.seq_out);
    seq_of_(e)->out_words = (uint8_t)at->value;
}

/* How the last script ended: once somebody has looked, that it failed is his affair. */
static uint32_t read_ended(const struct cps_access *at)
{
    struct seq *s = seq_of_(nv_of_(at));
    if (!nv_of_(at)->engine.tap.quiet)
        s->failed = 0;
    return at->index ? s->ended : s->status;
}

/* Where operations begin if no branch comes in between. */
static void find_operations(struct nv *e)
{
    struct seq *s = seq_of_(e);
    memset(s->begins, 0, sizeof(s->begins));
    for (uint32_t pc = 0; pc < s->words;) {
        s->begins[pc / 8] |= (uint8_t)(1u << pc % 8);
        uint32_t length = seq_word_(e, pc) >> 16;
        pc += length ? length : 1;
    }
}

static void write_start(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct seq *s = seq_of_(e);
    cps_bus_unknown(e, CPS_UNKNOWN_SEQ_INITIAL, at->by, 0);
    s->val = s->reg = s->ret = s->pc = s->next = 0;
    s->eq = s->lt = s->irq_off = s->unlocked = s->wait = 0;
    s->irq_level = 0;
    s->running = 1;
    s->start = seq_place_(e->engine.policy.seq_script);
    s->words = (DATA_BYTES - s->start) / 4;
    s->words = at->value < s->words ? at->value : s->words;
    find_operations(e);
    seq_frame_(e, FRAME_IN_WORDS, s->words << 16);
    seq_frame_(e, FRAME_IN_START, s->start);
    seq_frame_(e, FRAME_IN_END, s->start + 4 * s->words);
    e->engine.packets++;
}

static const struct cps_reg_row rows[] = {
#define NV_REG_SEQ(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

/* ---- the loop ---- */

/* Whether the header at pc says enough words; else the script has ended. */
static bool check_length(struct nv *e, const struct cps_insn *insn, uint32_t length)
{
    struct seq *s = seq_of_(e);
    bool list = insn->op == CPS_SEQ_SETREGS;
    uint32_t most = insn->op == CPS_SEQ_TS ? 12 : insn->needs; /* one source gives it two */
    if (length > s->words - s->pc || length * 4 < insn->needs + (list ? 8 : 0)) {
        seq_end_(e, CPS_EXIT_BAD_LEN, s->pc);
        return false;
    }
    if (length * 4 > most && !list)
        seq_unknown_(e, CPS_UNKNOWN_EXTRA_WORDS, length);
    return true;
}

static void decode(const struct nv *e, struct cps_insn *insn)
{
    const struct seq *s = seq_of_(e);
    uint8_t bytes[12] = {0};
    for (uint32_t i = 0; i < 3 && s->pc + i < s->words; i++) {
        for (unsigned k = 0; k < 4; k++)
            bytes[4 * i + k] = (uint8_t)(seq_word_(e, s->pc + i) >> 8 * k);
    }
    cps_decode_bytes(&cps_isa_seq, e->engine.gen, bytes, sizeof(bytes), insn);
}

/* Decodes the operation at pc; false if it ends the script. */
static bool fetch(struct nv *e, struct cps_insn *insn)
{
    struct seq *s = seq_of_(e);
    uint32_t header = seq_word_(e, s->pc);
    uint32_t length = header >> 16;
    if (header && !length) {
        seq_end_(e, CPS_EXIT_BAD_LEN, s->pc);
        return false;
    }
    decode(e, insn);
    if (!insn->enc) {
        seq_end_(e, CPS_EXIT_BAD_OP, UINT32_MAX);
        return false;
    }
    s->next = s->pc + length;
    seq_frame_(e, FRAME_INSN_LEN, length);
    return !header || check_length(e, insn, length);
}

static void show(const struct seq *s, uint32_t ret[CPS_STEP_REGS])
{
    ret[0] = s->val;
    ret[1] = s->reg;
    ret[2] = s->ret;
    ret[3] = s->eq | (uint32_t)s->lt << 8;
}

static enum cps_stop execute(struct nv *e, void *who)
{
    struct seq *s = who;
    uint32_t before[CPS_STEP_REGS], after[CPS_STEP_REGS];
    struct cps_insn insn;
    if (s->pc >= s->words) {
        const struct cps_by by = seq_by_(e);
        cps_bus_unknown_stop_(e, CPS_UNKNOWN_RAN_OFF, &by);
        return CPS_STOP_FAULT;
    }
    if (!fetch(e, &insn))
        return CPS_STOP_IDLE;
    e->engine.instructions += insn.op != CPS_SEQ_END;
    show(s, before);
    seq_perform_(e, &insn);
    show(s, after);
    nv_step_(e, CPS_CPU_SEQ, s->pc, before, after, CPS_STEP_REGS);
    cps_bus_advance(e, e->bus.clock + e->engine.policy.cost);
    if (s->running && !s->wait)
        s->pc = s->next;
    return CPS_STOP_IDLE;
}

static bool holds(struct nv *e, const void *who)
{
    const struct seq *s = who;
    uint32_t input = (e->bus.events & 0x1f) << 2;
    switch ((enum wait)s->wait) {
    case WAIT_STATUS:
        return (input & s->test ? 1 : 0) != s->inverse;
    case WAIT_GRAPH:
        return e->bus.graph_idle != s->inverse;
    case WAIT_MASK:
        return (seq_read_(e, s->reg) & s->test) == s->val;
    case WAIT_PAUSED:
        return input & INPUT0_PAUSED;
    case WAIT_RESUMED:
        return !(input & INPUT0_PAUSED);
    default:
        return false;
    }
}

static bool waits(const struct nv *e, const void *who)
{
    const struct seq *s = who;
    (void)e;
    return s->wait;
}

static enum cps_stop finish_wait(struct nv *e, void *who)
{
    struct seq *s = who;
    const struct cps_by by = seq_by_(e);
    bool spin = s->wait == WAIT_PAUSED || s->wait == WAIT_RESUMED;
    enum cps_await how = nv_await_(e, holds, s, s->deadline);
    if (how == CPS_AWAIT_HELD)
        return nv_held_(e);
    if (spin && how == CPS_AWAIT_LATE) {
        cps_bus_unknown_stop_(e, CPS_UNKNOWN_SPIN, &by);
        return CPS_STOP_FAULT;
    }
    if (s->wait == WAIT_PAUSED)
        s->unlocked = 1;
    else if (s->wait == WAIT_RESUMED) {
        seq_write_(e, UNK1610, seq_read_(e, UNK1610) & ~0x33u);
        seq_irq_enable_(e);
        seq_of_(e)->unlocked = 0;
    } else if (how == CPS_AWAIT_MET) {
        s->eq = 1;
        s->ret |= 1;
    }
    s->wait = WAIT_NONE;
    s->pc = s->next;
    return CPS_STOP_IDLE;
}

static void *next_script(struct nv *e)
{
    return seq_of_(e)->running ? seq_of_(e) : NULL;
}

/* ---- for people and the host ---- */

static struct cps_where where(const struct nv *e, unsigned core)
{
    const struct seq *s = seq_of_(e);
    uint32_t length = s->pc < s->words ? seq_word_(e, s->pc) >> 16 : 1;
    (void)core;
    return (struct cps_where){
        .pc = s->pc, .npc = s->pc + (length ? length : 1), .started = s->running};
}

static bool set_pc(struct nv *e, unsigned core, bool next, uint32_t pc)
{
    (void)core;
    if (next || pc >= seq_of_(e)->words)
        return false;
    seq_of_(e)->pc = pc;
    return true;
}

static bool get_code(struct nv *e, uint64_t at, uint64_t *ret)
{
    const struct seq *s = seq_of_(e);
    *ret = at < s->words ? seq_word_(e, (uint32_t)at) : 0;
    return at < s->words;
}

static bool put_code(struct nv *e, uint64_t at, uint64_t value)
{
    struct seq *s = seq_of_(e);
    if (at >= s->words)
        return false;
    *seq_data_(e, s->start + 4 * (uint32_t)at) = (uint32_t)value;
    find_operations(e);
    return true;
}

/* Loads and starts: how a packet does that is not known. */
static struct cps_err *load(struct nv *e, const struct cps_item *item)
{
    uint32_t at = seq_place_(e->engine.policy.seq_script);
    uint32_t out = seq_place_(e->engine.policy.seq_out);
    uint32_t end = item->code.out && out > at ? out : DATA_BYTES;
    if (item->code.at)
        return cps_err_new(CPS_ERR_INPUT, "upload takes no place, the policy seq-script has it");
    if (item->code.size > end - at)
        return cps_err_new(CPS_ERR_INPUT,
                           "offset 0x%" PRIx32 ": %zu bytes for byte 0x%" PRIx32
                           " of data memory, expected to end before byte 0x%" PRIx32,
                           end - at, item->code.size, at, end);
    cps_bus_load(e, DATA_INDEX, AUTO_INC | at);
    for (size_t i = 0; i < item->code.size; i += 4)
        cps_bus_load(e, DATA_PORT, nv_word_(item, i));
    if (item->code.out)
        cps_bus_load(e, OUT_SIZE, item->code.out_count);
    for (uint32_t i = 0; item->code.out && i < item->code.out_count; i++)
        cps_bus_load(e, OUT + 4 * i, item->code.out[i]);
    cps_bus_load(e, START, (uint32_t)(item->code.size / 4));
    return NULL;
}

static bool failed(const struct nv *e)
{
    return seq_of_(e)->failed;
}

#define VALUE(name, member) NV_VALUE(struct seq, name, member)
static const struct cps_reg regs[] = {
    VALUE("pc", pc),           VALUE("running", running),
    VALUE("val", val),         VALUE("reg", reg),
    VALUE("ret", ret),         VALUE("eq", eq),
    VALUE("lt", lt),           VALUE("irq-level", irq_level),
    VALUE("irq-off", irq_off), VALUE("unlocked", unlocked),
    VALUE("ended", ended),     VALUE("status", status),
};
static const struct cps_file files[] = {
    NV_FILE_VALUES,
    {CPS_FILE_PC, 32, 1, "pc", 2},
    {CPS_FILE_CODE, 32, 1, "code", DATA_WORDS},
    NV_FILE_REGISTERS,
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct seq),
    .rows = CPS_REG_TABLE(rows),
    .loop = {next_script, waits, finish_wait, execute},
    .who = {CPS_CPU_SEQ},
    .load = load,
    .failed = failed,
    .where = where,
    .set_pc = set_pc,
    .code = get_code,
    .set_code = put_code,
};

NV_ENGINE(seq);
