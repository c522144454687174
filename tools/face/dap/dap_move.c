/* SPDX-License-Identifier: MIT
 * The debug adapter: moves, and what the client is told of them. */
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/face/debugger/look.h"
#include "tools/face/debugger/point.h"
#include "trace/out/json.h"

/* The word that clients show for the list that a point belongs to; NULL if it is in none. */
static const char *point_word(const struct dap *d, int id)
{
    static const char *const words[] = {[DAP_SOURCE] = "breakpoint",
                                        [DAP_LISTING] = "breakpoint",
                                        [DAP_FUNCTION] = "function breakpoint",
                                        [DAP_INSTRUCTION] = "instruction breakpoint",
                                        [DAP_DATA] = "data breakpoint",
                                        [DAP_EXCEPTION] = "exception"};
    for (unsigned list = 0; list < DAP_LISTS; list++) {
        for (unsigned i = 0; i < d->point_count[list]; i++) {
            if (d->point[list][i] == id)
                return words[list];
        }
    }
    return NULL;
}

/* Points that were typed are in no list. */
static const char *typed_word(const struct cps_debug_point *point)
{
    const struct typed_point *typed = point ? point->context : NULL;
    bool data = typed && !point_is_break(point) && strncmp(typed->text, "pkt:", 4) != 0 &&
                strncmp(typed->text, "event:", 6) != 0;
    return data ? "data breakpoint" : "breakpoint";
}

/* A client that asked for a move may know already that the machine runs; one whose user typed it
 * does not, and takes the next `stopped` for another thread's. */
static void tell_running(struct dap *d)
{
    if (d->told_running)
        return;
    struct json_object *body = json_object_new_object();
    cps_json_int(body, "threadId", d->debugger->session.core + 1);
    cps_json_bool(body, "allThreadsContinued", true);
    dap_event(d, "continued", body);
    d->told_running = true;
}

/* The word for a stop that no point made. Neovim's client takes a "pause" for one that is to show
 * nothing, and then has no thread to move. */
static const char *plain_word(enum cps_debug_reason reason, const char *gone)
{
    switch (reason) {
    case CPS_WHY_DEADLOCK:
    case CPS_WHY_FAULT:
    case CPS_WHY_BAD_PACKET:
        return "exception";
    case CPS_WHY_GONE:
        return gone;
    case CPS_WHY_END:
        return "end";
    case CPS_WHY_START:
        return "start";
    default:
        return "pause";
    }
}

/* The reason for a stop. A point is named, and removed if it was for one time. */
static const char *reason_of(struct dap *d, const char *gone, struct json_object *body)
{
    struct debugger *r = d->debugger;
    const struct cps_debug_point *point = cps_debug_find(r->session.debug, r->stop.point);
    if (r->stop.reason != CPS_WHY_POINT)
        return plain_word(r->stop.reason, gone);
    const char *word = point_word(d, r->stop.point);
    struct json_object *ids = cps_json_new_array(body, "hitBreakpointIds");
    cps_json_append(ids, json_object_new_int(r->stop.point));
    word = word ? word : typed_word(point);
    if (point && point->once)
        point_remove(&r->session, r->stop.point);
    return word;
}

/* @p gone  the word for a move that went as far as it should
 * @p quiet  the client has the text of it already */
