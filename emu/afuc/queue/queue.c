/* SPDX-License-Identifier: MIT
 * The queues of the ROQ: command streams by level, and the FIFOs that $memdata and $regdata read.
 *
 * A stream is read from memory when it is consumed. After the last dword of every fetch (but not
 * in the ring) hardware delivers END_OF_IB, which is read like any header (H: it is the queue head
 * after the last dword of an IB in crash dumps). */
#include "emu/afuc/queue/queue.h"

bool queue_push_(struct queue *queue, uint64_t iova, uint32_t dwords, uint32_t group)
{
    if (queue->count == QUEUE_DEPTH)
        return false;
    queue->fetch[(queue->head + queue->count++) % QUEUE_DEPTH] =
        (struct fetch){iova, dwords, group};
    return true;
}

/* A stream that memory does not hold gives nothing but its end: what follows the call can
 * still be shown. */
bool stream_queue_(struct afuc_core *core, enum level level, struct fetch fetch)
{
    bool known = false;
    cps_mem_read(core->machine->engine.mem, fetch.iova, &known);
    if (!known && fetch.dwords) {
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_STREAM, fetch.iova, 0);
        fetch.dwords = 0;
    }
    return queue_push_(&core->s.queue[level], fetch.iova, fetch.dwords, fetch.group);
}

void queue_clear_(struct afuc_core *core, enum level level)
{
    struct queue *queue = &core->s.queue[level];
    if (level != LEVEL_RB)
        queue->head = queue->count = queue->pos = 0;
    if (level == core->s.level)
        queue_mark_(core);
    core->window_left = 0;
}

void queue_mark_(struct afuc_core *core)
{
    const struct queue *queue = &core->s.queue[core->s.level];
    core->s.hint_head = queue->head;
    core->s.hint_pos = queue->pos;
}

void queue_rewind_(struct afuc_core *core)
{
    struct queue *queue = &core->s.queue[core->s.level];
    uint32_t popped = (queue->head + QUEUE_DEPTH - core->s.hint_head) % QUEUE_DEPTH;
    if (queue->count + popped > QUEUE_DEPTH)
        return;
    queue->head = core->s.hint_head;
    queue->count += popped;
    queue->pos = core->s.hint_pos;
    core->window_left = 0;
}

static uint32_t ring_available(const struct afuc_core *core)
{
    const struct ring ring = ring_of_(core);
    return (ring.wptr + ring.dwords - core->s.queue[LEVEL_RB].pos) % ring.dwords;
}

bool stream_has_(struct afuc_core *core, uint32_t words)
{
    words -= words && core->s.injected;
    if (core->s.level == LEVEL_RB)
        return ring_available(core) >= words;
    if (core->s.level == LEVEL_MEQ)
        return core->s.meq.count >= words;
    if (core->s.level == LEVEL_SIDE)
        return side_has_(core, words);
    const struct queue *queue = &core->s.queue[core->s.level];
    uint64_t available = 0;
    for (uint32_t i = 0; i < queue->count && available < words + (uint64_t)queue->pos; i++)
        available += queue->fetch[(queue->head + i) % QUEUE_DEPTH].dwords + UINT64_C(1);
    return available >= words + (uint64_t)queue->pos;
}

/* The next words, as memory holds them; how many of them belong to the stream. */
static const uint32_t *next_words(const struct afuc_core *core, uint32_t *ret)
{
    const struct queue *queue = &core->s.queue[core->s.level];
    uint32_t rest = core->s.level == LEVEL_RB ? ring_of_(core).dwords - queue->pos
                                              : queue->fetch[queue->head].dwords - queue->pos;
    const uint32_t *words = cps_mem_window(core->machine->engine.mem, stream_iova_(core), ret);
    if (*ret > rest)
        *ret = rest;
    return words;
}

/* Words of an indirect buffer that are taken one after the other: the ring's wait for the driver,
 * and those of the side stream are counted. */
static bool can_have_window(const struct afuc_core *core)
{
    return core->s.level >= LEVEL_IB1 && core->s.level <= LEVEL_SDS && !core->s.injected &&
           !core->s.peeking;
}

static bool at_end_mark(const struct afuc_core *core)
{
    if (core->s.level == LEVEL_SIDE)
        return side_at_end_(core);
    const struct queue *queue = &core->s.queue[core->s.level];
    return core->s.level != LEVEL_RB && queue->pos >= queue->fetch[queue->head].dwords;
}

