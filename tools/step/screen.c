/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view: panes of text in a layout that is a table, keys that are
 * commands. */
#include "tools/step/screen.h"

#include <stdio.h>

#ifdef CPS_HAVE_CURSES
#include <curses.h>
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/look.h"
#include "tools/step/screen_line.h"

#define MIN_WIDTH  40
#define MIN_HEIGHT 12
#define WIDE       130

enum pane_id { CODE, REGISTERS, STREAMS, EVENTS, OUTPUT, PANES };

struct screen {
    struct debugger *debugger;
    struct cps_buf output; /* of commands */
    enum pane_id focus;
    int scroll[PANES]; /* lines, from where a pane shows by itself */
    uint32_t cursor;   /* dword in the code */
    bool entering;     /* a command is being typed */
    bool done;
    struct screen_line line;
};

/* A rectangle in percent of the area between the status line and the command line. */
struct part {
    int x, y, width, height; /* width 0: not shown */
};

static const struct layout {
    int min_width;
    struct part part[PANES];
} layouts[] = {
    {WIDE,
     {[CODE] = {0, 0, 42, 60},
      [EVENTS] = {0, 60, 42, 40},
      [REGISTERS] = {42, 0, 26, 45},
      [STREAMS] = {42, 45, 26, 55},
      [OUTPUT] = {68, 0, 32, 100}}},
    {0,
     {[CODE] = {0, 0, 55, 55},
      [EVENTS] = {0, 55, 55, 45},
      [REGISTERS] = {55, 0, 45, 75},
      [STREAMS] = {55, 75, 45, 25}}},
};

/* What the arrow keys do to a pane's text, and how its text is made. */
struct rectangle {
    int x, y, width, height;
};

static const char *const titles[] = {"code", "registers", "calls, packet, streams", "events",
                                     "output"};

static const char help[] = "s n p f c   step, next, packet, finish, continue\n"
                           "S N P F C   the same, backwards\n"
                           ":           a command (help lists them); Up, Down, Tab\n"
                           "Up Down     move in the code, or scroll the focused pane\n"
                           "PgUp PgDn   the same by pages; Home: back to where it stands\n"
                           "b           breakpoint at the cursor\n"
                           "g           go to a step; w: watch; o: output or events\n"
                           "Tab         focus the next pane;  1..9: processor\n"
                           "q           back to the prompt\n";

static struct session *session_of(const struct screen *s)
{
    return &s->debugger->session;
}

static const struct layout *layout_of(void)
{
    const struct layout *layout = layouts;
    while (layout->min_width > COLS)
        layout++;
    return layout;
}

/* Where a pane lies; output takes the place of events where it has none of its own. */
static bool place_of(const struct screen *s, enum pane_id pane, struct rectangle *ret)
{
    const struct layout *layout = layout_of();
    const struct part *p = &layout->part[pane];
    bool shared = !layout->part[OUTPUT].width;
    int rows = LINES - 2;
    if (shared && pane == OUTPUT && s->output.size)
        p = &layout->part[EVENTS];
    if (!p->width || (shared && pane == EVENTS && s->output.size))
        return false;
    *ret = (struct rectangle){COLS * p->x / 100, 1 + rows * p->y / 100, 0, 0};
    ret->width = COLS * (p->x + p->width) / 100 - ret->x;
    ret->height = 1 + rows * (p->y + p->height) / 100 - ret->y;
    return true;
}

/* Text of a pane, and the line that should be seen first. */
static int fill(struct screen *s, enum pane_id pane, const struct rectangle *r, struct cps_buf *out)
{
    struct session *session = session_of(s);
    int rows = r->height - 1;
    int lines = 0;
    switch (pane) {
    case CODE:
        look_code(session, session->core, s->cursor, (unsigned)rows, (unsigned)rows, out);
        break;
    case REGISTERS:
        look_registers(session, session->core, (unsigned)r->width,
                       s->debugger->moved ? &s->debugger->before : NULL, out);
        return 0;
    case STREAMS:
        look_backtrace(session, session->core, out);
        return 0;
    case EVENTS:
        look_events(session, 500, out);
        break;
    default:
        cps_buf_str(out, cps_buf_text(&s->output));
    }
    for (const char *at = cps_buf_text(out); *at; at++)
        lines += *at == '\n';
    return pane == CODE ? 0 : lines - rows;
}

/* The line of a listing that shows dword @p pc. */
static int code_line(const char *text, uint32_t pc)
{
    char mark[16];
    int line = 0;
    snprintf(mark, sizeof(mark), " %04" PRIx32 " ", pc);
    for (const char *at = text; *at; line++) {
        size_t length = strcspn(at, "\n");
        if (length > 8 && !strncmp(at + 3, mark, strlen(mark)))
            return line;
        at += length + (at[length] == '\n');
    }
    return 0;
}

