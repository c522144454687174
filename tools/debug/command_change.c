/* SPDX-License-Identifier: MIT
 * The debugger's commands that set points and change the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/expr.h"
#include "isa/base/within.h"
#include "isa/base/lex.h"
#include "tools/debug/look.h"
#include "tools/debug/command.h"
#include "tools/debug/point.h"
#include "tools/play/files.h"
#include "trace/capture/pm4text.h"

#define MAX_SCRIPT ((size_t)64 << 20) /* bytes of a file of commands */

static struct cps_err *add(struct debugger *r, struct cps_debug_point *point)
{
    const struct typed_point *typed = point->context;
    int id = cps_debug_add(r->session.debug, point);
    if (!id) {
        point_release(point);
        return cps_err_nomem();
    }
    cps_buf_printf(&r->out, "%s %d, %s", point_is_break(point) ? "breakpoint" : "watchpoint", id,
                   *typed->text ? typed->text : "here");
    if (point->what == CPS_AT_PC) {
        cps_buf_printf(&r->out, ": %04x ", point->pc);
        session_place(&r->session, (unsigned)point->core, point->pc, &r->out);
    }
    cps_buf_str(&r->out, "\n");
    return NULL;
}

static struct cps_err *add_break(struct debugger *r, const char *arguments, bool once)
{
    struct cps_debug_point point;
    CPS_TRY(point_break(&r->session, r->session.core, arguments, &point));
    point.once = once;
    return add(r, &point);
}

struct cps_err *command_do_break_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return add_break(r, arguments, false);
}

struct cps_err *command_tbreak_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return add_break(r, arguments, true);
}

static struct cps_err *add_watch(struct debugger *r, const char *arguments, unsigned access)
{
    struct cps_debug_point point;
    CPS_TRY(point_watch(&r->session, r->session.core, access, arguments, &point));
    return add(r, &point);
}

struct cps_err *command_watch_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return add_watch(r, arguments, POINT_WRITE);
}

struct cps_err *command_rwatch_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return add_watch(r, arguments, POINT_READ);
}

struct cps_err *command_awatch_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return add_watch(r, arguments, POINT_READ | POINT_WRITE);
}

/* The point whose id begins @p arguments, which moves behind it. */
static struct cps_err *find_point(struct debugger *r, const char **arguments,
                                  struct cps_debug_point **ret)
{
    int64_t id = 0;
    const char *text = *arguments;
    if (cps_lex_number(arguments, &id) && id <= INT32_MAX)
        *ret = cps_debug_find(r->session.debug, (int)id);
    *arguments = cps_lex_blank(*arguments);
    if (*ret)
        return NULL;
    return cps_err_new(CPS_ERR_SYNTAX, "\"%s\": expected the number of a point (info break)", text);
}

struct cps_err *command_delete_(struct debugger *r, const char *arguments, int go)
{
    struct cps_debug_point *point = NULL;
    (void)go;
    if (!*arguments) {
        point_clear(&r->session);
        return NULL;
    }
    CPS_TRY(find_point(r, &arguments, &point));
    point_remove(&r->session, point->id);
    return NULL;
}

static struct cps_err *set_disabled(struct debugger *r, const char *arguments, bool disabled)
{
    struct cps_debug_point *point = NULL;
    CPS_TRY(find_point(r, &arguments, &point));
    point->disabled = disabled;
    return NULL;
}

struct cps_err *command_disable_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return set_disabled(r, arguments, true);
}

struct cps_err *command_enable_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    return set_disabled(r, arguments, false);
}

struct cps_err *command_ignore_(struct debugger *r, const char *arguments, int go)
{
    struct cps_debug_point *point = NULL;
    int64_t count = 0;
    (void)go;
    CPS_TRY(find_point(r, &arguments, &point));
    if (!cps_lex_number(&arguments, &count) || *arguments)
        return cps_err_new(CPS_ERR_SYNTAX, "expected ignore ID N");
    point->ignore = (uint64_t)count;
    return NULL;
}

struct cps_err *command_condition_(struct debugger *r, const char *arguments, int go)
{
    struct cps_debug_point *point = NULL;
    (void)go;
    CPS_TRY(find_point(r, &arguments, &point));
    return point_condition(point, arguments);
}

static struct cps_err *edit(struct debugger *r, const struct cps_edit *edit)
{
    CPS_TRY(cps_debug_edit(r->session.debug, edit));
    command_show(r);
    return NULL;
}

struct cps_err *command_set_(struct debugger *r, const char *arguments, int go)
{
    const char *equals = strchr(arguments, '=');
    (void)go;
    if (!equals)
        return cps_err_new(CPS_ERR_SYNTAX, "expected set WHAT = EXPR");
    CPS_FREE char *left = strndup(arguments, (size_t)(equals - arguments));
    if (!left)
        return cps_err_nomem();
    for (size_t end = strlen(left); end && left[end - 1] == ' '; end--)
        left[end - 1] = '\0';
    CPS_TRY(expr_assign(&r->session, r->session.core, left, equals + 1, NULL));
    command_show(r);
    return NULL;
}

