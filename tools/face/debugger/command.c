/* SPDX-License-Identifier: MIT
 * The debugger's commands: finding them, running them, completion, help. */
#include "tools/face/debugger/command.h"

#include <stdlib.h>
#include <string.h>

#include "tools/face/debugger/command_private.h"

const struct command_row command_rows[] = {
#define ROW(group, name, others, arguments, takes, handler, how, again, help) \
    {group, name, others, arguments, takes, command_##handler##_, how, again, help},
#include "tools/face/debugger/command.def"
    {0},
};

/* Whether one of a row's names is the word, or only begins so. */
static bool has_name(const struct command_row *row, const char *word, size_t length, bool whole)
{
    const char *name = row->name;
    const char *others = row->others;
    for (size_t size = strlen(name); size; size = strcspn(name, " ")) {
        if ((whole ? size == length : size >= length) && !memcmp(name, word, length))
            return true;
        name = others + strspn(others, " ");
        others = name + strcspn(name, " ");
    }
    return false;
}

const struct command_row *command_find(const char *word, size_t length)
{
    const struct command_row *found = NULL;
    for (const struct command_row *row = command_rows; row->name; row++) {
        if (has_name(row, word, length, true))
            return row;
    }
    for (const struct command_row *row = command_rows; row->name; row++) {
        if (!has_name(row, word, length, false))
            continue;
        if (found)
            return NULL;
        found = row;
    }
    return found;
}

static struct cps_err *unknown_command(const char *word, size_t length)
{
    CPS_BUF found = {0};
    unsigned count = 0;
    for (const struct command_row *row = command_rows; length && row->name; row++) {
        if (has_name(row, word, length, false))
            cps_buf_printf(&found, "%s%s", count++ ? ", " : "", row->name);
    }
    if (count > 1)
        return cps_err_new(CPS_ERR_SYNTAX, "\"%.*s\" is ambiguous: %s", (int)length, word,
                           cps_buf_text(&found));
    return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%.*s\"; try help", (int)length,
                       word);
}

/* Bytes of the command at the beginning of a line: a word, or "!". */
static size_t word_length(const char *line)
{
    return *line == '!' ? 1 : strcspn(line, " \t/");
}

static struct cps_err *run_row(struct debugger *r, const struct command_row *row, const char *text)
{
    struct command_args args = {.text = text, .how = row->how, .count = 1};
    int64_t count = 1;
    if (row->takes == COUNT && *text) {
        if (!cps_lex_number(&args.text, &count) || *args.text || count < 1)
            return cps_err_new(CPS_ERR_SYNTAX, "%s: expected a number from 1", text);
        args.count = (uint64_t)count;
    }
    return row->run(r, &args);
}

struct cps_err *command_one(struct debugger *r, const char *typed)
{
    const char *outer = r->session.line;
    if (!*cps_lex_blank(typed) || *cps_lex_blank(typed) == '#')
        return NULL;
    CPS_FREE char *line = tool_strdup(typed);
    for (size_t end = strlen(line); end && strchr(" \t\r\n", line[end - 1]); end--)
        line[end - 1] = '\0';
    const char *word = cps_lex_blank(line);
    size_t length = word_length(word);
    const struct command_row *row = length ? command_find(word, length) : NULL;
    if (!row)
        return unknown_command(word, length);
    r->session.line = line;
    struct cps_err *err = run_row(r, row, cps_lex_blank(word + length));
    r->session.line = outer;
    /* What it says is whole, and about what the machine did. */
    tool_need(!r->out.failed && !(r->session.debug && cps_debug_nomem(r->session.debug)));
    return tool_err(err);
}

