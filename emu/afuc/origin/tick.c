/* SPDX-License-Identifier: MIT
 * What an instruction reads and computes. Which sources an operation has, and its value, expand
 * from the rows of isa/afuc.def; the order of reads and writes is that of emu/afuc/body.h. */
#include "emu/afuc/origin/state.h"

#include <string.h>

#include "emu/afuc/core/act.h"

/* ---- what general registers hold and queues hand out, in the order in which an instruction reads
 * ---- */

static struct flow flow_of(const struct origin *o, uint32_t node)
{
    return (struct flow){node, node_(o, node)->value, 0};
}

/* What made a register another value than it was given. */
static uint32_t changed(struct origin *o, struct tick *t, unsigned number)
{
    uint32_t before = t->tags->general[number];
    unsigned kind = !before ? ORIGIN_BEGIN : number == R_REM ? ORIGIN_REMAINS : ORIGIN_HARDWARE;
    uint32_t node = origin_new_(o, kind, t->r[number], number);
    node_(o, node)->in[ORIGIN_A] = kind == ORIGIN_REMAINS ? before : 0;
    if (kind != ORIGIN_REMAINS)
        t->tags->general[number] = node;
    return node;
}

static struct flow general_value(struct origin *o, struct tick *t, unsigned number)
{
    uint32_t value = t->r[number];
    uint32_t node = number ? if_value_(o, t->tags->general[number], value) : 0;
    if (number && !node)
        node = changed(o, t, number);
    return (struct flow){node, value, 0};
}

/* A word that memory holds at @p iova. */
static struct flow memory_word(struct origin *o, uint64_t iova)
{
    bool known = false;
    uint32_t value = cps_mem_read(o->machine->engine.mem, iova, &known);
    uint32_t node = origin_new_(o, ORIGIN_WORD, value, iova);
    node_(o, node)->known = known;
    node_(o, node)->in[ORIGIN_A] = if_value_(o, origin_memory_(o, iova), value);
    return flow_of(o, node);
}

static struct flow made_by_hardware(struct origin *o, uint32_t value)
{
    return flow_of(o, origin_new_(o, ORIGIN_HARDWARE, value, 0));
}

static struct flow passed(struct origin *o, struct tick *t)
{
    uint32_t at = t->meq_head++ % MEQ_WORDS;
    uint32_t value = t->core->s.meq.word[at];
    uint32_t from = if_value_(o, t->tags->meq[at], value);
    uint32_t node = origin_new_(o, from ? ORIGIN_PASSED : ORIGIN_HARDWARE, value, 0);
    node_(o, node)->in[ORIGIN_A] = from;
    return flow_of(o, node);
}

static struct flow pop_stream(struct origin *o, struct tick *t)
{
    const struct queue *queue = &t->core->s.queue[t->level];
    const struct fetch *fetch = &queue->fetch[t->head % QUEUE_DEPTH];
    const struct ring ring = ring_of_(t->core);
    if (t->level == LEVEL_RB)
        return memory_word(o, ring.iova + 4 * (uint64_t)(t->pos++ % ring.dwords));
    if (t->level == LEVEL_SIDE && t->side_end)
        return made_by_hardware(o, END_OF_SIDE);
    if (t->pos >= fetch->dwords) {
        t->head++;
        t->pos = 0;
        return made_by_hardware(o, end_mark_(t->core));
    }
    uint64_t iova = fetch->iova + 4 * (uint64_t)t->pos++;
    if (t->level == LEVEL_SIDE && t->pos >= fetch->dwords) {
        t->head++;
        t->pos = 0;
    }
    return memory_word(o, iova);
}

static struct flow pop(struct origin *o, struct tick *t)
{
    t->r[R_REM]--;
    if (t->injected) {
        struct flow header = made_by_hardware(o, t->injected);
        t->injected = 0;
        return header;
    }
    return t->level == LEVEL_MEQ ? passed(o, t) : pop_stream(o, t);
}

