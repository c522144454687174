/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view: panes of text in a layout that is a table, keys that are
 * commands; and what moves the views of panes. A click of the mouse shows a pane, or puts its
 * cursor on a line; a second one is Enter; the wheel moves the view. Searching goes through all
 * code, events as far back as they are kept, else through the pane's text; the case of letters does
 * not matter. */
#define _GNU_SOURCE /* strcasestr() */
#include <curses.h>
#include <inttypes.h>
#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

#define ESCAPE_DELAY 25 /* ms: of a key's bytes the next one comes sooner */
#define MOST_ERRORS  16 /* reads of a terminal that is gone */

#define ALL_EVENTS 65536u
#define WHEEL      3 /* lines */

/* Looks as far back as there are events. */
static void show_all_events(struct screen *s, struct pane *p)
{
    uint32_t lines = p->lines;
    s->events = ALL_EVENTS;
    p->filled = 0;
    screen_make_(s, PANE_EVENTS, p->width);
    p->cursor += (int)(p->lines - lines);
    p->top += (int)(p->lines - lines);
}

void screen_move_(struct screen *s, int lines)
{
    struct pane *p = &s->pane[s->focus];
    int shown = p->height < (int)p->lines ? p->height : (int)p->lines;
    if (s->focus == PANE_CODE) {
        screen_move_code_(s, lines);
        return;
    }
    if (p->cursor < 0) /* from what is seen */
        p->cursor = lines < 0                                   ? p->top + shown
                    : screen_panes_[s->focus].flags & PANE_ENDS ? p->top + shown - 1
                                                                : p->top - 1;
    p->cursor += lines;
    if (p->cursor < 0 && s->focus == PANE_EVENTS && s->events != ALL_EVENTS)
        show_all_events(s, p);
    p->cursor = p->cursor < 0 ? 0 : p->cursor;
    if (p->cursor >= (int)p->lines)
        p->cursor = (int)p->lines - 1;
}

/* ---- what Enter, or a second click, does on a line ---- */

static void enter_nothing(struct screen *s, const char *line)
{
    (void)s;
    (void)line;
}

/* A pane that asks whether to go a long way goes it now, on whichever line. */
static void enter_asking(struct screen *s, const char *line)
{
    (void)line;
    if (!strstr(cps_buf_text(&s->pane[s->focus].raw), "Enter runs them")) {
        screen_ask_(s, s->focus);
        return;
    }
    s->long_way = cps_debug_location(session_of(s)->debug).step;
    s->changes++;
}

static void enter_code(struct screen *s, const char *line)
{
    char command[48];
    (void)line;
    const struct session *session = session_of(s);
    if (s->cursor == cps_engine_where(session_engine(session), session->core).pc)
        return;
    snprintf(command, sizeof(command), "tbreak *0x%" PRIx32, s->cursor);
    screen_command_(s, command, true);
    screen_command_(s, "continue", true);
}

static void enter_events(struct screen *s, const char *line)
{
    char command[48];
    char *end = NULL;
    uint64_t number = strtoull(line, &end, 10);
    snprintf(command, sizeof(command), "event %" PRIu64, number);
    if (end != line)
        screen_command_(s, command, true);
}

/* "=> bv    0104 CP_NOP": a processor; "#1  0104 CP_NOP": a place in its code. */
static void enter_calls(struct screen *s, const char *line)
{
    const char *name = line + strspn(line, "=> ");
    char *end = NULL;
    for (unsigned i = 0; i < session_engine(session_of(s))->cores; i++) {
        const char *core = session_core_name(session_of(s), i);
        if (strncmp(name, core, strlen(core)) != 0 || name[strlen(core)] != ' ')
            continue;
        screen_choose_core_(s, i);
        return;
    }
    const char *place = *line == '#' ? strchr(line, ' ') : NULL;
    uint32_t pc = place ? (uint32_t)strtoul(place, &end, 16) : 0;
    if (!place || end == place)
        return;
    s->cursor = pc;
    screen_choose_(s, PANE_CODE);
}

static void (*const enter[PANES])(struct screen *s, const char *line) = {
#define PANE(id, key, title, flags, offered, fill, enter, ...) enter_##enter,
#include "tools/face/screen/screen_pane.def"
};

void screen_act_(struct screen *s)
{
    const struct pane_row *row = &screen_panes_[s->focus];
    struct pane *p = &s->pane[s->focus];
    int last = row->flags & PANE_ENDS ? (int)p->lines - 1 : 0;
    CPS_FREE char *line = tool_strdup(screen_line_of_(p, p->cursor >= 0 ? p->cursor : last));
    enter[s->focus](s, line);
}

/* ---- the mouse ---- */

/* Moves the view of a pane alone. */
static void scroll_pane(struct screen *s, enum pane_id pane, int lines)
{
    struct pane *p = &s->pane[pane];
    if (pane == PANE_CODE) {
        screen_move_code_(s, lines);
        return;
    }
    p->top += lines;
    p->top = p->top < 0 ? 0 : p->top;
    if (p->cursor < 0 && screen_panes_[pane].flags & PANE_ENDS)
        p->cursor = p->top;
    if (p->cursor >= 0 && p->cursor < p->top)
        p->cursor = p->top;
    if (p->cursor >= p->top + p->height)
        p->cursor = p->top + p->height - 1;
}

