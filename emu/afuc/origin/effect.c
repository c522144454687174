/* SPDX-License-Identifier: MIT
 * What the events of a tick say: what was read before the instruction computed, and where its
 * values went; the streams, groups and words that it sent on. */
#include "emu/afuc/origin/state.h"

static void take_read(struct origin *o, struct tick *t, struct seen_event *seen)
{
    const struct cps_event *event = &seen->event;
    bool known = false;
    cps_mem_read(o->machine->engine.mem, event->addr, &known);
    uint32_t node = origin_new_(o, ORIGIN_MEMORY, event->value, event->addr);
    node_(o, node)->known = known;
    node_(o, node)->in[ORIGIN_A] = if_value_(o, origin_memory_(o, event->addr), event->value);
    if (!node_(o, node)->in[ORIGIN_A])
        node_(o, node)->in[ORIGIN_A] = if_value_(o, t->assumed, event->value);
    struct core_tags *tags = origin_core_(o, cps_event_who(event));
    if (cps_event_sub(event) == CPS_VIA_MEMDATA && tags)
        origin_fifo_put_(&tags->memdata, node);
    seen->node = t->read = node;
}

static void take_register_read(struct origin *o, struct tick *t, struct seen_event *seen)
{
    const struct cps_event *event = &seen->event;
    uint32_t *tag = origin_gpu_(o, t->core, event->addr, t->uop->code == UOP_CWRITE);
    bool assumed = ((node_(o, t->assumed)->place ^ event->addr) & (GPU_REGS - 1)) == 0;
    uint32_t from = assumed ? if_value_(o, t->assumed, event->value) : 0;
    uint32_t node = origin_new_(o, ORIGIN_REGREAD, event->value, event->addr);
    node_(o, node)->in[ORIGIN_A] = from ? from : tag ? if_value_(o, *tag, event->value) : 0;
    seen->node = t->read = node;
}

/* The stream that the packet lies in, or what the sender was at. */
static uint32_t stream_of_packet(const struct origin *o, const struct tick *t)
{
    if (t->injected || t->level == LEVEL_RB)
        return 0;
    if (t->level == LEVEL_MEQ)
        return node_(o, t->tags->meq[t->meq_head % MEQ_WORDS])->packet;
    return t->tags->stream[t->level][t->head % QUEUE_DEPTH];
}

static void take_packet(struct origin *o, struct tick *t, struct seen_event *seen)
{
    const struct cps_event *event = &seen->event;
    uint32_t node = origin_new_(o, ORIGIN_PACKET, event->value, event->addr);
    node_(o, node)->sub = (uint8_t)cps_event_sub(event);
    node_(o, node)->packet = stream_of_packet(o, t);
    t->tags->packet = node;
    seen->node = node;
    if (t->core->s.header != event->value)
        return; /* of an interruption, which leaves $rem alone */
    uint32_t count = origin_new_(o, ORIGIN_HEADER, t->core->s.r[R_REM], 0);
    node_(o, count)->in[ORIGIN_A] = node;
    t->tags->general[R_REM] = count;
}

/* A wait that was taken for over has given a word, or a register, its value. */
static void take_assumption(struct origin *o, struct tick *t, struct seen_event *seen)
{
    const struct cps_event *event = &seen->event;
    uint32_t node = origin_new_(o, ORIGIN_ASSUMED, event->value, event->addr);
    node_(o, node)->sub = (uint8_t)cps_event_sub(event);
    seen->node = t->assumed = node;
    if (cps_event_sub(event) != CPS_WHAT_WAIT)
        return;
    uint32_t *tag = event->addr < GPU_REGS ? origin_gpu_(o, t->core, event->addr, false) : NULL;
    if (tag)
        *tag = node;
    else
        origin_set_memory_(o, event->addr, node);
}

void origin_reads_(struct origin *o, struct tick *t)
{
    for (size_t i = 0; i < o->events; i++) {
        struct seen_event *seen = &o->event[i];
        switch (cps_event_kind(&seen->event)) {
        case CPS_EV_MEMR:
            take_read(o, t, seen);
            break;
        case CPS_EV_REGR:
            take_register_read(o, t, seen);
            break;
        case CPS_EV_PKT:
            take_packet(o, t, seen);
            break;
        case CPS_EV_ASSUME:
            take_assumption(o, t, seen);
            break;
        default:
            break;
        }
    }
}

/* Whether a value that left can be what @p event shows: of an address the pipe sees 24 bits. */
static bool fits(const struct flow *out, const struct cps_event *event)
{
    bool pipe = cps_event_kind(event) == CPS_EV_PIPE;
    if (pipe && out->target == R_ADDR)
        return (out->value & 0xffffff) == event->value;
    return out->target == R_DATA && out->value == event->value;
}

/* The next value that left through a port and fits. Each is taken once, in order. */
static uint32_t next_out(struct tick *t, const struct cps_event *event)
{
    for (unsigned i = t->next_out; i < t->outs; i++) {
        if (!fits(&t->out[i], event))
            continue;
        t->last_out = i;
        t->next_out = i + 1;
        return t->out[i].node;
    }
    return 0;
}

