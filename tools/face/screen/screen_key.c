/* SPDX-License-Identifier: MIT
 * The keys of the full-screen view, and the line at its bottom. */
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"
#include "tools/run/files.h"

/* ---- the line at the bottom ---- */

static void keep_line(struct screen_line *line)
{
    if (!line->text[0] || (line->count && !strcmp(line->history[line->count - 1], line->text)))
        return;
    TOOL_ROOM(line->history, line->count);
    memcpy(line->history[line->count++], line->text, sizeof(line->text));
}

static void recall_line(struct screen_line *line, int direction)
{
    unsigned wanted = direction > 0 ? line->back + 1 : line->back ? line->back - 1 : 0;
    if (wanted > line->count)
        return;
    line->back = wanted;
    line->text[0] = '\0';
    if (wanted)
        memcpy(line->text, line->history[line->count - wanted], sizeof(line->text));
}

/* Each Tab shows the next candidate for what was typed; after the last one, that again. */
static void complete_line(struct screen_line *line, const struct debugger *debugger)
{
    CPS_BUF all = {0};
    if (!line->candidate)
        memcpy(line->typed, line->text, sizeof(line->typed));
    size_t start = command_complete(debugger, line->typed, &all);
    char *at = all.data;
    char *found = files_line(&at);
    for (unsigned i = 0; i < line->candidate; i++)
        found = files_line(&at);
    line->candidate = found ? line->candidate + 1 : 0;
    snprintf(line->text, sizeof(line->text), "%.*s%s",
             found ? (int)start : (int)sizeof(line->typed), line->typed, found ? found : "");
}

#define HELP_COLUMN 13

/* What keys do, as screen_key.def names it. */
enum key_action {
    DO_RUN,
    DO_BREAK,
    DO_TYPE,
    DO_FIND,
    DO_ASK,
    DO_LINE,
    DO_PAGE,
    DO_EDGE,
    DO_SHIFT,
    DO_ENTER,
    DO_SEARCH,
    DO_PANE,
    DO_CORE,
    DO_ZOOM,
    DO_ALL,
    DO_EMPTY,
    DO_REDRAW,
    DO_HELP,
    DO_ESCAPE,
    DO_QUIT
};

/* ---- commands ---- */

static void hide_output(struct screen *s)
{
    s->pane[PANE_OUTPUT].recent = 0;
    if (s->focus == PANE_OUTPUT)
        screen_choose_(s, s->back);
}

/* Its first lines in one. */
static void set_message(struct screen *s, const char *text)
{
    cps_buf_clear(&s->message);
    for (; *text; text += *text == '\n' ? strspn(text, "\n ") : 1) {
        if (*text != '\n')
            cps_buf_add(&s->message, text, 1);
        else if (text[strspn(text, "\n ")])
            cps_buf_str(&s->message, " | ");
    }
}

static void keep_output(struct screen *s, const char *line, const char *text)
{
    cps_buf_printf(&s->output, "> %s\n%s", line, text);
    s->pane[PANE_OUTPUT].cursor = -1;
    s->pane[PANE_OUTPUT].recent = ++s->chosen;
    const struct slot *slot = screen_slot_of_(s, s->focus);
    for (unsigned i = 0; slot && i < slot->panes; i++) {
        if (slot->pane[i] == PANE_OUTPUT) /* which hides what has the keys */
            screen_choose_(s, PANE_OUTPUT);
    }
    s->unasked = true;
}

void screen_command_(struct screen *s, const char *line, bool quiet)
{
    struct debugger *r = s->debugger;
    uint64_t step = cps_debug_location(r->session.debug).step;
    cps_buf_clear(&r->out);
    r->interrupt = 0;
    move(LINES - 1, 0);
    clrtoeol();
    mvaddnstr(LINES - 1, 0, "running; Ctrl-C stops", COLS - 1);
    refresh();
    struct cps_err *err = command_run(r, line);
    if (!err && r->writing) {
        r->writing = 0; /* keys are no lines */
        err = cps_err_new(CPS_ERR_SYNTAX, "commands: works at the prompt only (q returns to it)");
    }
    bool moved = cps_debug_location(r->session.debug).step != step;
    cps_buf_clear(&s->message);
    if (err)
        cps_buf_printf(&r->out, "%s\n", err->message);
    if (err && quiet)
        set_message(s, err->message);
    else if (moved)
        set_message(s, cps_buf_text(&r->why));
    if (moved && s->message.size >= (size_t)COLS) /* the whole of it */
        cps_buf_printf(&s->output, "> %s\n%s", line, cps_buf_text(&r->why));
    if ((err || !moved) && !quiet && r->out.size)
        keep_output(s, line, cps_buf_text(&r->out));
    else if (quiet && !moved && !err)
        set_message(s, cps_buf_text(&r->out));
    if (moved && s->unasked) { /* what showed itself goes when the machine moves */
        s->unasked = false;
        hide_output(s);
    }
    cps_err_free(err);
    cps_buf_clear(&r->out);
    r->wants_screen = false; /* it is here */
    clearok(curscr, !quiet); /* a command may have written to the terminal */
    screen_follow_(s);
    s->done = s->done || r->quit;
}