/* In code the line shows which instruction. @return whether the cursor was there */
static bool click_code(struct screen *s, int line)
{
    const char *text = screen_line_of_(&s->pane[PANE_CODE], line);
    uint32_t before = s->cursor;
    uint32_t pc = strlen(text) < 9 ? 0 : (uint32_t)strtoul(text + 4, NULL, 16);
    if (!screen_shows_code_(text, pc))
        return false; /* a label */
    s->cursor = pc;
    return before == pc;
}

static void click_pane(struct screen *s, const struct slot *slot, int y, int x)
{
    struct pane *p = &s->pane[slot->shown];
    int line = p->top + y - slot->y - 1;
    bool focused = s->focus == slot->shown;
    if (y == slot->y) {
        screen_choose_(s, screen_tab_at_(slot, x));
        return;
    }
    screen_choose_(s, slot->shown);
    if (line < 0 || line >= (int)p->lines)
        return;
    bool again = slot->shown == PANE_CODE ? click_code(s, line) : p->cursor == line;
    p->cursor = slot->shown == PANE_CODE ? -1 : line;
    if (again && focused)
        screen_act_(s);
}

#ifndef BUTTON5_PRESSED
#define BUTTON5_PRESSED 0 /* of an old curses: the wheel only goes up */
#endif
#define CLICKS (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED)

void screen_mouse_(struct screen *s)
{
    MEVENT event;
    if (getmouse(&event) != OK)
        return;
    int wheel = event.bstate & BUTTON5_PRESSED   ? WHEEL
                : event.bstate & BUTTON4_PRESSED ? -WHEEL
                                                 : 0;
    if (s->help) {
        s->help_top += wheel;
        return;
    }
    for (unsigned i = 0; i < s->slots; i++) {
        const struct slot *slot = &s->slot[i];
        if (event.y < slot->y || event.y >= slot->y + slot->height || event.x < slot->x ||
            event.x >= slot->x + slot->width)
            continue;
        if (wheel)
            scroll_pane(s, slot->shown, wheel);
        else if (event.bstate & CLICKS)
            click_pane(s, slot, event.y, event.x);
        if (event.bstate & BUTTON1_DOUBLE_CLICKED) /* curses joins those that come at once */
            click_pane(s, slot, event.y, event.x);
        return;
    }
}

/* ---- searching ---- */

/* Through the image once: the nearest instruction whose line, or the name of whose place, has it;
 * else the one at the other end. */
static bool search_code(struct screen *s, int direction)
{
    const struct session *session = session_of(s);
    int64_t first = -1;
    int64_t before = -1;
    int64_t after = -1;
    int64_t last = -1;
    for (uint32_t at = 0; screen_is_code_(session, at);
         at += session_length(session, session->core, at)) {
        CPS_BUF text = {0};
        look_code(session, session->core, at, 0, 0, &text);
        if (!strcasestr(tool_text(&text), s->search))
            continue;
        first = first < 0 ? at : first;
        before = at < s->cursor ? at : before;
        after = after < 0 && at > s->cursor ? at : after;
        last = at;
    }
    int64_t found = direction > 0 ? (after < 0 ? first : after) : before < 0 ? last : before;
    s->cursor = found < 0 ? s->cursor : (uint32_t)found;
    return found >= 0;
}

static bool search_lines(struct screen *s, int direction)
{
    struct pane *p = &s->pane[s->focus];
    if (s->focus == PANE_EVENTS && s->events != ALL_EVENTS) {
        int cursor = p->cursor;
        int top = p->top;
        show_all_events(s, p);
        p->cursor = cursor < 0 ? -1 : p->cursor;
        p->top = top;
    }
    int lines = (int)p->lines;
    int at = p->cursor < 0 && direction < 0 ? lines : p->cursor;
    for (int i = 0; i < lines; i++) {
        at += direction;
        at = at < 0 ? lines - 1 : at >= lines ? 0 : at;
        if (!strcasestr(screen_line_of_(p, at), s->search))
            continue;
        p->cursor = at;
        return true;
    }
    return false;
}

void screen_search_(struct screen *s, int direction)
{
    cps_buf_clear(&s->message);
    if (!s->search[0]) {
        cps_buf_str(&s->message, "/ searches");
        return;
    }
    s->found = true;
    if (!(s->focus == PANE_CODE ? search_code(s, direction) : search_lines(s, direction)))
        cps_buf_printf(&s->message, "%s: not in this pane", s->search);
}

/* ---- the terminal ---- */

static void start_screen(struct screen *s)
{
    for (unsigned i = 0; i < PANES; i++)
        s->pane[i].cursor = -1;
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(ESCAPE_DELAY);
    mouseinterval(0);
    mousemask(CLICKS | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
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
