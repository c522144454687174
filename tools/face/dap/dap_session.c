/* SPDX-License-Identifier: MIT
 * The debug adapter: `launch`, with the options of `cpscope step` as arguments; `attach`, where the
 * adapter that the editor has started passes messages on to the process of the run, and back: that
 * one opens a session position of the run. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"

/* ---- launch ---- */

/* @param clock  where the engine's shall be; 0: where sessions begin */
static struct cps_err *open_session(struct dap *d, const struct dap_setup *setup, uint64_t clock)
{
    d->session->scheme = setup->scheme;
    d->session->interrupt = &d->debugger->interrupt;
    d->session->config = &setup->config;
    d->session->capture = setup->capture;
    d->session->symbols = setup->symbols;
    struct cps_err *err = clock ? session_open_at(d->session, clock) : session_open(d->session);
    if (err) {
        session_close(d->session);
        *d->session = (struct session){0};
    }
    d->open = !err;
    return err;
}

struct cps_err *dap_launch(struct dap *d)
{
    if (d->run)
        return cps_err_new(CPS_ERR_INPUT, "launch: this is a run, expected \"attach\"");
    d->stop_on_entry = cps_json_get_bool(d->in, "stopOnEntry", true);
    if (!d->open) {
        /* Texts of the setup point into the arguments. */
        json_object_put(d->launched);
        d->launched = json_object_get(d->in);
        CPS_TRY(d->options(d->in, &d->setup));
        CPS_TRY(open_session(d, &d->setup, 0));
    }
    d->start = cps_debug_location(d->session->debug).step;
    return NULL;
}

/* ---- attach: messages between the client and the process of a run ---- */

/* Requests go there in the thread of the adapter, answers and events come back in another one. */
struct dap_relay {
    struct dap *dap;
    int socket;
    FILE *out;
    struct dap_wire *wire;
    atomic_int interrupt; /* nothing runs here that it could stop */
    atomic_bool leaving;  /* the client knows that this ends... */
    atomic_bool left;     /* ...and the run has answered that */
    atomic_bool over;     /* the run has closed its end */
    pthread_t thread;
    struct sigaction sigpipe; /* as it was: a run that is gone is no reason to die */
};

static void close_relay(struct dap_relay *r)
{
    dap_wire_close(r->wire);
    if (r->out)
        fclose(r->out);
    close(r->socket);
    sigaction(SIGPIPE, &r->sigpipe, NULL);
    free(r);
}

/* Begins to speak with a run, as the client did: its answer to that the client has had from this
 * process. */
static struct cps_err *open_relay(struct dap_relay *r)
{
    struct json_object *message = doc_new();
    int copy = dup(r->socket);
    r->out = copy < 0 ? NULL : fdopen(copy, "w");
    cps_json_int(message, "seq", 0);
    cps_json_text(message, "type", "request");
    cps_json_text(message, "command", "initialize");
    cps_json_add(message, "arguments", r->dap->hello ? json_object_get(r->dap->hello) : doc_new());
    struct cps_err *err =
        r->out ? dap_wire_open("(socket)", r->socket, r->out, &r->interrupt, -1, &r->wire)
               : cps_err_os("(socket)", "open");
    if (err) {
        json_object_put(message);
        if (!r->out && copy >= 0)
            close(copy);
        return err;
    }
    dap_wire_pass(r->wire, message);
    CPS_TRY(dap_wire_next(r->wire, NULL, &message));
    json_object_put(message);
    return message ? NULL : cps_err_new(CPS_ERR_INPUT, "attach: the run is over");
}

static struct cps_err *connect_to_run(struct dap *d)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct attach_socket at = {.folder = -1};
    const char *path = dap_text(d, "socket");
    int64_t pid = dap_number(d->in, "pid", 0);
    int socket = -1;
    struct cps_err *err = path  ? attach_open(path, &at)
                          : pid ? attach_open_pid((long)pid, false, &at)
                                : attach_open_only(&at);
    if (!err)
        err = attach_connect(&at, &socket);
    attach_deinit(&at);
    CPS_TRY(err);
    struct dap_relay *r = tool_alloc(1, sizeof(*r));
    r->dap = d;
    r->socket = socket;
    sigaction(SIGPIPE, &ignore, &r->sigpipe);
    err = open_relay(r);
    if (err)
        close_relay(r);
    else
        d->relay = r;
    return err;
}

struct cps_err *dap_attach(struct dap *d)
{
    if (!d->run)
        return d->open ? cps_err_new(CPS_ERR_INPUT, "attach: something is launched already")
                       : connect_to_run(d);
    if (d->open)
        return cps_err_new(CPS_ERR_INPUT, "attach: this client is attached already");
    if (d->run->debugger)
        d->open = true;
    else
        CPS_TRY(open_session(d, &d->run->setup, d->run->clock));
    dap_limit_sending(d->run->socket, 0);
    d->stop_on_entry = cps_json_get_bool(d->in, "stopOnEntry", true);
    d->start = cps_debug_location(d->session->debug).step;
    d->run->attached = true;
    return NULL;
}

static bool is_about(struct json_object *message, const char *command)
{
    return !strcmp(cps_json_get_text(message, "command", ""), command);
}

static void *pass_back(void *context)
{
    struct dap_relay *r = context;
    struct json_object *message = NULL;
    do {
        cps_err_free(
            dap_wire_next(r->wire, NULL, &message)); /* its error is the end all the same */
        if (message && is_about(message, "disconnect"))
            r->left = true;
        if (message)
            dap_wire_send(r->dap->wire, message);
    } while (message);
    r->over = true;
    if (!r->leaving)
        dap_event(r->dap, "terminated", NULL);
    return NULL;
}

/* Requests until the client leaves, or the run: then *last is the one that came last, which may
 * not have been answered. */
static struct cps_err *pass_on(struct dap_relay *r, struct json_object **last)
{
    dap_wire_pass(r->wire, json_object_get(r->dap->request));
    while (!r->leaving) {
        json_object_put(*last);
        CPS_TRY(dap_wire_next(r->dap->wire, NULL, last));
        if (!*last || r->over)
            return NULL;
        r->leaving = is_about(*last, "disconnect");
        dap_wire_pass(r->wire, json_object_get(*last));
    }
    return NULL;
}

/* Passes the request at hand on, and all that follow, until the client leaves or the run does. */
static void run_relay(struct dap *d)
{
    struct dap_relay *r = d->relay;
    struct json_object *last = NULL;
    bool started = pthread_create(&r->thread, NULL, pass_back, r) == 0;
    struct cps_err *err =
        started ? pass_on(r, &last) : cps_err_new(CPS_ERR_OS, "cannot start a thread");
    r->leaving = true;
    shutdown(r->socket, SHUT_WR);
    if (started)
        pthread_join(r->thread, NULL);
    bool done = err || !last || r->left;
    close_relay(r);
    d->relay = NULL;
    d->done = done;
    d->failed = err;
    if (!done)
        dap_handle(d, last);
    json_object_put(last);
}

void dap_launched(struct dap *d, int how)
{
    CPS_BUF text = {0};
    (void)how;
    if (d->relay) {
        run_relay(d);
        return;
    }
    d->told_running = true; /* until the first `stopped` */
    dap_event(d, "initialized", doc_new());
    session_opened(d->session, &text);
    if (text.size)
        dap_output(d, &text);
}