static struct flow data_word(struct origin *o, struct tick *t)
{
    if (!(t->uop->flags & U_PEEK) && !t->peeking)
        return pop(o, t);
    const struct tick before = *t;
    struct flow word = pop(o, t);
    *t = before;
    return word;
}

void origin_fifo_put_(struct tag_fifo *fifo, uint32_t node)
{
    if (fifo->count < FIFO_WORDS)
        fifo->node[(fifo->head + fifo->count++) % FIFO_WORDS] = node;
}

/* A register that was read and that no FIFO has taken yet. */
static uint32_t next_read(struct origin *o)
{
    for (size_t i = 0; i < o->events; i++) {
        struct seen_event *seen = &o->event[i];
        if (cps_event_kind(&seen->event) != CPS_EV_REGR || seen->taken)
            continue;
        seen->taken = true;
        return seen->node;
    }
    return 0;
}

static struct flow fifo_pop(struct origin *o, struct tag_fifo *fifo, const struct fifo *words)
{
    uint32_t at = (words->head + FIFO_WORDS - 1) % FIFO_WORDS; /* it was popped already */
    uint32_t value = words->word[at];
    uint32_t node = fifo->count ? fifo->node[fifo->head] : next_read(o);
    fifo->head = (fifo->head + (fifo->count != 0)) % FIFO_WORDS;
    fifo->count -= fifo->count != 0;
    return node ? flow_of(o, node) : made_by_hardware(o, value);
}

void origin_fifo_match_(struct origin *o, struct tag_fifo *tags, const struct fifo *fifo)
{
    if (tags->count > fifo->count)
        tags->count = fifo->count;
    while (tags->count < fifo->count) {
        uint32_t value = fifo->word[(fifo->head + tags->count) % FIFO_WORDS];
        uint32_t node = if_value_(o, next_read(o), value);
        origin_fifo_put_(tags, node ? node : origin_new_(o, ORIGIN_HARDWARE, value, 0));
    }
}

static struct flow read_source(struct origin *o, struct tick *t, unsigned number)
{
    if (number <= R_REM)
        return general_value(o, t, number);
    if (number == R_MEMDATA)
        return fifo_pop(o, &t->tags->memdata, &t->core->s.memdata);
    if (number == R_REGDATA)
        return fifo_pop(o, &t->tags->regdata, &t->core->s.regdata);
    return data_word(o, t);
}

uint32_t origin_general_(struct origin *o, unsigned core, unsigned number)
{
    struct tick *t = &o->t;
    if (!number || number >= R_ADDR || !o->core[core]->general[number])
        return 0;
    *t = (struct tick){.core = &o->machine->core[core], .tags = o->core[core]};
    t->pc = t->core->s.pc;
    memcpy(t->r, t->core->s.r, sizeof(t->r));
    return general_value(o, t, number).node;
}

/* ---- what an instruction computes ---- */

/* The node of an operation; a plain move to a port is none. */
static uint32_t computed(struct origin *o, struct tick *t, const struct flow in[ORIGIN_INPUTS],
                         uint32_t value)
{
    const struct afuc_uop *uop = t->uop;
    uint32_t made = origin_new_(o, ORIGIN_INSN, value, uop->imm);
    struct origin_node *node = node_(o, made);
    for (unsigned i = 0; i < ORIGIN_INPUTS; i++)
        node->in[i] = in[i].node;
    node->has_imm = uop->s2 == S2_IMM;
    node->dst = uop->dst;
    return made;
}

/* A value leaves the registers. What $00 says is a constant of the instruction that reads it. */
static void leave(struct origin *o, struct tick *t, struct flow value)
{
    static const struct flow none[ORIGIN_INPUTS];
    if (!value.node)
        value.node = computed(o, t, none, value.value);
    if (t->outs < sizeof(t->out) / sizeof(t->out[0]))
        t->out[t->outs++] = value;
}

/* A value leaves for @p target: a general register, or a port, where events say what follows. */
static void set_register(struct origin *o, struct tick *t, unsigned target, struct flow value)
{
    value.target = target;
    if (target >= R_ADDR && target <= R_DATA) {
        leave(o, t, value);
    } else if (target && target < R_TRASH) {
        t->tags->general[target] = value.node;
    }
}

