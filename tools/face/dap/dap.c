/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: requests by name, life of a session, moves.
 * https://microsoft.github.io/debug-adapter-protocol/specification */
#include "tools/face/dap/dap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/look.h"
#include "tools/face/debugger/point.h"
#include "trace/out/json.h"

enum { ATTACH_SECONDS = 5 }; /* as long as attach_connect() waits for the run */

void dap_send(struct dap *d, struct json_object *message)
{
    struct cps_err *err = dap_wire_send(d->wire, message);
    if (d->failed)
        cps_err_free(err);
    else
        d->failed = err;
}

static struct json_object *event_message(const char *name)
{
    struct json_object *message = json_object_new_object();
    cps_json_text(message, "type", "event");
    cps_json_text(message, "event", name);
    return message;
}

void dap_event(struct dap *d, const char *name, struct json_object *body)
{
    struct json_object *message = event_message(name);
    cps_json_add(message, "body", body);
    dap_send(d, message);
}

void dap_output(struct dap *d, const struct cps_buf *text)
{
    struct json_object *body = json_object_new_object();
    cps_json_text(body, "category", "console");
    cps_json_buf(body, "output", text);
    dap_event(d, "output", body);
}

void dap_changed(struct dap *d)
{
    struct json_object *body = json_object_new_object();
    struct json_object *areas = json_object_new_array();
    cps_json_append(areas, json_object_new_string("all"));
    cps_json_add(body, "areas", areas);
    dap_event(d, "invalidated", body);
}

struct cps_err *dap_thread(const struct dap *d, struct json_object *arguments, unsigned *ret)
{
    int64_t id = dap_number(arguments, "threadId", 1);
    unsigned count = session_engine(&d->debugger->session)->cores;
    if (id < 1 || id > count)
        return cps_err_new(CPS_ERR_INPUT, "threadId %lld: expected 1 to %u", (long long)id, count);
    *ret = (unsigned)id - 1;
    return NULL;
}

static struct cps_err *initialize(struct dap *d, struct json_object *arguments,
                                  struct json_object *body)
{
    static const char *const can[] = {"supportsConfigurationDoneRequest",
                                      "supportsFunctionBreakpoints",
                                      "supportsConditionalBreakpoints",
                                      "supportsHitConditionalBreakpoints",
                                      "supportsEvaluateForHovers",
                                      "supportsStepBack",
                                      "supportsSetVariable",
                                      "supportsRestartRequest",
                                      "supportsGotoTargetsRequest",
                                      "supportsCompletionsRequest",
                                      "supportsExceptionInfoRequest",
                                      "supportsSetExpression",
                                      "supportsTerminateRequest",
                                      "supportTerminateDebuggee",
                                      "supportsDataBreakpoints",
                                      "supportsReadMemoryRequest",
                                      "supportsWriteMemoryRequest",
                                      "supportsDisassembleRequest",
                                      "supportsLoadedSourcesRequest",
                                      "supportsCancelRequest",
                                      "supportsSteppingGranularity",
                                      "supportsInstructionBreakpoints"};
    static const char *const filters[][2] = {{"deadlock", "Deadlocks"},
                                             {"bad-packet", "Packets that the firmware refuses"},
                                             {"fault", "Faults"},
                                             {"protect", "Writes that CP_PROTECT forbids"}};
    struct json_object *list = json_object_new_array();
    const char *client = cps_json_get_text(arguments, "clientID", NULL);
    client = client ? client : cps_json_get_text(arguments, "clientId", ""); /* nvim-dap to 0.6 */
    json_object_put(d->hello);
    d->hello = json_object_get(arguments);
    d->is_neovim = !strcmp(client, "neovim");
    d->columns_from_0 = !cps_json_get_bool(arguments, "columnsStartAt1", true);
    d->lines_from_0 = !cps_json_get_bool(arguments, "linesStartAt1", true);
    for (size_t i = 0; i < sizeof(can) / sizeof(can[0]); i++)
        cps_json_bool(body, can[i], true);
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct json_object *filter = json_object_new_object();
        cps_json_text(filter, "filter", filters[i][0]);
        cps_json_text(filter, "label", filters[i][1]);
        cps_json_bool(filter, "default", i < 3);
        cps_json_append(list, filter);
    }
    cps_json_add(body, "exceptionBreakpointFilters", list);
    return NULL;
}

static struct cps_err *nothing(struct dap *d, struct json_object *arguments,
                               struct json_object *body)
{
    (void)d;
    (void)arguments;
    (void)body;
    return NULL;
}

