/* SPDX-License-Identifier: MIT
 * How far a long command is: one line on stderr where that is a terminal, from the second second
 * on, and gone at the end. Nothing of it is a result.
 *
 * The thread that called progress_allow() shows it, no other, and no process that it makes. */
#ifndef CPS_PROGRESS_H
#define CPS_PROGRESS_H

#include <stdbool.h>

#include "isa/base/err.h"

struct cps_stream;

/** Lets progress be shown from a second from now on, if stderr is a terminal that can erase.
 * Without it nothing is. */
void progress_allow(void);
/** Whether it is time for a line: costs nothing where none is shown. */
bool progress_due(void);
/** Shows a line in place of the last one, cut to the terminal's width, if one is due. What is no
 * text in it is escaped. */
void progress_show(const char *format, ...) CPS_PRINTF(1, 2);
/** The same: what of a capture's bytes has been read. NULL: of no file. */
void progress_stream(const struct cps_stream *stream);
/** What stands in front of lines from now on: "golden 3 of 10, ". @param count  0: nothing */
void progress_part(const char *what, unsigned index, unsigned count);
/** Erases the line, if there is one: before anything else is written, and at the end. A handler of
 * a signal may call it. */
void progress_hide(void);

#endif
