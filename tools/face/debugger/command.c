/* SPDX-License-Identifier: MIT
 * The debugger's commands: finding them, running them, completion, help. */
#include "tools/face/debugger/command.h"

#include <stdlib.h>
#include <string.h>

/* What the first argument of a command is; COUNT is read before the handler runs. */
enum takes { NONE, PLACE, VALUE, TOPIC, CORE, COUNT };
/* What an empty line does after it. */
enum again { SAME, BARE, ONCE };

static const struct row {
    const char *group, *name, *others, *arguments;
    enum takes takes;
    command_handler *run;
    int how;
    enum again again;
    const char *help;
} rows[] = {
#define ROW(group, name, others, arguments, takes, handler, how, again, help) \
    {group, name, others, arguments, takes, command_##handler##_, how, again, help},
#include "tools/face/debugger/command.def"
    {0},
};

/* The next of a row's names, from NULL; NULL after the last. */
static const char *next_name(const struct row *row, const char *name, size_t *length)
{
    if (name)
        name = name == row->name ? row->others : name + *length + strspn(name + *length, " ");
    else
        name = row->name;
    *length = strcspn(name, " ");
    return *length ? name : NULL;
}

/* Whether one of a row's names is the word, or only begins so. */
static bool has_name(const struct row *row, const char *word, size_t length, bool whole)
{
    size_t size = 0;
    const char *name = NULL;
    while ((name = next_name(row, name, &size))) {
        if ((whole ? size == length : size >= length) && !memcmp(name, word, length))
            return true;
    }
    return false;
}

/* The row of a word: by a name, else by a beginning that only one of them has; else NULL. */
static const struct row *find_row(const char *word, size_t length)
{
    const struct row *found = NULL;
    unsigned count = 0;
    for (const struct row *row = rows; length && row->name; row++) {
        if (has_name(row, word, length, true))
            return row;
        if (has_name(row, word, length, false) && !count++)
            found = row;
    }
    return count == 1 ? found : NULL;
}

static struct cps_err *unknown_command(const char *word, size_t length)
{
    CPS_BUF found = {0};
    unsigned count = 0;
    for (const struct row *row = rows; length && row->name; row++) {
        if (has_name(row, word, length, false))
            cps_buf_printf(&found, "%s%s", count++ ? ", " : "", row->name);
    }
    if (count > 1)
        return cps_err_new(CPS_ERR_SYNTAX, "\"%.*s\" is ambiguous: %s", (int)length, word,
                           tool_text(&found));
    return cps_err_new(CPS_ERR_SYNTAX, "no command is called \"%.*s\"; try help", (int)length,
                       word);
}

/* Bytes of the command at the beginning of a line: a word, or "!". */
static size_t word_length(const char *line)
{
    return *line == '!' ? 1 : strcspn(line, " \t/");
}

static struct cps_err *run_row(struct debugger *r, const struct row *row, const char *text)
{
    struct command_args args = {.text = text, .how = row->how, .count = 1};
    int64_t count = 1;
    if (row->takes == COUNT && *text) {
        CPS_TRY(command_number(text, 1, INT64_MAX, "a number from 1", &count));
        args.text = "";
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
    const struct row *row = find_row(word, length);
    if (!row)
        return unknown_command(word, length);
    r->session.line = line;
    struct cps_err *err = run_row(r, row, cps_lex_blank(word + length));
    r->session.line = outer;
    /* The output is whole, and about what the machine did. */
    tool_need(!r->out.failed && !(r->session.debug && cps_debug_nomem(r->session.debug)));
    return tool_err(err);
}

struct cps_err *command_run(struct debugger *r, const char *line)
{
    if (r->writing)
        return command_keep_line(r, line);
    const char *word = cps_lex_blank(line);
    if (*word && *word != '#') { /* the line that an empty one repeats */
        const struct row *row = find_row(word, word_length(word));
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

static void offer(struct cps_buf *out, const char *word, const char *name, size_t length)
{
    if (length >= strlen(word) && !strncmp(name, word, strlen(word)))
        cps_buf_printf(out, "%.*s\n", (int)length, name);
}

/* A command by its name; gdb's longer ones, too. */
static void offer_commands(const char *word, struct cps_buf *out)
{
    for (const struct row *row = rows; row->name; row++) {
        size_t length = 0;
        const char *name = NULL;
        while ((name = next_name(row, name, &length))) {
            if (name == row->name || length > 3)
                offer(out, word, name, length);
        }
    }
}

/* Labels, else packets. */
static void offer_places(const struct session *s, const char *word, struct cps_buf *out)
{
    unsigned part = 0;
    const struct cps_fw *fw = session_fw(s, s->core, &part);
    for (size_t i = 0; fw && i < fw->debug.symbol_count; i++) {
        const struct cps_fw_symbol *symbol = &fw->debug.symbols[i];
        if (symbol->part == part)
            offer(out, word, symbol->name, strlen(symbol->name));
    }
    for (unsigned id = 0; fw && !fw->debug.symbol_count && id < 128; id++) {
        const char *name = cps_name(session_names(s, s->core), CPS_SPACE_PACKET, id, NULL);
        if (name)
            offer(out, word, name, strlen(name));
    }
}

/* Registers by name, with the sign of their space. */
static void offer_values(const struct session *s, const char *word, struct cps_buf *out)
{
    static const struct {
        char sign[2];
        enum cps_space space;
        uint32_t count;
    } spaces[] = {{"@", CPS_SPACE_CONTROL, 0x1000},
                  {"%", CPS_SPACE_SQE, 0x40},
                  {"|", CPS_SPACE_PIPE, 0x100},
                  {"", CPS_SPACE_GPU, 0x40000}};
    size_t which = 0;
    while (*spaces[which].sign && *spaces[which].sign != *word)
        which++;
    if (!*spaces[which].sign && strlen(word) < 2)
        return; /* tens of thousands */
    for (uint32_t i = 0; i < spaces[which].count; i++) {
        unsigned part = 0;
        const char *name = cps_name(session_names(s, s->core), spaces[which].space, i, &part);
        CPS_BUF text = {0};
        if (!name || part)
            continue;
        cps_buf_printf(&text, "%s%s", spaces[which].sign, name);
        offer(out, word, tool_text(&text), text.size);
    }
}

size_t command_complete(const struct debugger *r, const char *line, struct cps_buf *out)
{
    const struct session *s = &r->session;
    size_t start = strlen(line);
    while (start && !strchr(" \t", line[start - 1]))
        start--;
    const char *word = line + start;
    const char *command = cps_lex_blank(line);
    const struct row *row = command == word ? NULL : find_row(command, word_length(command));
    enum takes takes = row ? row->takes : NONE;
    if (command == word)
        offer_commands(word, out);
    for (unsigned i = 0; takes == TOPIC && command_topic(i); i++)
        offer(out, word, command_topic(i), strlen(command_topic(i)));
    for (unsigned i = 0; takes == CORE && i < session_engine(s)->cores; i++)
        offer(out, word, session_core_name(s, i), strlen(session_core_name(s, i)));
    if (takes == PLACE || takes == VALUE)
        offer_places(s, word, out);
    if (takes == VALUE)
        offer_values(s, word, out);
    return start;
}

/* ---- help, quit, screen ---- */

static void put_help(const struct row *row, struct cps_buf *out)
{
    CPS_BUF left = {0};
    size_t length = 0;
    const char *name = NULL;
    while ((name = next_name(row, name, &length)))
        cps_buf_printf(&left, "%s%.*s", name == row->name ? "" : ", ", (int)length, name);
    cps_buf_printf(&left, "%s%s", *row->arguments ? " " : "", row->arguments);
    cps_buf_printf(out, "  %-32s%s%s\n", tool_text(&left),
                   left.size > 32 ? "\n                                   " : " ", row->help);
}

struct cps_err *command_help_(struct debugger *r, struct command_args *args)
{
    const char *group = "";
    const struct row *only = find_row(args->text, strlen(args->text));
    if (*args->text && !only)
        return unknown_command(args->text, strlen(args->text));
    if (only)
        put_help(only, &r->out);
    for (const struct row *row = rows; !only && row->name; row++) {
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