static void highlight(const struct screen *s, enum pane_id pane, const struct rectangle *r, int row,
                      const char *text, size_t length)
{
    char cursor[16];
    snprintf(cursor, sizeof(cursor), " %04" PRIx32 " ", s->cursor);
    if (pane == CODE && length > 3 && !strncmp(text, "=>", 2))
        mvchgat(row, r->x, r->width - 1, A_BOLD, 0, NULL);
    if (pane == CODE && length > 8 && !strncmp(text + 3, cursor, strlen(cursor)))
        mvchgat(row, r->x + 4, 4, A_REVERSE, 0, NULL);
    for (size_t i = 0; pane == REGISTERS && i < length && (int)i < r->width - 1; i++) {
        if (text[i] == '*')
            mvchgat(row, r->x + (int)i, (int)strcspn(text + i, " ") + 9, A_BOLD, 0, NULL);
    }
}

static void draw_pane(struct screen *s, enum pane_id pane)
{
    struct rectangle r;
    CPS_BUF text = {0};
    if (!place_of(s, pane, &r) || r.height < 2)
        return;
    int first = fill(s, pane, &r, &text);
    if (pane == CODE)
        first = code_line(cps_buf_text(&text), s->cursor) - (r.height - 1) / 3;
    first += s->scroll[pane];
    mvhline(r.y, r.x, ' ' | A_REVERSE, r.width - 1);
    attrset(A_REVERSE | (s->focus == pane ? A_BOLD : 0));
    mvaddnstr(r.y, r.x + 1, titles[pane], r.width - 2);
    attrset(0);
    int line = 0;
    for (const char *at = cps_buf_text(&text); *at; line++) {
        size_t length = strcspn(at, "\n");
        int row = r.y + 1 + line - (first > 0 ? first : 0);
        if (row > r.y && row < r.y + r.height) {
            int shown = (int)length < r.width - 1 ? (int)length : r.width - 1;
            mvaddnstr(row, r.x, at, shown);
            highlight(s, pane, &r, row, at, length);
        }
        at += length + (at[length] == '\n');
    }
}

static void draw_status(struct screen *s)
{
    CPS_BUF text = {0};
    CPS_BUF why = {0};
    look_where(session_of(s), session_of(s)->core, &text);
    look_stop(session_of(s), &s->debugger->stop, &why);
    cps_buf_str(&text, why.size ? "| " : "");
    cps_buf_str(&text, cps_buf_text(&why));
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
    attrset(A_BOLD);
    mvaddnstr(0, 0, cps_buf_text(&text), COLS - 1);
    attrset(0);
}

static void draw(struct screen *s)
{
    erase();
    if (COLS < MIN_WIDTH || LINES < MIN_HEIGHT) {
        mvaddnstr(0, 0, "the terminal is too small", COLS - 1);
        refresh();
        return;
    }
    draw_status(s);
    for (unsigned pane = 0; pane < PANES; pane++)
        draw_pane(s, (enum pane_id)pane);
    if (s->entering) {
        mvaddch(LINES - 1, 0, ':');
        mvaddnstr(LINES - 1, 1, s->line.text, COLS - 2);
    } else {
        mvaddnstr(LINES - 1, 0, "? help   : command   q prompt", COLS - 1);
    }
    curs_set(s->entering);
    refresh();
}

static void follow(struct screen *s)
{
    s->cursor = cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc;
    memset(s->scroll, 0, sizeof(s->scroll));
}

/* Runs a command; what a move prints is on the screen anyway, the rest goes to the output. */
static void command(struct screen *s, const char *line, bool quiet)
{
    struct debugger *r = s->debugger;
    uint64_t step = cps_debug_place(r->session.debug).step;
    cps_buf_clear(&r->out);
    r->interrupt = 0;
    struct cps_err *err = command_run(r, line);
    if (err || (!quiet && cps_debug_place(r->session.debug).step == step)) {
        cps_buf_printf(&s->output, "> %s\n", line);
        cps_buf_str(&s->output, cps_buf_text(&r->out));
    }
    if (err)
        cps_buf_printf(&s->output, "%s\n", err->message);
    cps_err_free(err);
    cps_buf_clear(&r->out);
    follow(s);
    s->done = s->done || r->quit;
}

static void toggle_break(struct screen *s)
{
    const struct cps_debug_point *p = NULL;
    char line[64];
    uint32_t cursor = s->cursor;
    for (unsigned i = 0; (p = cps_debug_point(session_of(s)->debug, i)); i++) {
        if (p->what == CPS_AT_PC && p->pc == cursor && p->core == (int)session_of(s)->core)
            break;
    }
    if (p)
        snprintf(line, sizeof(line), "delete %d", p->id);
    else
        snprintf(line, sizeof(line), "break *0x%" PRIx32, cursor);
    command(s, line, true);
    s->cursor = cursor;
}

