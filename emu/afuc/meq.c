/* SPDX-License-Identifier: MIT
 * What lies between the two processors of a5xx: the MEQ, a FIFO of plain words that the PFP fills
 * by writing $data and the ME reads as its command stream, and the side stream, fetched from memory
 * on the PFP's request (control 0x0bc..0x0be) and read by the ME when it says so (control 0x031).
 * F: every handler of a530 PFP that passes a packet on; V: compute-a540 runs this way. */
#include "emu/afuc/meq.h"
#include "emu/afuc/queue.h"

bool meq_room_(const struct afuc_core *pfp, uint32_t words)
{
    return MEQ_WORDS - pfp->me->s.meq.count >= words;
}

/* A header that the PFP passes on keeps its level; what it made itself is internal. */
void meq_push_(struct afuc_core *pfp, uint32_t value)
{
    struct meq *meq = &pfp->me->s.meq;
    uint32_t at = (meq->head + meq->count++) % MEQ_WORDS;
    bool passed_on = value == pfp->s.header;
    meq->word[at] = value;
    meq->level[at] = passed_on ? event_level_(pfp, value) : (unsigned)CPS_LEVEL_INT;
    meq->iova[at] = pfp->s.header_iova;
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
