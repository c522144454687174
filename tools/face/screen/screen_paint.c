/* SPDX-License-Identifier: MIT
 * What parts of the full-screen view look like: colours where the terminal has some and the user
 * wants them, else bold and reversed letters, as far as it has those. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <curses.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

void screen_paint_(const struct screen *s, int y, int x, int count, enum paint_id looks)
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

static void paint(const struct view *v, size_t from, size_t count, enum paint_id looks)
{
    int begin = (int)from - v->left;
    int end = begin + (int)count;
    begin = begin < 0 ? 0 : begin;
    end = end > v->width ? v->width : end;
    screen_paint_(v->s, v->y, v->x + begin, end - begin, looks);
}

static bool begins(const struct view *v, const char *with)
{
    size_t size = strlen(with);
    return v->length >= size && !memcmp(v->text, with, size);
}

/* "=>* 00fd c6430059  breq ..."; labels end with a colon. */
static void paint_code(const struct view *v)
{
    char cursor[16];
    if (v->length && *v->text != ' ' && v->text[v->length - 1] == ':')
        paint(v, 0, v->length, LOOKS_HEAD);
    size_t word = v->length > 9 && *v->text ? 4 + strspn(v->text + 4, "0123456789abcdef") : 0;
    if (word > 4 && v->text[word] == ' ') {
        size_t bytes = strcspn(v->text + word + 1, " ");
        paint(v, 4, word + 1 + bytes - 4, LOOKS_FAINT);
    }
    if (begins(v, "=>"))
        paint(v, 0, v->length, LOOKS_NOW);
    if (begins(v, "->"))
        paint(v, 0, 2, LOOKS_NOW);
    if (v->length > 3 && v->text[2] == '*')
        paint(v, 2, 1, LOOKS_POINT);
    snprintf(cursor, sizeof(cursor), " %04" PRIx32 " ", v->s->cursor);
    if (v->length > 8 && !strncmp(v->text + 3, cursor, strlen(cursor)))
        paint(v, 4, strlen(cursor) - 2, LOOKS_CURSOR);
}

/* "*$02 00000001": what the last move changed. */
static void paint_registers(const struct view *v)
{
    for (size_t i = 0; i < v->length; i++) {
        if (v->text[i] != '*')
            continue;
        size_t name = strcspn(v->text + i, " ");
        size_t blank = i + name < v->length ? strspn(v->text + i + name, " ") : 0;
        paint(v, i, name + blank + 8, LOOKS_CHANGE);
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
            paint(v, i, size, LOOKS_NAME);
        i += size ? size : 1;
    }
}

static void paint_events(const struct view *v)
{
    size_t number = strspn(v->text, " ");
    number += strspn(v->text + number, "0123456789");
    paint_names(v);
    paint(v, 0, number < v->length ? number : v->length, LOOKS_FAINT);
}

static void paint_packet(const struct view *v)
{
    enum { WORD = 15 }; /* "=>  1  00000001" */
    paint_names(v);
    if (begins(v, " . "))
        paint(v, 0, WORD, LOOKS_FAINT);
    if (begins(v, "=>"))
        paint(v, 0, WORD, LOOKS_NOW);
}

static void paint_state(const struct view *v)
{
    paint_names(v);
    if (v->length && strspn(v->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?") >= v->length)
        paint(v, 0, v->length, LOOKS_HEAD);
    if (begins(v, "* 0x") || begins(v, "+ 0x"))
        paint(v, 0, 1, LOOKS_CHANGE);
}

/* "0000000000100060: 70438009 ...": four dwords behind 18 columns. */
static void paint_memory(const struct view *v)
{
    uint64_t at = strtoull(v->text, NULL, 16);
    if (v->length < 18 || v->text[16] != ':')
        return;
    paint(v, 0, 17, LOOKS_FAINT);
    if (v->s->written_known && v->s->written >= at && v->s->written - at < 16)
        paint(v, 18 + 9 * ((size_t)(v->s->written - at) / 4), 8, LOOKS_CHANGE);
}

static void paint_values(const struct view *v)
{
    paint_names(v);
    if (v->length && *v->text != ' ' && v->text[v->length - 1] == ':')
        paint(v, 0, v->length, LOOKS_HEAD);
    if (begins(v, "=>"))
        paint(v, 0, v->length, LOOKS_NOW);
}

void screen_paint_line_(const struct screen *s, enum pane_id pane, int y, int x, int width,
                        const char *text, size_t length)
{
    static void (*const painters[PANES])(const struct view *) = {
        [PANE_CODE] = paint_code,     [PANE_REGS] = paint_registers, [PANE_EVENTS] = paint_events,
        [PANE_PACKET] = paint_packet, [PANE_STATE] = paint_state,    [PANE_MEMORY] = paint_memory};
    const struct view view = {s, y, x, width, s->pane[pane].left, text, length};
    if (painters[pane])
        painters[pane](&view);
    else
        paint_values(&view);
}

void screen_paint_match_(const struct screen *s, enum pane_id pane, int y, int x, int width,
                         const char *text, size_t length)
{
    const struct view view = {s, y, x, width, s->pane[pane].left, text, length};
    int at = s->found && pane == s->focus ? screen_find_in_(text, length, s->search) : -1;
    if (at >= 0)
        paint(&view, (size_t)at, strlen(s->search), LOOKS_MATCH);
}

#endif