/* Begins it with a text. */
static void begin_line(struct screen *s, enum entering what, const char *text)
{
    s->entering = what;
    snprintf(s->line.text, sizeof(s->line.text), "%s", text);
    s->line.back = s->line.candidate = 0;
}

void screen_ask_(struct screen *s, enum pane_id pane)
{
    if (!screen_panes_[pane].asks)
        return;
    s->asking = pane;
    begin_line(s, ENTERING_ASKED, s->pane[pane].asked);
}

/* A place's name, or an expression; the view goes there, the run stays. */
static void go_to_code(struct screen *s, const char *place)
{
    const struct session *session = session_of(s);
    uint32_t pc = 0;
    uint64_t value = 0;
    struct cps_err *err = NULL;
    if (session_find_place(session, session->core, place, strlen(place), &pc))
        value = pc;
    else
        err = expr_eval(session, session->core, NULL, place, &value);
    if (err)
        set_message(s, err->message);
    else if (!screen_is_code_(session, value))
        set_message(s, "no code is there");
    else
        s->cursor = (uint32_t)value;
    cps_err_free(err);
}

static void take_asked(struct screen *s)
{
    if (s->asking == PANE_CODE) {
        go_to_code(s, s->line.text);
        return;
    }
    struct pane *p = &s->pane[s->asking];
    snprintf(p->asked, sizeof(p->asked), "%s", s->line.text + strspn(s->line.text, " "));
    p->top = 0;
    p->cursor = -1;
    s->long_way = cps_debug_location(session_of(s)->debug).step; /* asked for: however long it is */
    s->changes++;
}

static void finish_line(struct screen *s, enum entering what)
{
    if (what == ENTERING_COMMAND)
        screen_command_(s, s->line.text, false);
    if (what == ENTERING_ASKED)
        take_asked(s);
    if (what == ENTERING_SEARCH && s->line.text[0])
        snprintf(s->search, sizeof(s->search), "%s", s->line.text);
    if (what == ENTERING_SEARCH)
        screen_search_(s, 1);
}

static void take_line_key(struct screen *s, int key)
{
    struct screen_line *line = &s->line;
    enum entering what = s->entering;
    size_t length = strlen(line->text);
    if (key == '\t') {
        complete_line(line, s->debugger);
        return;
    }
    line->candidate = 0;
    switch (key) {
    case '\n':
    case '\r':
    case KEY_ENTER:
        keep_line(line);
        s->entering = ENTERING_NOTHING;
        finish_line(s, what);
        break;
    case 27: /* Escape */
        s->entering = ENTERING_NOTHING;
        break;
    case KEY_UP:
        recall_line(line, 1);
        break;
    case KEY_DOWN:
        recall_line(line, -1);
        break;
    case KEY_BACKSPACE:
    case 127:
    case 8:
        if (length)
            line->text[length - 1] = '\0';
        else
            s->entering = ENTERING_NOTHING;
        break;
    case 21: /* Ctrl-U */
        line->text[0] = '\0';
        break;
    default:
        if (key >= ' ' && key < 127 && length + 1 < sizeof(line->text)) {
            line->text[length] = (char)key;
            line->text[length + 1] = '\0';
        }
    }
}

/* ---- keys ---- */

static void toggle_break(struct screen *s)
{
    char line[64];
    uint32_t cursor = s->cursor;
    const struct cps_debug_point *p = point_at(session_of(s), session_of(s)->core, cursor, false);
    if (p)
        snprintf(line, sizeof(line), "delete %d", p->id);
    else
        snprintf(line, sizeof(line), "break *0x%" PRIx32, cursor);
    screen_command_(s, line, true);
    s->cursor = cursor;
}

static void go_to_edge(struct screen *s, bool last)
{
    struct pane *p = &s->pane[s->focus];
    if (s->focus == PANE_CODE && !last)
        screen_follow_(s);
    else if (s->focus == PANE_CODE)
        screen_move_code_(s, INT32_MAX);
    else if (screen_panes_[s->focus].flags & PANE_ENDS && last)
        p->cursor = -1;
    else
        p->cursor = last ? (int)p->lines - 1 : 0;
    p->left = 0;
}

/* The next pane that is shown, or of tabs where there is one place only. */
static void choose_next_pane(struct screen *s, bool back)
{
    unsigned at = s->focus;
    for (unsigned i = 0; i < PANES; i++) {
        at = (at + (back ? PANES - 1 : 1)) % PANES;
        if (screen_panes_[at].offered(session_of(s)) &&
            (s->slots == 1 || screen_slot_of_(s, (enum pane_id)at)))
            break;
    }
    screen_choose_(s, (enum pane_id)at);
}

static void toggle_zoom(struct screen *s)
{
    s->zoom = !s->zoom;
    screen_new_layout_(s);
}

