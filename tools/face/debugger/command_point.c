/* SPDX-License-Identifier: MIT
 * The debugger's commands about points. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/debugger/command.h"
#include "trace/out/outfile.h"

struct cps_err *command_place(const struct debugger *r, const char *text, size_t length,
                              uint32_t *ret)
{
    const struct session *s = &r->session;
    uint64_t value = 0;
    if (length && (point_line(s, s->core, text, length, ret) ||
                   session_find_place(s, s->core, text, length, ret)))
        return NULL;
    if (length)
        CPS_TRY(expr_eval_part(s, s->core, text, length, &value));
    else
        value = command_pc(r);
    if (value > UINT32_MAX)
        return cps_err_new(CPS_ERR_SYNTAX, "0x%" PRIx64 " is no address of code", value);
    *ret = (uint32_t)value;
    return NULL;
}

/* ---- making points ---- */

/* It becomes the debugger's. */
static struct cps_err *add_point(struct debugger *r, struct cps_debug_point *point)
{
    const struct typed_point *typed = point->context;
    int id = cps_debug_add(r->session.debug, point);
    tool_need(id != 0);
    cps_buf_printf(&r->out, "%s %d, %s", point_noun(point), id,
                   *typed->text ? typed->text : "here");
    if (point->what == CPS_AT_PC) {
        cps_buf_str(&r->out, ": ");
        look_pc(&r->session, (unsigned)point->core, point->pc, &r->out);
    }
    cps_buf_str(&r->out, "\n");
    return NULL;
}

/* The default place is that of the selected frame. */
struct cps_err *command_add_break_(struct debugger *r, struct command_args *args)
{
    struct cps_debug_point point;
    CPS_BUF here = {0};
    if ((!*args->text || !strncmp(args->text, "if ", 3)) && r->frame) {
        cps_buf_printf(&here, "*0x%" PRIx32 "%s%s", command_pc(r), *args->text ? " " : "",
                       args->text);
        args->text = tool_text(&here);
    }
    CPS_TRY(point_break(&r->session, r->session.core, args->text, &point));
    point.once = args->how;
    return add_point(r, &point);
}

struct cps_err *command_add_watch_(struct debugger *r, struct command_args *args)
{
    struct cps_debug_point point;
    CPS_TRY(point_watch(&r->session, r->session.core, (unsigned)args->how, args->text, &point));
    return add_point(r, &point);
}

/* ---- points by their numbers ---- */

/* The newest point, as gdb's $bpnum; 0: there is none. */
static int last_id(const struct debugger *r)
{
    const struct cps_debug_point *point = NULL;
    int id = 0;
    for (unsigned i = 0; (point = cps_debug_point(r->session.debug, i)); i++)
        id = point->id;
    return id;
}

static bool read_id(const struct debugger *r, const char **at, int64_t *ret)
{
    if (!cps_lex_take(at, "$bpnum"))
        return cps_lex_number(at, ret);
    *ret = last_id(r);
    return true;
}

struct cps_err *command_find_point(struct debugger *r, const char **at,
                                   struct cps_debug_point **ret)
{
    int64_t id = 0;
    const char *text = *at;
    *ret = NULL;
    if (read_id(r, at, &id) && id > 0 && id <= INT32_MAX)
        *ret = cps_debug_find(r->session.debug, (int)id);
    *at = cps_lex_blank(*at);
    return *ret ? NULL
                : cps_err_new(CPS_ERR_SYNTAX, "\"%s\": expected the number of a point (info break)",
                              text);
}

/* "3" or "3-5" before arguments, which move after it. */
static struct cps_err *read_range(const struct debugger *r, const char **arguments, int64_t *first,
                                  int64_t *last)
{
    const char *text = *arguments;
    const char *at = text;
    bool good = read_id(r, &at, first);
    *last = *first;
    if (good && *at == '-') {
        at++;
        good = read_id(r, &at, last) && *last >= *first;
    }
    if (!good || *first < 1 || (*at && *at != ' ' && *at != '\t'))
        return cps_err_new(CPS_ERR_SYNTAX,
                           "\"%s\": expected numbers of points, ID or FIRST-LAST (info break)",
                           text);
    *arguments = cps_lex_blank(at);
    return NULL;
}

/* Changes points of a range of numbers, last one first, so that they may be removed. @return how
 * many there are */
static unsigned change_range(struct debugger *r, int64_t first, int64_t last,
                             enum point_change change)
{
    unsigned index = 0;
    unsigned count = 0;
    struct cps_debug_point *point = NULL;
    while (cps_debug_point(r->session.debug, index))
        index++;
    while (index--) {
        point = cps_debug_point(r->session.debug, index);
        if (point->id < first || point->id > last)
            continue;
        count++;
        if (change == POINT_REMOVE)
            point_remove(&r->session, point->id);
        else if (change != POINT_COUNT)
            point->disabled = change == POINT_DISABLE;
        if (change == POINT_ENABLE_ONCE)
            ((struct typed_point *)point->context)->disable_next = true;
    }
    return count;
}