static struct cps_err *exception_info(struct dap *d, struct json_object *arguments,
                                      struct json_object *body)
{
    static const char *const names[] = {[CPS_WHY_DEADLOCK] = "deadlock",
                                        [CPS_WHY_FAULT] = "fault",
                                        [CPS_WHY_BAD_PACKET] = "bad-packet"};
    const struct cps_debug_stop *stop = &d->debugger->stop;
    bool protect = stop->has_event && cps_event_kind(&stop->event) == CPS_EV_PROT;
    bool known = stop->reason >= CPS_WHY_DEADLOCK && stop->reason <= CPS_WHY_BAD_PACKET;
    CPS_BUF text = {0};
    (void)arguments;
    if (!known && !protect)
        return cps_err_new(CPS_ERR_INPUT, "there is no exception here");
    look_stop(&d->debugger->session, stop, &text);
    cps_json_text(body, "exceptionId", protect ? "protect" : names[stop->reason]);
    cps_json_buf(body, "description", &text);
    cps_json_text(body, "breakMode", "always");
    return NULL;
}

static struct cps_err *ends(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)arguments;
    (void)body;
    d->done = true;
    if (d->run)
        d->run->ended = true;
    return NULL;
}

static void terminated(struct dap *d)
{
    d->done = false; /* the client disconnects then */
    d->debugger->interrupt = 0;
    dap_send(d, event_message("terminated"));
    struct json_object *body = json_object_new_object();
    cps_json_int(body, "exitCode", 0);
    dap_event(d, "exited", body);
}

static const struct row {
    const char *command;
    dap_handler *run;
    dap_then *then;
    bool without_session;
    bool only_stopped; /* refused while the machine runs */
} rows[] = {
    {"initialize", initialize, NULL, true, false},
    {"launch", dap_launch, dap_launched, true, false},
    {"attach", dap_attach, dap_attached, true, false},
    {"configurationDone", nothing, dap_configured, false, true},
    {"disconnect", dap_disconnects, NULL, true, false},
    {"terminate", ends, terminated, true, false},
    {"cancel", nothing, NULL, true, false},
    {"restart", dap_restarts, NULL, false, false},
    {"threads", dap_threads, NULL, false, false},
    {"stackTrace", dap_stack_trace, NULL, false, false},
    {"scopes", dap_scopes, NULL, false, false},
    {"variables", dap_variables, NULL, false, false},
    {"setVariable", dap_set_variable, dap_changed, false, true},
    {"setExpression", dap_set_expression, dap_changed, false, true},
    {"evaluate", dap_evaluate, NULL, false, true},
    {"completions", dap_completions, NULL, false, false},
    {"source", dap_source, NULL, false, false},
    {"loadedSources", dap_loaded_sources, NULL, false, false},
    {"setBreakpoints", dap_set_breakpoints, NULL, false, false},
    {"setFunctionBreakpoints", dap_set_function_breakpoints, NULL, false, false},
    {"setInstructionBreakpoints", dap_set_instruction_breakpoints, NULL, false, false},
    {"dataBreakpointInfo", dap_data_breakpoint_info, NULL, false, false},
    {"setDataBreakpoints", dap_set_data_breakpoints, NULL, false, false},
    {"setExceptionBreakpoints", dap_set_exception_breakpoints, NULL, false, false},
    {"exceptionInfo", exception_info, NULL, false, false},
    {"continue", dap_continues, dap_run_on, false, true},
    {"next", dap_on_thread, dap_run_next, false, true},
    {"stepIn", dap_on_thread, dap_run_in, false, true},
    {"stepOut", dap_on_thread, dap_run_out, false, true},
    {"stepBack", dap_on_thread, dap_run_back, false, true},
    {"reverseContinue", dap_on_thread, dap_run_reverse, false, true},
    {"pause", dap_pauses, NULL, false, false},
    {"gotoTargets", dap_goto_targets, NULL, false, false},
    {"goto", dap_goes_to, dap_went_to, false, true},
    {"readMemory", dap_read_memory, NULL, false, false},
    {"writeMemory", dap_write_memory, dap_changed, false, true},
    {"disassemble", dap_disassemble, NULL, false, false},
    {"why", dap_why, NULL, false, true},
    {"state", dap_draw_state, NULL, false, true},
};

static const struct row *find_row(const char *command)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!strcmp(rows[i].command, command))
            return &rows[i];
    }
    return NULL;
}

static void answer(struct dap *d, struct json_object *request, struct json_object *body,
                   const struct cps_err *err)
{
    struct json_object *message = json_object_new_object();
    const char *command = cps_json_get_text(request, "command", NULL);
    cps_json_text(message, "type", "response");
    cps_json_int(message, "request_seq", cps_json_get_int(request, "seq", 0));
    cps_json_text(message, "command", command ? command : "");
    cps_json_bool(message, "success", !err);
    if (err)
        cps_json_text(message, "message", err->message);
    cps_json_add(message, "body",
                 cps_json_complete(body) ? json_object_get(body) : json_object_new_object());
    dap_send(d, message);
}

