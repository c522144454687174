/* SPDX-License-Identifier: MIT
 * Searching in a pane: of code in all of it, of events as far back as they are kept, else in what
 * the pane holds. The case of letters does not matter. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#define ALL_EVENTS 65536u

int screen_find_in_(const char *line, size_t length, const char *what)
{
    size_t size = strlen(what);
    for (size_t i = 0; size && i + size <= length; i++) {
        if (!strncasecmp(line + i, what, size))
            return (int)i;
    }
    return -1;
}

/* Whether the line of an instruction, or the name of its place, has it. */
static bool code_has(const struct session *session, uint32_t at, const char *what)
{
    CPS_BUF text = {0};
    look_code(session, session->core, at, 0, 0, &text);
    return screen_find_in_(cps_buf_text(&text), text.size, what) >= 0;
}

/* Through the image once: the nearest match, else the one at the other end. */
static bool search_code(struct screen *s, int direction)
{
    const struct session *session = session_of(s);
    int64_t first = -1;
    int64_t before = -1;
    int64_t behind = -1;
    int64_t last = -1;
    for (uint32_t at = 0; screen_is_code_(session, at);
         at += session_length(session, session->core, at)) {
        if (!code_has(session, at, s->search))
            continue;
        first = first < 0 ? at : first;
        before = at < s->cursor ? at : before;
        behind = behind < 0 && at > s->cursor ? at : behind;
        last = at;
    }
    int64_t found = direction > 0 ? (behind < 0 ? first : behind) : before < 0 ? last : before;
    s->cursor = found < 0 ? s->cursor : (uint32_t)found;
    return found >= 0;
}

static bool search_lines(struct screen *s, int direction)
{
    struct pane *p = &s->pane[s->focus];
    if (s->focus == PANE_EVENTS && s->events != ALL_EVENTS) {
        uint32_t behind = p->cursor < 0 ? 0 : p->lines - (uint32_t)p->cursor; /* from the end */
        s->events = ALL_EVENTS;
        p->filled = 0;
        screen_make_(s, s->focus, p->width);
        p->cursor = p->cursor < 0 ? -1 : (int)(p->lines - behind);
    }
    int64_t at = p->cursor < 0 && direction < 0 ? (int64_t)p->lines : p->cursor;
    for (uint32_t i = 0; i < p->lines; i++) {
        size_t length = 0;
        at += direction;
        at = at < 0 ? (int64_t)p->lines - 1 : at >= p->lines ? 0 : at;
        const char *line = screen_line_of_(p, (uint32_t)at, &length);
        if (screen_find_in_(line, length, s->search) < 0)
            continue;
        p->cursor = (int)at;
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
    bool found = s->focus == PANE_CODE ? search_code(s, direction) : search_lines(s, direction);
    s->found = true;
    if (!found)
        cps_buf_printf(&s->message, "%s: not in this pane", s->search);
}

#endif
