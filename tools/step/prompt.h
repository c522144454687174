/* SPDX-License-Identifier: MIT
 * A line from a person at a terminal, with history and completion where a library has them. */
#ifndef CPS_PROMPT_H
#define CPS_PROMPT_H

#include "tools/debug/command.h"

/** @param debugger  whose commands complete words; or NULL
 * @return the line without its end, to be freed; NULL at the end of input */
char *prompt_line(struct debugger *debugger, const char *prompt);

#endif
