/* SPDX-License-Identifier: MIT
 * A request of this adapter's own, "why": where a value comes from. Its arguments are `expression`,
 * as the prompt's command `why` has it, and `threadId`, which may be left out; its body is the
 * answer of `cpscope why --json`, with the lines for people as `text`. */
#include "tools/face/debugger/look.h"
#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

struct cps_err *dap_why(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    struct session *session = &d->debugger->session;
    const char *text = cps_json_get_text(arguments, "expression", NULL);
    unsigned core = session->core;
    CPS_BUF answer = {0};
    CPS_BUF lines = {0};
    struct json_object *found = NULL;
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "why: expected \"expression\"");
    if (cps_json_get(arguments, "threadId"))
        CPS_TRY(dap_thread(d, arguments, &core));
    CPS_TRY(session_why(session, core, text, true, &answer));
    CPS_TRY(session_why(session, core, text, false, &lines));
    if (answer.failed || lines.failed)
        return cps_err_nomem();
    CPS_TRY(cps_json_parse(cps_buf_text(&answer), answer.size, &found));
    if (!found)
        return cps_err_nomem();
    cps_json_buf(body, "text", &lines);
    cps_json_add(body, "answer", found);
    return NULL;
}
