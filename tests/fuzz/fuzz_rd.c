/* SPDX-License-Identifier: MIT
 * Any bytes as a capture of any format: the items keep their rules, whatever the file says.
 * Each address of a buffer is found in that one or in a newer one. Contents begin where the buffer
 * or (of a dump) the ring in front of them does. */
#include <assert.h>
#include <string.h>

#include "trace/capture/buffers.h"
#include "trace/capture/capture.h"

struct checker {
    struct cps_item_sink sink;
    uint64_t last_offset;
    uint64_t iova, size; /* of the ring or buffer announced last */
    bool dump;           /* a GPU's state: contents lie within what was announced */
    bool announced;
    struct cps_buffers *buffers;
};

/* `.rd` may have more contents behind an address than its GPUADDR says, or less. */
static void check_data(const struct checker *c, const struct cps_item *item)
{
    uint64_t last = item->buffer.iova + item->buffer.size - 1;
    assert(c->announced && item->buffer.data && item->buffer.size);
    assert(item->buffer.iova >= c->iova && last >= item->buffer.iova);
    assert(!c->dump || last - c->iova < c->size);
}

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct checker *c = (struct checker *)sink;
    assert(item->kind <= CPS_ITEM_INIT && item->offset >= c->last_offset);
    c->last_offset = item->offset;
    CPS_TRY(cps_buffers_item(c->buffers, item));
    if (item->kind == CPS_ITEM_RING || item->kind == CPS_ITEM_BUFFER) {
        c->iova = item->kind == CPS_ITEM_RING ? item->ring.iova : item->buffer.iova;
        c->size = item->kind == CPS_ITEM_RING ? item->ring.size : item->buffer.size;
        c->announced = true;
    }
    assert(!c->dump || (item->kind != CPS_ITEM_SUBMIT && item->kind != CPS_ITEM_RESET));
    if (item->kind == CPS_ITEM_DATA)
        check_data(c, item);
    return NULL;
}

static void check_buffers(const struct cps_buffers *buffers)
{
    for (size_t i = 0; i < cps_buffers_count(buffers); i++) {
        const struct cps_buffer *b = cps_buffers_get(buffers, i);
        uint64_t middle = b->iova + (b->last - b->iova) / 2;
        const struct cps_buffer *found = cps_buffers_at(buffers, b->from, middle);
        assert(b->iova <= b->last && b->from <= b->until);
        if (b->from == b->until)
            continue; /* gone before anything was submitted */
        assert(found >= b && found->from <= b->from && found->until == b->until);
        assert(found->iova <= middle && middle <= found->last);
    }
}

/* As docs/formats.md has it. */
static bool is_dump(struct cps_stream *stream)
{
    const uint8_t *data = NULL;
    size_t size = 0;
    struct cps_err *err = cps_stream_peek(stream, 32, &data, &size);
    bool hang = !err && cps_capture_is_hang(data, size);
    cps_err_free(err);
    return hang;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cps_capture_limits limits = {1 << 24, 1 << 25};
    struct cps_stream *stream = NULL;
    struct checker checker = {.sink = {take}};
    struct cps_err *err = cps_stream_open_memory("fuzz", data, size, &stream);
    if (!err)
        err = cps_buffers_create(&checker.buffers);
    if (!err) {
        checker.dump = is_dump(stream);
        err = cps_capture_read(stream, &limits, &checker.sink);
    }
    cps_err_free(err);
    if (checker.buffers) {
        err = cps_buffers_seal(checker.buffers);
        if (!err)
            check_buffers(checker.buffers);
        cps_err_free(err);
    }
    cps_buffers_destroy(checker.buffers);
    cps_stream_close(stream);
    return 0;
}
