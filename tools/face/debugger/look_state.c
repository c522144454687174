/* SPDX-License-Identifier: MIT
 * What the GPU's registers hold at a draw. */
#include "tools/face/debugger/look.h"

#include <inttypes.h>

#include "emu/debug/debug.h"
#include "tools/explain/stream/state_here.h"
#include "tools/explain/stream/state_text.h"

/* Whose draws: of a7xx on each processor has its own; of a5xx the ME draws. */
static unsigned drawing(const struct session *session)
{
    unsigned who = session_engine(session)->who[session->core];
    return who == CPS_CPU_PFP ? CPS_CPU_ME : who;
}

static void put_state(const struct state_result *result, bool all, struct cps_buf *out)
{
    const struct state_pair pair = {.names = result->names,
                                    .now = result->state.now,
                                    .before = result->state.before,
                                    .since = result->state.since};
    uint32_t counts[STATE_GONE + 1] = {0};
    CPS_BUF rows = {0};
    state_text(&pair, result, !all, &rows, counts);
    state_text_counts(counts, out);
    cps_buf_str(out, "\n");
    cps_buf_join(out, &rows);
}

struct here {
    struct state_here *state;
    struct cps_buf *out;
    bool all;
};

static struct cps_err *begin(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct here *here = context;
    (void)fed;
    cps_engine_sink(engine, state_here_sink(here->state), STATE_HERE_KINDS);
    return NULL;
}

static struct cps_err *end(void *context, struct cps_engine *engine)
{
    struct here *here = context;
    const struct state_result *result = state_here_result(here->state);
    cps_engine_sink(engine, NULL, 0);
    if (!result->state.launch.kind) {
        cps_buf_printf(here->out, "nothing was drawn by %s until here\n",
                       cps_processor_name(result->who));
    } else {
        cps_buf_str(here->out, state_here_in_draw(here->state) ? "in " : "behind ");
        state_text_launch(result, here->out);
        cps_buf_str(here->out, "\n");
    }
    put_state(result, here->all, here->out);
    return NULL;
}

struct cps_err *look_state_here(struct session *session, bool all, struct cps_buf *out)
{
    struct here here = {.out = out, .all = all};
    const struct cps_debug_retrace retrace = {begin, end, &here};
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not draw", session_engine(session)->ops->name);
    unsigned who = drawing(session);
    struct cps_err *err =
        state_here_create(session->play.names[who], session->play.buffers, who, &here.state);
    if (!err)
        err = cps_debug_retrace(session->debug, &retrace);
    state_here_destroy(here.state);
    return err;
}

struct cps_err *look_draw(const struct session *session, unsigned who, long draw,
                          struct state_result *ret)
{
    const struct cps_options *opt = session->opt;
    const char *firmware[3] = {opt->fw_count ? opt->fw[0] : NULL,
                               opt->fw_count > 1 ? opt->fw[1] : NULL, NULL};
    const struct state_setup setup = {.opt = opt,
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
    if ((!opt->arg_count && !opt->demo) || session->play.dump)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: expected firmware and a capture", draw);
    struct cps_err *err = look_draw(session, drawing(session), draw, &result);
    if (!err && !result.state.now)
        err = cps_err_new(CPS_ERR_INPUT,
                          "draw %ld: the run makes %" PRIu32 " of them, counted from 0", draw,
                          result.count);
    if (!err) {
        state_text_launch(&result, out);
        cps_buf_str(out, ", as the capture has it\n");
        put_state(&result, all, out);
    }
    state_deinit(&result);
    return err;
}