static void leave_begun(struct screen *s)
{
    if (s->found || s->message.size)
        s->found = false;
    else if (s->zoom)
        toggle_zoom(s);
    else if (s->back != s->focus && screen_panes_[s->back].offered(session_of(s)))
        screen_choose_(s, s->back);
    cps_buf_clear(&s->message);
}

static void do_key(struct screen *s, enum key_action action, const char *argument)
{
    struct pane *p = &s->pane[s->focus];
    int number = argument ? atoi(argument) : 0;
    unsigned cores = session_engine(session_of(s))->cores;
    switch (action) {
    case DO_RUN:
        screen_command_(s, argument, true);
        break;
    case DO_BREAK:
        toggle_break(s);
        break;
    case DO_TYPE:
        begin_line(s, ENTERING_COMMAND, argument);
        break;
    case DO_FIND:
        begin_line(s, ENTERING_SEARCH, "");
        break;
    case DO_ASK:
        screen_ask_(s, s->focus);
        break;
    case DO_LINE:
        screen_move_(s, number);
        break;
    case DO_PAGE:
        screen_move_(s, number * (p->height > 2 ? p->height - 1 : 1));
        break;
    case DO_EDGE:
        go_to_edge(s, number > 0);
        break;
    case DO_SHIFT:
        p->left += number;
        if (p->left < 0 || screen_panes_[s->focus].flags & (PANE_WRAPS | PANE_FITS))
            p->left = 0;
        break;
    case DO_ENTER:
        screen_act_(s);
        break;
    case DO_SEARCH:
        screen_search_(s, number);
        break;
    case DO_PANE:
        choose_next_pane(s, number < 0);
        break;
    case DO_CORE:
        screen_new_layout_(s);
        screen_choose_core_(s, (session_of(s)->core + (number > 0 ? 1 : cores - 1)) % cores);
        break;
    case DO_ZOOM:
        toggle_zoom(s);
        break;
    case DO_ALL:
        s->all = !s->all;
        s->changes++;
        break;
    case DO_EMPTY:
        cps_buf_clear(&s->output);
        cps_buf_clear(&s->message);
        s->changes++;
        hide_output(s);
        break;
    case DO_REDRAW:
        s->changes++;
        clearok(curscr, TRUE);
        break;
    case DO_HELP:
        s->help = true;
        s->help_top = 0;
        break;
    case DO_ESCAPE:
        leave_begun(s);
        break;
    case DO_QUIT:
        s->done = true;
    }
}

/* ---- the table ---- */

static const struct {
    int key[2];
    enum key_action action;
    const char *argument[2], *label, *help;
} keys[] = {
#define KEY(key, other, action, argument, of_other, label, help) \
    {{key, other}, DO_##action, {argument, of_other}, label, help},
#include "tools/face/screen/screen_key.def"
};
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* What a key or a pane does, beside it. */
static void put_help(struct cps_buf *out, const char *label, const char *help)
{
    CPS_BUF lines = {0};
    screen_wrap_(&lines, help, COLS - HELP_COLUMN - 1, 0);
    for (const char *at = cps_buf_text(&lines); *at; label = "") {
        size_t length = strcspn(at, "\n");
        cps_buf_printf(out, "  %-*s%.*s\n", HELP_COLUMN - 2, label, (int)length, at);
        at += length + 1;
    }
}

void screen_help_text_(const struct screen *s, struct cps_buf *out)
{
    cps_buf_str(out, "keys\n");
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].label)
            put_help(out, keys[i].label, keys[i].help);
    }
    cps_buf_str(out, "panes\n");
    for (unsigned i = 0; i < PANES; i++) {
        const struct pane_row *row = &screen_panes_[i];
        char label[32];
        snprintf(label, sizeof(label), "%c %s", row->key, row->title);
        if (row->offered(session_of(s)))
            put_help(out, label, row->help);
    }
}

static void take_help_key(struct screen *s, int key)
{
    int page = LINES > 4 ? LINES - 4 : 1;
    switch (key) {
    case KEY_UP:
        s->help_top--;
        break;
    case KEY_DOWN:
        s->help_top++;
        break;
    case KEY_PPAGE:
        s->help_top -= page;
        break;
    case KEY_NPAGE:
    case ' ':
        s->help_top += page;
        break;
    case KEY_HOME:
        s->help_top = 0;
        break;
    default:
        s->help = key != 27 && key != 'q' && key != '?' && key != '\n' && key != '\r';
    }
}

void screen_take_(struct screen *s, int key)
{
    if (key == KEY_MOUSE && !s->entering) {
        screen_mouse_(s);
        return;
    }
    if (s->entering || s->help) {
        (s->entering ? take_line_key : take_help_key)(s, key);
        return;
    }
    size_t i = key ? 0 : KEYS; /* 0 is no second key */
    while (i < KEYS && keys[i].key[0] != key && keys[i].key[1] != key)
        i++;
    if (i < KEYS)
        do_key(s, keys[i].action, keys[i].argument[keys[i].key[0] != key]);
    else
        screen_choose_(s, screen_pane_of_(s, key));
}