/* What a request made of the answer, and of the machine, is all there. */
static struct cps_err *check(struct dap *d, struct json_object *body, struct cps_err *err)
{
    bool nomem = d->debugger->session.debug && cps_debug_nomem(d->debugger->session.debug);
    if (err || (!nomem && cps_json_complete(body)))
        return err;
    return cps_err_nomem();
}

void dap_handle(struct dap *d, struct json_object *request)
{
    const char *command = cps_json_get_text(request, "command", NULL);
    const struct row *row = command ? find_row(command) : NULL;
    struct json_object *body = json_object_new_object();
    struct json_object *arguments = cps_json_get(request, "arguments");
    struct cps_err *err = NULL;
    d->request = request;
    if (!row)
        err = cps_err_new(CPS_ERR_INPUT, "the request \"%s\" is not known",
                          command ? command : "(none)");
    else if (!d->open && !row->without_session)
        err = cps_err_new(CPS_ERR_INPUT, "nothing is launched yet");
    else if (d->running && row->only_stopped)
        err = cps_err_new(CPS_ERR_INPUT, "the machine runs");
    else
        err = dap_check(row->command, arguments);
    if (!err)
        err = check(d, body, row->run(d, arguments, body));
    if (!d->relay) /* else the run answers */
        answer(d, request, body, err);
    json_object_put(body);
    dap_know_points(d, !d->typed);
    if (!err && row->then)
        row->then(d);
    cps_err_free(err);
    if (d->typed)
        dap_typed(d);
    if (d->restarting && !d->running)
        dap_restarted(d);
}

/* A run stands still while it serves a client: for one that does not attach, not for ever. */
static struct cps_err *next_message(struct dap *d, struct json_object **ret)
{
    if (d->run && !d->open)
        return dap_wire_next_until(d->wire, &d->run->patience_ends, ret);
    return dap_wire_next(d->wire, ret);
}

static struct cps_err *serve(struct dap *d)
{
    while (!d->done) {
        struct json_object *message = NULL;
        CPS_TRY(next_message(d, &message));
        if (!message)
            return NULL;
        const char *type = cps_json_get_text(message, "type", NULL);
        if (type && !strcmp(type, "request"))
            dap_handle(d, message);
        json_object_put(message);
        if (d->failed)
            return d->failed;
    }
    return NULL;
}

/* The end of @p out belongs to the caller. */
static struct cps_err *serve_on(struct debugger *debugger, struct dap_run *run, int in, FILE *out)
{
    struct dap *d = calloc(1, sizeof(*d));
    if (!d)
        return cps_err_nomem();
    d->debugger = debugger;
    d->run = run;
    d->open = debugger->session.debug != NULL;
    struct cps_err *err =
        dap_wire_open(run ? "(socket)" : "(stdin)", in, out, &debugger->interrupt, &d->wire);
    if (!err)
        err = serve(d);
    dap_wire_close(d->wire);
    point_clear(&debugger->session);
    session_close(&debugger->session);
    debugger->session = (struct session){0};
    json_object_put(d->launched);
    json_object_put(d->hello);
    free(d->known);
    free(d);
    return err;
}

struct cps_err *dap_serve(struct debugger *debugger, FILE *in, FILE *out)
{
    return serve_on(debugger, NULL, fileno(in), out);
}

void dap_limit_sending(int socket, unsigned seconds)
{
    const struct timeval limit = {.tv_sec = seconds};
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

/* What a client did wrong, or that it is gone, is no concern of the run's. */
static struct cps_err *of_run(struct cps_err *err)
{
    if (!err || err->code == CPS_ERR_NOMEM)
        return err;
    cps_err_free(err);
    return NULL;
}

struct cps_err *dap_serve_run(struct dap_run *run, int socket)
{
    struct debugger *debugger = calloc(1, sizeof(*debugger));
    int copy = dup(socket);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction before;
    struct cps_err *err = debugger ? NULL : cps_err_nomem();
    if (!err && !out)
        err = cps_err_os("(socket)", "open");
    sigaction(SIGPIPE, &ignore, &before); /* a client that is gone */
    run->socket = socket;
    dap_limit_sending(socket, ATTACH_SECONDS);
    clock_gettime(CLOCK_MONOTONIC, &run->patience_ends);
    run->patience_ends.tv_sec += ATTACH_SECONDS;
    if (!err)
        err = of_run(serve_on(debugger, run, socket, out));
    if (debugger)
        command_deinit(debugger);
    free(debugger);
    if (out)
        fclose(out);
    else if (copy >= 0)
        close(copy);
    sigaction(SIGPIPE, &before, NULL);
    return err;
}