static bool find_label(void *context, const char *name, size_t length, uint32_t *ret)
{
    const struct session *s = context;
    return session_find_place(s, s->core, name, length, ret);
}

/* What a parser says of @p text, with the column; takes @p err over. */
static struct cps_err *at_column(struct cps_err *err, size_t column, const char *text)
{
    struct cps_err *ret =
        cps_err_new(CPS_ERR_SYNTAX, "column %zu of \"%s\": %s", column + 1, text, err->message);
    cps_err_free(err);
    return ret;
}

/* Stores an instruction, unit by unit; a longer one must not stand where a shorter one did. */
static struct cps_err *replace(struct debugger *r, uint64_t place, const struct cps_buf *code)
{
    const struct session *s = &r->session;
    unsigned unit = cps_isa_unit(session_engine(s)->ops->isa);
    uint32_t there = session_length(s, s->core, (uint32_t)place);
    if (code->size / unit != there)
        return cps_err_new(CPS_ERR_SYNTAX, "it takes %zu units, what is there takes %u",
                           code->size / unit, there);
    for (size_t i = 0; i < code->size / unit; i++) {
        uint64_t word = 0;
        for (unsigned k = unit; k--;)
            word = word << 8 | (uint8_t)code->data[i * unit + k];
        const struct cps_edit change = {.what = CPS_EDIT_PLACE,
                                        .place = {(uint8_t)s->core, CPS_FILE_CODE, place + i},
                                        .value = word};
        CPS_TRY(cps_debug_edit(s->debug, &change));
    }
    command_show(r);
    return NULL;
}

struct cps_err *command_patch_(struct debugger *r, const char *arguments, int go)
{
    const struct session *s = &r->session;
    const struct cps_engine *engine = session_engine(s);
    const char *colon = strchr(arguments, ':');
    const struct cps_parse_names names = {.names = session_names(s, s->core),
                                          .label = find_label,
                                          .context = (void *)s,
                                          .scheme = s->scheme};
    uint64_t place = 0;
    CPS_BUF code = {0};
    size_t column = 0;
    (void)go;
    if (!colon)
        return cps_err_new(CPS_ERR_SYNTAX, "expected patch PLACE: INSTRUCTION");
    CPS_FREE char *left = strndup(arguments, (size_t)(colon - arguments));
    if (!left)
        return cps_err_nomem();
    CPS_TRY(expr_eval(s, s->core, NULL, *left ? left : "$pc", &place));
    const char *text = cps_lex_blank(colon + 1);
    struct cps_err *err = cps_parse_bytes(engine->ops->isa, engine->gen, text, (uint32_t)place,
                                          &names, &column, &code);
    if (err)
        return at_column(err, column, text);
    return code.failed ? cps_err_nomem() : replace(r, place, &code);
}

struct cps_err *command_branch_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (strcmp(arguments, "taken") != 0 && strcmp(arguments, "not") != 0)
        return cps_err_new(CPS_ERR_SYNTAX, "expected branch taken, or branch not");
    return edit(r, &(struct cps_edit){.what = CPS_EDIT_BRANCH,
                                      .place = {.core = (uint8_t)r->session.core},
                                      .value = arguments[0] == 't'});
}

struct cps_err *command_inject_(struct debugger *r, const char *arguments, int go)
{
    const struct session *s = &r->session;
    const struct cps_pm4text_names names = {.names = session_names(s, s->core)};
    uint32_t words[512];
    uint32_t count = 0;
    size_t column = 0;
    (void)go;
    struct cps_err *err = cps_pm4text_packet(&names, arguments, words, 512, &count, &column);
    if (err)
        return at_column(err, column, arguments);
    return edit(r, &(struct cps_edit){.what = CPS_EDIT_PACKETS, .words = words, .count = count});
}

static struct cps_err *source_line(struct debugger *r, const char *path, unsigned number,
                                   char *line)
{
    cps_buf_printf(&r->out, "> %s\n", line);
    struct cps_err *err = command_run(r, line);
    return cps_err_within_(err, "%s:%u", path, number);
}

struct cps_err *command_source(struct debugger *r, const char *path)
{
    CPS_FREE char *text = NULL;
    char *line = NULL;
    unsigned number = 0;
    CPS_TRY(files_text(path, MAX_SCRIPT, &text));
    for (char *at = text; !r->quit && !r->session.limited && (line = files_line(&at));)
        CPS_TRY(source_line(r, path, ++number, line));
    return NULL;
}

struct cps_err *command_source_(struct debugger *r, const char *arguments, int go)
{
    (void)go;
    if (r->nested == 8)
        return cps_err_new(CPS_ERR_SYNTAX, "more than eight files that source each other");
    r->nested++;
    struct cps_err *err = command_source(r, arguments);
    r->nested--;
    return err;
}