/* The instruction @p lines further on, or back. */
static uint32_t moved(const struct session *session, uint32_t at, int lines)
{
    const struct cps_isa *isa = session_engine(session)->ops->isa;
    uint32_t previous = 0;
    if (cps_isa_is_regular(isa))
        return (int64_t)at + lines < 0 ? at : (uint32_t)((int64_t)at + lines);
    for (; lines > 0; lines--)
        at += session_length(session, session->core, at);
    for (; lines < 0 && at; lines++, at = previous) {
        uint32_t next = previous = 0;
        while ((next = previous + session_length(session, session->core, previous)) < at)
            previous = next;
    }
    return at;
}

static void move_view(struct screen *s, int lines)
{
    struct session *session = session_of(s);
    uint64_t word = 0;
    if (s->focus != CODE) {
        s->scroll[s->focus] += lines;
        return;
    }
    uint32_t to = moved(session, s->cursor, lines);
    const struct cps_place at = {(uint8_t)session->core, CPS_FILE_CODE, to};
    if (cps_engine_get(session_engine(session), at, &word))
        s->cursor = to;
}

static void enter(struct screen *s, const char *text)
{
    s->entering = true;
    line_start(&s->line, text);
}

static void choose_core(struct screen *s, unsigned core)
{
    if (core >= session_engine(session_of(s))->cores)
        return;
    session_of(s)->core = core;
    s->debugger->moved = false;
    follow(s);
}

static void show_help(struct screen *s)
{
    cps_buf_clear(&s->output);
    cps_buf_str(&s->output, help);
    memset(s->scroll, 0, sizeof(s->scroll));
}

/* Keys that are commands. */
static const struct {
    int key;
    const char *command;
} keys[] = {{'s', "step"},     {'n', "next"},      {'p', "packet"}, {'f', "finish"},
            {'c', "continue"}, {'S', "rstep"},     {'N', "rnext"},  {'P', "rpacket"},
            {'F', "rfinish"},  {'C', "rcontinue"}, {'u', "submit"}, {'U', "rsubmit"}};

static void take_key(struct screen *s, int key)
{
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].key == key) {
            command(s, keys[i].command, true);
            return;
        }
    }
    if (key >= '1' && key <= '9')
        choose_core(s, (unsigned)(key - '1'));
    switch (key) {
    case ':':
        enter(s, "");
        break;
    case 'g':
        enter(s, "goto ");
        break;
    case 'w':
        enter(s, "watch ");
        break;
    case 'b':
        toggle_break(s);
        break;
    case 'o':
        cps_buf_clear(&s->output);
        break;
    case '?':
        show_help(s);
        break;
    case '\t':
        s->focus = (s->focus + 1) % PANES;
        break;
    case KEY_UP:
        move_view(s, -1);
        break;
    case KEY_DOWN:
        move_view(s, 1);
        break;
    case KEY_PPAGE:
        move_view(s, -10);
        break;
    case KEY_NPAGE:
        move_view(s, 10);
        break;
    case KEY_HOME:
        follow(s);
        break;
    case 'q':
        s->done = true;
        break;
    default:
        break;
    }
}

static void take_line_key(struct screen *s, int key)
{
    enum line_result result = line_key(&s->line, s->debugger, key);
    if (result == LINE_GOES_ON)
        return;
    s->entering = false;
    if (result == LINE_DONE)
        command(s, s->line.text, false);
}

static void run(struct screen *s)
{
    follow(s);
    while (!s->done) {
        draw(s);
        int key = getch();
        if (key == KEY_RESIZE || key == ERR)
            continue;
        if (s->entering)
            take_line_key(s, key);
        else
            take_key(s, key);
    }
}

void screen_run(struct debugger *debugger)
{
    struct screen *s = calloc(1, sizeof(*s));
    setlocale(LC_CTYPE, "");
    SCREEN *terminal = s ? newterm(NULL, stdout, stdin) : NULL;
    if (!terminal) {
        fputs("this terminal has no full-screen view\n", stderr);
        free(s);
        return;
    }
    s->debugger = debugger;
    session_opened(&debugger->session, &s->output);
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    set_escdelay(50);
    run(s);
    endwin();
    delscreen(terminal);
    cps_buf_deinit(&s->output);
    free(s);
}

#else

void screen_run(struct debugger *debugger)
{
    (void)debugger;
    fputs("built without ncurses: no full-screen view\n", stderr);
}

#endif