struct cps_err *command_run(struct debugger *r, const char *line)
{
    if (r->writing)
        return command_keep_line(r, line);
    const char *word = cps_lex_blank(line);
    const struct command_row *row = command_find(word, word_length(word));
    if (*word && *word != '#') { /* what an empty line will stand for */
        cps_buf_clear(&r->repeat);
        if (row && row->again != ONCE)
            cps_buf_str(&r->repeat, row->again == BARE ? row->name : word);
    }
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

/* ---- completion ---- */

/* Counts down to the candidate that is wanted. */
static char *pick_candidate(const char *candidate, const char *word, unsigned *index)
{
    if (!candidate || strncmp(candidate, word, strlen(word)) != 0)
        return NULL;
    return (*index)-- == 0 ? tool_strdup(candidate) : NULL;
}

static char *pick_place(const struct debugger *r, const char *word, unsigned *index)
{
    const struct cps_fw_part *part = NULL;
    const struct session *s = &r->session;
    const struct cps_fw *fw = session_fw(s, s->core, &part);
    char *ret = NULL;
    for (size_t i = 0; fw && !ret && i < fw->debug.symbol_count; i++) {
        if (fw->debug.symbols[i].part == session_part(fw, part))
            ret = pick_candidate(fw->debug.symbols[i].name, word, index);
    }
    for (unsigned id = 0; fw && !ret && !fw->debug.symbol_count && id < 128; id++)
        ret = pick_candidate(cps_name(session_names(s, s->core), CPS_SPACE_PACKET, id, NULL), word,
                             index);
    return ret;
}

/* Registers by name, with the sign of their space. */
static char *pick_value(const struct debugger *r, const char *word, unsigned *index)
{
    static const struct {
        char sign[2];
        enum cps_space space;
        uint32_t count;
    } spaces[] = {{"@", CPS_SPACE_CONTROL, 0x1000},
                  {"%", CPS_SPACE_SQE, 0x40},
                  {"|", CPS_SPACE_PIPE, 0x100},
                  {"", CPS_SPACE_GPU, 0x40000}};
    char *ret = NULL;
    size_t which = 0;
    while (*spaces[which].sign && *spaces[which].sign != *word)
        which++;
    if (!*spaces[which].sign && strlen(word) < 2)
        return NULL; /* tens of thousands */
    for (uint32_t i = 0; !ret && i < spaces[which].count; i++) {
        unsigned part = 0;
        const char *name =
            cps_name(session_names(&r->session, r->session.core), spaces[which].space, i, &part);
        CPS_BUF text = {0};
        if (!name || part)
            continue;
        cps_buf_printf(&text, "%s%s", spaces[which].sign, name);
        ret = pick_candidate(tool_text(&text), word, index);
    }
    return ret;
}

/* A command by its name; gdb's longer ones, too. */
static char *pick_command(const char *word, unsigned *index)
{
    char *ret = NULL;
    for (const struct command_row *row = command_rows; !ret && row->name; row++) {
        ret = pick_candidate(row->name, word, index);
        for (const char *at = row->others; !ret && *at; at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            CPS_FREE char *other = length > 3 ? strndup(at, length) : NULL;
            ret = pick_candidate(other, word, index);
            at += length;
        }
    }
    return ret;
}

char *command_complete(const struct debugger *r, const char *line, unsigned index, size_t *start)
{
    const struct session *s = &r->session;
    size_t length = strlen(line);
    while (length && !strchr(" \t", line[length - 1]))
        length--;
    *start = length;
    const char *word = line + length;
    const char *command = cps_lex_blank(line);
    if (command == word)
        return pick_command(word, &index);
    const struct command_row *row = command_find(command, word_length(command));
    char *ret = NULL;
    for (unsigned i = 0; row && row->takes == TOPIC && !ret && command_topic(i); i++)
        ret = pick_candidate(command_topic(i), word, &index);
    for (unsigned i = 0; row && row->takes == CORE && !ret && i < session_engine(s)->cores; i++)
        ret = pick_candidate(session_core_name(s, i), word, &index);
    if (row && (row->takes == PLACE || row->takes == VALUE))
        ret = pick_place(r, word, &index);
    return row && row->takes == VALUE && !ret ? pick_value(r, word, &index) : ret;
}

/* ---- help, quit, screen ---- */

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
    cps_buf_printf(out, "  %-32s%s%s\n", tool_text(&left),
                   left.size > 32 ? "\n                                   " : " ", row->help);
}

struct cps_err *command_help_(struct debugger *r, struct command_args *args)
{
    const char *group = "";
    size_t length = strlen(args->text);
    const struct command_row *only = length ? command_find(args->text, length) : NULL;
    if (length && !only)
        return unknown_command(args->text, length);
    if (only)
        put_help(only, &r->out);
    for (const struct command_row *row = command_rows; !only && row->name; row++) {
        if (strcmp(group, row->group) != 0)
            cps_buf_printf(&r->out, "%s:\n", row->group);
        group = row->group;
        put_help(row, &r->out);
    }
    return NULL;
}

struct cps_err *command_quit_(struct debugger *r, struct command_args *args)
{
    (void)args;
    r->quit = true;
    return NULL;
}

struct cps_err *command_screen_(struct debugger *r, struct command_args *args)
{
    (void)args;
    if (!r->has_terminal)
        return cps_err_new(CPS_ERR_SYNTAX, "screen: there is no terminal here that shows it");
    r->wants_screen = true;
    return NULL;
}
