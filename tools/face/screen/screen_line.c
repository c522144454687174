/* SPDX-License-Identifier: MIT
 * The command line at the bottom of the full-screen view. */
#include "tools/face/screen/screen_line.h"

#ifdef CPS_HAVE_CURSES
#include <curses.h>
#include <stdlib.h>
#include <string.h>

void line_start(struct screen_line *line, const char *text)
{
    snprintf(line->text, sizeof(line->text), "%s", text);
    line->back = 0;
    line->candidate = 0;
    line->typed[0] = '\0';
}

static void keep(struct screen_line *line)
{
    unsigned last = (line->count + LINE_HISTORY - 1) % LINE_HISTORY;
    if (!line->text[0] || (line->count && !strcmp(line->history[last], line->text)))
        return;
    memcpy(line->history[line->count % LINE_HISTORY], line->text, sizeof(line->text));
    line->count++;
}

static void recall(struct screen_line *line, int direction)
{
    unsigned kept = line->count < LINE_HISTORY ? line->count : LINE_HISTORY;
    unsigned wanted = direction > 0 ? line->back + 1 : line->back ? line->back - 1 : 0;
    if (wanted > kept)
        return;
    line->back = wanted;
    if (wanted)
        memcpy(line->text, line->history[(line->count - wanted) % LINE_HISTORY],
               sizeof(line->text));
    else
        line->text[0] = '\0';
}

/* Each Tab shows the next candidate for what was typed; behind the last one, that again. */
static void complete(struct screen_line *line, const struct debugger *debugger)
{
    size_t start = 0;
    if (!line->candidate)
        memcpy(line->typed, line->text, sizeof(line->typed));
    char *found = command_complete(debugger, line->typed, line->candidate++, &start);
    if (found) {
        snprintf(line->text, sizeof(line->text), "%.*s%s", (int)start, line->typed, found);
    } else {
        memcpy(line->text, line->typed, sizeof(line->text));
        line->candidate = 0;
    }
    free(found);
}

enum line_result line_key(struct screen_line *line, const struct debugger *debugger, int key)
{
    size_t length = strlen(line->text);
    if (key == '\t') {
        complete(line, debugger);
        return LINE_GOES_ON;
    }
    line->candidate = 0;
    switch (key) {
    case '\n':
    case '\r':
    case KEY_ENTER:
        keep(line);
        return LINE_DONE;
    case 27: /* Escape */
        return LINE_CANCELLED;
    case KEY_UP:
        recall(line, 1);
        break;
    case KEY_DOWN:
        recall(line, -1);
        break;
    case KEY_BACKSPACE:
    case 127:
    case 8:
        if (!length)
            return LINE_CANCELLED;
        line->text[length - 1] = '\0';
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
    return LINE_GOES_ON;
}

#endif
