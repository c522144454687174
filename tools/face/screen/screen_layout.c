/* SPDX-License-Identifier: MIT
 * Where panes lie: columns as wide, and slots as high, as what they hold needs, as far as there is
 * room. */
#include <curses.h>
#include <string.h>

#include "tools/face/screen/screen_private.h"

#define COLUMNS     3
#define MIN_LINES   4 /* of a slot, with its title */
#define MOST_BELOW  14
#define MIN_COLUMNS 48 /* of text that wraps */

#define BELOW SCREEN_BELOW
static const struct layout_row {
    int width, height; /* of a layout; 0: a slot of it, as those behind it */
    int column;
    const char *keys; /* NULL: a layout */
} places[] = {
#define LAYOUT(width, height) {width, height, 0, NULL},
#define SLOT(column, keys)    {0, 0, column, keys},
#include "tools/face/screen/screen_layout.def"
};
#define PLACES (sizeof(places) / sizeof(places[0]))

static const struct layout_row *first_slot(const struct screen *s)
{
    const struct layout_row *at = places;
    const struct layout_row *chosen = NULL;
    for (; at < places + PLACES; at++) {
        bool fits = at->width <= COLS && at->height <= LINES && (!s->zoom || !at->width);
        if (!at->keys && fits && !chosen)
            chosen = at;
    }
    return chosen + 1;
}

static void add_slot(struct screen *s, const struct layout_row *place)
{
    struct slot *slot = &s->slot[s->slots];
    *slot = (struct slot){.column = place->column};
    for (const char *key = place->keys; *key; key++) {
        enum pane_id pane = screen_pane_of_(s, *key);
        if (pane != PANES)
            slot->pane[slot->panes++] = pane;
    }
    if (!slot->panes)
        return;
    slot->shown = slot->pane[0];
    for (unsigned i = 1; i < slot->panes; i++) {
        if (s->pane[slot->pane[i]].recent > s->pane[slot->shown].recent)
            slot->shown = slot->pane[i];
    }
    s->slots++;
}

/* Shares @p total among wishes: who wishes less than an equal share gets it, the others share what
 * is left; what nobody wishes is the last one's. */
static void share_room(const int *wish, unsigned count, int total, int *ret)
{
    bool done[SCREEN_SLOTS] = {false};
    int open = (int)count;
    for (bool again = open > 0; again;) {
        int each = total / open;
        again = false;
        for (unsigned i = 0; i < count; i++) {
            if (done[i] || wish[i] > each)
                continue;
            ret[i] = wish[i];
            total -= wish[i];
            done[i] = true;
            again = --open > 0;
        }
    }
    for (unsigned i = 0; i < count; i++) {
        if (done[i])
            continue;
        ret[i] = total / open--;
        total -= ret[i];
    }
    if (count)
        ret[count - 1] += total;
}

/* What a pane cannot do without: lines that wrap can be of any length. */
static int need_of(const struct screen *s, enum pane_id pane)
{
    unsigned flags = screen_panes_[pane].flags;
    int wish = s->pane[pane].wish_width;
    return flags & PANE_WRAPS ? MIN_COLUMNS : flags & PANE_FITS ? wish * 7 / 8 : wish;
}

/* Everybody gets what he needs, if all can; what is left goes to those that wish more. */
static void share_needs(const int *need, const int *wish, unsigned count, int total, int *ret)
{
    int more[SCREEN_SLOTS] = {0};
    int extra[SCREEN_SLOTS] = {0};
    int left = total;
    for (unsigned i = 0; i < count; i++) {
        left -= need[i];
        more[i] = wish[i] > need[i] ? wish[i] - need[i] : 0;
    }
    if (left < 0) {
        share_room(need, count, total, ret);
        return;
    }
    share_room(more, count, left, extra);
    for (unsigned i = 0; i < count; i++)
        ret[i] = need[i] + extra[i];
}

