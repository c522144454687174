/* SPDX-License-Identifier: MIT
 * Any text behind the magic line as PM4 text: buffers come before their contents, and what a
 * buffer holds has the size that was announced. */
#include <assert.h>
#include <string.h>

#include "trace/capture/capture.h"

struct counter {
    struct cps_item_sink sink;
    uint64_t announced;
    uint64_t received;
};

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct counter *counter = (struct counter *)sink;
    if (item->kind == CPS_ITEM_BUFFER)
        counter->announced += item->buffer.size;
    if (item->kind == CPS_ITEM_DATA)
        counter->received += item->buffer.size;
    assert(counter->received <= counter->announced);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "# cpscope-pm4 1\n";
    struct counter counter = {{take}, 0, 0};
    struct cps_stream *stream = NULL;
    size_t head = sizeof(magic) - 1;
    uint8_t *text = malloc(head + size); /* exactly as large as the text, for ASan */
    memcpy(text, magic, head);
    if (size)
        memcpy(text + head, data, size);
    struct cps_err *err = cps_stream_open_memory("fuzz", text, head + size, &stream);
    if (!err)
        err = cps_capture_read(stream, NULL, &counter.sink);
    if (!err)
        assert(counter.received == counter.announced);
    cps_err_free(err);
    cps_stream_close(stream);
    free(text);
    return 0;
}