static unsigned code_of(const struct tick *t)
{
    return t->uop->code == UOP_BULK ? (unsigned)UOP_OR_ANY : t->uop->code;
}

static bool is_move(const struct tick *t)
{
    unsigned code = code_of(t);
    return (code == UOP_OR_ANY || code == UOP_OR_RR) && !t->uop->s1;
}

/* One and two extra words go to $data; of three, the second to the instruction's destination. */
static void extra_moves(struct origin *o, struct tick *t)
{
    const struct afuc_uop *uop = t->uop;
    bool ported = uop->dst >= R_ADDR && uop->dst <= R_DATA;
    unsigned source = uop->s2 >= R_ADDR && uop->s2 != S2_IMM ? uop->s2 : uop->s1;
    uint32_t rest = t->r[R_REM] - afuc_counts_itself_(uop);
    uint32_t count = uop->xmov < rest ? uop->xmov : rest;
    for (uint32_t i = 0; i < count; i++) {
        struct flow value = read_source(o, t, source);
        unsigned target = count == 3 && i == 1 ? uop->dst : (unsigned)R_DATA;
        set_register(o, t, ported ? target : (unsigned)R_TRASH, value);
    }
}

/* Skipping payload makes no nodes. */
static bool drops(const struct tick *t)
{
    return t->uop->code == UOP_BULK && t->uop->dst == R_TRASH && !t->uop->xmov;
}

static void alu(struct origin *o, struct tick *t)
{
    const struct afuc_uop *uop = t->uop;
    const struct afuc_row *row = afuc_row_(uop->code);
    struct flow in[ORIGIN_INPUTS] = {{0}};
    uint32_t carry = t->carry;
    if (drops(t))
        return;
    in[ORIGIN_A] = read_source(o, t, uop->s1);
    if (uop->s2 == S2_IMM)
        in[ORIGIN_B].value = uop->imm;
    else
        in[ORIGIN_B] = read_source(o, t, uop->s2);
    if (row->reads & AFUC_DST)
        in[ORIGIN_D] = general_value(o, t, uop->dst);
    uint32_t value = afuc_evaluate_(uop->code, in[ORIGIN_A].value, in[ORIGIN_B].value,
                                    in[ORIGIN_D].value, &carry);
    if (row->reads & AFUC_CARRY)
        in[ORIGIN_D] = (struct flow){if_value_(o, t->tags->general[TAG_CARRY], t->carry), 0, 0};
    bool through = is_move(t) && (uop->dst >= R_ADDR);
    struct flow made = in[ORIGIN_B];
    if (!through)
        made = (struct flow){computed(o, t, in, value), value, 0};
    if (row->writes & AFUC_CARRY) {
        uint32_t node = computed(o, t, in, carry);
        node_(o, node)->dst = TAG_CARRY;
        t->tags->general[TAG_CARRY] = node;
    }
    set_register(o, t, uop->dst, made);
    if (uop->xmov)
        extra_moves(o, t);
}

/* Of the sum of offset register and base; the pre-increment form keeps it. */
static uint32_t address(struct origin *o, struct tick *t)
{
    const struct afuc_uop *uop = t->uop;
    uint32_t sum = t->r[uop->s1 & 31] + uop->imm;
    if (!(uop->flags & U_PRE) || !(uop->s1 & 31))
        return sum;
    uint32_t from = general_value(o, t, uop->s1 & 31).node;
    uint32_t node = origin_new_(o, ORIGIN_OFFSET, sum, uop->imm);
    node_(o, node)->in[ORIGIN_A] = from;
    node_(o, node)->dst = uop->s1 & 31;
    t->tags->general[uop->s1 & 31] = node;
    return sum;
}

/* Value that goes to memory or to a register that the events name, with extra words after it. */
static void store(struct origin *o, struct tick *t)
{
    const struct afuc_uop *uop = t->uop;
    unsigned words = uop->code == UOP_CWRITE ? 1u + uop->xmov : 1;
    for (unsigned i = 0; i < words; i++) {
        struct flow value = read_source(o, t, uop->s2);
        value.target = R_DATA;
        leave(o, t, value);
    }
    address(o, t);
}

