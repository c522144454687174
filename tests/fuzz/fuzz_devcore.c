/* SPDX-License-Identifier: MIT
 * Any text behind the first line of a devcoredump: contents lie in the ring or buffer announced
 * last, blocks hold no more than they state, and all of it together stays within the limits. */
#include <assert.h>
#include <string.h>

#include "trace/capture/capture.h"

struct checker {
    struct cps_item_sink sink;
    uint64_t last_offset;
    uint64_t iova, size; /* of the ring or buffer announced last */
    uint64_t total;
};

static const struct cps_capture_limits limits = {1 << 18, 1 << 20};

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct checker *c = (struct checker *)sink;
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
        assert(c->total <= limits.total_bytes);
    }
    if (item->kind == CPS_ITEM_BLOCK)
        assert(item->block.count <= item->block.size && item->block.name[0]);
    if (item->kind == CPS_ITEM_REGISTER)
        assert(item->reg.section && item->reg.context >= -1);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "---\n";
    struct checker checker = {{take}, 0, 0, 0, 0};
    struct cps_stream *stream = NULL;
    size_t head = sizeof(magic) - 1;
    char *text = malloc(head + size); /* exactly as large as the text, for ASan */
    memcpy(text, magic, head);
    if (size)
        memcpy(text + head, data, size);
    struct cps_err *err = cps_stream_open_memory("fuzz", text, head + size, &stream);
    if (!err)
        err = cps_capture_read(stream, &limits, &checker.sink);
    cps_err_free(err);
    cps_stream_close(stream);
    free(text);
    return 0;
}
