/* SPDX-License-Identifier: MIT
 * Fuzz target: the input of the debug adapter. If the first byte is odd, a session is open whose
 * runs end soon; else `launch` opens one. Every message that is answered is one of JSON. */
#include <string.h>

#include "tools/cmd/options/opt.h"
#include "tests/fuzz/memfile.h"
#include "tools/cmd/json_options.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/face/dap/dap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 20000, MOST = 8192 };

/* What `launch` opens has the limit of real runs, and may name any file: only the built-in one. */
static bool may_launch(const uint8_t *data, size_t size)
{
    static const char *const others[] = {"\"fw\"",      "\"rnn\"",    "\"engine\"",  "\"capture\"",
                                         "\"symbols\"", "\"script\"", "\"fw-path\"", "\"fwPath\""};
    CPS_BUF text = {0};
    cps_buf_add(&text, (const char *)data, size);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strstr(cps_buf_text(&text), others[i]))
            return false;
    }
    return !strstr(cps_buf_text(&text), "\\u") && !strstr(cps_buf_text(&text), "source");
}

static struct cps_err *take_launch(struct json_object *arguments, struct dap_setup *ret)
{
    char *capture[1] = {NULL};
    struct cps_options opt = opt_none(capture);
    CPS_TRY(json_options_take("launch", OPT_SHIFT_STEP, arguments, &opt));
    *ret = (struct dap_setup){.config = opt.run, .script = opt.script};
    return opt.run.demo ? NULL : cps_err_new(CPS_ERR_INPUT, "launch: expected \"demo\": true");
}

static void serve(struct debugger *debugger, const uint8_t *data, size_t size)
{
    static FILE *out;
    if (!out)
        out = fopen("/dev/null", "w");
    struct cps_err *err = dap_serve(debugger, take_launch, memfile(data, size), out);
    if (err && err->code != CPS_ERR_INPUT)
        __builtin_trap();
    cps_err_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct cps_run_config demo = {.demo = true, .limit = LIMIT, .submit = -1};
    bool open = size && data[0] & 1;
    if (size < 2 || size > MOST || (!open && !may_launch(data + 1, size - 1)))
        return 0;
    struct debugger *debugger = calloc(1, sizeof(*debugger));
    if (!debugger)
        abort();
    debugger->session.interrupt = &debugger->interrupt;
    debugger->session.config = &demo;
    if (open && session_open(&debugger->session))
        abort();
    serve(debugger, data + 1, size - 1);
    command_deinit(debugger);
    free(debugger);
    return 0;
}
