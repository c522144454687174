/* SPDX-License-Identifier: MIT
 * The command line at the bottom of the full-screen view: text, history, completion. */
#ifndef CPS_SCREEN_LINE_H
#define CPS_SCREEN_LINE_H

#include "tools/face/debugger/command.h"

#define LINE_SIZE    256
#define LINE_HISTORY 100

struct screen_line {
    char text[LINE_SIZE];
    char history[LINE_HISTORY][LINE_SIZE];
    unsigned count, back;  /* lines kept; how far back the user has gone */
    unsigned candidate;    /* of the completion */
    size_t word;           /* where the completed word begins */
    char typed[LINE_SIZE]; /* what was typed of it */
};

enum line_result { LINE_GOES_ON, LINE_DONE, LINE_CANCELLED };

/** Begins with @p text. */
void line_start(struct screen_line *line, const char *text);
/** Takes a key of curses. */
enum line_result line_key(struct screen_line *line, const struct debugger *debugger, int key);

#endif
