/* SPDX-License-Identifier: MIT
 * Work that threads share. */
#ifndef CPS_WORK_QUEUE_H
#define CPS_WORK_QUEUE_H

#include <stddef.h>

#define SHARE_MOST 64u /**< threads, the caller's among them */

/** Calls @p work once for each of @p count items, in this thread and up to @p jobs - 1 others, and
 * returns when all are done. Which thread gets which item is chance: results go by item.
 * @p thread  from 0 on: which one, for what each has for itself. A thread that cannot be started
 * leaves its share to the others. */
void share_work(unsigned jobs, size_t count,
                void (*work)(void *context, unsigned thread, size_t item), void *context);

#endif
