/* SPDX-License-Identifier: MIT
 * The debug adapter: `attach`. The adapter that the editor has started passes messages on to the
 * process of the run, and back; that one opens a session where the run stands. */
#include "tools/cmd/options/opt_engine.h"
#include "tools/face/dap/attach.h"
#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

/* ---- in the process of the run ---- */

static struct cps_err *open_session(struct dap *d)
{
    struct session *s = &d->debugger->session;
    s->interrupt = &d->debugger->interrupt;
    s->scheme = opt_scheme(d->run->opt);
    struct cps_err *err = d->run->clock ? session_open_at(s, d->run->opt, d->run->clock)
                                        : session_open(s, d->run->opt);
    if (err) {
        session_close(s);
        d->debugger->session = (struct session){0};
    }
    d->open = !err;
    return err;
}

static struct cps_err *attach_here(struct dap *d, struct json_object *arguments)
{
    if (d->open)
        return cps_err_new(CPS_ERR_INPUT, "attach: this client is attached already");
    CPS_TRY(open_session(d));
    dap_limit_sending(d->run->socket, 0);
    d->stop_on_entry = cps_json_get_bool(arguments, "stopOnEntry", true);
    d->start = cps_debug_place(d->debugger->session.debug).step;
    d->run->attached = true;
    return NULL;
}

/* The run goes on, unless the client asks for its end. */
struct cps_err *dap_disconnects(struct dap *d, struct json_object *arguments,
                                struct json_object *body)
{
    (void)body;
    d->done = true;
    if (d->run && cps_json_get_bool(arguments, "terminateDebuggee", false))
        d->run->ended = true;
    return NULL;
}

/* ---- in the adapter ---- */

static struct cps_err *find_run(struct json_object *arguments, struct attach_place *place)
{
    const char *path = cps_json_get_text(arguments, "socket", NULL);
    int64_t pid = dap_number(arguments, "pid", 0);
    if (path)
        return attach_place_open(path, place);
    return pid ? attach_place_pid((long)pid, false, place) : attach_place_only(place);
}

static struct cps_err *connect_to_run(struct dap *d, struct json_object *arguments)
{
    struct attach_place place = {.folder = -1};
    int socket = -1;
    struct cps_err *err = find_run(arguments, &place);
    if (!err)
        err = attach_connect(&place, &socket);
    attach_place_deinit(&place);
    return err ? err : dap_relay_open(d, socket, &d->relay);
}

struct cps_err *dap_attach(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)body;
    if (d->run)
        return attach_here(d, arguments);
    if (d->open)
        return cps_err_new(CPS_ERR_INPUT, "attach: something is launched already");
    return connect_to_run(d, arguments);
}

void dap_attached(struct dap *d)
{
    if (d->relay)
        dap_relay_run(d);
    else
        dap_launched(d);
}
