/* SPDX-License-Identifier: MIT
 * What the GPU's registers hold at a draw. */
#include "tools/face/debugger/look.h"

#include <inttypes.h>

#include "emu/debug/debug.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/stream/state.h"

/* Whose draws: of a7xx on each processor has its own; of a5xx the ME draws. */
static unsigned drawing(const struct session *session)
{
    unsigned who = session_engine(session)->who[session->core];
    return who == CPS_CPU_PFP ? CPS_CPU_ME : who;
}

static void put_state(const struct state_result *result, bool all, const char *layout,
                      struct cps_buf *out)
{
    struct json_object *root = json_object_new_object();
    state_put(result, 1, !all, root);
    doc_text(root, layout, out);
    json_object_put(root);
}

struct here {
    struct state_run *state;
    struct cps_buf *out;
    bool all;
};

static struct cps_err *begin(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct here *here = context;
    (void)fed;
    cps_engine_sink(engine, state_run_sink(here->state), STATE_KINDS);
    return NULL;
}

static struct cps_err *end(void *context, struct cps_engine *engine)
{
    struct here *here = context;
    const struct state_result *result = state_run_result(here->state);
    cps_engine_sink(engine, NULL, 0);
    if (!result->state.launch.kind)
        cps_buf_printf(here->out, "nothing was drawn by %s until here\n",
                       cps_processor_name(result->who));
    else
        cps_buf_str(here->out, state_run_in_draw(here->state) ? "in " : "behind ");
    put_state(result, here->all, "{draws*" STATE_LAUNCH "\n}" STATE_COUNTS "\n" STATE_ROWS,
              here->out);
    return NULL;
}

struct cps_err *look_state_here(struct session *session, bool all, struct cps_buf *out)
{
    struct here here = {.out = out, .all = all};
    const struct cps_debug_retrace retrace = {begin, end, &here};
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not draw", session_engine(session)->ops->name);
    unsigned who = drawing(session);
    here.state = state_run_create(session->play.names[who], session->play.buffers, who);
    struct cps_err *err = cps_debug_retrace(session->debug, &retrace);
    state_run_destroy(here.state);
    return err;
}

struct cps_err *look_draw(const struct session *session, unsigned who, long draw,
                          struct state_result *ret)
{
    const struct cps_options *opt = session->opt;
    const char *firmware[3] = {opt->run.fw_count ? opt->run.fw[0] : NULL,
                               opt->run.fw_count > 1 ? opt->run.fw[1] : NULL, NULL};
    const struct state_setup setup = {.config = &opt->run,
                                      .quiet = true,
                                      .firmware = firmware,
                                      .capture = opt->arg_count ? opt->arg[0] : NULL,
                                      .who = who,
                                      .draw = draw};
    return state_gather(&setup, ret);
}

struct cps_err *look_state_draw(const struct session *session, long draw, bool all,
                                struct cps_buf *out)
{
    const struct cps_options *opt = session->opt;
    struct state_result result = {0};
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not draw", session_engine(session)->ops->name);
    if ((!opt->arg_count && !opt->run.demo) || session->play.dump)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: expected firmware and a capture", draw);
    struct cps_err *err = look_draw(session, drawing(session), draw, &result);
    if (!err && !result.state.now)
        err = cps_err_new(CPS_ERR_INPUT,
                          "draw %ld: the run makes %" PRIu32 " of them, counted from 0", draw,
                          result.count);
    if (!err)
        put_state(&result, all,
                  "{draws*" STATE_LAUNCH ", as the capture has it\n}" STATE_COUNTS "\n" STATE_ROWS,
                  out);
    state_deinit(&result);
    return err;
}