/* What hardware made of all that the instruction gave it, and had read. */
static uint32_t made_of(struct origin *o, const struct tick *t, uint32_t value)
{
    uint32_t node = origin_new_(o, ORIGIN_HARDWARE, value, 0);
    node_(o, node)->in[ORIGIN_A] = t->outs ? t->out[t->last_out].node : 0;
    node_(o, node)->in[ORIGIN_B] = t->read;
    return node;
}

/* What the value that left last also did, or another of them. */
static uint32_t any_out(struct origin *o, const struct tick *t, uint32_t value)
{
    if (t->outs && t->out[t->last_out].value == value)
        return t->out[t->last_out].node;
    for (unsigned i = 0; i < t->outs; i++) {
        if (t->out[i].value == value)
            return t->out[i].node;
    }
    return made_of(o, t, value);
}

static uint32_t source_of(struct origin *o, struct tick *t, const struct cps_event *event)
{
    unsigned kind = cps_event_kind(event);
    bool first = kind == CPS_EV_PIPE || kind == CPS_EV_PROT ||
                 (kind == CPS_EV_REG && cps_event_sub(event) != CPS_PATH_CTRL);
    uint32_t node = first ? next_out(t, event) : 0;
    return node ? node : any_out(o, t, event->value);
}

static uint32_t write_node(struct origin *o, struct tick *t, unsigned kind,
                           const struct cps_event *event)
{
    uint32_t from = source_of(o, t, event);
    uint32_t node = origin_new_(o, kind, event->value, event->addr);
    node_(o, node)->in[ORIGIN_A] = from;
    node_(o, node)->sub = (uint8_t)cps_event_sub(event);
    return node;
}

static void take_register(struct origin *o, struct tick *t, struct seen_event *seen)
{
    bool control = cps_event_sub(&seen->event) == CPS_PATH_CTRL;
    uint32_t *tag = origin_gpu_(o, t->core, seen->event.addr, control);
    seen->node = write_node(o, t, ORIGIN_REG, &seen->event);
    if (tag)
        *tag = seen->node;
}

static void take_control(struct origin *o, struct tick *t, struct seen_event *seen)
{
    struct core_tags *tags = origin_core_(o, cps_event_who(&seen->event));
    seen->node = write_node(o, t, ORIGIN_CTRL, &seen->event);
    if (tags)
        *origin_control_tag_(o, tags, t->core, (uint32_t)seen->event.addr) = seen->node;
}

/* What an event stored of its own: a register, or the two words of the clock or of a counter. */
static uint32_t stored_by_event(struct origin *o, const struct seen_event *seen)
{
    uint64_t iova = seen->event.addr;
    uint32_t value = seen->event.value;
    const struct seen_event *from = seen > o->event ? seen - 1 : seen;
    unsigned kind = cps_event_kind(&from->event);
    if (kind == CPS_EV_REGR || (kind == CPS_EV_ASSUME && from->event.addr == iova))
        return if_value_(o, from->node, value);
    if (kind != CPS_EV_MEMW || from == o->event)
        return 0;
    from--;
    if (cps_event_kind(&from->event) != CPS_EV_ASSUME || from->event.addr + 4 != iova)
        return 0;
    uint32_t node = origin_new_(o, ORIGIN_ASSUMED, value, iova);
    node_(o, node)->sub = (uint8_t)cps_event_sub(&from->event);
    return node;
}

static void take_memory(struct origin *o, struct tick *t, struct seen_event *seen)
{
    bool by_event = cps_event_sub(&seen->event) == CPS_VIA_EVENT;
    uint32_t from = by_event ? stored_by_event(o, seen) : 0;
    seen->node = write_node(o, t, ORIGIN_MEMW, &seen->event);
    if (from)
        node_(o, seen->node)->in[ORIGIN_A] = from;
    origin_set_memory_(o, seen->event.addr, seen->node);
}

static void take_write(struct origin *o, struct tick *t, struct seen_event *seen)
{
    switch (cps_event_kind(&seen->event)) {
    case CPS_EV_REG:
        take_register(o, t, seen);
        break;
    case CPS_EV_PIPE:
    case CPS_EV_PROT:
        seen->node = write_node(o, t, ORIGIN_PIPE, &seen->event);
        break;
    case CPS_EV_CTRL:
        take_control(o, t, seen);
        break;
    case CPS_EV_SQE:
        if (t->uop->code == UOP_SWRITE)
            t->tags->sqe[seen->event.addr % SQE_COUNT] = seen->node =
                write_node(o, t, ORIGIN_SQE, &seen->event);
        break;
    case CPS_EV_MEMW:
        take_memory(o, t, seen);
        break;
    default:
        break;
    }
}

void origin_writes_(struct origin *o, struct tick *t)
{
    for (size_t i = 0; i < o->events; i++)
        take_write(o, t, &o->event[i]);
}

