/* SPDX-License-Identifier: MIT
 * A line from a person at a terminal, with history and completion where a library has them. */
#ifndef CPS_PROMPT_H
#define CPS_PROMPT_H

#include "tools/face/debugger/command.h"

/** Reads what was typed in earlier sessions: $XDG_STATE_HOME/cpscope/history, or
 * .local/state/cpscope/history of the user's home. That there is none is no error; without a home
 * there is no history. */
void prompt_begin(void);
/** Keeps what was typed for the next session. Where that cannot be, the user is told on stderr. */
void prompt_end(void);
/**
 * A line. An interrupt drops what was typed, and starts again.
 * @param debugger  whose commands complete words; or NULL
 * @return the line without its end, to be freed; NULL at the end of input
 */
char *prompt_line(struct debugger *debugger, const char *prompt);

#endif