static void tell_stopped(struct dap *d, const char *gone, bool quiet)
{
    struct debugger *r = d->debugger;
    struct json_object *body = json_object_new_object();
    CPS_BUF why = {0};
    if (cps_debug_nomem(r->session.debug))
        r->stop = (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    if (quiet && r->stop.reason == CPS_WHY_POINT)
        cps_buf_join(&why, &r->why);
    else
        look_stop(&r->session, &r->stop, &why);
    if (!quiet && (why.size || why.failed))
        dap_output(d, &why);
    tell_running(d);
    cps_json_text(body, "reason", reason_of(d, gone, body));
    if (why.size) {
        why.data[strcspn(why.data, "\n")] = '\0';
        cps_json_text(body, "description", why.data);
    }
    cps_json_int(body, "threadId", r->session.core + 1);
    cps_json_bool(body, "allThreadsStopped", true);
    dap_event(d, "stopped", body);
    d->told_running = false;
    dap_know_points(d, false); /* one for one time is gone */
}

/* A move that no request for a step told the client of. Neovim's client takes its thread for a
 * stopped one all the same, and answers the next `stopped` with `continue`: nvim-dap to 0.6 does
 * not reset that at `continued`, some of them at `thread`. */
static void tell_moved(struct dap *d, const char *gone, bool quiet)
{
    tell_running(d);
    if (d->is_neovim) {
        struct json_object *body = json_object_new_object();
        cps_json_text(body, "reason", "started");
        cps_json_int(body, "threadId", d->shown_core + 1);
        dap_event(d, "thread", body);
    }
    tell_stopped(d, gone, quiet);
    d->unseen = true;
}

/* Requests that came while the machine runs. Every one of them interrupts the run for as long as it
 * takes to answer; only some of them end it. */
static struct cps_err *answer_waiting(struct dap *d)
{
    struct json_object *message = NULL;
    struct cps_err *err = NULL;
    d->debugger->interrupt = 0;
    while (!err && !d->pausing && !d->done) {
        err = dap_wire_try(d->wire, &message);
        if (!message)
            break;
        dap_handle(d, message);
        json_object_put(message);
    }
    return err;
}

static void run_on_and_answer(struct dap *d)
{
    struct session *s = &d->debugger->session;
    d->pausing = false;
    d->running = true;
    dap_wire_listen(d->wire, true);
    do {
        d->debugger->stop = cps_debug_run(s->debug, CPS_GO_ON, s->core);
        if (d->debugger->stop.reason == CPS_WHY_INTERRUPTED && !d->failed)
            d->failed = answer_waiting(d);
    } while (d->debugger->stop.reason == CPS_WHY_INTERRUPTED && !d->pausing && !d->done &&
             !d->failed && !dap_wire_ended(d->wire));
    dap_wire_listen(d->wire, false);
    d->running = false;
}

static void go(struct dap *d, enum cps_debug_go how, bool back)
{
    struct session *s = &d->debugger->session;
    tell_running(d);
    d->unseen = false;
    if (!back && how == CPS_GO_ON)
        run_on_and_answer(d);
    else
        d->debugger->stop =
            back ? cps_debug_back(s->debug, how, s->core) : cps_debug_run(s->debug, how, s->core);
    if (d->debugger->stop.reason == CPS_WHY_POINT)
        s->core = d->debugger->stop.core;
}

void dap_configured(struct dap *d)
{
    d->debugger->stop = (struct cps_debug_stop){.reason = CPS_WHY_GONE};
    dap_run_script(d);
    if (!d->stop_on_entry)
        go(d, CPS_GO_ON, false);
    if (!d->done && !d->restarting)
        tell_stopped(d, "entry", false);
}

/* Moves: the request names a thread, the answer comes first, then the run and why it stopped. */
struct cps_err *dap_on_thread(struct dap *d, struct json_object *arguments,
                              struct json_object *body)
{
    (void)body;
    return dap_thread(d, arguments, &d->debugger->session.core);
}

struct cps_err *dap_continues(struct dap *d, struct json_object *arguments,
                              struct json_object *body)
{
    cps_json_bool(body, "allThreadsContinued", true);
    CPS_TRY(dap_thread(d, arguments, &d->debugger->session.core));
    d->ignored = d->unseen && d->is_neovim; /* that was no user */
    return NULL;
}

void dap_run_on(struct dap *d)
{
    if (d->ignored) {
        d->ignored = d->unseen = false;
        return;
    }
    go(d, CPS_GO_ON, false);
    if (!d->done && !d->restarting)
        tell_stopped(d, "pause", false);
}

void dap_run_next(struct dap *d)
{
    go(d, CPS_GO_NEXT, false);
    tell_stopped(d, "step", false);
}

void dap_run_in(struct dap *d)
{
    go(d, CPS_GO_TICK, false);
    tell_stopped(d, "step", false);
}

void dap_run_out(struct dap *d)
{
    go(d, CPS_GO_FINISH, false);
    tell_stopped(d, "step", false);
}

void dap_run_back(struct dap *d)
{
    go(d, CPS_GO_TICK, true);
    tell_stopped(d, "step", false);
}

void dap_run_reverse(struct dap *d)
{
    go(d, CPS_GO_ON, true);
    tell_stopped(d, "pause", false);
}

/* A run that was interrupted has told so; one that was not has nothing to stop. */
struct cps_err *dap_pauses(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)arguments;
    (void)body;
    d->debugger->interrupt = 0;
    d->pausing = true;
    return NULL;
}

