/* SPDX-License-Identifier: MIT
 * The debugger's commands: finding them, moves, completion. */
#include "tools/debug/command.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/debug/look.h"
#include "tools/debug/point.h"

enum completes { NONE, PLACE, VALUE, TOPIC, CORE };

static const struct row {
    const char *group, *name, *alias, *arguments;
    enum completes completes;
    struct cps_err *(*run)(struct debugger *debugger, const char *arguments, int go);
    int go;
    const char *help;
} rows[] = {
#define ROW(group, name, alias, arguments, completes, handler, go, help) \
    {group, name, alias, arguments, completes, command_##handler##_, go, help},
#include "tools/debug/command.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_word(const char *text, size_t length, const char *word)
{
    return word && strlen(word) == length && !memcmp(text, word, length);
}

/* A command by name or alias, else by a beginning that only one of them has. */
static const struct row *find_row(const char *word, size_t length)
{
    const struct row *found = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (is_word(word, length, rows[i].name) || is_word(word, length, rows[i].alias))
            return &rows[i];
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (strncmp(rows[i].name, word, length) != 0)
            continue;
        if (found)
            return NULL;
        found = &rows[i];
    }
    return found;
}

/* What a command says is shown only if it is whole, and if it is about what the machine did. */
static struct cps_err *check(struct debugger *r, struct cps_err *err)
{
    bool nomem = r->session.debug && cps_debug_nomem(r->session.debug);
    if (!nomem && !r->out.failed)
        return err;
    cps_buf_deinit(&r->out);
    cps_err_free(err);
    return cps_err_nomem();
}

struct cps_err *command_run(struct debugger *r, const char *line)
{
    line = cps_lex_blank(line);
    size_t length = strcspn(line, " \t/");
    if (!*line || *line == '#')
        return NULL;
    const struct row *row = length ? find_row(line, length) : NULL;
    if (!row)
        return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%.*s\"; try help", (int)length,
                           line);
    CPS_FREE char *arguments = strdup(cps_lex_blank(line + length));
    if (!arguments)
        return cps_err_nomem();
    r->session.spent = 0;
    for (size_t end = strlen(arguments); end && strchr(" \t\r\n", arguments[end - 1]); end--)
        arguments[end - 1] = '\0';
    return check(r, row->run(r, arguments, row->go));
}

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

static struct cps_err *read_count(const char *arguments, uint64_t *ret)
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

/* Why it stopped; a point that was for one time is gone then. */
static void tell_stop(struct debugger *r)
{
    look_stop(&r->session, &r->stop, &r->out);
    const struct cps_debug_point *p = cps_debug_find(r->session.debug, r->stop.point);
    if (p && p->once)
        point_remove(&r->session, p->id);
}

struct cps_err *command_move_(struct debugger *r, const char *arguments, int go)
{
    uint64_t count = 1;
    CPS_TRY(read_count(arguments, &count));
    r->moves++;
    look_read(&r->session, r->session.core, &r->before);
    do {
        r->stop = go < 0
                      ? cps_debug_back(r->session.debug, (enum cps_debug_go) ~go, r->session.core)
                      : cps_debug_run(r->session.debug, (enum cps_debug_go)go, r->session.core);
    } while (--count &&
             (r->stop.reason == CPS_WHY_GONE ||
              (r->stop.reason == CPS_WHY_POINT && (go == CPS_GO_ON || ~go == CPS_GO_ON))));
    tell_stop(r);
    r->moved = true;
    follow(r);
    command_show(r);
    return NULL;
}

static struct cps_err *go_to(struct debugger *r, const char *arguments, bool event)
{
    int64_t number = 0;
    const char *at = arguments;
    if (!cps_lex_number(&at, &number) || *at)
        return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number", arguments);
    r->moves++;
    look_read(&r->session, r->session.core, &r->before);
    r->stop = event ? cps_debug_goto_event(r->session.debug, (uint64_t)number)
                    : cps_debug_goto_step(r->session.debug, (uint64_t)number);
    look_stop(&r->session, &r->stop, &r->out);
    r->moved = true;
    command_show(r);
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

struct cps_err *command_help_(struct debugger *r, const char *arguments, int go)
{
    const char *group = "";
    const struct row *only = *arguments ? find_row(arguments, strlen(arguments)) : NULL;
    (void)go;
    if (*arguments && !only)
        return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%s\"", arguments);
    for (size_t i = 0; i < ROWS; i++) {
        CPS_BUF left = {0};
        if (only && only != &rows[i])
            continue;
        if (strcmp(group, rows[i].group) != 0 && !only)
            cps_buf_printf(&r->out, "%s:\n", rows[i].group);
        group = rows[i].group;
        cps_buf_printf(&left, "%s%s%s %s", rows[i].name, rows[i].alias ? ", " : "",
                       rows[i].alias ? rows[i].alias : "", rows[i].arguments);
        r->out.failed = r->out.failed || left.failed;
        cps_buf_printf(&r->out, "  %-32s %s\n", cps_buf_text(&left), rows[i].help);
    }
    return NULL;
}

