/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: requests by name, what they may carry, answers.
 * https://microsoft.github.io/debug-adapter-protocol/specification */
#include "tools/face/dap/dap.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/face/dap/dap_private.h"

enum { ATTACH_SECONDS = 5 }; /* as long as attach_connect() waits for the run */

/* ---- arguments ---- */

/* @param name  "key", "key.inner" or "key.": the member, or each item of the list, that it names */
static struct cps_err *check_one(const char *request, char *name, struct json_object *arguments,
                                 char kind)
{
    char *inner = strchr(name, '.');
    if (inner)
        *inner++ = '\0';
    struct json_object *value = cps_json_get(arguments, name);
    if (!inner)
        return frame_check_kind(request, name, value, kind);
    bool is_list = json_object_is_type(value, json_type_array);
    for (size_t i = 0; i < (is_list ? cps_json_count(value) : 1); i++) {
        struct json_object *from = is_list ? json_object_array_get_idx(value, i) : value;
        CPS_BUF item = {0};
        cps_buf_printf(&item, is_list ? "%s[%zu]" : "%s", name, i);
        CPS_TRY(frame_check_kind(request, tool_text(&item), from, *inner ? 'o' : kind));
        cps_buf_printf(&item, ".%s", inner);
        if (*inner)
            CPS_TRY(frame_check_kind(request, tool_text(&item), cps_json_get(from, inner), kind));
    }
    return NULL;
}

/* ---- messages ---- */

/* ---- requests that need no more than this ---- */

struct cps_err *dap_nothing(struct dap *d)
{
    (void)d;
    return NULL;
}

void dap_rest(struct dap *d, int how)
{
    (void)d;
    (void)how;
}

struct cps_err *dap_initialize(struct dap *d)
{
    char can[] =
        "supportsConfigurationDoneRequest supportsFunctionBreakpoints "
        "supportsConditionalBreakpoints supportsHitConditionalBreakpoints "
        "supportsEvaluateForHovers supportsStepBack supportsSetVariable "
        "supportsRestartRequest supportsGotoTargetsRequest supportsCompletionsRequest "
        "supportsExceptionInfoRequest supportsSetExpression supportsTerminateRequest "
        "supportTerminateDebuggee supportsDataBreakpoints supportsReadMemoryRequest "
        "supportsWriteMemoryRequest supportsDisassembleRequest supportsLoadedSourcesRequest "
        "supportsCancelRequest supportsSteppingGranularity supportsInstructionBreakpoints";
    char *state = NULL;
    static const char *const filters[][2] = {{"deadlock", "Deadlocks"},
                                             {"bad-packet", "Packets that the firmware rejects"},
                                             {"fault", "Faults"},
                                             {"protect", "Writes that CP_PROTECT forbids"}};
    const char *client = dap_text(d, "clientID");
    client = client ? client : cps_json_get_text(d->in, "clientId", ""); /* nvim-dap to 0.6 */
    json_object_put(d->hello);
    d->hello = json_object_get(d->in);
    d->is_neovim = !strcmp(client, "neovim");
    d->columns_from_0 = !cps_json_get_bool(d->in, "columnsStartAt1", true);
    d->lines_from_0 = !cps_json_get_bool(d->in, "linesStartAt1", true);
    for (char *at = strtok_r(can, " ", &state); at; at = strtok_r(NULL, " ", &state))
        cps_json_bool(d->out, at, true);
    struct json_object *list = cps_json_new_array(d->out, "exceptionBreakpointFilters");
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
        doc_row(list, "filter=%s label=%s default?=%d", filters[i][0], filters[i][1], i < 3);
    return NULL;
}

struct cps_err *dap_terminate(struct dap *d)
{
    d->done = true;
    if (d->run)
        d->run->ended = true;
    return NULL;
}

void dap_terminated(struct dap *d, int how)
{
    struct json_object *body = doc_new();
    (void)how;
    d->done = false; /* the client disconnects then */
    d->debugger->interrupt = 0;
    dap_event(d, "terminated", NULL);
    doc_put(body, "exitCode=%d", 0);
    dap_event(d, "exited", body);
}

/* The run goes on, unless the client asks for its end. */
struct cps_err *dap_disconnect(struct dap *d)
{
    d->done = true;
    if (d->run && cps_json_get_bool(d->in, "terminateDebuggee", false))
        d->run->ended = true;
    return NULL;
}

/* ---- life of a session ---- */