struct cps_err *dap_restarts(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)arguments;
    (void)body;
    d->debugger->interrupt = 0;
    d->restarting = true;
    d->pausing = true; /* a run that goes on ends here */
    return NULL;
}

/* Changes that were made belong to the run that is over. */
void dap_restarted(struct dap *d)
{
    if (d->running)
        return; /* when that has stopped */
    d->restarting = false;
    d->debugger->stop = cps_debug_restart(d->debugger->session.debug, d->start);
    tell_moved(d, "entry", false);
}

/* Targets are places in time: where the line's instruction runs next cannot be known without
 * running, so a target is the instruction itself and going there sets the program counter. */
/* The place of a line in a file or a listing; *is false where there is no code. */
static struct cps_err *target_place(struct dap *d, struct json_object *arguments, bool *is,
                                    uint32_t *pc)
{
    struct session *s = &d->debugger->session;
    int64_t line = dap_number(arguments, "line", 0) + d->lines_from_0;
    const char *path = cps_json_get_text(cps_json_get(arguments, "source"), "path", NULL);
    struct dap_listing listing;
    struct cps_debug_point point = {0};
    CPS_BUF text = {0};
    CPS_TRY(dap_find_listing(d, arguments, &listing));
    cps_buf_printf(&text, "%s:%lld", path ? path : "", (long long)line);
    if (text.failed)
        return cps_err_nomem();
    struct cps_err *err = listing.is ? dap_listing_pc(d, listing.core, line, pc)
                                     : point_break(s, s->core, cps_buf_text(&text), &point);
    if (err && err->code == CPS_ERR_NOMEM)
        return err;
    *is = !err;
    if (!err && !listing.is) {
        *pc = point.pc;
        point_release(&point);
    }
    cps_err_free(err);
    return NULL;
}

struct cps_err *dap_goto_targets(struct dap *d, struct json_object *arguments,
                                 struct json_object *body)
{
    struct session *s = &d->debugger->session;
    struct json_object *list = cps_json_new_array(body, "targets");
    uint32_t pc = 0;
    bool is = false;
    CPS_TRY(target_place(d, arguments, &is, &pc));
    if (!is)
        return NULL; /* no code there: no targets */
    struct json_object *target = json_object_new_object();
    CPS_BUF label = {0};
    session_place(s, s->core, pc, &label);
    cps_json_int(target, "id", (int64_t)pc + 1);
    cps_json_buf(target, "label", &label);
    cps_json_int(target, "line", dap_number(arguments, "line", 0));
    dap_put_hex(target, "instructionPointerReference", dap_code_address(d, s->core, pc), 1);
    cps_json_append(list, target);
    return NULL;
}

struct cps_err *dap_goes_to(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)body;
    CPS_TRY(dap_thread(d, arguments, &d->debugger->session.core));
    const struct cps_edit edit = {.what = CPS_EDIT_PLACE,
                                  .place = {(uint8_t)d->debugger->session.core, CPS_FILE_PC, 0},
                                  .value = (uint32_t)(dap_number(arguments, "targetId", 0) - 1)};
    return cps_debug_edit(d->debugger->session.debug, &edit);
}

void dap_went_to(struct dap *d)
{
    d->debugger->stop = (struct cps_debug_stop){.reason = CPS_WHY_GONE};
    tell_moved(d, "goto", false);
}

void dap_typed(struct dap *d)
{
    if (d->moves != d->debugger->moves)
        tell_moved(d, "step", true);
    else
        dap_changed(d);
    d->typed = false;
}
