/* SPDX-License-Identifier: MIT
 * The mouse: a click shows a pane, or puts its cursor on a line; a second one is Enter; the wheel
 * moves the view. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <curses.h>
#include <stdlib.h>

#define WHEEL 3 /* lines */

static const struct slot *slot_at(const struct screen *s, int y, int x)
{
    for (unsigned i = 0; i < s->slots; i++) {
        const struct rectangle *r = &s->slot[i].at;
        if (y >= r->y && y < r->y + r->height && x >= r->x && x < r->x + r->width)
            return &s->slot[i];
    }
    return NULL;
}

/* In code the line says which instruction. @return whether the cursor was there */
static bool click_code(struct screen *s, int line)
{
    size_t length = 0;
    const char *text = screen_line_of_(&s->pane[PANE_CODE], (uint32_t)line, &length);
    uint32_t before = s->cursor;
    if (length < 9)
        return false;
    uint32_t pc = (uint32_t)strtoul(text + 4, NULL, 16);
    if (screen_code_line_(text, pc) != 0)
        return false; /* a label */
    s->cursor = pc;
    return before == pc;
}

static void click(struct screen *s, const struct slot *slot, int y, int x)
{
    struct pane *p = &s->pane[slot->shown];
    int line = p->top + y - slot->at.y - 1;
    bool focused = s->focus == slot->shown;
    if (y == slot->at.y) {
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

unsigned long screen_mouse_events_(void)
{
    unsigned long events =
        BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED | BUTTON4_PRESSED;
#ifdef BUTTON5_PRESSED
    events |= BUTTON5_PRESSED;
#endif
    return events;
}

void screen_mouse_(struct screen *s)
{
    MEVENT event;
    if (getmouse(&event) != OK)
        return;
    int wheel = event.bstate & BUTTON4_PRESSED ? -WHEEL : 0;
#ifdef BUTTON5_PRESSED
    wheel = event.bstate & BUTTON5_PRESSED ? WHEEL : wheel;
#endif
    if (s->help) {
        s->help_top += wheel;
        return;
    }
    const struct slot *slot = slot_at(s, event.y, event.x);
    if (!slot)
        return;
    if (wheel)
        screen_scroll_(s, slot->shown, wheel);
    else if (event.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED))
        click(s, slot, event.y, event.x);
    if (event.bstate & BUTTON1_DOUBLE_CLICKED) /* curses joins those that come at once */
        click(s, slot, event.y, event.x);
}

#endif
