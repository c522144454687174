/* SPDX-License-Identifier: MIT
 * Drawing the full-screen view: everything anew each time; curses sends what changed. Colours where
 * the terminal has some and the user wants them, else bold and reversed letters, as far as it has
 * those. */
#include <ctype.h>
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

/* ---- what parts look like ---- */

/* Bright black, where there are sixteen colours; else the terminal's own. */
#define GREY 8

static const struct style {
    attr_t plain;         /* without colours */
    short colour, ground; /* -1: the terminal's own */
    attr_t attr;
} styles[LOOKS] = {
    [LOOKS_PLAIN] = {0, -1, -1, 0},
    [LOOKS_TITLE] = {A_REVERSE, COLOR_WHITE, COLOR_BLUE, 0},
    [LOOKS_FOCUS] = {A_REVERSE | A_BOLD, COLOR_BLACK, COLOR_CYAN, 0},
    [LOOKS_HEAD] = {A_BOLD, -1, -1, A_BOLD},
    [LOOKS_NAME] = {0, COLOR_CYAN, -1, 0},
    [LOOKS_CHANGE] = {A_BOLD, COLOR_YELLOW, -1, A_BOLD},
    [LOOKS_FAINT] = {0, GREY, -1, 0},
    [LOOKS_NOW] = {A_BOLD, COLOR_GREEN, -1, A_BOLD},
    [LOOKS_POINT] = {A_BOLD, COLOR_RED, -1, A_BOLD},
    [LOOKS_CURSOR] = {A_REVERSE, -1, -1, A_REVERSE},
    [LOOKS_MATCH] = {A_UNDERLINE | A_BOLD, COLOR_BLACK, COLOR_YELLOW, 0},
};

void screen_paint_start_(struct screen *s)
{
    const char *none = getenv("NO_COLOR");
    s->colours = !(none && *none) && has_colors() && start_color() == OK;
    if (!s->colours)
        return;
    bool own = use_default_colors() == OK;
    for (short i = 1; i < LOOKS; i++) {
        short colour = styles[i].colour < COLORS ? styles[i].colour : -1;
        init_pair(i, colour < 0 && !own ? COLOR_WHITE : colour,
                  styles[i].ground < 0 && !own ? COLOR_BLACK : styles[i].ground);
    }
}

/* Changes how @p count columns look. */
static void paint_columns(const struct screen *s, int y, int x, int count, enum paint_id looks)
{
    const struct style *style = &styles[looks];
    if (count > 0 && y >= 0 && y < LINES && x >= 0 && x < COLS)
        mvchgat(y, x, count < COLS - x ? count : COLS - x, s->colours ? style->attr : style->plain,
                s->colours ? (short)looks : 0, NULL);
}

/* A line of which columns from @p left on are seen at @p x. */
struct view {
    const struct screen *s;
    int y, x, width, left;
    const char *text;
    size_t length;
};

static void paint_part(const struct view *v, size_t from, size_t count, enum paint_id looks)
{
    int begin = (int)from - v->left;
    int end = begin + (int)count;
    begin = begin < 0 ? 0 : begin;
    end = end > v->width ? v->width : end;
    paint_columns(v->s, v->y, v->x + begin, end - begin, looks);
}

static bool begins_with(const struct view *v, const char *with)
{
    size_t size = strlen(with);
    return v->length >= size && !memcmp(v->text, with, size);
}

/* "=>* 00fd c6430059  breq ..."; labels end with a colon. */
static void paint_code(const struct view *v)
{
    char cursor[16];
    if (v->length && *v->text != ' ' && v->text[v->length - 1] == ':')
        paint_part(v, 0, v->length, LOOKS_HEAD);
    size_t word = v->length > 9 && *v->text ? 4 + strspn(v->text + 4, "0123456789abcdef") : 0;
    if (word > 4 && v->text[word] == ' ') {
        size_t bytes = strcspn(v->text + word + 1, " ");
        paint_part(v, 4, word + 1 + bytes - 4, LOOKS_FAINT);
    }
    if (begins_with(v, "=>"))
        paint_part(v, 0, v->length, LOOKS_NOW);
    if (begins_with(v, "->"))
        paint_part(v, 0, 2, LOOKS_NOW);
    if (v->length > 3 && v->text[2] == '*')
        paint_part(v, 2, 1, LOOKS_POINT);
    snprintf(cursor, sizeof(cursor), " %04" PRIx32 " ", v->s->cursor);
    if (v->length > 8 && !strncmp(v->text + 3, cursor, strlen(cursor)))
        paint_part(v, 4, strlen(cursor) - 2, LOOKS_CURSOR);
}

