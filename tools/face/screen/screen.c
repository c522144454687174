/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view: panes of text in a layout that is a table, keys that are
 * commands. */
#include "tools/face/screen/screen.h"

#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>

#include "tools/face/screen/screen_private.h"

#define ESCAPE_DELAY 25 /* ms: of a key's bytes the next one comes sooner */
#define MOST_ERRORS  16 /* reads of a terminal that is gone */

static void start_screen(struct screen *s)
{
    for (unsigned i = 0; i < PANES; i++)
        s->pane[i].cursor = -1;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_DELAY);
    mouseinterval(0);
    mousemask((mmask_t)screen_mouse_events_(), NULL);
    screen_paint_start_(s);
    session_opened(session_of(s), &s->output);
    s->focus = s->back = PANE_CODE;
    if (s->output.size)
        s->pane[PANE_OUTPUT].recent = ++s->chosen;
    while (!screen_panes_[s->focus].offered(session_of(s)))
        s->focus = s->back = (enum pane_id)(s->focus + 1);
}

static void show_panes(struct screen *s)
{
    int errors = 0;
    screen_follow_(s);
    while (!s->done && errors < MOST_ERRORS) {
        screen_draw_(s);
        errno = 0;
        int key = getch();
        errors = key != ERR ? 0 : errors + (errno != EINTR);
        if (key == KEY_RESIZE)
            screen_new_layout_(s);
        else if (key != ERR)
            screen_take_(s, key);
    }
}

/* The library's handlers draw on the screen, or walk the list of screens. */
static const int handled[] = {SIGINT, SIGTERM, SIGTSTP, SIGWINCH};
enum { HANDLED = sizeof(handled) / sizeof(handled[0]) };
static struct sigaction librarys[HANDLED]; /* it installs them once in a process */
static bool installed;

/* Frees the terminal with the signals blocked, and puts back the handlers from before it. */
static void close_terminal(SCREEN *terminal, const struct sigaction before[HANDLED])
{
    sigset_t blocked;
    sigset_t mask;
    sigemptyset(&blocked);
    for (size_t i = 0; i < HANDLED; i++)
        sigaddset(&blocked, handled[i]);
    sigprocmask(SIG_BLOCK, &blocked, &mask);
    endwin();
    delscreen(terminal);
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], &before[i], &librarys[i]);
    installed = true;
    sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void leave_terminal(void)
{
    endwin();
}

void screen_run(struct debugger *debugger)
{
    struct sigaction before[HANDLED];
    setlocale(LC_CTYPE, "");
    for (size_t i = 0; i < HANDLED; i++)
        sigaction(handled[i], NULL, &before[i]);
    SCREEN *terminal = screen_has_terminal_() ? newterm(NULL, stdout, stdin) : NULL;
    if (!terminal) {
        fputs("this terminal has no full-screen view\n", stderr);
        return;
    }
    for (size_t i = 0; i < HANDLED && installed; i++)
        sigaction(handled[i], &librarys[i], NULL);
    void (*oom_handler)(void) = tool_oom_handler;
    tool_oom_handler = leave_terminal;
    struct screen *s = tool_alloc(1, sizeof(*s));
    struct cps_err *(*flush)(struct debugger *) = debugger->flush;
    s->debugger = debugger;
    debugger->flush = NULL; /* the terminal is not the shell's */
    start_screen(s);
    show_panes(s);
    close_terminal(terminal, before);
    tool_oom_handler = oom_handler;
    debugger->flush = flush;
    screen_paint_end_();
    cps_buf_deinit(&s->output);
    cps_buf_deinit(&s->message);
    free(s->line.history);
    for (unsigned i = 0; i < PANES; i++) {
        cps_buf_deinit(&s->pane[i].raw);
        cps_buf_deinit(&s->pane[i].text);
        free(s->pane[i].start);
    }
    free(s);
}