/* Columns side by side, a line between them: those that have panes at all. */
static void place_across(struct screen *s)
{
    int column[COLUMNS];
    int need[COLUMNS] = {0};
    int wish[COLUMNS] = {0};
    int width[COLUMNS] = {0};
    unsigned columns = 0;
    for (int c = 0; c < COLUMNS; c++) {
        for (unsigned i = 0; i < s->slots; i++) {
            if (s->slot[i].column != c)
                continue;
            int wide = s->pane[s->slot[i].shown].wish_width + 1;
            int least = need_of(s, s->slot[i].shown) + 1;
            wish[columns] = wide > wish[columns] ? wide : wish[columns];
            need[columns] = least > need[columns] ? least : need[columns];
        }
        column[columns] = c;
        columns += wish[columns] > 0;
    }
    share_needs(need, wish, columns, COLS, width);
    for (unsigned i = 0; i < s->slots; i++) {
        struct slot *slot = &s->slot[i];
        int x = 0;
        slot->at = (struct rectangle){0, 0, COLS, 0};
        for (unsigned c = 0; c < columns && slot->column != SCREEN_BELOW; x += width[c++]) {
            if (slot->column == column[c])
                slot->at = (struct rectangle){x, 0, width[c] - (c + 1 < columns), 0};
        }
    }
}

static int wish_of(struct screen *s, const struct slot *slot)
{
    struct pane *p = &s->pane[slot->shown];
    screen_make_(s, slot->shown, slot->at.width);
    int lines = (int)p->lines;
    if (!(screen_panes_[slot->shown].flags & PANE_FITS)) /* which gets less lines with its width */
        lines = lines > p->wish_lines ? lines : p->wish_lines;
    p->wish_lines = lines;
    return lines + 1 < MIN_LINES ? MIN_LINES : lines + 1;
}

static void place_down(struct screen *s, int column, int y, int height)
{
    unsigned index[SCREEN_SLOTS];
    int need[SCREEN_SLOTS] = {0};
    int wish[SCREEN_SLOTS] = {0};
    int high[SCREEN_SLOTS] = {0};
    unsigned count = 0;
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].column != column)
            continue;
        bool whole = screen_panes_[s->slot[i].shown].flags & PANE_FITS;
        wish[count] = wish_of(s, &s->slot[i]);
        need[count] = whole ? wish[count] : MIN_LINES;
        index[count++] = i;
    }
    share_needs(need, wish, count, height, high);
    for (unsigned i = 0; i < count; i++) {
        s->slot[index[i]].at.y = y;
        s->slot[index[i]].at.height = high[i];
        y += high[i];
    }
}

/* What a column would like. */
static int column_wish(struct screen *s, int column)
{
    int lines = 0;
    for (unsigned i = 0; i < s->slots; i++)
        lines += s->slot[i].column == column ? wish_of(s, &s->slot[i]) : 0;
    return lines;
}

/* Lines below all columns: a quarter, or what no column needs. */
static int lines_below(struct screen *s, int rows)
{
    int below = rows / 4 < MOST_BELOW ? rows / 4 : MOST_BELOW;
    int wish = column_wish(s, SCREEN_BELOW);
    int above = 0;
    for (int column = 0; column < COLUMNS; column++) {
        int lines = column_wish(s, column);
        above = lines > above ? lines : above;
    }
    int spare = rows - above < wish ? rows - above : wish;
    return !wish ? 0 : spare > below ? spare : below;
}

void screen_lay_out_(struct screen *s)
{
    int rows = LINES - 2; /* the status and the command line */
    s->slots = 0;
    for (const struct layout_row *at = first_slot(s);
         at < places + PLACES && at->keys && s->slots < SCREEN_SLOTS; at++)
        add_slot(s, at);
    for (unsigned i = 0; i < s->slots; i++)
        request_width(s, s->slot[i].shown);
    place_across(s);
    int below = lines_below(s, rows);
    for (int column = 0; column < COLUMNS; column++)
        place_down(s, column, 1, rows - below);
    place_down(s, SCREEN_BELOW, 1 + rows - below, below);
    if (!screen_slot_of_(s, s->focus))
        s->focus = s->slot[0].shown;
}

void screen_new_layout_(struct screen *s)
{
    for (unsigned i = 0; i < PANES; i++)
        s->pane[i].wish_width = s->pane[i].wish_lines = 0;
}

const struct slot *screen_slot_of_(const struct screen *s, enum pane_id pane)
{
    for (unsigned i = 0; i < s->slots; i++) {
        if (s->slot[i].shown == pane)
            return &s->slot[i];
    }
    return NULL;
}

void screen_choose_(struct screen *s, enum pane_id pane)
{
    if (pane == PANES)
        return;
    s->unasked = false;
    if (pane != s->focus)
        s->back = s->focus;
    s->focus = pane;
    s->pane[pane].recent = ++s->chosen;
}