/* "*$02 00000001": what the last move changed. */
static void paint_registers(const struct view *v)
{
    for (size_t i = 0; i < v->length; i++) {
        if (v->text[i] != '*')
            continue;
        size_t name = strcspn(v->text + i, " ");
        size_t blank = i + name < v->length ? strspn(v->text + i + name, " ") : 0;
        paint_part(v, i, name + blank + 8, LOOKS_CHANGE);
    }
}

/* Words of capitals, as registers, packets and fields have them, that stand alone. */
static void paint_names(const struct view *v)
{
    for (size_t i = 0; i < v->length;) {
        size_t size = strspn(v->text + i, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_[].");
        bool alone = !i || strchr(" (=", v->text[i - 1]);
        size = size < v->length - i ? size : v->length - i;
        if (alone && size > 2 && isupper((unsigned char)v->text[i]))
            paint_part(v, i, size, LOOKS_NAME);
        i += size ? size : 1;
    }
}

static void paint_events(const struct view *v)
{
    size_t number = strspn(v->text, " ");
    number += strspn(v->text + number, "0123456789");
    paint_names(v);
    paint_part(v, 0, number < v->length ? number : v->length, LOOKS_FAINT);
}

static void paint_packet(const struct view *v)
{
    enum { WORD = 15 }; /* "=>  1  00000001" */
    paint_names(v);
    if (begins_with(v, " . "))
        paint_part(v, 0, WORD, LOOKS_FAINT);
    if (begins_with(v, "=>"))
        paint_part(v, 0, WORD, LOOKS_NOW);
}

static void paint_state(const struct view *v)
{
    paint_names(v);
    if (v->length && strspn(v->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?") >= v->length)
        paint_part(v, 0, v->length, LOOKS_HEAD);
    if (begins_with(v, "* 0x") || begins_with(v, "+ 0x"))
        paint_part(v, 0, 1, LOOKS_CHANGE);
}

/* "0000000000100060: 70438009 ...": four dwords behind 18 columns. */
static void paint_memory(const struct view *v)
{
    uint64_t at = strtoull(v->text, NULL, 16);
    if (v->length < 18 || v->text[16] != ':')
        return;
    paint_part(v, 0, 17, LOOKS_FAINT);
    if (v->s->written_known && v->s->written >= at && v->s->written - at < 16)
        paint_part(v, 18 + 9 * ((size_t)(v->s->written - at) / 4), 8, LOOKS_CHANGE);
}

static void paint_values(const struct view *v)
{
    paint_names(v);
    if (v->length && *v->text != ' ' && v->text[v->length - 1] == ':')
        paint_part(v, 0, v->length, LOOKS_HEAD);
    if (begins_with(v, "=>"))
        paint_part(v, 0, v->length, LOOKS_NOW);
}

static void (*const painters[PANES])(const struct view *) = {
    [PANE_CODE] = paint_code,     [PANE_REGS] = paint_registers, [PANE_CALLS] = paint_values,
    [PANE_PACKET] = paint_packet, [PANE_FIELDS] = paint_values,  [PANE_MEMORY] = paint_memory,
    [PANE_EVENTS] = paint_events, [PANE_STATE] = paint_state,    [PANE_WHY] = paint_values,
    [PANE_OUTPUT] = paint_values};

/* ---- titles ---- */

/* How much of tabs there is room for. */
enum tabs {
    TABS_WIDE,  /* "[1 code]  2 regs " */
    TABS_CLOSE, /* "[1 code]2 regs 3 calls": a bracket is the blank between */
    TABS_KEYS,  /* "[1 code] 2 3" */
    TABS
};

static int put_tab(const struct slot *slot, unsigned index, enum tabs tabs, char ret[64])
{
    const struct pane_row *row = &screen_panes_[slot->pane[index]];
    bool shown = slot->pane[index] == slot->shown;
    if (slot->panes == 1)
        return snprintf(ret, 64, " %c %s ", row->key, row->title);
    if (shown)
        return snprintf(ret, 64, "[%c %s]", row->key, row->title);
    if (tabs == TABS_KEYS)
        return snprintf(ret, 64, " %c", row->key);
    return snprintf(ret, 64, " %c %s ", row->key, row->title);
}

static enum tabs tabs_of(const struct slot *slot)
{
    char text[64];
    for (enum tabs tabs = TABS_WIDE; tabs < TABS_KEYS; tabs++) {
        int width = tabs == TABS_CLOSE;
        for (unsigned i = 0; i < slot->panes; i++)
            width += put_tab(slot, i, tabs, text) - (tabs == TABS_CLOSE);
        if (width <= slot->at.width)
            return tabs;
    }
    return TABS_KEYS;
}

enum pane_id screen_tab_at_(const struct slot *slot, int x)
{
    char text[64];
    enum tabs tabs = tabs_of(slot);
    int at = slot->at.x;
    for (unsigned i = 0; i < slot->panes; i++) {
        int width = put_tab(slot, i, tabs, text) - (tabs == TABS_CLOSE);
        if (x >= at && x < at + width)
            return slot->pane[i];
        at += width;
    }
    return PANES;
}

static void draw_title(const struct screen *s, const struct slot *slot)
{
    const struct rectangle *r = &slot->at;
    char text[64];
    enum tabs tabs = tabs_of(slot);
    int x = 0;
    bool bracket = false; /* of the tab before, which stays */
    for (unsigned i = 0; i < slot->panes && x < r->width; i++) {
        int length = put_tab(slot, i, tabs, text);
        int skipped = tabs == TABS_CLOSE && bracket;
        int room = r->width - x - skipped;
        mvaddnstr(r->y, r->x + x + skipped, text + skipped, room > 0 ? room : 0);
        x += length - (tabs == TABS_CLOSE);
        bracket = slot->pane[i] == slot->shown;
    }
    paint_columns(s, r->y, r->x, r->width, slot->shown == s->focus ? LOOKS_FOCUS : LOOKS_TITLE);
}

/* ---- panes ---- */

static int clamp_value(int value, int least, int most)
{
    return value > most ? (most < least ? least : most) : value < least ? least : value;
}

/* The first line that is seen: one that lets the cursor be seen, if there is one. */
static void settle_view(struct screen *s, enum pane_id pane, int rows)
{
    struct pane *p = &s->pane[pane];
    int last = (int)p->lines - rows;
    if (p->cursor >= (int)p->lines)
        p->cursor = (int)p->lines - 1;
    if (screen_panes_[pane].flags & PANE_ENDS && p->cursor < 0)
        p->top = last;
    bool marks = screen_panes_[pane].flags & PANE_MARKS && p->cursor < 0;
    int seen = marks ? -1 : p->cursor;
    for (uint32_t i = 0; marks && seen < 0 && i < p->lines; i++) {
        size_t length = 0;
        if (!strncmp(screen_line_of_(p, i, &length), "=>", 2))
            seen = (int)i;
    }
    if (marks && seen < rows)
        p->top = 0;
    else if (marks && (seen < p->top || seen >= p->top + rows))
        p->top = seen - rows / 3;
    if (seen >= 0 && seen < p->top)
        p->top = seen;
    if (seen >= 0 && seen >= p->top + rows)
        p->top = seen - rows + 1;
    p->top = pane == PANE_CODE ? 0 : clamp_value(p->top, 0, last);
    p->height = rows;
}

static void draw_line(const struct screen *s, enum pane_id pane, int y, const struct rectangle *r,
                      uint32_t line)
{
    const struct pane *p = &s->pane[pane];
    struct view view = {s, y, r->x, r->width, p->left, NULL, 0};
    view.text = screen_line_of_(p, line, &view.length);
    int length = (int)view.length;
    int left = p->left < length ? p->left : length;
    bool more = length - left > r->width;
    view.width -= more;
    mvaddnstr(y, r->x, view.text + left, more ? view.width : length - left);
    painters[pane](&view);
    if (more)
        mvaddch(y, r->x + r->width - 1, '>');
    if (left && length)
        mvaddch(y, r->x, '<');
    if (pane == s->focus && pane != PANE_CODE && (int)line == p->cursor)
        paint_columns(s, y, r->x, r->width, LOOKS_CURSOR);
    int found =
        s->found && pane == s->focus ? screen_find_in_(view.text, view.length, s->search) : -1;
    if (found >= 0)
        paint_part(&view, (size_t)found, strlen(s->search), LOOKS_MATCH);
}

static void draw_pane(struct screen *s, const struct slot *slot)
{
    const struct rectangle *r = &slot->at;
    int rows = r->height - 1;
    if (rows < 1 || r->width < 2)
        return;
    if (slot->shown == PANE_CODE)
        screen_settle_(s, rows);
    screen_make_(s, slot->shown, r->width);
    settle_view(s, slot->shown, rows);
    draw_title(s, slot);
    for (int i = 0; i < rows; i++) {
        uint32_t line = (uint32_t)(s->pane[slot->shown].top + i);
        if (line < s->pane[slot->shown].lines)
            draw_line(s, slot->shown, r->y + 1 + i, r, line);
    }
    for (int i = 0; i < r->height && r->x + r->width < COLS; i++) {
        mvaddch(r->y + i, r->x + r->width, '|');
        paint_columns(s, r->y + i, r->x + r->width, 1, LOOKS_FAINT);
    }
}

/* ---- the first line, and the last ---- */

static void draw_status(const struct screen *s)
{
    CPS_BUF text = {0};
    CPS_BUF shown = {0};
    look_where(session_of(s), session_of(s)->core, &text);
    for (size_t i = 0; i < text.size; i++)
        text.data[i] = text.data[i] == '\n' ? ' ' : text.data[i];
    screen_plain_(&shown, cps_buf_text(&text));
    mvaddnstr(0, 0, cps_buf_text(&shown), COLS);
    paint_columns(s, 0, 0, COLS, LOOKS_HEAD);
}

/* Of a text that is longer than its place its end is seen. */
static void draw_entered(const struct screen *s)
{
    const char *prompt = s->entering == ENTERING_COMMAND  ? ":"
                         : s->entering == ENTERING_SEARCH ? "/"
                                                          : screen_panes_[s->asking].asks;
    int start = (int)strlen(prompt) + (s->entering == ENTERING_ASKED ? 2 : 0);
    int length = (int)strlen(s->line.text);
    if (start > COLS / 2)
        start = 0;
    else
        mvprintw(LINES - 1, 0, s->entering == ENTERING_ASKED ? "%s: " : "%s", prompt);
    int room = COLS - 1 - start;
    int from = length > room ? length - room : 0;
    mvaddnstr(LINES - 1, start, s->line.text + from, room);
}

static void draw_bottom(const struct screen *s)
{
    static const char hints[] = "? help   : command   / search   Tab pane   q prompt";
    CPS_BUF text = {0};
    if (s->entering) {
        draw_entered(s);
        return;
    }
    screen_plain_(&text, cps_buf_text(&s->message));
    mvaddnstr(LINES - 1, 0, text.size ? cps_buf_text(&text) : hints, COLS - 1);
    if (text.size)
        paint_columns(s, LINES - 1, 0, COLS, LOOKS_CHANGE);
    if (text.size >= (size_t)COLS)
        mvaddch(LINES - 1, COLS - 2, '>');
    int left = COLS - 1 - (int)text.size - 2;
    if (text.size && left >= (int)sizeof(hints))
        mvaddstr(LINES - 1, COLS - (int)sizeof(hints), hints);
}

static void draw_help(struct screen *s)
{
    CPS_BUF text = {0};
    int rows = LINES - 2;
    int count = 0;
    screen_help_text_(s, &text);
    for (const char *at = cps_buf_text(&text); *at; at++)
        count += *at == '\n';
    s->help_top = clamp_value(s->help_top, 0, count - rows);
    mvaddnstr(0, 0, " help: Up, Down, PgUp, PgDn; Escape returns", COLS);
    paint_columns(s, 0, 0, COLS, LOOKS_FOCUS);
    int line = 0;
    for (const char *at = cps_buf_text(&text); *at; line++) {
        size_t length = strcspn(at, "\n");
        int row = 1 + line - s->help_top;
        if (row >= 1 && row <= rows)
            mvaddnstr(row, 0, at, (int)length);
        if (row >= 1 && row <= rows && *at != ' ')
            paint_columns(s, row, 0, (int)length, LOOKS_HEAD);
        at += length + (at[length] == '\n');
    }
    if (s->help_top + rows < count)
        mvprintw(LINES - 1, 0, "%d more lines", count - s->help_top - rows);
}

/* In as many lines as there are. */
static void draw_too_small(void)
{
    char text[80];
    CPS_BUF lines = {0};
    int row = 0;
    snprintf(text, sizeof(text), "too small: %dx%d, needs %dx%d", COLS, LINES, SCREEN_MIN_WIDTH,
             SCREEN_MIN_HEIGHT);
    screen_wrap_(&lines, text, COLS, 0);
    for (const char *at = cps_buf_text(&lines); *at && row < LINES; row++) {
        size_t length = strcspn(at, "\n");
        mvaddnstr(row, 0, at, (int)length);
        at += length + (at[length] == '\n');
    }
}

void screen_draw_(struct screen *s)
{
    erase();
    if (COLS < SCREEN_MIN_WIDTH || LINES < SCREEN_MIN_HEIGHT) {
        draw_too_small();
    } else if (s->help) {
        draw_help(s);
    } else {
        screen_lay_out_(s);
        draw_status(s);
        for (unsigned i = 0; i < s->slots; i++)
            draw_pane(s, &s->slot[i]);
        draw_bottom(s);
    }
    curs_set(s->entering != ENTERING_NOTHING);
    refresh();
}
