/* SPDX-License-Identifier: MIT
 * The debug adapter: messages between the client and the process of a run. Requests go there in the
 * thread of the adapter, answers and events come back in another one. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

struct dap_relay {
    struct dap *dap;
    int socket;
    FILE *out;
    struct dap_wire *wire;
    atomic_int interrupt; /* nothing runs here that it could stop */
    atomic_bool leaving;  /* the client knows that this ends... */
    atomic_bool left;     /* ...and the run has said so, too */
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

/* The run's answer to `initialize`, which the client has had from this process. */
static struct cps_err *skip_answer(struct dap_relay *r)
{
    struct json_object *message = NULL;
    CPS_TRY(dap_wire_next(r->wire, &message));
    json_object_put(message);
    return message ? NULL : cps_err_new(CPS_ERR_INPUT, "attach: the run is over");
}

static struct cps_err *introduce(struct dap_relay *r)
{
    struct json_object *message = json_object_new_object();
    cps_json_int(message, "seq", 0);
    cps_json_text(message, "type", "request");
    cps_json_text(message, "command", "initialize");
    cps_json_add(message, "arguments",
                 r->dap->hello ? json_object_get(r->dap->hello) : json_object_new_object());
    CPS_TRY(dap_wire_pass(r->wire, message));
    return skip_answer(r);
}

static struct cps_err *open_relay(struct dap_relay *r)
{
    int copy = dup(r->socket);
    r->out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!r->out) {
        struct cps_err *err = cps_err_os("(socket)", "open");
        if (copy >= 0)
            close(copy);
        return err;
    }
    CPS_TRY(dap_wire_open("(socket)", r->socket, r->out, &r->interrupt, &r->wire));
    return introduce(r);
}

struct cps_err *dap_relay_open(struct dap *d, int socket, struct dap_relay **ret)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct dap_relay *r = calloc(1, sizeof(*r));
    if (!r) {
        close(socket);
        return cps_err_nomem();
    }
    r->dap = d;
    r->socket = socket;
    sigaction(SIGPIPE, &ignore, &r->sigpipe);
    struct cps_err *err = open_relay(r);
    if (err)
        close_relay(r);
    else
        *ret = r;
    return err;
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
        cps_err_free(dap_wire_next(r->wire, &message)); /* what it says is the end all the same */
        if (message && is_about(message, "disconnect"))
            r->left = true;
        if (message)
            dap_send(r->dap, message);
    } while (message);
    r->over = true;
    if (!r->leaving) {
        struct json_object *end = json_object_new_object();
        cps_json_text(end, "type", "event");
        cps_json_text(end, "event", "terminated");
        dap_send(r->dap, end);
    }
    return NULL;
}

/* Requests until the client leaves, or the run: then *last is the one that came last, which nobody
 * may have answered. */
static struct cps_err *pass_on(struct dap_relay *r, struct json_object **last)
{
    CPS_TRY(dap_wire_pass(r->wire, json_object_get(r->dap->request)));
    while (!r->leaving) {
        json_object_put(*last);
        CPS_TRY(dap_wire_next(r->dap->wire, last));
        if (!*last || r->over)
            return NULL;
        r->leaving = is_about(*last, "disconnect");
        CPS_TRY(dap_wire_pass(r->wire, json_object_get(*last)));
    }
    return NULL;
}

void dap_relay_run(struct dap *d)
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
    d->failed = cps_err_first_(d->failed, err);
    if (!done)
        dap_handle(d, last);
    json_object_put(last);
}
