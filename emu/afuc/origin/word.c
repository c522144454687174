/* SPDX-License-Identifier: MIT
 * What general registers hold and queues hand out, in the order in which an instruction reads. */
#include "emu/afuc/origin/state.h"

#include <string.h>

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

struct flow origin_general_value_(struct origin *o, struct tick *t, unsigned number)
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
        return made_by_hardware(o, END_OF_IB);
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

struct flow origin_read_(struct origin *o, struct tick *t, unsigned number)
{
    if (number <= R_REM)
        return origin_general_value_(o, t, number);
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
    return origin_general_value_(o, t, number).node;
}
