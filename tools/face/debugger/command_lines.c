/* SPDX-License-Identifier: MIT
 * Lines of commands from elsewhere than the prompt: files, points, the system's shell. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "isa/base/within.h"
#include "tools/face/debugger/command.h"
#include "tools/run/files.h"

#define MAX_SCRIPT ((size_t)64 << 20) /* bytes of a file of commands */
#define MAX_LINES  ((size_t)1 << 20)  /* bytes of a point's commands */

/* ---- commands of a point ---- */

struct cps_err *command_commands_(struct debugger *r, struct command_args *args)
{
    struct cps_debug_point *point = NULL;
    const char *text = *args->text ? args->text : "$bpnum";
    CPS_TRY(command_find_point(r, &text, &point));
    r->writing = point->id;
    cps_buf_clear(&r->lines);
    return NULL;
}

struct cps_err *command_keep_line(struct debugger *r, const char *line)
{
    line = cps_lex_blank(line);
    size_t length = strcspn(line, "\r\n");
    while (length && strchr(" \t", line[length - 1]))
        length--;
    if (cps_lex_is(line, length, "end")) {
        struct cps_debug_point *point = cps_debug_find(r->session.debug, r->writing);
        struct typed_point *typed = point ? point->context : NULL;
        r->writing = 0;
        if (!typed)
            return NULL;
        free(typed->commands);
        typed->commands = r->lines.size ? tool_strdup(tool_text(&r->lines)) : NULL;
        return NULL;
    }
    if (r->lines.size + length > MAX_LINES) {
        r->writing = 0;
        return cps_err_new(CPS_ERR_SYNTAX, "commands: more than %zu bytes, expected \"end\"",
                           MAX_LINES);
    }
    cps_buf_printf(&r->lines, "%.*s\n", (int)length, line);
    return NULL;
}

/* After a line that moves, the rest is about another place: it is dropped, as in gdb. */
static struct cps_err *run_lines(struct debugger *r, char *lines)
{
    uint64_t moves = r->moves;
    char *line = NULL;
    if (!strncmp(lines, "silent\n", 7))
        lines += 7;
    while (r->moves == moves && !r->quit && (line = files_line(&lines)))
        CPS_TRY(command_one(r, line));
    return NULL;
}

/* A move among the commands may stop at a point that has some, and so on, without a bound. */
struct cps_err *command_run_hits(struct debugger *r)
{
    struct cps_err *err = NULL;
    while (!err && r->hit && !r->quit && !session_interrupted(&r->session)) {
        int id = r->hit;
        const struct cps_debug_point *point = cps_debug_find(r->session.debug, id);
        const struct typed_point *typed = point ? point->context : NULL;
        CPS_FREE char *lines = typed && typed->commands ? tool_strdup(typed->commands) : NULL;
        r->hit = 0;
        session_count_instructions(&r->session, CPS_DEBUG_INTERRUPT);
        if (lines)
            err = run_lines(r, lines);
        point = cps_debug_find(r->session.debug, id);
        if (point && point->once)
            point_remove(&r->session, id);
    }
    return err;
}

/* ---- files ---- */

struct cps_err *command_source(struct debugger *r, const char *path)
{
    CPS_FREE char *text = NULL;
    char *line = NULL;
    unsigned number = 0;
    struct cps_err *err = NULL;
    CPS_TRY(files_text(path, MAX_SCRIPT, &text));
    for (char *at = text; !err && !r->quit && !r->session.limited && (line = files_line(&at));) {
        r->session.spent = 0;
        number++;
        cps_buf_printf(&r->out, "> %s\n", line);
        err = r->writing ? command_keep_line(r, line) : command_one(r, line);
        if (!err && !r->writing)
            err = command_run_hits(r);
    }
    bool unended = r->writing && !err;
    r->writing = 0;
    if (unended)
        return cps_err_new(CPS_ERR_SYNTAX, "%s: ends inside commands, expected \"end\"", path);
    return cps_err_within_(err, "%s:%u", path, number);
}

struct cps_err *command_source_(struct debugger *r, struct command_args *args)
{
    if (!*args->text)
        return cps_err_new(CPS_ERR_SYNTAX, "source: expected a file of commands");
    if (r->nested == 8)
        return cps_err_new(CPS_ERR_SYNTAX, "more than eight files that source each other");
    r->nested++;
    struct cps_err *err = command_source(r, args->text);
    r->nested--;
    return err;
}

/* ---- text, shell ---- */

struct cps_err *command_echo_(struct debugger *r, struct command_args *args)
{
    for (const char *at = args->text; *at; at++) {
        bool escaped = *at == '\\' && at[1];
        at += escaped;
        cps_buf_printf(&r->out, "%c", escaped && *at == 'n' ? '\n' : *at);
    }
    return NULL;
}

/* A line of the user's for the system's shell, which has the terminal meanwhile. An interrupt there
 * is for the program that runs. */
static struct cps_err *run_shell(const char *line)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction before;
    sigaction(SIGPIPE, &usual, &before);
    int status = system(*line ? line : "/bin/sh");
    sigaction(SIGPIPE, &before, NULL);
    if (status < 0)
        return cps_err_os("/bin/sh", "run");
    return status ? cps_err_new(CPS_ERR_INPUT, "shell: it ended with %s %d",
                                WIFEXITED(status) ? "status" : "signal",
                                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status))
                  : NULL;
}

struct cps_err *command_shell_(struct debugger *r, struct command_args *args)
{
    if (!r->flush)
        return cps_err_new(CPS_ERR_SYNTAX, "shell: there is no terminal here that it could use");
    CPS_TRY(r->flush(r));
    return run_shell(args->text);
}