void origin_host_event_(struct origin *o, const struct cps_event *event)
{
    if (cps_event_kind(event) != CPS_EV_REG)
        return;
    uint32_t node = origin_new_(o, ORIGIN_BEGIN, event->value, event->addr);
    uint32_t *tag = origin_gpu_(o, NULL, event->addr, false);
    if (tag)
        *tag = node;
}

/* A group is set by its header and base: at once, or word by word. */
static void set_group(struct origin *o, struct tick *t, const struct flow word[3])
{
    uint64_t iova = (uint64_t)word[2].value << 32 | word[1].value;
    uint32_t node = origin_new_(o, ORIGIN_GROUP, word[0].value, iova);
    node_(o, node)->aux = word[0].value >> 24 & (GROUP_COUNT - 1);
    for (unsigned i = 0; i < 3; i++)
        node_(o, node)->in[i] = word[i].node;
    t->tags->group[word[0].value >> 24 & (GROUP_COUNT - 1)] = node;
}

static bool is(const struct tick *t, uint32_t number, enum ctl which)
{
    return number == afuc_control_number_(t->core, which);
}

static void group_word(struct origin *o, struct tick *t, bool first)
{
    uint32_t *word = t->tags->group_word;
    struct flow all[3];
    word[0] = first ? 0 : word[1];
    word[1] = first ? 0 : word[2];
    word[2] = t->out[0].node;
    for (unsigned i = 0; i < 3; i++)
        all[i] = (struct flow){word[i], node_(o, word[i])->value, 0};
    if (t->core->s.group_word_count == 0)
        set_group(o, t, all);
}

static void note_group(struct origin *o, struct tick *t)
{
    uint32_t number = (t->r[t->uop->s1 & 31] + t->uop->imm) % CONTROL_COUNT;
    bool set = is(t, number, CTL_DRAW_STATE_SET_HDR) || is(t, number, CTL_SET_HDR_A7XX);
    if (set && t->outs >= 3)
        set_group(o, t, t->out);
    else if (is(t, number, CTL_DRAW_STATE_FIRST) || is(t, number, CTL_DRAW_STATE_WORDS))
        group_word(o, t, is(t, number, CTL_DRAW_STATE_FIRST));
}

/* Streams that stand in @p core's queues since the tick. */
static void note_streams(struct origin *o, struct tick *t, struct afuc_core *core,
                         const uint32_t *tail)
{
    static const uint8_t level[LEVEL_COUNT] = {CPS_LEVEL_RB,  CPS_LEVEL_IB1, CPS_LEVEL_IB2,
                                               CPS_LEVEL_IB3, CPS_LEVEL_SDS, CPS_LEVEL_SDS};
    struct core_tags *tags = origin_core_(o, core->who);
    for (unsigned l = LEVEL_IB1; l < LEVEL_COUNT; l++) {
        const struct queue *queue = &core->s.queue[l];
        uint32_t end = (queue->head + queue->count) % QUEUE_DEPTH;
        for (uint32_t at = tail[l]; at != end && queue->count; at = (at + 1) % QUEUE_DEPTH) {
            const struct fetch *fetch = &queue->fetch[at];
            uint32_t node = origin_new_(o, ORIGIN_STREAM, fetch->dwords, fetch->iova);
            bool group = l == LEVEL_SDS;
            node_(o, node)->sub = level[l];
            node_(o, node)->aux = group ? fetch->group : UINT32_MAX;
            node_(o, node)->in[ORIGIN_A] =
                group ? t->tags->group[fetch->group % GROUP_COUNT] : t->out[0].node;
            tags->stream[l][at] = node;
        }
    }
}

static struct afuc_core *partner(const struct afuc_core *core)
{
    return core->me ? core->me : core->dde;
}

/* Words that this core has sent to its partner. */
static void note_words(struct origin *o, struct tick *t, struct afuc_core *to)
{
    const struct meq *meq = &to->s.meq;
    struct core_tags *tags = origin_core_(o, to->who);
    uint32_t end = (meq->head + meq->count) % MEQ_WORDS;
    unsigned next = 0;
    for (uint32_t at = t->meq_tail; at != end; at = (at + 1) % MEQ_WORDS) {
        while (next < t->outs && t->out[next].target != R_DATA)
            next++;
        bool same = next < t->outs && t->out[next].value == meq->word[at];
        uint32_t node = same ? t->out[next].node : 0;
        tags->meq[at] = node ? node : made_of(o, t, meq->word[at]);
        next++;
    }
}

void origin_calls_(struct origin *o, struct tick *t)
{
    struct afuc_core *other = partner(t->core);
    if (other && t->outs)
        note_words(o, t, other);
    if (t->uop->code != UOP_CWRITE)
        return;
    note_group(o, t);
    note_streams(o, t, t->core, t->tail[0]);
    if (other)
        note_streams(o, t, other, t->tail[1]);
}
