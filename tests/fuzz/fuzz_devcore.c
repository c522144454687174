/* SPDX-License-Identifier: MIT
 * Any text behind the first line of a devcoredump. */
#include <string.h>

#include "tests/lib/dumpcheck.h"

struct checker {
    struct cps_item_sink sink;
    struct dumpcheck check;
};

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    dumpcheck_item(&((struct checker *)sink)->check, item);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "---\n";
    struct checker checker = {.sink = {take_item}};
    struct cps_stream *stream = NULL;
    size_t head = sizeof(magic) - 1;
    char *text = malloc(head + size); /* exactly as large as the text, for ASan */
    memcpy(text, magic, head);
    if (size)
        memcpy(text + head, data, size);
    struct cps_err *err = cps_stream_open_memory("fuzz", text, head + size, &stream);
    if (!err)
        err = cps_capture_read(stream, &dumpcheck_limits, &checker.sink);
    cps_err_free(err);
    cps_stream_close(stream);
    free(text);
    return 0;
}
