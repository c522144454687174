/* SPDX-License-Identifier: MIT
 * Any bytes as a capture: the items keep their rules, whatever the file says. */
#include <assert.h>

#include "trace/capture/capture.h"

struct counter {
    struct cps_item_sink sink;
    uint64_t last_offset;
    int buffers;
};

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct counter *counter = (struct counter *)sink;
    assert(item->offset >= counter->last_offset);
    counter->last_offset = item->offset;
    if (item->kind == CPS_ITEM_BUFFER)
        counter->buffers++;
    if (item->kind == CPS_ITEM_DATA) {
        assert(counter->buffers && item->buffer.data && item->buffer.size);
        assert(item->buffer.iova + item->buffer.size - 1 >= item->buffer.iova);
    }
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cps_stream *stream = NULL;
    struct counter counter = {{take}, 0, 0};
    struct cps_err *err = cps_stream_open_memory("fuzz", data, size, &stream);
    if (!err)
        err = cps_capture_read(stream, NULL, &counter.sink);
    cps_err_free(err);
    cps_stream_close(stream);
    return 0;
}