static void load(struct origin *o, struct tick *t)
{
    uint32_t value = node_(o, t->read)->value;
    address(o, t);
    set_register(o, t, t->uop->dst, (struct flow){t->read, value, 0});
}

/* A register of the draw-state group that is selected: base and dwords of what was executed, then
 * of what was set. The header's register shows the modes elsewhere. */
static uint32_t group_word(struct origin *o, const struct tick *t, uint32_t number, uint32_t value)
{
    static const uint8_t word[6] = {1, 2, 0, 1, 2, 0};
    uint32_t at = number - afuc_control_number_(t->core, CTL_DRAW_STATE_BANK);
    uint32_t selected = afuc_control_get_(t->core, CTL_DRAW_STATE_SEL) % GROUP_COUNT;
    uint32_t group = t->tags->group[selected];
    if (at >= sizeof(word) || !group)
        return 0;
    uint32_t from = if_value_(o, node_(o, group)->in[word[at]], value);
    if (from)
        return from;
    from = origin_new_(o, ORIGIN_HARDWARE, value, 0);
    node_(o, from)->in[ORIGIN_A] = node_(o, group)->in[word[at]];
    return from;
}

static void read_register(struct origin *o, struct tick *t, unsigned kind)
{
    bool control = kind == ORIGIN_CREAD;
    uint32_t number = address(o, t) % (control ? CONTROL_COUNT : SQE_COUNT);
    uint32_t tag =
        control ? *origin_control_tag_(o, t->tags, t->core, number) : t->tags->sqe[number];
    unsigned dst = t->uop->dst;
    /* What a register got; one that left through a port shows in what follows. */
    uint32_t value = dst && dst <= R_REM ? t->core->s.r[dst] : tag ? node_(o, tag)->value : 0;
    uint32_t from = if_value_(o, t->assumed, value);
    from = from ? from : if_value_(o, tag, value);
    if (!from && control)
        from = group_word(o, t, number, value);
    uint32_t node = origin_new_(o, kind, value, number);
    node_(o, node)->in[ORIGIN_A] = from;
    set_register(o, t, t->uop->dst, (struct flow){node, value, 0});
}

/* Where a call returns to is a constant of the firmware. */
static void link(struct origin *o, struct tick *t)
{
    uint32_t node = origin_new_(o, ORIGIN_INSN, t->pc + 2, 0);
    node_(o, node)->dst = R_LR;
    t->tags->general[R_LR] = node;
}

/* A branch may take its source from a queue. */
static void branch(struct origin *o, struct tick *t)
{
    if (t->uop->s1 > R_REM)
        read_source(o, t, t->uop->s1);
}

void origin_effects_(struct origin *o, struct tick *t)
{
    bool nothing = (t->uop->flags & U_REP) && !t->r[R_REM];
    if (nothing)
        return;
    switch (afuc_row_(t->uop->code)->act) {
    case ACT_EXPRESSION:
        alu(o, t);
        break;
    case ACT_MEMORY_WRITE:
    case ACT_CONTROL_WRITE:
    case ACT_SQE_WRITE:
        store(o, t);
        break;
    case ACT_MEMORY_READ:
        load(o, t);
        break;
    case ACT_CONTROL_READ:
        read_register(o, t, ORIGIN_CREAD);
        break;
    case ACT_SQE_READ:
        read_register(o, t, ORIGIN_SREAD);
        break;
    case ACT_LINK_CALL:
        link(o, t);
        break;
    case ACT_CONDITION:
    case ACT_JUMP_REGISTER:
        branch(o, t);
        break;
    case ACT_STACK_CALL:
    case ACT_STACK_RETURN:
    case ACT_LINK_RETURN:
    case ACT_LEAVE:
    case ACT_JUMP:
    case ACT_DISPATCH:
    case ACT_SECURE:
    case ACT_NOTHING:
    case ACT_ILLEGAL:
        break;
    }
}
