/* SPDX-License-Identifier: MIT
 * What Enter, or a second click, does on a line of a pane. */
#include "tools/face/screen/screen_private.h"

#ifdef CPS_HAVE_CURSES
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void screen_enter_nothing_(struct screen *s, const char *line)
{
    (void)s;
    (void)line;
}

/* What goes a long way goes it now: the pane says so, on whichever line. */
void screen_enter_asking_(struct screen *s, const char *line)
{
    uint64_t step = cps_debug_place(session_of(s)->debug).step;
    const char *text = cps_buf_text(&s->pane[s->focus].text);
    (void)line;
    if (!strstr(text, "Enter goes that way")) {
        screen_ask_(s, s->focus);
        return;
    }
    s->long_way = step;
    s->changes++;
}

void screen_enter_code_(struct screen *s, const char *line)
{
    char command[48];
    uint32_t to = s->cursor;
    (void)line;
    if (to == cps_engine_where(session_engine(session_of(s)), session_of(s)->core).pc)
        return;
    snprintf(command, sizeof(command), "tbreak *0x%" PRIx32, to);
    screen_command_(s, command, true);
    screen_command_(s, "continue", true);
}

void screen_enter_events_(struct screen *s, const char *line)
{
    char command[48];
    char *end = NULL;
    uint64_t number = strtoull(line, &end, 10);
    if (end == line)
        return;
    snprintf(command, sizeof(command), "event %" PRIu64, number);
    screen_command_(s, command, true);
}

/* "=> bv    0104 CP_NOP": a processor; "#1  0104 CP_NOP": a place in its code. */
void screen_enter_calls_(struct screen *s, const char *line)
{
    const char *name = line + strspn(line, "=> ");
    char *end = NULL;
    for (unsigned i = 0; i < session_engine(session_of(s))->cores; i++) {
        const char *core = session_core_name(session_of(s), i);
        size_t length = strlen(core);
        if (strncmp(name, core, length) != 0 || name[length] != ' ')
            continue;
        session_of(s)->core = i;
        s->debugger->moved = false;
        screen_follow_(s);
        return;
    }
    const char *place = *line == '#' ? strchr(line, ' ') : NULL;
    uint32_t pc = place ? (uint32_t)strtoul(place, &end, 16) : 0;
    if (!place || end == place)
        return;
    s->cursor = pc;
    screen_choose_(s, PANE_CODE);
}

#endif
