/* SPDX-License-Identifier: MIT
 * The debug adapter: moves, and events about them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "tools/cmd/render/doc.h"

/* The word that clients show for the list that a point belongs to. Points that were typed are in
 * none. */
static const char *point_word(const struct dap *d, int id)
{
    static const char *const words[] = {[DAP_SOURCE] = "breakpoint",
                                        [DAP_LISTING] = "breakpoint",
                                        [DAP_FUNCTION] = "function breakpoint",
                                        [DAP_INSTRUCTION] = "instruction breakpoint",
                                        [DAP_DATA] = "data breakpoint",
                                        [DAP_EXCEPTION] = "exception"};
    int list = dap_list_of(d, id);
    if (list != DAP_LISTS)
        return words[list];
    const struct cps_debug_point *point = cps_debug_find(d->session->debug, id);
    const struct typed_point *typed = point ? point->context : NULL;
    bool data = typed && !point_is_break(point) && strncmp(typed->text, "pkt:", 4) != 0 &&
                strncmp(typed->text, "event:", 6) != 0;
    return data ? "data breakpoint" : "breakpoint";
}

/* A client that requested a move may know that the machine runs. After a typed command it does not,
 * and takes the next `stopped` for another thread's. */
static void tell_running(struct dap *d)
{
    if (d->told_running)
        return;
    struct json_object *body = doc_new();
    doc_put(body, "threadId=%u allThreadsContinued?=%d", d->session->core + 1, true);
    dap_event(d, "continued", body);
    d->told_running = true;
}

/* The word for a stop. A point is named, and removed if it is temporary. Neovim's client shows
 * nothing at a "pause", and then has no thread to move. */
