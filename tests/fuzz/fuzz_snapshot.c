/* SPDX-License-Identifier: MIT
 * Any bytes behind the magic of a KGSL snapshot: contents lie in the ring or buffer announced last,
 * blocks hold no more than they state, and all of it together stays within the limits. What is read
 * to its end is written again, and then says the same, and again becomes the same file. */
#include <assert.h>

#include "tests/itemlog.h"
#include "tests/snapshots.h"

struct checker {
    struct log log; /* first */
    uint64_t last_offset;
    uint64_t iova, size; /* of the ring or buffer announced last */
    uint64_t total;
};

static const struct cps_capture_limits limits = {1 << 18, 1 << 20};

static void check_data(struct checker *c, const struct cps_item *item)
{
    assert(item->buffer.data && item->buffer.size && item->buffer.iova >= c->iova);
    assert(item->buffer.iova + item->buffer.size <= c->iova + c->size);
    c->total += item->buffer.size;
    assert(c->total <= limits.total_bytes);
}

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
    if (item->kind == CPS_ITEM_DATA)
        check_data(c, item);
    if (item->kind == CPS_ITEM_BLOCK)
        assert(item->block.count <= item->block.size && item->block.name[0]);
    if (item->kind == CPS_ITEM_REGISTER)
        assert(item->reg.section[0] && item->reg.context >= -1);
    return log_item(sink, item);
}

static struct cps_err *read_snapshot(const void *data, size_t size, struct checker *c)
{
    struct cps_stream *stream = NULL;
    c->log.compared = true;
    c->log.sink.item = take;
    CPS_TRY(cps_stream_open_memory("fuzz", data, size, &stream));
    struct cps_err *err = cps_capture_read(stream, &limits, &c->log.sink);
    cps_stream_close(stream);
    return err;
}

/* What the writer refuses has no place in a snapshot: submissions are none of what is read here. */
static void check_again(const void *data, size_t size, const struct log *before)
{
    struct checker after = {0};
    CPS_BUF first = {0};
    CPS_BUF second = {0};
    CPS_BUF left = {0};
    struct cps_err *err = to_snapshot(data, size, &first, &left);
    assert(!err || err->code == CPS_ERR_UNSUPPORTED);
    if (!err) {
        assert(!read_snapshot(first.data, first.size, &after));
        assert(!strcmp(cps_buf_text(&before->text), cps_buf_text(&after.log.text)));
        assert(!strcmp(cps_buf_text(&before->chip), cps_buf_text(&after.log.chip)));
        assert(!to_snapshot(first.data, first.size, &second, &left));
        assert(first.size == second.size && !memcmp(first.data, second.data, first.size));
    }
    log_deinit(&after.log);
    cps_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t magic[] = {2, 0, 0x4d, 0x50};
    struct checker checker = {0};
    uint8_t *file = malloc(sizeof(magic) + size); /* exactly as large as the file, for ASan */
    memcpy(file, magic, sizeof(magic));
    if (size)
        memcpy(file + sizeof(magic), data, size);
    struct cps_err *err = read_snapshot(file, sizeof(magic) + size, &checker);
    if (!err)
        check_again(file, sizeof(magic) + size, &checker.log);
    cps_err_free(err);
    log_deinit(&checker.log);
    free(file);
    return 0;
}
