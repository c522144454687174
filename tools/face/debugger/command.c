/* SPDX-License-Identifier: MIT
 * The debugger's commands: finding them, running them, help. */
#include "tools/face/debugger/command.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/lex.h"
#include "tools/face/debugger/command_private.h"

const struct command_row command_rows[] = {
#define ROW(group, name, others, arguments, completes, handler, go, again, help) \
    {group, name, others, arguments, completes, command_##handler##_, go, again, help},
#include "tools/face/debugger/command.def"
    {0},
};

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && !memcmp(text, word, length);
}

static bool is_other(const char *text, size_t length, const char *others)
{
    for (const char *at = others; *at; at += strspn(at, " ")) {
        size_t word = strcspn(at, " ");
        if (word == length && !memcmp(at, text, length))
            return true;
        at += word;
    }
    return false;
}

/* Whether one of a row's names begins so; those with a blank in front of them, too. */
static bool begins(const struct command_row *row, const char *word, size_t length)
{
    if (!strncmp(row->name, word, length))
        return true;
    for (const char *at = row->others; *at; at += strspn(at, " ")) {
        if (!strncmp(at, word, length))
            return true;
        at += strcspn(at, " ");
    }
    return false;
}

const struct command_row *command_find(const char *word, size_t length)
{
    const struct command_row *found = NULL;
    for (const struct command_row *row = command_rows; row->name; row++) {
        if (is_word(word, length, row->name) || is_other(word, length, row->others))
            return row;
    }
    for (const struct command_row *row = command_rows; row->name; row++) {
        if (!begins(row, word, length))
            continue;
        if (found)
            return NULL;
        found = row;
    }
    return found;
}

unsigned command_candidates(const char *word, size_t length, struct cps_buf *out)
{
    unsigned count = 0;
    for (const struct command_row *row = command_rows; row->name; row++) {
        if (begins(row, word, length))
            cps_buf_printf(out, "%s%s", count++ ? ", " : "", row->name);
    }
    return count;
}

static struct cps_err *unknown(const char *word, size_t length)
{
    CPS_BUF found = {0};
    if (length && command_candidates(word, length, &found) > 1)
        return cps_err_new(CPS_ERR_SYNTAX, "\"%.*s\" is ambiguous: %s", (int)length, word,
                           cps_buf_text(&found));
    return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%.*s\"; try help", (int)length,
                       word);
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

size_t command_word(const char *line)
{
    return *line == '!' ? 1 : strcspn(line, " \t/");
}

/* What an empty line will stand for. */
static void keep_repeat(struct debugger *r, const char *line)
{
    const struct command_row *row = command_find(line, command_word(line));
    if (!*line || *line == '#')
        return;
    cps_buf_clear(&r->repeat);
    if (row && row->again != ONCE)
        cps_buf_str(&r->repeat, row->again == BARE ? row->name : line);
}

struct cps_err *command_one(struct debugger *r, const char *typed)
{
    const char *outer = r->session.line;
    if (!*cps_lex_blank(typed) || *cps_lex_blank(typed) == '#')
        return NULL;
    CPS_FREE char *line = strdup(typed);
    if (!line)
        return cps_err_nomem();
    for (size_t end = strlen(line); end && strchr(" \t\r\n", line[end - 1]); end--)
        line[end - 1] = '\0';
    const char *word = cps_lex_blank(line);
    size_t length = command_word(word);
    const struct command_row *row = length ? command_find(word, length) : NULL;
    if (!row)
        return unknown(word, length);
    r->session.line = line;
    struct cps_err *err = row->run(r, cps_lex_blank(word + length), row->go);
    r->session.line = outer;
    return check(r, err);
}

struct cps_err *command_run(struct debugger *r, const char *line)
{
    if (r->writing)
        return command_keep_line(r, line);
    keep_repeat(r, cps_lex_blank(line));
    r->session.spent = 0;
    r->hit = 0;
    CPS_TRY(command_one(r, line));
    return command_run_hits(r);
}

const char *command_repeat(const struct debugger *r)
{
    return r->writing ? "" : cps_buf_text(&r->repeat);
}

void command_deinit(struct debugger *r)
{
    point_clear(&r->session);
    for (size_t i = 0; i < r->shown_count; i++)
        free(r->shown[i].text);
    free(r->shown);
    r->shown = NULL;
    r->shown_count = 0;
    cps_buf_deinit(&r->lines);
    cps_buf_deinit(&r->repeat);
    cps_buf_deinit(&r->why);
    cps_buf_deinit(&r->out);
}

static void put_help(const struct command_row *row, struct cps_buf *out)
{
    CPS_BUF left = {0};
    cps_buf_str(&left, row->name);
    for (const char *at = row->others; *at; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");
        cps_buf_printf(&left, ", %.*s", (int)length, at);
        at += length;
    }
    cps_buf_printf(&left, "%s%s", *row->arguments ? " " : "", row->arguments);
    out->failed = out->failed || left.failed;
    cps_buf_printf(out, "  %-32s%s%s\n", cps_buf_text(&left),
                   left.size > 32 ? "\n                                   " : " ", row->help);
}

struct cps_err *command_help_(struct debugger *r, const char *arguments, int go)
{
    const char *group = "";
    size_t length = strlen(arguments);
    const struct command_row *only = length ? command_find(arguments, length) : NULL;
    (void)go;
    if (length && !only)
        return unknown(arguments, length);
    for (const struct command_row *row = only ? only : command_rows; row->name; row++) {
        if (strcmp(group, row->group) != 0 && !only)
            cps_buf_printf(&r->out, "%s:\n", row->group);
        group = row->group;
        put_help(row, &r->out);
        if (only)
            break;
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
    if (!r->has_terminal)
        return cps_err_new(CPS_ERR_SYNTAX, "screen: there is no terminal here that shows it");
    r->wants_screen = true;
    return NULL;
}
