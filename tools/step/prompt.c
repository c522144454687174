/* SPDX-License-Identifier: MIT
 * A line from a person at a terminal. */
#include "tools/step/prompt.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "tools/play/cachedir.h"
#include "tools/play/files.h"
#include "trace/outfile.h"

/* An interrupt at a prompt shall end the call that reads. libedit tries that call once more, and a
 * signal may come just before it: so an alarm follows, again and again until it has ended. */
static atomic_int interrupted;

static void ring(suseconds_t microseconds)
{
    const struct itimerval again = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &again, NULL);
}

static void on_interrupt(int signal)
{
    interrupted = 1;
    if (signal == SIGINT)
        ring(20000);
}

#ifdef CPS_HAVE_EDIT
#include <editline/readline.h>

enum { MOST_LINES = 1000 };           /* of history */
#define MAX_HISTORY ((size_t)1 << 20) /* bytes of its file */

static const struct debugger *completing;
static char history_path[4096];

/* The folder is made as private as its owner's other state; "": there is nowhere to keep it. */
static void find_history(void)
{
    const char *state = getenv("XDG_STATE_HOME");
    const char *home = getenv("HOME");
    int size = 0;
    if (state && *state == '/')
        size = snprintf(history_path, sizeof(history_path), "%s/cpscope/history", state);
    else if (home && *home == '/')
        size =
            snprintf(history_path, sizeof(history_path), "%s/.local/state/cpscope/history", home);
    if (size < 0 || (size_t)size >= sizeof(history_path))
        history_path[0] = '\0';
    if (history_path[0])
        cache_make_dirs(history_path, 0700);
}

void prompt_begin(void)
{
    CPS_FREE char *text = NULL;
    char *line = NULL;
    using_history();
    stifle_history(MOST_LINES);
    find_history();
    if (!history_path[0] || !files_is_regular(history_path))
        return;
    struct cps_err *err = files_text(history_path, MAX_HISTORY, &text);
    for (char *at = text; !err && (line = files_line(&at));) {
        if (*line)
            add_history(line);
    }
    cps_err_free(err);
}

void prompt_end(void)
{
    CPS_BUF text = {0};
    if (!history_path[0])
        return;
    for (int i = history_base; i < history_base + history_length; i++) {
        const HIST_ENTRY *entry = history_get(i);
        if (entry && entry->line)
            cps_buf_printf(&text, "%s\n", entry->line);
    }
    mode_t usual = umask(077); /* what somebody typed is for nobody else */
    struct cps_err *err = text.failed
                              ? cps_err_nomem()
                              : cps_outfile_whole(history_path, cps_buf_text(&text), text.size);
    umask(usual);
    if (err)
        fprintf(stderr, "cpscope: the history is not kept: %s\n", err->message);
    cps_err_free(err);
}

static char *candidate(const char *word, int state)
{
    static unsigned next;
    size_t start = 0;
    (void)word;
    next = state ? next + 1 : 0;
    return command_complete(completing, rl_line_buffer, next, &start);
}

static char **complete(const char *word, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(word, candidate);
}

static char *read_line(struct debugger *debugger, const char *prompt)
{
    static char breaks[] = " \t";
    completing = debugger;
    rl_basic_word_break_characters = breaks;
    rl_attempted_completion_function = debugger ? complete : NULL;
    char *line = readline(prompt);
    if (line && *line)
        add_history(line);
    return line;
}

#else

void prompt_begin(void)
{
}

void prompt_end(void)
{
}

static char *read_line(struct debugger *debugger, const char *prompt)
{
    char *line = NULL;
    size_t room = 0;
    (void)debugger;
    fputs(prompt, stdout);
    fflush(stdout);
    clearerr(stdin);
    if (getline(&line, &room, stdin) <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

#endif

char *prompt_line(struct debugger *debugger, const char *prompt)
{
    const struct sigaction at_prompt = {.sa_handler = on_interrupt};
    struct sigaction before;
    struct sigaction before_alarm;
    char *line = NULL;
    sigaction(SIGINT, &at_prompt, &before);
    sigaction(SIGALRM, &at_prompt, &before_alarm);
    do {
        interrupted = 0;
        line = read_line(debugger, prompt);
        ring(0);
        if (!line && interrupted)
            fputs("^C\n", stdout);
    } while (!line && interrupted);
    sigaction(SIGINT, &before, NULL);
    ring(0);
    sigaction(SIGALRM, &before_alarm, NULL);
    return line;
}
