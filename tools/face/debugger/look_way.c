/* SPDX-License-Identifier: MIT
 * Answers for which the run goes its way once more: the registers at a draw, and where a value
 * comes from. */
#include <inttypes.h>
#include <string.h>

#include "tools/cmd/render/doc.h"
#include "tools/explain/stream/state.h"
#include "tools/explain/why/why.h"
#include "tools/face/debugger/look.h"
#include "tools/run/config.h"

/* ---- the state at a draw ---- */

/* Whose draws: of a7xx on each processor has its own; of a5xx the ME draws. */
static unsigned drawing_processor(const struct session *session)
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

/* A retrace on the way. */
struct state_here {
    struct state_run *state;
    struct cps_buf *out;
    bool all;
};

static struct cps_err *begin_state(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct state_here *here = context;
    (void)fed;
    cps_engine_sink(engine, state_run_sink(here->state), STATE_KINDS);
    return NULL;
}

static struct cps_err *end_state(void *context, struct cps_engine *engine)
{
    struct state_here *here = context;
    const struct state_result *result = state_run_result(here->state);
    cps_engine_sink(engine, NULL, 0);
    if (!result->state.launch.kind)
        cps_buf_printf(here->out, "%s has drawn nothing so far\n", cps_processor_name(result->who));
    else
        cps_buf_str(here->out, state_run_in_draw(here->state) ? "in " : "after ");
    put_state(result, here->all, "{draws*" STATE_LAUNCH "\n}" STATE_COUNTS "\n" STATE_ROWS,
              here->out);
    return NULL;
}

struct cps_err *look_state_here(struct session *session, bool all, struct cps_buf *out)
{
    struct state_here here = {.out = out, .all = all};
    const struct cps_debug_retrace retrace = {begin_state, end_state, &here};
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not draw", session_engine(session)->ops->name);
    unsigned who = drawing_processor(session);
    here.state = state_run_create(session->play.names[who], session->play.buffers, who);
    struct cps_err *err = cps_debug_retrace(session->debug, &retrace);
    state_run_destroy(here.state);
    return err;
}

struct cps_err *look_draw(const struct session *session, unsigned who, long draw,
                          struct state_result *ret)
{
    const struct cps_run_config *config = session->config;
    const char *firmware[3] = {config->fw_count ? config->fw[0] : NULL,
                               config->fw_count > 1 ? config->fw[1] : NULL, NULL};
    const struct state_setup setup = {.config = config,
                                      .quiet = true,
                                      .firmware = firmware,
                                      .capture = session->capture,
                                      .who = who,
                                      .draw = draw};
    return state_gather(&setup, ret);
}

struct cps_err *look_state_draw(const struct session *session, long draw, bool all,
                                struct cps_buf *out)
{
    struct state_result result = {0};
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not draw", session_engine(session)->ops->name);
    if ((!session->capture && !session->config->demo) || session->play.dump)
        return cps_err_new(CPS_ERR_INPUT, "draw %ld: expected firmware and a capture", draw);
    struct cps_err *err = look_draw(session, drawing_processor(session), draw, &result);
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

/* ---- where a value comes from ---- */

/* A retrace on the way. */
struct why_here {
    struct session *session;
    struct why why;
    struct cps_buf *out;
    bool json;
};

/* Contents that were fed before the observer was there. */
static struct cps_err *begin_why(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct why_here *here = context;
    const struct feed *feed = &here->session->play.feed;
    CPS_TRY(why_watch(&here->why, engine));
    cps_engine_sink(engine, origin_sink_(here->why.origin), ORIGIN_KINDS);
    for (uint64_t i = 0; i < fed && i < feed->count; i++)
        origin_item_(here->why.origin, &feed->item[i]);
    return why_resolve(&here->why);
}

static struct cps_err *end_why(void *context, struct cps_engine *engine)
{
    struct why_here *here = context;
    const struct why_ask *ask = here->why.ask;
    (void)engine;
    why_finish(&here->why);
    if (ask->kept == UINT32_MAX)
        return cps_err_new(CPS_ERR_INPUT, "%s: the firmware has not written it by this point",
                           ask->text);
    (here->json ? why_json : why_text)(&here->why, ask, here->out);
    return NULL;
}

static bool is_place(const struct session *session, unsigned core, const char *what,
                     struct cps_location *place)
{
    static const char files[] = {CPS_FILE_GENERAL, CPS_FILE_CONTROL, CPS_FILE_REGISTER,
                                 CPS_FILE_MEMORY, '\0'};
    bool timed = strchr(what, '@') && strchr(what, ':');
    return !timed && strncmp(what, "mem:", 4) != 0 && strncmp(what, "event:", 6) != 0 &&
           expr_place(session, core, what, place) && strchr(files, place->file);
}

struct cps_err *session_why(struct session *session, unsigned core, const char *what, bool json,
                            struct cps_buf *out)
{
    const char *path = session->capture ? session->capture : "demo.pm4";
    const char *slash = strrchr(path, '/');
    struct why_here here = {.session = session, .out = out, .json = json};
    const struct cps_debug_retrace retrace = {begin_why, end_why, &here};
    struct cps_location place;
    struct cps_err *err = NULL;
    here.why.play = &session->play;
    here.why.capture = slash ? slash + 1 : path;
    here.why.kinds = ORIGIN_KINDS & ~(1u << CPS_EV_WORD);
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not say where its values come from",
                           session_engine(session)->ops->name);
    if (is_place(session, core, what, &place))
        why_add_place(&here.why, what, &place);
    else
        err = why_add(&here.why, what);
    if (!err)
        err = cps_debug_retrace(session->debug, &retrace);
    why_deinit(&here.why);
    return err;
}
