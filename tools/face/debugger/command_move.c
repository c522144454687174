/* SPDX-License-Identifier: MIT
 * The debugger's commands that move. */
#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"

void command_show(struct debugger *r)
{
    const struct session *s = &r->session;
    struct cps_where where = cps_engine_where(session_engine(s), s->core);
    look_where(s, s->core, &r->out);
    if (!where.started)
        return;
    look_source_text(s, s->core, where.pc, &r->out);
    look_code(s, s->core, where.pc, 0, 0, &r->out);
}

struct cps_err *command_count(const char *arguments, uint64_t *ret)
{
    int64_t count = 1;
    const char *at = arguments;
    if (*at && (!cps_lex_number(&at, &count) || *at || count < 1))
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number from 1", arguments);
    *ret = (uint64_t)count;
    return NULL;
}

/* The processor that made a point stop is the one to look at. */
static void follow(struct debugger *r)
{
    if (r->stop.reason == CPS_WHY_POINT && r->stop.core != r->session.core) {
        r->session.core = r->stop.core;
        r->moved = false;
        cps_buf_printf(&r->out, "now on %s\n", session_core_name(&r->session, r->session.core));
    }
}

void command_begin_move(struct debugger *r)
{
    r->moves++;
    r->frame = 0;
    r->has_listed = false;
    look_read(&r->session, r->session.core, &r->before);
}

/* The point that stopped it, if it has commands; whether they begin with "silent". */
static bool is_silent(struct debugger *r)
{
    const struct cps_debug_point *p = cps_debug_find(r->session.debug, r->stop.point);
    const struct typed_point *typed = p ? p->context : NULL;
    if (r->stop.reason != CPS_WHY_POINT || !typed || !typed->commands)
        return false;
    r->hit = p->id;
    return !strncmp(typed->commands, "silent\n", 7);
}

/* A point that was for one time is gone; its commands are still to be run. */
static void drop_once(struct debugger *r)
{
    struct cps_debug_point *p = cps_debug_find(r->session.debug, r->stop.point);
    struct typed_point *typed = p ? p->context : NULL;
    if (r->stop.reason != CPS_WHY_POINT || !typed)
        return;
    p->disabled = p->disabled || typed->disable_next;
    typed->disable_next = false;
    if (p->once && r->hit != p->id)
        point_remove(&r->session, p->id);
}

void command_stopped(struct debugger *r)
{
    bool silent = is_silent(r);
    r->moved = true;
    cps_buf_deinit(&r->why);
    look_stop(&r->session, &r->stop, &r->why);
    if (!silent)
        cps_buf_join(&r->out, &r->why);
    drop_once(r);
    follow(r);
    if (silent)
        return;
    command_show(r);
    command_put_shown(r);
}

/* Whether there is something to do once more. Points that are passed were there for one time, too;
 * moves of one instruction end before they ask whether they shall. */
static bool goes_on(struct debugger *r, int go)
{
    bool passes = r->stop.reason == CPS_WHY_POINT && (go == CPS_GO_ON || ~go == CPS_GO_ON);
    if (passes)
        drop_once(r);
    session_spend(&r->session, 1);
    if (!passes && r->stop.reason != CPS_WHY_GONE)
        return false;
    if (session_interrupted(&r->session))
        r->stop.reason = CPS_WHY_INTERRUPTED;
    return r->stop.reason != CPS_WHY_INTERRUPTED;
}

struct cps_err *command_move_(struct debugger *r, const char *arguments, int go)
{
    uint64_t count = 1;
    CPS_TRY(command_count(arguments, &count));
    command_begin_move(r);
    do {
        r->stop = go < 0
                      ? cps_debug_back(r->session.debug, (enum cps_debug_go) ~go, r->session.core)
                      : cps_debug_run(r->session.debug, (enum cps_debug_go)go, r->session.core);
    } while (--count && goes_on(r, go));
    command_stopped(r);
    return NULL;
}

static struct cps_err *go_to(struct debugger *r, const char *arguments, bool event)
{
    int64_t number = 0;
    const char *at = arguments;
    if (!cps_lex_number(&at, &number) || *at)
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number", arguments);
    command_begin_move(r);
    r->stop = event ? cps_debug_goto_event(r->session.debug, (uint64_t)number)
                    : cps_debug_goto_step(r->session.debug, (uint64_t)number);
    command_stopped(r);
    return NULL;
}