static const char *reason_of(struct dap *d, const char *gone, struct json_object *body)
{
    const struct cps_debug_stop *stop = &d->debugger->stop;
    const char *word = NULL;
    const struct cps_debug_point *point = NULL;
    switch (stop->reason) {
    case CPS_WHY_POINT:
        word = point_word(d, stop->point);
        cps_json_append(cps_json_new_array(body, "hitBreakpointIds"),
                        json_object_new_int(stop->point));
        point = cps_debug_find(d->session->debug, stop->point);
        if (point && point->once)
            point_remove(d->session, stop->point);
        return word;
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

/* @p gone  the word for a move that went as far as it should
 * @p quiet  the client has the text of it already */
static void tell_stopped(struct dap *d, const char *gone, bool quiet)
{
    struct debugger *r = d->debugger;
    struct json_object *body = doc_new();
    CPS_BUF why = {0};
    tool_need(!cps_debug_nomem(d->session->debug));
    if (quiet && r->stop.reason == CPS_WHY_POINT)
        cps_buf_join(&why, &r->why);
    else
        look_stop(d->session, &r->stop, &why);
    if (!quiet && why.size)
        dap_output(d, &why);
    tell_running(d);
    if (why.size)
        why.data[strcspn(tool_text(&why), "\n")] = '\0';
    const char *reason = reason_of(d, gone, body);
    doc_put(body, "reason=%s description?=%s threadId=%u allThreadsStopped?=%d", reason, why.data,
            d->session->core + 1, true);
    dap_event(d, "stopped", body);
    d->told_running = false;
    dap_know_points(d, false); /* one for one time is gone */
}

/* A move that the client did not request. Neovim's client takes its thread for a
 * stopped one all the same, and answers the next `stopped` with `continue`: nvim-dap to 0.6 does
 * not reset that at `continued`, some of them at `thread`. */
static void tell_moved(struct dap *d, const char *gone, bool quiet)
{
    tell_running(d);
    if (d->is_neovim) {
        struct json_object *body = doc_new();
        doc_put(body, "reason=started threadId=%u", d->shown_core + 1);
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
    struct cps_debug_stop *stop = &d->debugger->stop;
    d->pausing = false;
    d->running = true;
    dap_wire_listen(d->wire, true);
    do {
        *stop = session_run(d->session, CPS_GO_ON, d->session->core);
        if (stop->reason == CPS_WHY_INTERRUPTED && !d->failed)
            d->failed = answer_waiting(d);
    } while (stop->reason == CPS_WHY_INTERRUPTED && !d->pausing && !d->done && !d->failed &&
             !dap_wire_ended(d->wire));
    dap_wire_listen(d->wire, false);
    d->running = false;
}

static void run_move(struct dap *d, int how)
{
    struct session *s = d->session;
    tell_running(d);
    d->unseen = false;
    if (how == CPS_GO_ON)
        run_on_and_answer(d);
    else
        d->debugger->stop = how < 0 ? cps_debug_back(s->debug, (enum cps_debug_go) ~how, s->core)
                                    : session_run(s, (enum cps_debug_go)how, s->core);
    if (d->debugger->stop.reason == CPS_WHY_POINT)
        s->core = d->debugger->stop.core;
}

/* Runs the commands of "script" after the client has set its breakpoints; then to the first stop.
 */
void dap_configured(struct dap *d, int how)
{
    struct debugger *r = d->debugger;
    (void)how;
    r->stop = (struct cps_debug_stop){.reason = CPS_WHY_GONE};
    if (d->setup.script) {
        struct cps_err *err = command_source(r, d->setup.script);
        if (err)
            cps_buf_printf(&r->out, "%s\n", err->message);
        cps_err_free(err);
        if (r->out.size)
            dap_output(d, &r->out);
        cps_buf_clear(&r->out);
    }
    if (!d->stop_on_entry)
        run_move(d, CPS_GO_ON);
    if (!d->done && !d->restarting)
        tell_stopped(d, "entry", false);
}

/* Moves: the request names a thread, the answer comes first, then the run and why it stopped. */
struct cps_err *dap_move(struct dap *d)
{
    return dap_thread(d, &d->session->core);
}

struct cps_err *dap_continue(struct dap *d)
{
    cps_json_bool(d->out, "allThreadsContinued", true);
    CPS_TRY(dap_thread(d, &d->session->core));
    d->ignored = d->unseen && d->is_neovim; /* that was no user */
    return NULL;
}

void dap_moved(struct dap *d, int how)
{
    bool far = how == CPS_GO_ON || ~how == CPS_GO_ON;
    if (d->ignored) {
        d->ignored = d->unseen = false;
        return;
    }
    run_move(d, how);
    if (!d->done && !d->restarting)
        tell_stopped(d, far ? "pause" : "step", false);
}

/* An interrupted run has reported its stop; without a run there is none. */
struct cps_err *dap_pause(struct dap *d)
{
    d->debugger->interrupt = 0;
    d->pausing = true;
    return NULL;
}

struct cps_err *dap_restart(struct dap *d)
{
    d->restarting = true;
    return dap_pause(d); /* a run that goes on ends here */
}

/* Changes that were made belong to the run that is over. */
void dap_restarted(struct dap *d)
{
    d->restarting = false;
    d->debugger->stop = cps_debug_restart(d->session->debug, d->start);
    tell_moved(d, "entry", false);
}

/* Targets are places in time: where the line's instruction runs next cannot be known without
 * running, so a target is the instruction itself and going there sets the program counter. */
struct cps_err *dap_goto_targets(struct dap *d)
{
    struct session *s = d->session;
    struct json_object *list = cps_json_new_array(d->out, "targets");
    int64_t line = dap_number(d->in, "line", 0) + d->lines_from_0;
    const char *path = cps_json_get_text(cps_json_get(d->in, "source"), "path", "");
    bool is_listing = false;
    unsigned core = 0;
    struct cps_debug_point point = {0};
    CPS_BUF text = {0};
    CPS_TRY(dap_find_listing(d, &is_listing, &core));
    cps_buf_printf(&text, "%s:%lld", path, (long long)line);
    struct cps_err *err = is_listing ? dap_listing_pc(d, core, line, &point.pc)
                                     : point_break(s, s->core, tool_text(&text), &point);
    bool is_code = !err;
    uint32_t pc = point.pc;
    cps_err_free(err);
    point_release(&point);
    if (!is_code)
        return NULL; /* no targets */
    cps_buf_clear(&text);
    session_place(s, s->core, pc, &text);
    doc_row(list, "id=%" PRId64 " label=%p line=%" PRId64 " instructionPointerReference=%" PRIx64,
            (int64_t)pc + 1, &text, dap_number(d->in, "line", 0), dap_code_address(d, s->core, pc));
    return NULL;
}

struct cps_err *dap_goto(struct dap *d)
{
    struct session *s = d->session;
    CPS_TRY(dap_thread(d, &s->core));
    const struct cps_edit edit = {.what = CPS_EDIT_PLACE,
                                  .place = {(uint8_t)s->core, CPS_FILE_PC, 0},
                                  .value = (uint32_t)(dap_number(d->in, "targetId", 0) - 1)};
    return cps_debug_edit(s->debug, &edit);
}

void dap_went_to(struct dap *d, int how)
{
    (void)how;
    d->debugger->stop = (struct cps_debug_stop){.reason = CPS_WHY_GONE};
    tell_moved(d, "goto", false);
}

void dap_typed(struct dap *d)
{
    if (d->moves != d->debugger->moves)
        tell_moved(d, "step", true);
    else
        dap_changed(d, 0);
    d->typed = false;
}