static const struct row {
    const char *command;
    enum { ANY, OPEN, STOPPED } when;
    struct cps_err *(*run)(struct dap *d);
    void (*then)(struct dap *d, int how);
    int how;
    const char *arguments;
} rows[] = {
#define REQUEST(command, when, run, then, how, arguments) \
    {command, when, dap_##run, dap_##then, how, arguments},
#include "tools/face/dap/dap.def"
#include "tools/cmd/render/doc.h"
};

static struct cps_err *run_row(struct dap *d, const struct row *row, const char *command)
{
    if (!row)
        return cps_err_new(CPS_ERR_INPUT, "the request \"%s\" is not known",
                           command ? command : "(none)");
    if (!d->open && row->when != ANY)
        return cps_err_new(CPS_ERR_INPUT, "nothing is launched yet");
    if (d->running && row->when == STOPPED)
        return cps_err_new(CPS_ERR_INPUT, "the machine runs");
    /* Whether what a request carries has the types that it should. A wrong one says so: taken for
     * one that is missing, it would do something else than was asked for. */
    CPS_TRY(frame_check_kind(row->command, "arguments", d->in, 'o'));
    CPS_FREE char *copy = tool_strdup(row->arguments);
    char *state = NULL;
    for (char *at = strtok_r(copy, " ", &state); at; at = strtok_r(NULL, " ", &state)) {
        char *colon = strchr(at, ':');
        *colon = '\0';
        CPS_TRY(check_one(row->command, at, d->in, colon[1]));
    }
    d->how = row->how;
    struct cps_err *err = row->run(d);
    if (!err && d->session->debug && cps_debug_nomem(d->session->debug))
        err = cps_err_nomem();
    return err;
}

void dap_handle(struct dap *d, struct json_object *request)
{
    const char *command = cps_json_get_text(request, "command", NULL);
    const struct row *row = NULL;
    for (size_t i = 0; command && !row && i < sizeof(rows) / sizeof(rows[0]); i++)
        row = strcmp(rows[i].command, command) ? NULL : &rows[i];
    d->request = request;
    d->in = cps_json_get(request, "arguments");
    d->out = doc_new();
    struct cps_err *err = run_row(d, row, command);
    struct json_object *message = doc_new();
    doc_put(message, "type=response request_seq=%" PRId64 " command=%s success?=%d message=%s",
            cps_json_get_int(request, "seq", 0), command ? command : "", !err,
            err ? err->message : NULL);
    cps_json_add(message, "body", d->out);
    d->in = d->out = NULL;
    if (d->relay) /* the run answers */
        json_object_put(message);
    else
        dap_wire_send(d->wire, message);
    dap_know_points(d, !d->typed);
    if (!err)
        row->then(d, row->how);
    cps_err_free(err);
    if (d->typed)
        dap_typed(d);
    if (d->restarting && !d->running)
        dap_restarted(d);
}

static struct cps_err *serve_client(struct dap *d)
{
    while (!d->done) {
        struct json_object *message = NULL;
        /* A run waits while it serves a client, but not forever for one that does not attach. */
        CPS_TRY(
            dap_wire_next(d->wire, d->run && !d->open ? &d->run->patience_ends : NULL, &message));
        if (!message)
            return NULL;
        if (!strcmp(cps_json_get_text(message, "type", ""), "request"))
            dap_handle(d, message);
        json_object_put(message);
        if (d->failed)
            return d->failed;
    }
    return NULL;
}

/* The end of @p out belongs to the caller. */
static struct cps_err *serve_on(struct debugger *debugger, dap_options *options,
                                struct dap_run *run, int in, FILE *out)
{
    struct dap *d = tool_alloc(1, sizeof(*d));
    d->debugger = debugger;
    d->session = &debugger->session;
    d->options = options;
    d->run = run;
    d->open = !run && d->session->debug;
    d->lists = doc_new();
    struct cps_err *err = dap_wire_open(run ? "(socket)" : "(stdin)", in, out, &debugger->interrupt,
                                        run ? run->listener : -1, &d->wire);
    if (!err)
        err = serve_client(d);
    dap_wire_close(d->wire);
    point_clear(d->session);
    if (!run || !run->debugger) {
        session_close(d->session);
        *d->session = (struct session){0};
    }
    json_object_put(d->launched);
    json_object_put(d->hello);
    json_object_put(d->known);
    json_object_put(d->lists);
    free(d);
    return err;
}

struct cps_err *dap_serve(struct debugger *debugger, dap_options *options, FILE *in, FILE *out)
{
    return serve_on(debugger, options, NULL, fileno(in), out);
}

struct cps_err *dap_serve_run(struct dap_run *run, int socket)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    int copy = dup(socket);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
    if (!out) {
        struct cps_err *err = cps_err_os("(socket)", "open");
        if (copy >= 0)
            close(copy);
        return err;
    }
    struct debugger *debugger = run->debugger ? run->debugger : tool_alloc(1, sizeof(*debugger));
    sigaction(SIGPIPE, &ignore, &before); /* a client that is gone */
    run->socket = socket;
    dap_limit_sending(socket, ATTACH_SECONDS);
    clock_gettime(CLOCK_MONOTONIC, &run->patience_ends);
    run->patience_ends.tv_sec += ATTACH_SECONDS;
    /* What a client did wrong, or that it is gone, is no concern of the run's. */
    cps_err_free(serve_on(debugger, NULL, run, socket, out));
    if (!run->debugger) {
        command_deinit(debugger);
        free(debugger);
    }
    fclose(out);
    sigaction(SIGPIPE, &before, NULL);
    return NULL;
}