/* All, or those that are named. Nothing happens unless every number is one of a point. */
static struct cps_err *change_points(struct debugger *r, const char *text, enum point_change change)
{
    int64_t first = 1;
    int64_t last = INT32_MAX;
    if (!*text)
        change_range(r, first, last, change);
    for (const char *at = text; *at;) {
        const char *range = at;
        CPS_TRY(read_range(r, &at, &first, &last));
        if (!change_range(r, first, last, POINT_COUNT))
            return cps_err_new(CPS_ERR_SYNTAX,
                               "\"%s\": expected the number of a point (info break)", range);
    }
    while (*text) {
        CPS_TRY(read_range(r, &text, &first, &last));
        change_range(r, first, last, change);
    }
    return NULL;
}

struct cps_err *command_points_(struct debugger *r, struct command_args *args)
{
    enum point_change change = (enum point_change)args->how;
    if (change == POINT_REMOVE && cps_lex_take(&args->text, "display")) {
        args->text = cps_lex_blank(args->text);
        return command_undisplay_(r, args);
    }
    if (change == POINT_ENABLE && cps_lex_take(&args->text, "once"))
        change = POINT_ENABLE_ONCE;
    return change_points(r, cps_lex_blank(args->text), change);
}

struct cps_err *command_clear_(struct debugger *r, struct command_args *args)
{
    uint32_t pc = 0;
    unsigned removed = 0;
    struct cps_debug_point *point = NULL;
    CPS_TRY(command_place(r, args->text, strlen(args->text), &pc));
    while ((point = point_at(&r->session, r->session.core, pc, false))) {
        cps_buf_printf(&r->out, "%s%d", removed++ ? ", " : "deleted ", point->id);
        point_remove(&r->session, point->id);
    }
    if (!removed)
        return cps_err_new(CPS_ERR_INPUT, "there is no breakpoint at %04" PRIx32, pc);
    cps_buf_str(&r->out, "\n");
    return NULL;
}

struct cps_err *command_ignore_(struct debugger *r, struct command_args *args)
{
    struct cps_debug_point *point = NULL;
    int64_t count = 0;
    CPS_TRY(command_find_point(r, &args->text, &point));
    if (!cps_lex_number(&args->text, &count) || *args->text || count < 0)
        return cps_err_new(CPS_ERR_SYNTAX, "expected ignore ID N");
    point->ignore = (uint64_t)count;
    return NULL;
}

struct cps_err *command_condition_(struct debugger *r, struct command_args *args)
{
    struct cps_debug_point *point = NULL;
    CPS_TRY(command_find_point(r, &args->text, &point));
    return point_condition(point, args->text);
}

/* ---- save ---- */

/* Commands that make the point again, on the processor that it is about. */
static void put_point(const struct session *s, const struct cps_debug_point *point,
                      struct cps_buf *out)
{
    const struct typed_point *typed = point->context;
    const char *level = typed->levels ? strrchr(typed->text, '@') : NULL;
    if (point->core >= 0)
        cps_buf_printf(out, "core %s\n", session_core_name(s, (unsigned)point->core));
    cps_buf_printf(out, "%s ", point->once ? "tbreak" : typed->word);
    /* Where an expression led then: "*0x104@ib2", "[0x1000]-[0x1003]". */
    if (!typed->moves && *typed->text)
        cps_buf_str(out, typed->text);
    else if (point->what == CPS_AT_PC)
        cps_buf_printf(out, "*0x%" PRIx32 "%s", point->pc, level ? level : "");
    else if (point->what == CPS_AT_PLACE)
        cps_buf_printf(out, "[0x%" PRIx64 "]", point->place.number);
    else
        cps_buf_printf(out, "[0x%" PRIx64 "]-[0x%" PRIx64 "]", point->first, point->last);
    if (typed->condition)
        cps_buf_printf(out, " if %s", typed->condition);
    cps_buf_str(out, "\n");
    if (point->ignore)
        cps_buf_printf(out, "ignore $bpnum %" PRIu64 "\n", point->ignore);
    if (typed->commands)
        cps_buf_printf(out, "commands\n%send\n", typed->commands);
    if (typed->disable_next)
        cps_buf_str(out, "enable once $bpnum\n");
    if (point->disabled)
        cps_buf_str(out, "disable $bpnum\n");
}

struct cps_err *command_save_(struct debugger *r, struct command_args *args)
{
    const struct session *s = &r->session;
    const struct cps_debug_point *point = NULL;
    CPS_BUF text = {0};
    size_t length = strcspn(args->text, " \t");
    const char *path = cps_lex_blank(args->text + length);
    if (!length || strncmp("breakpoints", args->text, length) != 0 || !*path)
        return cps_err_new(CPS_ERR_SYNTAX, "expected save breakpoints FILE");
    for (unsigned i = 0; (point = cps_debug_point(s->debug, i)); i++) {
        if (point->context)
            put_point(s, point, &text);
    }
    if (text.size) /* whoever reads it goes on where this one was */
        cps_buf_printf(&text, "core %s\n", session_core_name(s, s->core));
    return cps_outfile_whole(path, tool_text(&text), text.size);
}
