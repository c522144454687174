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

static void perform_wait(struct nv *e, const struct cps_insn *insn, uint32_t first)
{
    struct seq *s = seq_of_(e);
    if (insn->op == CPS_SEQ_WAITS)
        seq_read_(e, 0);
    if (insn->op == CPS_SEQ_WAIT || insn->op == CPS_SEQ_WAITS) {
        begin_wait(e, WAIT_TIME, first);
        return;
    }
    s->ret <<= 1;
    if (insn->op == CPS_SEQ_WAITM) {
        s->test = first;
        begin_wait(e, WAIT_MASK, (uint32_t)insn->operand[1]);
        return;
    }
    if (insn->unclaimed)
        seq_unknown_(e, CPS_UNKNOWN_CONDITION, (uint32_t)(insn->unclaimed >> 32));
    s->inverse = (uint8_t)first;
    wait_status(e, (uint32_t)insn->operand[1], (uint32_t)insn->operand[2]);
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

static void pause_memory(struct nv *e)
{
    irq_disable(seq_of_(e));
    seq_write_(e, UNK1610, (seq_read_(e, UNK1610) & ~3u) | 2);
    seq_read_(e, UNK1610);
    seq_write_(e, FLAGS_1, seq_read_(e, FLAGS_1) | FLAG_16);
    begin_wait(e, WAIT_PAUSED, (uint32_t)e->engine.policy.spin);
}

static void write_pairs(struct nv *e)
{
    struct seq *s = seq_of_(e);
    uint32_t words = s->next - s->pc - 1;
    if (words % 2)
        seq_unknown_(e, CPS_UNKNOWN_ODD_PAIRS, words);
    irq_disable(s);
    for (uint32_t i = 0; i + 1 < words; i += 2)
        seq_write_(e, seq_word_(e, s->pc + 1 + i), seq_word_(e, s->pc + 2 + i));
    seq_irq_enable_(e);
    s->reg = seq_word_(e, s->pc + (words & ~1u) - 1);
    s->val = seq_word_(e, s->pc + (words & ~1u));
}

/* Operations that end the script, or may not go on after themselves. */
static void perform_flow(struct nv *e, const struct cps_insn *insn)
{
    const struct seq *s = seq_of_(e);
    switch ((enum cps_seq_op)insn->op) {
    case CPS_SEQ_END:
        seq_end_(e, CPS_EXIT_END, 0);
        break;
    case CPS_SEQ_EXIT:
        seq_end_(e, CPS_EXIT_CODE, UINT32_MAX);
        break;
    case CPS_SEQ_EXITC:
        seq_end_(e, CPS_EXIT_CODE, (uint32_t)(int8_t)insn->operand[0]);
        break;
    case CPS_SEQ_BEQ:
        branch(e, insn, s->eq);
        break;
    case CPS_SEQ_BNE:
        branch(e, insn, !s->eq);
        break;
    case CPS_SEQ_BLT:
        branch(e, insn, s->lt);
        break;
    case CPS_SEQ_BGT:
        branch(e, insn, !s->lt && !s->eq);
        break;
    case CPS_SEQ_B:
        branch(e, insn, true);
        break;
    case CPS_SEQ_NONE:
    case CPS_SEQ_OP_COUNT:
#define FLOW_NEXT(id) case CPS_SEQ_##id:
#define FLOW_END(id)
#define FLOW_BRANCH(id)
#define FLOW_JUMP(id)
#define OP(id, text, kind, flow, ...) FLOW_##flow(id)
#include "isa/nv/seq.def"
        break;
    }
}

/* Cases of expressions, which give a new value; of operations of the other function; none of those
 * that are in the function. */
#define DO_NEXT_OWN(...)
#define DO_NEXT_VAL(id, ...)  \
    case CPS_SEQ_##id:        \
        s->val = __VA_ARGS__; \
        break;
#define DO_NEXT_REG(id, ...)  \
    case CPS_SEQ_##id:        \
        s->reg = __VA_ARGS__; \
        break;
#define DO_NEXT_OUT(id, ...) \
    case CPS_SEQ_##id:       \
        *word = __VA_ARGS__; \
        break;
#define DO_END_OWN(id, ...)           case CPS_SEQ_##id:
#define DO_BRANCH_OWN(id, ...)        case CPS_SEQ_##id:
#define DO_JUMP_OWN(id, ...)          case CPS_SEQ_##id:
#define OP(id, text, kind, flow, ...) DO_##flow##_##kind(id, __VA_ARGS__)

/* Operations that go on after themselves: registers, OUT, waits. @p word  of OUT, NULL: it is
 * about none. */
static void perform_next(struct nv *e, const struct cps_insn *insn, uint32_t p, uint32_t *word)
{
    struct seq *s = seq_of_(e);
    const uint32_t first = (uint32_t)insn->operand[0];
    const uint32_t v = s->val;
    const uint32_t a = s->reg;
    const uint32_t o = word ? *word : 0;
    const uint32_t t = (uint32_t)cps_bus_ns_(e);
    switch ((enum cps_seq_op)insn->op) {
    case CPS_SEQ_READ:
        s->val = seq_read_(e, a);
        break;
    case CPS_SEQ_READI:
        s->val = seq_read_(e, first);
        break;
    case CPS_SEQ_READO:
        s->val = seq_read_(e, a + first);
        break;
    case CPS_SEQ_WRITE:
        seq_write_(e, a, v);
        break;
    case CPS_SEQ_WRITEI:
        seq_write_(e, first, v);
        break;
    case CPS_SEQ_WRITEO:
        seq_write_(e, a + first, v);
        break;
    case CPS_SEQ_ANDR:
        s->val &= seq_read_(e, first);
        break;
    case CPS_SEQ_ORR:
        s->val |= seq_read_(e, first);
        break;
    case CPS_SEQ_CMP:
        compare(s, v, first);
        break;
    case CPS_SEQ_CMPO:
        compare(s, o, p);
        break;
    case CPS_SEQ_WAIT:
    case CPS_SEQ_WAITS:
    case CPS_SEQ_WAITST:
    case CPS_SEQ_WAITM:
        perform_wait(e, insn, first);
        break;
    case CPS_SEQ_IRQOFF:
        irq_disable(s);
        break;
    case CPS_SEQ_IRQON:
        seq_irq_enable_(e);
        break;
    case CPS_SEQ_FBPAUSE:
        pause_memory(e);
        break;
    case CPS_SEQ_FBRESUME:
        seq_write_(e, FLAGS_1, seq_read_(e, FLAGS_1) & ~FLAG_16);
        begin_wait(e, WAIT_RESUMED, (uint32_t)e->engine.policy.spin);
        break;
    case CPS_SEQ_SETREGS:
        write_pairs(e);
        break;
    case CPS_SEQ_UNK2D:
        seq_unknown_(e, CPS_UNKNOWN_OP_2D, first);
        break;
#include "isa/nv/seq.def"
    case CPS_SEQ_NOP:
    case CPS_SEQ_NONE:
    case CPS_SEQ_OP_COUNT:
        break;
    }
}

void seq_perform_(struct nv *e, const struct cps_insn *insn)
{
    bool is_shift = insn->op == CPS_SEQ_SHLV || insn->op == CPS_SEQ_SHLA;
    uint32_t p = (uint32_t)insn->operand[insn->needs == 12];
    int shift = (int8_t)p;
    if (cps_op_flow(&cps_isa_seq, insn->op) != CPS_FLOW_NEXT) {
        perform_flow(e, insn);
        return;
    }
    if (is_shift && (shift >= 32 || shift <= -32))
        seq_unknown_(e, CPS_UNKNOWN_SHIFT_COUNT, p);
    if (insn->op == CPS_SEQ_TS)
        seq_unknown_(e, CPS_UNKNOWN_TIMER, 0);
    uint32_t *word = out_word(e, insn);
    if (seq_of_(e)->running)
        perform_next(e, insn, p, word);
}
