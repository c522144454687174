/* SPDX-License-Identifier: MIT
 * What lies between the two processors of a5xx: the MEQ, a FIFO of plain words that the PFP fills
 * by writing $data and the ME reads as its command stream, and the side stream, fetched from memory
 * on the PFP's request (control 0x0bc..0x0be) and read by the ME when it says so (control 0x031).
 * F: every handler of a530 PFP that passes a packet on; V: compute-a540 runs this way.
 *
 * On a8xx BR and BV send draws to their DDEs by writing control 0x191: headers with counts and
 * parity of their own, then payload (F: gen80000 05b0..060a and the DDE's handlers). */
#include "emu/afuc/meq.h"
#include "emu/afuc/queue.h"

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
