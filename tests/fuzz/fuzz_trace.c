/* SPDX-License-Identifier: MIT
 * Fuzz target: traces of any form, with a good head in front unless the first byte is 0. Every
 * event that is read can be written as text. */
#include <string.h>

#include "trace/form/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(struct cps_trace *trace)
{
    struct cps_event events[64];
    CPS_BUF text = {0};
    struct cps_err *err = NULL;
    size_t count = 1;
    while (!err && count) {
        err = cps_trace_next(trace, events, 64, &count);
        for (size_t i = 0; i < count && i < 64; i++) {
            cps_buf_clear(&text);
            cps_text_event(&text, &events[i], NULL, true);
        }
    }
    cps_err_free(err);
}

static const char *const heads[] = {
    "",
    "# cpscope-trace 1\n# gen a7xx\n",
    "{\"cpscope-trace\":1,\"head\":\"# cpscope-trace 1\\n# gen a7xx\\n\"}\n",
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cps_stream *stream = NULL;
    struct cps_trace *trace = NULL;
    CPS_BUF file = {0};
    cps_buf_str(&file, heads[size ? data[0] % 3 : 0]);
    cps_buf_add(&file, (const char *)data + (size ? 1 : 0), size ? size - 1 : 0);
    struct cps_err *err = cps_stream_open_memory("fuzz", cps_buf_text(&file), file.size, &stream);
    if (!err)
        err = cps_trace_open(stream, &trace);
    if (!err)
        print_all(trace);
    cps_err_free(err);
    cps_trace_close(trace);
    cps_stream_close(stream);
    return 0;
}
