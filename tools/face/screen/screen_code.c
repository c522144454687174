/* SPDX-License-Identifier: MIT
 * The pane of code: a view of an image that moves only where the cursor leaves it. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <curses.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool screen_is_code_(const struct session *session, uint64_t at)
{
    const struct cps_place place = {(uint8_t)session->core, CPS_FILE_CODE, at};
    uint64_t word = 0;
    return at <= UINT32_MAX && cps_engine_get(session_engine(session), place, &word);
}

bool screen_has_code_(const struct session *session)
{
    return cps_isa_has_code(session_engine(session)->ops->isa);
}

void screen_fill_code_(struct screen *s, int width, struct cps_buf *out)
{
    const struct session *session = session_of(s);
    (void)width;
    if (!screen_is_code_(session, s->base)) {
        cps_buf_str(out, "no code is here\n");
        return;
    }
    look_code(session, session->core, s->base, 0, (unsigned)LINES, out);
}

uint32_t screen_moved_(const struct session *session, uint32_t at, int lines)
{
    const struct cps_isa *isa = session_engine(session)->ops->isa;
    uint32_t previous = 0;
    if (cps_isa_is_regular(isa))
        return (int64_t)at + lines < 0 ? 0 : (uint32_t)((int64_t)at + lines);
    for (; lines > 0; lines--)
        at += session_length(session, session->core, at);
    for (; lines < 0 && at; lines++, at = previous) {
        uint32_t next = previous = 0;
        while ((next = previous + session_length(session, session->core, previous)) < at)
            previous = next;
    }
    return at;
}

int screen_code_line_(const char *text, uint32_t pc)
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
    return -1;
}

static bool is_seen(const struct screen *s, uint32_t base, int rows)
{
    CPS_BUF text = {0};
    look_code(session_of(s), session_of(s)->core, base, 0, (unsigned)rows, &text);
    int line = screen_code_line_(cps_buf_text(&text), s->cursor);
    return line >= 0 && line < rows;
}

/* A line further, if that is enough; else the cursor gets what led to it, and what follows. */
void screen_settle_(struct screen *s, int rows)
{
    const struct session *session = session_of(s);
    uint32_t before = s->base;
    rows = rows > 1 ? rows : 1;
    if (is_seen(s, s->base, rows))
        return;
    for (int i = 1; i <= 3 && s->base == before; i++) {
        if (is_seen(s, screen_moved_(session, before, i), rows))
            s->base = screen_moved_(session, before, i);
    }
    if (s->base == before && s->cursor < before && screen_moved_(session, before, -1) <= s->cursor)
        s->base = s->cursor;
    if (s->base == before)
        s->base = screen_moved_(session, s->cursor, -rows / 3);
    if (!is_seen(s, s->base, rows))
        s->base = s->cursor;
    s->pane[PANE_CODE].filled = 0;
}

void screen_move_code_(struct screen *s, int lines)
{
    uint32_t to = s->cursor;
    int step = lines < 0 ? -1 : 1;
    for (; lines; lines -= step) {
        uint32_t next = screen_moved_(session_of(s), to, step);
        if (!screen_is_code_(session_of(s), next))
            break;
        to = next;
    }
    s->cursor = to;
}

void screen_follow_(struct screen *s)
{
    s->cursor = cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc;
    for (unsigned i = 0; i < PANES; i++) {
        if (screen_panes_[i].flags & (PANE_ENDS | PANE_MARKS))
            s->pane[i].cursor = -1;
    }
    s->events = 0;
    s->changes++;
}

#endif
