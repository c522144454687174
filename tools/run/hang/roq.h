/* SPDX-License-Identifier: MIT
 * CP_ROQ of a hang dump: the words that were fetched for the processor, and how far it had read
 * them. Each region is a ring of its own, so that behind the words that wait stand those that were
 * read last (H: dumps of a618 and a630). */
#ifndef CPS_PLAY_ROQ_H
#define CPS_PLAY_ROQ_H

#include "tools/run/dump.h"

/** In the order of their places. */
enum roq_region { ROQ_RING, ROQ_MRB, ROQ_VSD, ROQ_IB1, ROQ_IB2, ROQ_SDS, ROQ_REGIONS };

/** One region; positions are dwords from its begin. */
struct roq_queue {
    bool known; /**< the dump has its positions and its borders */
    uint32_t begin, size;
    uint32_t read, write; /**< the next dword to read, and to write */
};

struct roq {
    const struct dump_block *block; /**< CP_ROQ */
    struct roq_queue queue[ROQ_REGIONS];
};

/** Reads positions and borders; what the dump lacks stays unknown. */
void roq_read(const struct dump *dump, struct roq *ret);
/** Words of a region that were fetched and not read. */
uint32_t roq_waiting(const struct roq_queue *queue);
/** The word @p distance dwords behind the read position; before it where it is negative. */
uint32_t roq_word(const struct roq *roq, enum roq_region region, int64_t distance);
/** The region of a level as CP_SQE_STAT counts them: 0 ring, 1 IB1, 2 IB2, 3 draw state. */
static inline enum roq_region roq_of_level(uint32_t level)
{
    static const enum roq_region regions[] = {ROQ_RING, ROQ_IB1, ROQ_IB2, ROQ_SDS};
    return regions[level & 3];
}

/** What the registers say of the stream of one level: of the fetch that was filled last, which with
 * look-ahead need not be the one that is read. */
struct roq_fetch {
    uint64_t iova;   /**< its base */
    uint32_t dwords; /**< its size */
    uint32_t rest;   /**< dwords not fetched yet */
};
/** @param level  1 IB1, 2 IB2, 3 draw state
 * @return false if the dump lacks the registers */
bool roq_fetch(const struct dump *dump, uint32_t level, struct roq_fetch *ret);
/**
 * How far the ring is read: the place whose words are those that were read last.
 * @param ret  gets dwords from the ring's begin
 * @return false if CP_ROQ does not say
 */
bool roq_ring_position(const struct dump *dump, const struct dump_ring *ring, uint32_t *ret);

#endif