struct cps_err *command_quit_(struct debugger *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    r->quit = true;
    return NULL;
}

struct cps_err *command_screen_(struct debugger *r, const char *arguments, int go)
{
    (void)arguments;
    (void)go;
    r->wants_screen = true;
    return NULL;
}

/* Counts down to the candidate that is wanted. */
static char *pick(const char *candidate, const char *word, unsigned *index)
{
    if (!candidate || strncmp(candidate, word, strlen(word)) != 0)
        return NULL;
    return (*index)-- == 0 ? strdup(candidate) : NULL;
}

static char *pick_place(const struct debugger *r, const char *word, unsigned *index)
{
    const struct cps_fw_part *part = NULL;
    const struct session *s = &r->session;
    const struct cps_fw *fw = session_fw(s, s->core, &part);
    char *ret = NULL;
    for (size_t i = 0; fw && !ret && i < fw->debug.symbol_count; i++) {
        if (fw->debug.symbols[i].part == session_part(fw, part))
            ret = pick(fw->debug.symbols[i].name, word, index);
    }
    for (unsigned id = 0; fw && !ret && !fw->debug.symbol_count && id < 128; id++)
        ret = pick(cps_name(session_names(s, s->core), CPS_SPACE_PACKET, id, NULL), word, index);
    return ret;
}

/* Registers by name, with the sign of their space. */
static char *pick_value(const struct debugger *r, const char *word, unsigned *index)
{
    static const struct {
        char sign;
        enum cps_space space;
        uint32_t count;
    } spaces[] = {{'@', CPS_SPACE_CONTROL, 0x1000},
                  {'%', CPS_SPACE_SQE, 0x40},
                  {'|', CPS_SPACE_PIPE, 0x100},
                  {0, CPS_SPACE_GPU, 0x40000}};
    const struct cps_names *names = session_names(&r->session, r->session.core);
    char *ret = NULL;
    size_t which = 0;
    while (spaces[which].sign && spaces[which].sign != *word)
        which++;
    if (!spaces[which].sign && strlen(word) < 2)
        return NULL; /* tens of thousands */
    for (uint32_t i = 0; !ret && i < spaces[which].count; i++) {
        unsigned part = 0;
        const char *name = cps_name(names, spaces[which].space, i, &part);
        CPS_BUF text = {0};
        if (!name || part)
            continue;
        cps_buf_printf(&text, "%s%s", (char[2]){spaces[which].sign, 0}, name);
        ret = pick(cps_buf_text(&text), word, index);
    }
    return ret;
}

char *command_complete(const struct debugger *r, const char *line, unsigned index, size_t *start)
{
    size_t length = strlen(line);
    char *ret = NULL;
    while (length && !strchr(" \t", line[length - 1]))
        length--;
    *start = length;
    const char *word = line + length;
    const char *command = cps_lex_blank(line);
    if (command == word) {
        for (size_t i = 0; !ret && i < ROWS; i++)
            ret = pick(rows[i].name, word, &index);
        return ret;
    }
    const struct row *row = find_row(command, strcspn(command, " \t/"));
    for (size_t i = 0; row && row->completes == TOPIC && !ret && command_topics[i]; i++)
        ret = pick(command_topics[i], word, &index);
    for (unsigned i = 0;
         row && row->completes == CORE && !ret && i < session_engine(&r->session)->cores; i++)
        ret = pick(session_core_name(&r->session, i), word, &index);
    if (row && !ret && (row->completes == PLACE || row->completes == VALUE))
        ret = pick_place(r, word, &index);
    if (row && !ret && row->completes == VALUE)
        ret = pick_value(r, word, &index);
    return ret;
}
