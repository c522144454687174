/* SPDX-License-Identifier: MIT
 * Where the packet of a hang lies, from the dump alone: the place in its memory that has the words
 * which CP_ROQ shows in front of and behind the read position. */
#ifndef CPS_PLAY_HANG_ESTIMATE_H
#define CPS_PLAY_HANG_ESTIMATE_H

#include "tools/run/hang/roq.h"

struct hang_estimate {
    uint64_t next;   /**< the word that is read next */
    uint64_t header; /**< of the packet; 0 where no header was given */
    uint32_t words;  /**< that agree */
    unsigned places; /**< that agree as well, this one included */
};

/**
 * Looks through the dump's memory.
 * @param roq     of @p dump
 * @param level   0 ring, 1 IB1, 2 IB2, 3 draw state
 * @param header  of the packet, which must be among the words in front of the place; 0: any
 * @return false if CP_ROQ does not say, or no place has enough of its words
 */
bool hang_estimate(const struct dump *dump, const struct roq *roq, uint32_t level, uint32_t header,
                   struct hang_estimate *ret);

#endif
