/* SPDX-License-Identifier: MIT
 * A request of this adapter's own, "state": what the registers hold at a draw. Its arguments are
 * `draw`, counted from 0, and `threadId` for another processor than the one that draws; without a
 * draw all are listed. Its body is the answer of `cpscope state --json`: of the capture as it was
 * launched, so that what was changed since then has no part in it. */
#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/stream/state.h"
#include "trace/out/json.h"

static struct cps_err *answer(const struct state_setup *setup, struct state_result *result,
                              struct json_object *body)
{
    CPS_TRY(state_gather(setup, result));
    if (setup->draw < 0) {
        state_list_put(result, body);
        doc_strip(body);
        return NULL;
    }
    if (!result->state.now)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: the run made %u of them, counted from 0",
                           setup->draw, result->count);
    state_put(result, 1, false, body);
    doc_strip(body);
    return NULL;
}

struct cps_err *dap_draw_state(struct dap *d, struct json_object *arguments,
                               struct json_object *body)
{
    const struct session *s = &d->debugger->session;
    const struct cps_options *opt = s->opt;
    const char *firmware[3] = {NULL};
    unsigned core = 0;
    int64_t draw = dap_number(arguments, "draw", -1);
    struct state_setup setup = {.opt = opt, .who = CPS_CPU_NONE, .draw = (long)draw, .quiet = true};
    struct state_result result = {0};
    if (!session_afuc(s) || s->play.dump || (!opt->arg_count && !opt->demo))
        return cps_err_new(CPS_ERR_INPUT, "state: expected firmware and a capture");
    if (cps_json_get(arguments, "draw") && draw < 0)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: expected a number from 0", (long)draw);
    if (cps_json_get(arguments, "threadId")) {
        CPS_TRY(dap_thread(d, arguments, &core));
        setup.who = session_engine(s)->who[core];
    }
    for (unsigned i = 0; i < opt->fw_count && i < 2; i++)
        firmware[i] = opt->fw[i];
    setup.firmware = firmware; /* none: the demo */
    setup.capture = opt->arg_count ? opt->arg[0] : NULL;
    struct cps_err *err = answer(&setup, &result, body);
    state_deinit(&result);
    return err;
}
