/* SPDX-License-Identifier: MIT
 * What holds of the items of any dump, for its fuzz targets: contents are in the ring or buffer
 * announced last, blocks hold no more than they state, and all of it together stays within the
 * limits. */
#ifndef TESTS_DUMPCHECK_H
#define TESTS_DUMPCHECK_H

#include <assert.h>

#include "trace/capture/capture.h"

struct dumpcheck {
    uint64_t last_offset;
    uint64_t iova, size; /* of the ring or buffer announced last */
    uint64_t total;
};

static const struct cps_capture_limits dumpcheck_limits = {1 << 18, 1 << 20};

static inline void dumpcheck_item(struct dumpcheck *c, const struct cps_item *item)
{
    assert(item->offset >= c->last_offset);
    c->last_offset = item->offset;
    if (item->kind == CPS_ITEM_RING || item->kind == CPS_ITEM_BUFFER) {
        c->iova = item->kind == CPS_ITEM_RING ? item->ring.iova : item->buffer.iova;
        c->size = item->kind == CPS_ITEM_RING ? item->ring.size : item->buffer.size;
        assert(c->iova + c->size >= c->iova);
    }
    if (item->kind == CPS_ITEM_DATA) {
        assert(item->buffer.data && item->buffer.size && item->buffer.iova >= c->iova);
        assert(item->buffer.iova + item->buffer.size <= c->iova + c->size);
        c->total += item->buffer.size;
        assert(c->total <= dumpcheck_limits.total_bytes);
    }
    if (item->kind == CPS_ITEM_BLOCK)
        assert(item->block.count <= item->block.size && item->block.name[0]);
    if (item->kind == CPS_ITEM_REGISTER)
        assert(item->reg.section && item->reg.section[0] && item->reg.context >= -1);
}

#endif
