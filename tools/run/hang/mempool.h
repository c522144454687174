/* SPDX-License-Identifier: MIT
 * CP_MEMPOOL of a hang dump: register writes on their way to the parts of the GPU, a queue for each
 * (D: Mesa's crashdec; H: 118 of 118 entries of two dumps are the writes that a replay makes). */
#ifndef CPS_PLAY_MEMPOOL_H
#define CPS_PLAY_MEMPOOL_H

#include "tools/run/dump.h"

/** A write that waits. */
struct mempool_entry {
    uint32_t offset; /**< register */
    uint32_t value;
    uint8_t context;
    bool pipe; /**< a pipe register */
};

struct mempool_queue {
    struct mempool_entry *entry; /**< oldest first; owned */
    size_t count;
};

struct mempool {
    bool known;
    struct cps_buf why; /**< why it is not; empty where the dump simply lacks the block */
    struct mempool_queue queue[DUMP_CLUSTERS];
};

/**
 * Reads the queues. That they make no sense is no error: then `why` says so.
 * @param ret  the caller calls mempool_deinit() in any case
 */
CPS_MUST_USE struct cps_err *mempool_read(const struct dump *dump, struct mempool *ret);
void mempool_deinit(struct mempool *pool);

#endif