uint32_t stream_peek_(struct afuc_core *core)
{
    if (core->s.injected)
        return core->s.injected;
    if (core->s.level == LEVEL_MEQ)
        return core->s.meq.word[core->s.meq.head];
    if (at_end_mark(core))
        return end_mark_(core);
    stream_recheck_(core);
    if (core->window_left)
        return *core->window;
    uint32_t count = 0;
    const uint32_t *words = next_words(core, &count);
    if (count && can_have_window(core)) {
        core->window = words;
        core->window_left = count;
        core->window_epoch = *core->machine->epoch;
        core->window_pos = &core->s.queue[core->s.level].pos;
        core->window_end = stream_iova_(core) + 4 * (uint64_t)count;
        core->window_level = event_level_(core, 0);
    }
    if (count)
        return *words;
    uint64_t iova = stream_iova_(core);
    if (cps_mem_report(core->machine->engine.mem, iova))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
    return 0;
}

static void pop_fetch(struct queue *queue)
{
    queue->head = (queue->head + 1) % QUEUE_DEPTH;
    queue->count--;
    queue->pos = 0;
}

/* Fetches of the side stream follow each other without marks. */
static void pop_side(struct afuc_core *core)
{
    struct queue *queue = &core->s.queue[LEVEL_SIDE];
    core->s.side_left--;
    if (++queue->pos < queue->fetch[queue->head].dwords)
        return;
    pop_fetch(queue);
    core->window_left = 0;
}

static void drop_word(struct afuc_core *core)
{
    struct queue *queue = &core->s.queue[core->s.level];
    if (core->window_left) {
        core->window++;
        core->window_left--;
    }
    if (core->s.level == LEVEL_SIDE) {
        pop_side(core);
        return;
    }
    queue->pos++;
    if (core->s.level == LEVEL_RB)
        queue->pos %= ring_of_(core).dwords;
}

uint32_t stream_pop_(struct afuc_core *core)
{
    core->s.r[R_REM]--;
    uint32_t header = core->s.injected;
    core->s.injected = 0;
    if (header)
        return header;
    if (core->s.level == LEVEL_MEQ)
        return meq_pop_(core);
    bool mark = at_end_mark(core);
    uint32_t value = stream_peek_(core);
    if (mark) {
        core->window_left = 0;
        if (core->s.level == LEVEL_SIDE)
            core->s.side_packets = 0;
        else
            pop_fetch(&core->s.queue[core->s.level]);
    } else {
        drop_word(core);
    }
    return value;
}

void stream_select_(struct afuc_core *core, enum level level)
{
    core->s.level = level;
    core->window_left = 0;
}

bool stream_look_(struct afuc_core *core, uint32_t ahead, uint32_t *ret)
{
    const struct meq *meq = &core->s.meq;
    if (core->s.level == LEVEL_MEQ) {
        *ret = meq->word[(meq->head + ahead) % MEQ_WORDS];
        return ahead < meq->count;
    }
    if (core->s.level == LEVEL_SIDE)
        return false;
    const struct queue *queue = &core->s.queue[core->s.level];
    uint64_t iova = stream_iova_(core) + 4 * (uint64_t)ahead;
    if (core->s.level == LEVEL_RB) {
        if (ring_available(core) <= ahead)
            return false;
        const struct ring ring = ring_of_(core);
        iova = ring.iova + 4 * (uint64_t)((queue->pos + ahead) % ring.dwords);
    } else if (queue->pos + (uint64_t)ahead >= queue->fetch[queue->head].dwords) {
        return false;
    }
    *ret = cps_mem_read(core->machine->engine.mem, iova, NULL);
    return true;
}

bool fifo_put_(struct fifo *fifo, uint32_t value)
{
    if (fifo->count == FIFO_WORDS)
        return false;
    fifo->word[(fifo->head + fifo->count++) % FIFO_WORDS] = value;
    return true;
}

/* Fetches what fits. Hardware's queue has a limited depth too and fetches the rest as it drains
 * (region MRB of the ROQ, 40 dwords on a630). */
static void fifo_fill(struct afuc_core *core, struct fifo *fifo)
{
    while (fifo->request_count && fifo->count < FIFO_WORDS) {
        uint64_t iova = fifo->request[0].iova;
        fifo_put_(fifo, core_mem_read_(core, iova, CPS_VIA_MEMDATA));
        fifo->request[0].iova += 4;
        if (--fifo->request[0].dwords)
            continue;
        fifo->request_count--;
        for (uint32_t i = 0; i < fifo->request_count; i++)
            fifo->request[i] = fifo->request[i + 1];
    }
}

void fifo_request_(struct afuc_core *core, struct fifo *fifo, uint64_t iova, uint32_t dwords)
{
    if (!dwords)
        return;
    if (fifo->request_count == FIFO_REQUESTS) {
        afuc_fault_(core, FAULT_QUEUE, FIFO_REQUESTS);
        return;
    }
    fifo->request[fifo->request_count].iova = iova;
    fifo->request[fifo->request_count++].dwords = dwords;
    fifo_fill(core, fifo);
}

bool fifo_put_register_(struct afuc_core *core, uint32_t value, uint32_t place)
{
    bool room = fifo_put_(&core->s.regdata, value);
    if (!room)
        afuc_fault_(core, FAULT_QUEUE, place);
    return room;
}

