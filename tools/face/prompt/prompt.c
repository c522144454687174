/* SPDX-License-Identifier: MIT
 * A line from a person at a terminal. */
#define _GNU_SOURCE /* ppoll() */
#include "tools/face/prompt/prompt.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "trace/out/outfile.h"

#ifdef CPS_HAVE_EDIT
static const int handled[] = {SIGINT, SIGWINCH, SIGTSTP, SIGTERM, SIGHUP, SIGQUIT};
#else
static const int handled[] = {SIGINT};
#endif
enum { HANDLED = sizeof(handled) / sizeof(handled[0]) };

/* They are blocked except while the prompt waits for a key: each comes between two keys, and none
 * between a check of `came` and the wait. */
static volatile sig_atomic_t came; /* the signal that ended the wait; 0: none */
static sigset_t while_waiting;
static bool interrupted;
static bool ended; /* by a signal that somebody else handles */
static struct sigaction before[HANDLED];

static void on_signal(int signal)
{
    came = signal;
}

/* Waits for a byte of stdin. @return 1: it is there; 0: `came` has a signal; -1: never */
static int wait_for_key(void)
{
    struct pollfd in = {STDIN_FILENO, POLLIN, 0};
    came = 0;
    if (ppoll(&in, 1, NULL, &while_waiting) == 1)
        return 1;
    return errno == EINTR ? 0 : -1;
}

#ifdef CPS_HAVE_EDIT
#include <editline/readline.h>
#include <sys/ioctl.h>
#include <wchar.h>

enum { MOST_LINES = 1000 };           /* of history */
enum { MIN_ROWS = 8, MIN_COLS = 20 }; /* libedit draws outside of its buffers on less */
#define MAX_HISTORY ((size_t)1 << 20) /* bytes of its file */

static const struct debugger *completing;
static char history_path[4096];
static bool begins; /* no key of the line was asked for: libedit has taken the window's size */

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

static struct winsize window_size(void)
{
    struct winsize size = {0};
    if (ioctl(STDIN_FILENO, TIOCGWINSZ, &size) != 0)
        size = (struct winsize){0};
    size.ws_row = size.ws_row ? size.ws_row : 24;
    size.ws_col = size.ws_col ? size.ws_col : 80;
    return size;
}

static bool is_small(struct winsize size)
{
    return size.ws_row < MIN_ROWS || size.ws_col < MIN_COLS;
}

/* The second call forgets where the cursor was: it may be outside of the new window. */
static void resize_line(struct winsize size)
{
    rl_set_screen_size(size.ws_row < MIN_ROWS ? MIN_ROWS : size.ws_row,
                       size.ws_col < MIN_COLS ? MIN_COLS : size.ws_col);
    fputc('\r', stdout);
    rl_forced_update_display();
}

/* Does what the signal does elsewhere: stops or ends the process, or calls a handler. */
static void raise_usual(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    struct sigaction ours;
    sigset_t one;
    for (size_t i = 0; i < HANDLED; i++)
        usual = handled[i] == number ? before[i] : usual;
    ended = usual.sa_handler != SIG_DFL;
    sigemptyset(&one);
    sigaddset(&one, number);
    sigaction(number, &usual, &ours);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
    sigaction(number, &ours, NULL);
}

/* libedit's own handler resizes while a line is being drawn. */
static void on_change(int signal)
{
    if (signal == SIGWINCH) {
        resize_line(window_size());
    } else if (signal == SIGINT) {
        interrupted = true;
    } else if (signal) {
        rl_deprep_terminal();
        raise_usual(signal);
        rl_prep_terminal(0);
        resize_line(window_size());
    }
}

/* A character, or EOF: also where an interrupt ends the line. */
static int next_key(FILE *in)
{
    mbstate_t state = {0};
    wchar_t character = 0;
    char byte = 0;
    (void)in;
    if (begins && is_small(window_size()))
        resize_line(window_size());
    begins = false;
    for (;;) {
        int ready = wait_for_key();
        if (!ready)
            on_change(came);
        if (ready < 0 || interrupted || ended || (ready && read(STDIN_FILENO, &byte, 1) != 1))
            return EOF;
        size_t used = ready ? mbrtowc(&character, &byte, 1, &state) : (size_t)-2;
        if (used == (size_t)-1)
            state = (mbstate_t){0}; /* what is no character is left out */
        else if (used != (size_t)-2)
            return (int)character;
    }
}

void prompt_begin(void)
{
    CPS_FREE char *text = NULL;
    char *line = NULL;
    rl_catch_signals = 0;
    rl_getc_function = next_key;
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
    mode_t usual = umask(077); /* the history is private */
    struct cps_err *err = text.failed
                              ? cps_err_nomem()
                              : cps_outfile_whole(history_path, cps_buf_text(&text), text.size);
    umask(usual);
    if (err)
        fprintf(stderr, "cpscope: the history is not saved: %s\n", err->message);
    cps_err_free(err);
}

static char *next_candidate(const char *word, int state)
{
    static struct cps_buf all;
    static char *next;
    (void)word;
    if (!state) {
        cps_buf_clear(&all);
        command_complete(completing, rl_line_buffer, &all);
        next = all.data;
    }
    const char *line = files_line(&next);
    return line ? tool_strdup(line) : NULL;
}

static char **complete_word(const char *word, int start, int end)
{
    (void)start;
    (void)end;
    rl_attempted_completion_over = 1;
    return rl_completion_matches(word, next_candidate);
}

static char *read_line(struct debugger *debugger, const char *prompt)
{
    static char breaks[] = " \t";
    completing = debugger;
    rl_basic_word_break_characters = breaks;
    rl_attempted_completion_function = debugger ? complete_word : NULL;
    begins = true;
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

/* The terminal gives whole lines. */
static char *read_line(struct debugger *debugger, const char *prompt)
{
    char *line = NULL;
    size_t room = 0;
    (void)debugger;
    fputs(prompt, stdout);
    fflush(stdout);
    interrupted = wait_for_key() == 0;
    clearerr(stdin);
    if (interrupted || getline(&line, &room, stdin) <= 0) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return line;
}

#endif

char *prompt_line(struct debugger *debugger, const char *prompt)
{
    struct sigaction at_prompt = {.sa_handler = on_signal};
    sigset_t blocked;
    sigset_t mask;
    char *line = NULL;
    sigfillset(&at_prompt.sa_mask); /* one handler runs per wait: `came` loses none */
    sigemptyset(&blocked);
    for (size_t i = 0; i < HANDLED; i++) {
        sigaction(handled[i], NULL, &before[i]);
        if (before[i].sa_handler == SIG_IGN)
            continue;
        sigaddset(&blocked, handled[i]);
        sigaction(handled[i], &at_prompt, NULL);
    }
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    while_waiting = mask;
    do {
        interrupted = false;
        line = read_line(debugger, prompt);
        if (interrupted)
            fputs("^C\n", stdout);
    } while (interrupted);
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &before[i], NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (ended)
        free(CPS_TAKE(line));
    return line;
}
