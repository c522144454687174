/* SPDX-License-Identifier: MIT
 * The debugger's answers to where a value comes from. */
#include "tools/face/debugger/look.h"

#include <string.h>

#include "emu/debug/debug.h"
#include "tools/face/debugger/command.h"
#include "tools/face/debugger/expr.h"
#include "tools/explain/why/why.h"

/* A retrace on the way. */
struct asked {
    struct session *session;
    struct why why;
    struct cps_buf *out;
    bool json;
};

/* Contents that were fed before the observer was there. */
static struct cps_err *begin(void *context, struct cps_engine *engine, uint64_t fed)
{
    struct asked *asked = context;
    const struct feed *feed = &asked->session->play.feed;
    CPS_TRY(why_watch(&asked->why, engine));
    cps_engine_sink(engine, origin_sink_(asked->why.origin), ORIGIN_KINDS);
    for (uint64_t i = 0; i < fed && i < feed->count; i++)
        origin_item_(asked->why.origin, &feed->item[i]);
    return why_resolve(&asked->why);
}

static struct cps_err *end(void *context, struct cps_engine *engine)
{
    struct asked *asked = context;
    const struct why_ask *ask = asked->why.ask;
    (void)engine;
    why_finish(&asked->why);
    if (ask->kept == UINT32_MAX)
        return cps_err_new(CPS_ERR_INPUT, "%s: the firmware has not written it until here",
                           ask->text);
    if (asked->json)
        why_json(&asked->why, ask, asked->out);
    else
        why_text(&asked->why, ask, asked->out);
    return NULL;
}

static bool is_place(const struct session *session, unsigned core, const char *what,
                     struct cps_place *place)
{
    bool timed = strchr(what, '@') && strchr(what, ':');
    return !timed && strncmp(what, "mem:", 4) != 0 && strncmp(what, "event:", 6) != 0 &&
           expr_place(session, core, what, place) &&
           strchr((const char[]){CPS_FILE_GENERAL, CPS_FILE_CONTROL, CPS_FILE_REGISTER,
                                 CPS_FILE_MEMORY, '\0'},
                  place->file);
}

struct cps_err *session_why(struct session *session, unsigned core, const char *what, bool json,
                            struct cps_buf *out)
{
    const struct cps_options *opt = session->opt;
    const char *path = opt->arg_count ? opt->arg[0] : "demo.pm4";
    const char *slash = strrchr(path, '/');
    struct asked asked = {.session = session, .out = out, .json = json};
    const struct cps_debug_retrace retrace = {begin, end, &asked};
    struct cps_place place;
    asked.why.play = &session->play;
    asked.why.capture = slash ? slash + 1 : path;
    asked.why.kinds = ORIGIN_KINDS & ~(1u << CPS_EV_WORD);
    if (!session_afuc(session))
        return cps_err_new(CPS_ERR_SYNTAX, "%s does not say where its values come from",
                           session_engine(session)->ops->name);
    struct cps_err *err = NULL;
    if (is_place(session, core, what, &place))
        why_add_place(&asked.why, what, &place);
    else
        err = why_add(&asked.why, what);
    if (!err)
        err = cps_debug_retrace(session->debug, &retrace);
    why_deinit(&asked.why);
    return err;
}

struct cps_err *command_why_(struct debugger *r, struct command_args *args)
{
    if (!*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "why: expected $02, @CONTROL, a register, [ADDRESS] or "
                                           "event:N");
    return session_why(&r->session, r->session.core, args->text, false, &r->out);
}
