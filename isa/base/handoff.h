/* SPDX-License-Identifier: MIT
 * A thread beside its owner, and a bounded queue of blocks between them: one of the two fills
 * blocks, the other empties them, in order; whoever is too fast waits until half of them are
 * filled, so that waiting and waking cost nothing beside the work. It knows nothing of what blocks
 * hold. Private: not installed. */
#ifndef CPS_HANDOFF_H
#define CPS_HANDOFF_H

#include <stddef.h>

struct cps_handoff;

/**
 * Starts a thread that calls @p work once, with a queue of @p count blocks of @p bytes bytes,
 * aligned for anything. Signals with handlers stay with the threads that are there already.
 * @return NULL when there is no thread or no memory: then the owner does the work itself
 */
struct cps_handoff *cps_handoff_start_(unsigned count, size_t bytes,
                                       void (*work)(struct cps_handoff *handoff, void *argument),
                                       void *argument);
/** Closes the queue, waits until the thread has returned, and frees. NULL is fine. */
void cps_handoff_end_(struct cps_handoff *handoff);

/** The next block to fill, once one is empty; NULL when the queue is closed. */
void *cps_handoff_room_(struct cps_handoff *handoff);
/** Hands over the block from cps_handoff_room_(), with @p size bytes in it. */
void cps_handoff_put_(struct cps_handoff *handoff, size_t size);
/** Nothing more will be put; a thread that fills stops at its next block. */
void cps_handoff_close_(struct cps_handoff *handoff);

/** The next filled block and its bytes, once there is one; NULL when all were taken and the queue
 * is closed. What the other side wrote before it closed can be read then. */
void *cps_handoff_next_(struct cps_handoff *handoff, size_t *size);
/** Gives the block from cps_handoff_next_() back. */
void cps_handoff_done_(struct cps_handoff *handoff);

#endif