bool fifo_has_(struct afuc_core *core, struct fifo *fifo, uint32_t words)
{
    fifo_fill(core, fifo);
    return fifo->count >= words;
}

uint32_t fifo_pop_(struct afuc_core *core, struct fifo *fifo)
{
    if (!fifo->count)
        fifo_fill(core, fifo);
    if (!fifo->count) /* afuc_ready_() has made sure of the words that the operands name */
        return 0;
    uint32_t value = fifo->word[fifo->head];
    fifo->head = (fifo->head + 1) % FIFO_WORDS;
    fifo->count--;
    return value;
}

/* ---- from the PFP of a5xx to its ME, from BR and BV of a8xx to their DDEs ----
 *
 * The MEQ is a FIFO of plain words that the PFP fills by writing $data and the ME reads as its
 * command stream; the side stream is fetched from memory on the PFP's request (control
 * 0x0bc..0x0be) and read by the ME when it says so (control 0x031). F: every handler of a530 PFP
 * that passes a packet on; V: compute-a540 runs this way.
 *
 * On a8xx BR and BV send draws to their DDEs by writing control 0x191: headers with counts and
 * parity of their own, then payload (F: gen80000 05b0..060a and the DDE's handlers). */

bool meq_room_(const struct afuc_core *to, uint32_t words)
{
    return to->s.meq.count + words <= MEQ_WORDS;
}

/* BR and BV change the count of a type-7 header that they pass on, and its parity. */
static bool passes_on(const struct afuc_core *by, uint32_t value)
{
    uint32_t counted = by->dde ? 0xffff : 0;
    return ((value ^ by->s.header) & ~counted) == 0;
}

/* A header that is passed on keeps its level; what the sender made itself is internal. */
void meq_push_(struct afuc_core *by, struct afuc_core *to, uint32_t value)
{
    struct meq *meq = &to->s.meq;
    uint32_t at = (meq->head + meq->count++) % MEQ_WORDS;
    meq->word[at] = value;
    meq->level[at] =
        passes_on(by, value) ? event_level_(by, by->s.header) : (unsigned)CPS_LEVEL_INT;
    meq->iova[at] = by->s.header_iova;
}

uint32_t meq_pop_(struct afuc_core *me)
{
    struct meq *meq = &me->s.meq;
    uint32_t value = meq->word[meq->head];
    meq->head = (meq->head + 1) % MEQ_WORDS;
    meq->count--;
    return value;
}

bool side_at_end_(const struct afuc_core *me)
{
    return me->s.side_packets && !me->s.side_left;
}

/* No more words than the ME has asked for, then the mark. */
bool side_has_(const struct afuc_core *me, uint32_t words)
{
    const struct queue *queue = &me->s.queue[LEVEL_SIDE];
    uint64_t available = 0;
    for (uint32_t i = 0; i < queue->count; i++)
        available += queue->fetch[(queue->head + i) % QUEUE_DEPTH].dwords;
    available -= queue->count ? queue->pos : 0;
    if (available < me->s.side_left)
        return available >= words;
    return me->s.side_left + (uint64_t)(me->s.side_packets != 0) >= words;
}

/* ---- memory as cores reach it, with events: reads and NRT writes ---- */

uint32_t core_mem_read_(struct afuc_core *core, uint64_t iova, unsigned via)
{
    bool known = false;
    struct cps_mem *mem = core->machine->engine.mem;
    uint32_t value = cps_mem_read(mem, iova, &known);
    iova &= ~UINT64_C(3);
    poll_memory_(core, iova);
    if (!known && cps_mem_report(mem, iova))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
    core_event_(core, CPS_EV_MEMR, via, iova, value);
    return value;
}

void core_mem_write_(struct afuc_core *core, uint64_t iova, uint32_t value, unsigned via)
{
    iova &= ~UINT64_C(3);
    core_event_(core, CPS_EV_MEMW, via, iova, value);
    if (!cps_mem_write(core->machine->engine.mem, iova, value))
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)iova);
    stream_recheck_(core);
}

/* The low two bits of the address are a flag, not part of it: 1 keeps the address (packet 0x5a),
 * CP_MEM_WRITE clears them (F). Bit 31 of the upper
 * half is a right, as in LOAD_STORE_HI, from which preemption takes it (F: 740 1964). */
void nrt_write_(struct afuc_core *core, uint32_t value)
{
    uint32_t *nrt = core->s.nrt;
    core_mem_write_(core, (uint64_t)(nrt[1] & 0x7fffffff) << 32 | nrt[0], value, CPS_VIA_NRT);
    if ((nrt[0] & 3) == 1)
        return;
    nrt[0] += 4;
    nrt[1] += nrt[0] < 4;
}
