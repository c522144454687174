/* SPDX-License-Identifier: MIT
 * What the operations of SEQ do. */
#include "emu/nv/seq.h"

#define FLAGS_1 0x1314u
#define FLAG_16 0x10001u
/* Of `waitst`: PGRAPH's own test, not one of INPUT0. */
#define GRAPH_IDLE 0x400u

void seq_unknown_(struct nv *e, enum cps_unknown what, uint32_t detail)
{
    const struct cps_by by = seq_by_(e);
    cps_bus_unknown(e, what, &by, detail);
}

uint32_t seq_read_(struct nv *e, uint32_t addr)
{
    const struct cps_by by = seq_by_(e);
    if (addr == UNK1610)
        seq_unknown_(e, CPS_UNKNOWN_REG_1610, addr);
    return cps_bus_read(e, addr, &by);
}

void seq_write_(struct nv *e, uint32_t addr, uint32_t value)
{
    const struct cps_by by = seq_by_(e);
    cps_bus_write(e, addr, value, &by);
}

void seq_end_(struct nv *e, unsigned how, uint32_t status)
{
    struct seq *s = seq_of_(e);
    const struct cps_by by = seq_by_(e);
    s->running = 0;
    s->ended = (uint8_t)how;
    s->status = status;
    s->failed |= how > CPS_EXIT_CODE;
    if (how == CPS_EXIT_END)
        seq_frame_(e, FRAME_RET, s->ret);
    cps_bus_put(e, CPS_EV_EXIT, how, &by, 0, status);
}

static void begin_wait(struct nv *e, enum wait wait, uint32_t nanoseconds)
{
    seq_of_(e)->wait = (uint8_t)wait;
    seq_of_(e)->deadline = e->bus.clock + e->engine.policy.cost + nanoseconds;
}

static void irq_disable(struct seq *s)
{
    s->irq_off = 1;
    s->irq_level = (int32_t)((uint32_t)s->irq_level + 1);
}

void seq_irq_enable_(struct nv *e)
{
    struct seq *s = seq_of_(e);
    if (s->irq_level <= 0)
        seq_unknown_(e, CPS_UNKNOWN_IRQ_UNDERFLOW, (uint32_t)s->irq_level);
    s->irq_level = (int32_t)((uint32_t)s->irq_level - 1);
    if (!s->irq_level)
        s->irq_off = 0;
}

static void compare(struct seq *s, uint32_t value, uint32_t with)
{
    s->lt = value < with;
    s->eq = value == with;
}

/* How a form names an index of OUT. */
static const struct {
    unsigned field; /* enum cps_seq_field */
    uint32_t bits;
    bool indirect;
} out_forms[] = {
    {CPS_SEQ_F_OUT8, 0xff, false},
    {CPS_SEQ_F_OUT32, UINT32_MAX, false},
    {CPS_SEQ_F_OUTI8, 0xff, true},
    {CPS_SEQ_F_OUTI32, UINT32_MAX, true},
};

/* The word of OUT that an operation is about; NULL if it is about none, or has ended the script. */
static uint32_t *out_word(struct nv *e, const struct cps_insn *insn)
{
    struct seq *s = seq_of_(e);
    unsigned form = 0;
    int64_t p = -1;
    for (; form < 4 && p < 0; form++)
        p = cps_insn_field(&cps_isa_seq, insn, out_forms[form].field, -1);
    if (p < 0)
        return NULL;
    uint32_t index = (uint32_t)p & out_forms[form - 1].bits;
    for (bool again = out_forms[form - 1].indirect;; again = false) {
        if (!s->out_start || index >= s->out_words) {
            seq_end_(e, s->out_start ? CPS_EXIT_OUT_RANGE : CPS_EXIT_OUT_MISSING, s->pc);
            return NULL;
        }
        if (!again)
            return seq_data_(e, s->out_start + 4 * index);
        index = *seq_data_(e, s->out_start + 4 * index);
    }
}

static void op_END(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_end_(e, CPS_EXIT_END, 0);
}

static void op_READ(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_of_(e)->val = seq_read_(e, seq_of_(e)->reg);
}

static void op_READI(struct nv *e, const struct cps_insn *insn)
{
    seq_of_(e)->val = seq_read_(e, (uint32_t)insn->operand[0]);
}

static void op_READO(struct nv *e, const struct cps_insn *insn)
{
    seq_of_(e)->val = seq_read_(e, seq_of_(e)->reg + (uint32_t)insn->operand[0]);
}

static void op_WRITE(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_write_(e, seq_of_(e)->reg, seq_of_(e)->val);
}

static void op_WRITEI(struct nv *e, const struct cps_insn *insn)
{
    seq_write_(e, (uint32_t)insn->operand[0], seq_of_(e)->val);
}

