/* SPDX-License-Identifier: MIT
 * Which of many ranges, the newest first, an address lies in: a segment tree over the places where
 * ranges begin and end. Private to trace/capture/buffers.c. */
#ifndef CPS_BUFFERS_INDEX_H
#define CPS_BUFFERS_INDEX_H

#include "trace/capture/buffers.h"

/** The tree; zero is the one of no ranges. Leaf i stands for the addresses from edge[i] to
 * edge[i + 1], the last one for those to 2^64; node n has the children 2n and 2n + 1. Entries of a
 * node, in rising order, are the ranges that cover all of it, but not all of its parent. */
struct cps_buffers_index {
    uint64_t *edge;
    uint32_t edges;
    uint32_t *first; /* of each of 2 * edges nodes, and one more: where its entries begin */
    uint32_t *entry; /* numbers of ranges */
};

/** Indexes ranges, at most 2^30. @return NULL or CPS_ERR_NOMEM; on error @p ret is as before */
CPS_MUST_USE struct cps_err *cps_buffers_index_(const struct cps_buffer *range, size_t count,
                                                struct cps_buffers_index *ret);
void cps_buffers_index_deinit_(struct cps_buffers_index *index);
/** The last of the first @p bound ranges that has @p address; SIZE_MAX: none has. */
size_t cps_buffers_index_find_(const struct cps_buffers_index *index, size_t bound,
                               uint64_t address);

#endif