struct cps_err *command_go_step_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return go_to(r, arguments, false);
}

struct cps_err *command_go_event_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return go_to(r, arguments, true);
}

struct cps_err *command_run_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (*arguments)
        return cps_err_new(CPS_ERR_SYNTAX, "run takes nothing: the input is that of the session");
    command_begin_move(r);
    r->stop = cps_debug_goto_step(r->session.debug, 0);
    if (r->stop.reason == CPS_WHY_GONE || r->stop.reason == CPS_WHY_START)
        r->stop = cps_debug_run(r->session.debug, CPS_GO_ON, r->session.core);
    command_stopped(r);
    return NULL;
}

struct cps_err *command_start_(struct debugger *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    command_begin_move(r);
    r->stop = cps_debug_goto_step(r->session.debug, r->session.start);
    command_stopped(r);
    return NULL;
}

/* ---- until, advance ---- */

/* A point of the command's own; 0: memory is short. */
static int add_own(struct debugger *r, uint32_t pc)
{
    const struct cps_debug_point point = {
        .what = CPS_AT_PC, .core = (int)r->session.core, .pc = pc, .last = UINT64_MAX, .own = true};
    return cps_debug_add(r->session.debug, &point);
}

/* To a place, or to where the routine returns to. */
static struct cps_err *to_place(struct debugger *r, const char *text)
{
    struct session *s = &r->session;
    struct cps_where where = cps_engine_where(session_engine(s), s->core);
    uint32_t pc = 0;
    CPS_TRY(command_place(r, text, strlen(text), &pc));
    int there = add_own(r, pc);
    int back = where.depth ? add_own(r, (uint32_t)session_value(s, s->core, CPS_FILE_STACK, 0)) : 0;
    if (there && (back || !where.depth)) {
        command_begin_move(r);
        r->stop = cps_debug_run(s->debug, CPS_GO_ON, s->core);
    }
    bool own = r->stop.reason == CPS_WHY_POINT && r->stop.point < 0;
    cps_debug_remove(s->debug, there);
    cps_debug_remove(s->debug, back);
    if (!there || (where.depth && !back))
        return cps_err_nomem();
    if (own)
        r->stop.reason = CPS_WHY_GONE;
    command_stopped(r);
    return NULL;
}

/* As next, but behind where a loop jumps back from. */
static void out_of_loop(struct debugger *r)
{
    struct session *s = &r->session;
    struct cps_where from = cps_engine_where(session_engine(s), s->core);
    struct cps_where now = from;
    do {
        r->stop = cps_debug_run(s->debug, CPS_GO_NEXT, s->core);
        now = cps_engine_where(session_engine(s), s->core);
        session_spend(s, 1);
    } while (r->stop.reason == CPS_WHY_GONE && now.pc <= from.pc && now.depth >= from.depth &&
             !session_interrupted(s));
    if (r->stop.reason == CPS_WHY_GONE && session_interrupted(s))
        r->stop.reason = CPS_WHY_INTERRUPTED;
}

struct cps_err *command_until_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (*arguments)
        return to_place(r, arguments);
    command_begin_move(r);
    out_of_loop(r);
    command_stopped(r);
    return NULL;
}

struct cps_err *command_advance_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (!*arguments)
        return cps_err_new(CPS_ERR_SYNTAX, "advance: expected a place");
    return to_place(r, arguments);
}

struct cps_err *command_jump_(struct debugger *r, const char *arguments, int go)
{
    struct session *s = &r->session;
    uint32_t pc = 0;
    struct cps_edit edit = {.what = CPS_EDIT_PLACE, .place = {(uint8_t)s->core, CPS_FILE_PC, 0}};
    (void)go;
    if (!*arguments)
        return cps_err_new(CPS_ERR_SYNTAX, "jump: expected a place");
    CPS_TRY(command_place(r, arguments, strlen(arguments), &pc));
    if (!command_has_code(s, pc))
        return cps_err_new(CPS_ERR_INPUT, "jump %s: %s has no code there", arguments,
                           session_core_name(s, s->core));
    edit.value = pc;
    CPS_TRY(cps_debug_edit(s->debug, &edit));
    return command_move_(r, "", CPS_GO_ON);
}