static void op_WRITEO(struct nv *e, const struct cps_insn *insn)
{
    seq_write_(e, seq_of_(e)->reg + (uint32_t)insn->operand[0], seq_of_(e)->val);
}

static void op_EXIT(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_end_(e, CPS_EXIT_CODE, UINT32_MAX);
}

static void op_EXITC(struct nv *e, const struct cps_insn *insn)
{
    seq_end_(e, CPS_EXIT_CODE, (uint32_t)(int8_t)insn->operand[0]);
}

static void op_WAIT(struct nv *e, const struct cps_insn *insn)
{
    begin_wait(e, WAIT_TIME, (uint32_t)insn->operand[0]);
}

static void op_WAITS(struct nv *e, const struct cps_insn *insn)
{
    seq_read_(e, 0);
    op_WAIT(e, insn);
}

/* Bits of INPUT0 by condition, as the text form numbers them. */
static const struct {
    uint16_t old, new;
    uint8_t bits;
} conditions[] = {{1, 0x300, 4}, {2, 0, 8}, {3, 1, 0x20}, {4, 0x100, 0x10}, {5, 0x101, 0x40}};

/* Begins to wait for a condition. Of one that is in no table, old firmware tests bit 0, and new
 * firmware nothing: it goes on as after a time-out, without waiting for that. */
static void wait_status(struct nv *e, uint32_t number, uint32_t timeout)
{
    struct seq *s = seq_of_(e);
    bool old = e->engine.gen == CPS_SEQ_OLD;
    unsigned i = 0;
    while (i < 5 && (old ? conditions[i].old : conditions[i].new) != number)
        i++;
    s->test = i < 5 ? conditions[i].bits : 1;
    if (!old && number == GRAPH_IDLE) {
        seq_unknown_(e, CPS_UNKNOWN_PGRAPH_IDLE, number);
        begin_wait(e, WAIT_GRAPH, timeout);
        return;
    }
    if (i == 5)
        seq_unknown_(e, CPS_UNKNOWN_CONDITION, number);
    if (i < 5 || old)
        begin_wait(e, WAIT_STATUS, timeout);
}

static void op_WAITST(struct nv *e, const struct cps_insn *insn)
{
    struct seq *s = seq_of_(e);
    if (insn->unclaimed)
        seq_unknown_(e, CPS_UNKNOWN_CONDITION, (uint32_t)(insn->unclaimed >> 32));
    s->ret <<= 1;
    s->inverse = (uint8_t)insn->operand[0];
    wait_status(e, (uint32_t)insn->operand[1], (uint32_t)insn->operand[2]);
}

static void op_WAITM(struct nv *e, const struct cps_insn *insn)
{
    seq_of_(e)->ret <<= 1;
    seq_of_(e)->test = (uint32_t)insn->operand[0];
    begin_wait(e, WAIT_MASK, (uint32_t)insn->operand[1]);
}

static void op_CMP(struct nv *e, const struct cps_insn *insn)
{
    compare(seq_of_(e), seq_of_(e)->val, (uint32_t)insn->operand[0]);
}

static void op_CMPO(struct nv *e, const struct cps_insn *insn)
{
    const uint32_t *word = out_word(e, insn);
    if (word)
        compare(seq_of_(e), *word, (uint32_t)insn->operand[1]);
}

static void branch(struct nv *e, const struct cps_insn *insn, bool taken)
{
    struct seq *s = seq_of_(e);
    int16_t t = (int16_t)insn->operand[0];
    uint32_t target = (uint16_t)t;
    if (!taken)
        return;
    if (t < 0)
        seq_unknown_(e, CPS_UNKNOWN_BRANCH_NEGATIVE, (uint32_t)(int32_t)t);
    if (target >= s->words) {
        seq_end_(e, CPS_EXIT_BRANCH, t < 0 ? s->words : target);
        return;
    }
    if (!(s->begins[target / 8] >> target % 8 & 1))
        seq_unknown_(e, CPS_UNKNOWN_BRANCH_MIDDLE, target);
    s->next = target;
}

static void op_BEQ(struct nv *e, const struct cps_insn *insn)
{
    branch(e, insn, seq_of_(e)->eq);
}

static void op_BNE(struct nv *e, const struct cps_insn *insn)
{
    branch(e, insn, !seq_of_(e)->eq);
}

static void op_BLT(struct nv *e, const struct cps_insn *insn)
{
    branch(e, insn, seq_of_(e)->lt);
}

static void op_BGT(struct nv *e, const struct cps_insn *insn)
{
    branch(e, insn, !seq_of_(e)->lt && !seq_of_(e)->eq);
}

