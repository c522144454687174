/* SPDX-License-Identifier: MIT
 * The debugger's commands that move, and that choose what is looked at: frames, listings. */
#include <inttypes.h>
#include <string.h>

#include "tools/face/debugger/command.h"

void command_show(struct debugger *r)
{
    const struct session *s = &r->session;
    struct cps_where where = cps_engine_where(session_engine(s), s->core);
    look_where(s, s->core, &r->out);
    if (where.started)
        look_source_text(s, s->core, where.pc, &r->out);
}

/* ---- moves ---- */

/* Counts it, and keeps what the registers are. */
static void begin_move(struct debugger *r)
{
    r->moves++;
    r->frame = 0;
    r->has_listed = false;
    look_read(&r->session, r->session.core, &r->before);
}

/* A temporary point is gone; its commands are still to be run. */
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

/* Why it stopped, the position, and what `display` shows; nothing at a point whose commands begin
 * with "silent". */
static struct cps_err *end_move(struct debugger *r)
{
    bool at_point = r->stop.reason == CPS_WHY_POINT;
    const struct cps_debug_point *p = cps_debug_find(r->session.debug, r->stop.point);
    const struct typed_point *typed = p && at_point ? p->context : NULL;
    bool has_commands = typed && typed->commands;
    bool silent = has_commands && !strncmp(typed->commands, "silent\n", 7);
    r->hit = has_commands ? p->id : r->hit;
    r->moved = true;
    cps_buf_deinit(&r->why);
    look_stop(&r->session, &r->stop, &r->why);
    if (!silent)
        cps_buf_join(&r->out, &r->why);
    drop_once(r);
    if (at_point && r->stop.core != r->session.core) { /* which is the one to look at */
        r->session.core = r->stop.core;
        r->moved = false;
        cps_buf_printf(&r->out, "now on %s\n", session_core_name(&r->session, r->session.core));
    }
    if (silent)
        return NULL;
    command_show(r);
    command_put_shown(r);
    return NULL;
}

/* Whether there is something to do once more. Points that are passed were there for one time, too;
 * moves of one instruction end before they ask whether they shall. */
static bool goes_on(struct debugger *r, int how)
{
    bool passes = r->stop.reason == CPS_WHY_POINT && (how == CPS_GO_ON || ~how == CPS_GO_ON);
    if (passes)
        drop_once(r);
    session_count_instructions(&r->session, 1);
    if (!passes && r->stop.reason != CPS_WHY_GONE)
        return false;
    if (session_interrupted(&r->session))
        r->stop.reason = CPS_WHY_INTERRUPTED;
    return r->stop.reason != CPS_WHY_INTERRUPTED;
}

struct cps_err *command_move_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    int how = args->how;
    begin_move(r);
    do {
        r->stop = how < 0 ? cps_debug_back(s->debug, (enum cps_debug_go) ~how, s->core)
                          : session_run(s, (enum cps_debug_go)how, s->core);
    } while (--args->count && goes_on(r, how));
    return end_move(r);
}

struct cps_err *command_go_to_(struct debugger *r, struct command_args *args)
{
    int64_t number = 0;
    CPS_TRY(command_number(args->text, INT64_MIN, INT64_MAX, "a number", &number));
    begin_move(r);
    r->stop = args->how ? cps_debug_goto_event(r->session.debug, (uint64_t)number)
                        : cps_debug_goto_step(r->session.debug, (uint64_t)number);
    return end_move(r);
}

struct cps_err *command_run_(struct debugger *r, struct command_args *args)
{
    if (*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "run takes nothing: the input is that of the session");
    begin_move(r);
    r->stop = cps_debug_goto_step(r->session.debug, 0);
    if (r->stop.reason == CPS_WHY_GONE || r->stop.reason == CPS_WHY_START)
        r->stop = session_run(&r->session, CPS_GO_ON, r->session.core);
    return end_move(r);
}

struct cps_err *command_start_(struct debugger *r, struct command_args *args)
{
    (void)args;
    begin_move(r);
    r->stop = cps_debug_goto_step(r->session.debug, r->session.start);
    return end_move(r);
}

/* ---- until, advance, jump ---- */

/* A point of the command's own. */
static int add_own(struct debugger *r, uint64_t pc)
{
    const struct cps_debug_point point = {.what = CPS_AT_PC,
                                          .core = (int)r->session.core,
                                          .pc = (uint32_t)pc,
                                          .last = UINT64_MAX,
                                          .own = true};
    int id = cps_debug_add(r->session.debug, &point);
    tool_need(id != 0);
    return id;
}

/* To a place, or to where the routine returns to. */
struct cps_err *command_advance_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    struct cps_where where = cps_engine_where(session_engine(s), s->core);
    uint32_t pc = 0;
    if (!*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "advance: expected a place");
    CPS_TRY(command_place(r, args->text, strlen(args->text), &pc));
    int there = add_own(r, pc);
    int back = where.depth ? add_own(r, session_value(s, s->core, CPS_FILE_STACK, 0)) : 0;
    begin_move(r);
    r->stop = session_run(s, CPS_GO_ON, s->core);
    if (r->stop.reason == CPS_WHY_POINT && r->stop.point < 0)
        r->stop.reason = CPS_WHY_GONE;
    cps_debug_remove(s->debug, there);
    cps_debug_remove(s->debug, back);
    return end_move(r);
}

/* Without a place as next, but past where a loop jumps back from. */
struct cps_err *command_until_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    struct cps_where from = cps_engine_where(session_engine(s), s->core);
    struct cps_where now = from;
    if (*args->text)
        return command_advance_(r, args);
    begin_move(r);
    do {
        r->stop = session_run(s, CPS_GO_NEXT, s->core);
        now = cps_engine_where(session_engine(s), s->core);
        session_count_instructions(s, 1);
        if (r->stop.reason == CPS_WHY_GONE && session_interrupted(s))
            r->stop.reason = CPS_WHY_INTERRUPTED;
    } while (r->stop.reason == CPS_WHY_GONE && now.pc <= from.pc && now.depth >= from.depth);
    return end_move(r);
}

