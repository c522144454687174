/* SPDX-License-Identifier: MIT
 * Fuzz target: the input of the language server. If the first byte is odd, the client has said
 * `initialize` already. What comes out is messages of JSON-RPC; only what is no message ends it. */
#include <string.h>

#include "tests/fuzz/memfile.h"
#include "tools/face/lsp/lsp.h"
#include "tools/face/dap/frame.h"
#include "trace/out/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 16384 };

static const char begin[] = "Content-Length: 72\r\n\r\n"
                            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
                            "\"params\":{\"rootUri\":null}}";

/* A client may name any folder for names. */
static bool names_a_folder(const struct cps_buf *text)
{
    return strstr(cps_buf_text(text), "rnn") || strstr(cps_buf_text(text), "\\u");
}

/* Everything that was written is a message. */
static void check_output(FILE *out)
{
    struct frame frame = {.protocol = "answers", .in = fileno(out), .wake = -1};
    struct json_object *message = NULL;
    fflush(out);
    if (lseek(frame.in, 0, SEEK_SET))
        abort();
    do {
        if (frame_read(&frame, &message))
            __builtin_trap();
        if (message && strcmp(cps_json_get_text(message, "jsonrpc", ""), "2.0") != 0)
            __builtin_trap();
        json_object_put(message);
    } while (message);
}

static FILE *empty_output(void)
{
    static FILE *out;
    if (!out)
        out = fdopen(memfd_create("answers", 0), "w+");
    if (!out || ftruncate(fileno(out), 0))
        abort();
    rewind(out);
    return out;
}

static struct cps_err *no_options(const void *context, struct json_object *named,
                                  struct cps_run_config *ret)
{
    (void)context;
    (void)named;
    *ret = (struct cps_run_config){0};
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int status = 0;
    CPS_BUF text = {0};
    if (size < 2 || size > MOST)
        return 0;
    cps_buf_add(&text, begin, data[0] & 1 ? sizeof(begin) - 1 : 0);
    cps_buf_add(&text, (const char *)data + 1, size - 1);
    if (text.failed || names_a_folder(&text))
        return 0;
    FILE *out = empty_output();
    FILE *in = memfile((const uint8_t *)cps_buf_text(&text), text.size);
    struct cps_err *err = lsp_serve(no_options, NULL, in, out, &status);
    if ((err && err->code != CPS_ERR_INPUT) || status < 0 || status > 1)
        __builtin_trap();
    cps_err_free(err);
    check_output(out);
    return 0;
}