static void op_B(struct nv *e, const struct cps_insn *insn)
{
    branch(e, insn, true);
}

static void op_IRQOFF(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    irq_disable(seq_of_(e));
}

static void op_IRQON(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_irq_enable_(e);
}

static void op_ANDR(struct nv *e, const struct cps_insn *insn)
{
    seq_of_(e)->val &= seq_read_(e, (uint32_t)insn->operand[0]);
}

static void op_ORR(struct nv *e, const struct cps_insn *insn)
{
    seq_of_(e)->val |= seq_read_(e, (uint32_t)insn->operand[0]);
}

static void op_FBPAUSE(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    irq_disable(seq_of_(e));
    seq_write_(e, UNK1610, (seq_read_(e, UNK1610) & ~3u) | 2);
    seq_read_(e, UNK1610);
    seq_write_(e, FLAGS_1, seq_read_(e, FLAGS_1) | FLAG_16);
    begin_wait(e, WAIT_PAUSED, (uint32_t)e->engine.policy.spin);
}

static void op_FBRESUME(struct nv *e, const struct cps_insn *insn)
{
    (void)insn;
    seq_write_(e, FLAGS_1, seq_read_(e, FLAGS_1) & ~FLAG_16);
    begin_wait(e, WAIT_RESUMED, (uint32_t)e->engine.policy.spin);
}

static void op_SETREGS(struct nv *e, const struct cps_insn *insn)
{
    struct seq *s = seq_of_(e);
    uint32_t words = s->next - s->pc - 1;
    (void)insn;
    if (words % 2)
        seq_unknown_(e, CPS_UNKNOWN_ODD_PAIRS, words);
    irq_disable(s);
    for (uint32_t i = 0; i + 1 < words; i += 2)
        seq_write_(e, seq_word_(e, s->pc + 1 + i), seq_word_(e, s->pc + 2 + i));
    seq_irq_enable_(e);
    s->reg = seq_word_(e, s->pc + (words & ~1u) - 1);
    s->val = seq_word_(e, s->pc + (words & ~1u));
}

static void op_UNK2D(struct nv *e, const struct cps_insn *insn)
{
    seq_unknown_(e, CPS_UNKNOWN_OP_2D, (uint32_t)insn->operand[0]);
}

static void op_NOP(struct nv *e, const struct cps_insn *insn)
{
    (void)e;
    (void)insn;
}

/* The value of an operation whose meaning is an expression; to *word goes what is of OUT. */
static void evaluate(struct nv *e, unsigned op, uint32_t p, uint32_t *word)
{
    struct seq *s = seq_of_(e);
    const uint32_t v = s->val;
    const uint32_t a = s->reg;
    const uint32_t o = word ? *word : 0;
    const uint32_t t = (uint32_t)cps_bus_ns_(e);
    switch (op) {
#define TO_VAL(id, ...)       \
    case CPS_SEQ_##id:        \
        s->val = __VA_ARGS__; \
        break;
#define TO_REG(id, ...)       \
    case CPS_SEQ_##id:        \
        s->reg = __VA_ARGS__; \
        break;
#define TO_OUT(id, ...)      \
    case CPS_SEQ_##id:       \
        *word = __VA_ARGS__; \
        break;
#define TO_OWN(id, ...)
#define OP(id, text, kind, flow, ...) TO_##kind(id, __VA_ARGS__)
#include "isa/nv/seq.def"
    default:
        break;
    }
}

static void (*const handlers[])(struct nv *e, const struct cps_insn *insn) = {
    NULL,
#define OP_VAL(id)              NULL,
#define OP_REG(id)              NULL,
#define OP_OUT(id)              NULL,
#define OP_OWN(id)              op_##id,
#define OP(id, text, kind, ...) OP_##kind(id)
#include "isa/nv/seq.def"
};

void seq_perform_(struct nv *e, const struct cps_insn *insn)
{
    bool is_shift = insn->op == CPS_SEQ_SHLV || insn->op == CPS_SEQ_SHLA;
    if (handlers[insn->op]) {
        handlers[insn->op](e, insn);
        return;
    }
    bool two = insn->needs == 12;
    uint32_t p = (uint32_t)insn->operand[two];
    int shift = (int8_t)p;
    if (is_shift && (shift >= 32 || shift <= -32))
        seq_unknown_(e, CPS_UNKNOWN_SHIFT_COUNT, p);
    if (insn->op == CPS_SEQ_TS)
        seq_unknown_(e, CPS_UNKNOWN_TIMER, 0);
    uint32_t *word = out_word(e, insn);
    if (seq_of_(e)->running)
        evaluate(e, insn->op, p, word);
}
