/* SPDX-License-Identifier: MIT
 * Any bytes behind the magic of a KGSL snapshot. What is read to its end is written again, and then
 * says the same, and again becomes the same file. */
#include "tests/lib/dumpcheck.h"
#include "tests/lib/itemlog.h"
#include "tests/lib/snapshots.h"

struct checker {
    struct log log; /* first */
    struct dumpcheck check;
};

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    dumpcheck_item(&((struct checker *)sink)->check, item);
    return log_item(sink, item);
}

static struct cps_err *read_snapshot(const void *data, size_t size, struct checker *c)
{
    struct cps_stream *stream = NULL;
    c->log.compared = true;
    c->log.sink.item = take_item;
    CPS_TRY(cps_stream_open_memory("fuzz", data, size, &stream));
    struct cps_err *err = cps_capture_read(stream, &dumpcheck_limits, &c->log.sink);
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