struct cps_err *command_jump_(struct debugger *r, struct command_args *args)
{
    struct session *s = &r->session;
    uint32_t pc = 0;
    struct cps_edit edit = {.what = CPS_EDIT_PLACE, .place = {(uint8_t)s->core, CPS_FILE_PC, 0}};
    if (!*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "jump: expected a place");
    CPS_TRY(command_place(r, args->text, strlen(args->text), &pc));
    if (!session_has_code(s, s->core, pc))
        return cps_err_new(CPS_ERR_INPUT, "jump %s: %s has no code there", args->text,
                           session_core_name(s, s->core));
    edit.value = pc;
    CPS_TRY(cps_debug_edit(s->debug, &edit));
    return command_move_(r, &(struct command_args){"", CPS_GO_ON, 1});
}

/* ---- frames ---- */

static uint32_t frame_depth(const struct debugger *r)
{
    return cps_engine_where(session_engine(&r->session), r->session.core).depth;
}

uint32_t command_pc(const struct debugger *r)
{
    const struct session *s = &r->session;
    return r->frame && r->frame <= frame_depth(r)
               ? (uint32_t)session_value(s, s->core, CPS_FILE_STACK, r->frame - 1)
               : cps_engine_where(session_engine(s), s->core).pc;
}

static struct cps_err *choose_frame(struct debugger *r, uint64_t frame)
{
    const struct session *s = &r->session;
    if (frame > frame_depth(r))
        return cps_err_new(CPS_ERR_INPUT,
                           "there is no frame %" PRIu64 ": %" PRIu32 " calls are open", frame,
                           frame_depth(r));
    r->frame = (unsigned)frame;
    r->has_listed = false;
    uint32_t pc = command_pc(r);
    cps_buf_printf(&r->out, "#%u  ", r->frame);
    look_pc(s, s->core, pc, &r->out);
    cps_buf_str(&r->out, "\n");
    look_source_text(s, s->core, pc, &r->out);
    return NULL;
}

struct cps_err *command_frame_(struct debugger *r, struct command_args *args)
{
    int64_t frame = r->frame;
    if (*args->text)
        CPS_TRY(command_number(args->text, 0, INT64_MAX, "the number of a frame, from 0", &frame));
    return choose_frame(r, (uint64_t)frame);
}

struct cps_err *command_up_down_(struct debugger *r, struct command_args *args)
{
    bool up = args->how > 0;
    uint64_t left = up ? frame_depth(r) - r->frame : r->frame;
    uint64_t count = args->count < left ? args->count : left;
    if (!left)
        return cps_err_new(CPS_ERR_INPUT, "this is the %s frame", up ? "outermost" : "innermost");
    return choose_frame(r, up ? r->frame + count : r->frame - count);
}

struct cps_err *command_backtrace_(struct debugger *r, struct command_args *args)
{
    (void)args;
    look_backtrace(&r->session, r->session.core, &r->out);
    return NULL;
}

/* ---- listings ---- */

/* Instructions before a place, of a listing around it, and of one that goes on. */
enum { BEFORE = 5, AROUND = 9, LISTED = 10 };

uint32_t command_after(const struct session *s, uint32_t pc, unsigned count)
{
    while (count--)
        pc += session_length(s, s->core, pc);
    return pc;
}

static void put_code(struct debugger *r, uint32_t pc, unsigned before, unsigned count)
{
    look_code(&r->session, r->session.core, pc, before, count - 1, &r->out);
    r->listed[0] = before < pc ? pc - before : 0;
    r->listed[1] = command_after(&r->session, pc, count);
    r->has_listed = true;
}

/* "[PLACE] [N]" */
struct cps_err *command_disas_(struct debugger *r, struct command_args *args)
{
    size_t length = strcspn(args->text, " \t");
    const char *rest = cps_lex_blank(args->text + length);
    int64_t wanted = 0;
    uint32_t pc = 0;
    if (*rest)
        CPS_TRY(command_number(rest, 1, 65536, "a number of instructions", &wanted));
    CPS_TRY(command_place(r, args->text, length, &pc));
    if (!session_has_code(&r->session, r->session.core, pc))
        return cps_err_new(CPS_ERR_INPUT, "0x%" PRIx32 ": %s has no code there", pc,
                           session_core_name(&r->session, r->session.core));
    put_code(r, pc, wanted ? 0 : BEFORE, wanted ? (unsigned)wanted : AROUND);
    return NULL;
}

struct cps_err *command_list_(struct debugger *r, struct command_args *args)
{
    if (!strcmp(args->text, "-")) {
        uint32_t first = r->has_listed ? r->listed[0] : command_pc(r);
        uint32_t from = first > LISTED ? first - LISTED : 0;
        if (!first)
            return cps_err_new(CPS_ERR_INPUT, "this is where the code begins");
        put_code(r, from, 0, first - from);
        return NULL;
    }
    if (*args->text || !r->has_listed)
        return command_disas_(r, args);
    if (!session_has_code(&r->session, r->session.core, r->listed[1]))
        return cps_err_new(CPS_ERR_INPUT, "this is where the code ends");
    put_code(r, r->listed[1], 0, LISTED);
    return NULL;
}

struct cps_err *command_number(const char *text, int64_t least, int64_t most, const char *expected,
                               int64_t *ret)
{
    const char *at = text;
    if (!cps_lex_number(&at, ret) || *at || *ret < least || *ret > most)
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected %s", text, expected);
    return NULL;
}
