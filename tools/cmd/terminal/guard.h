/* SPDX-License-Identifier: MIT
 * What is printed holds names and texts out of files, and terminals do what some of them say. */
#ifndef CPS_GUARD_H
#define CPS_GUARD_H

/** From now on stdout and stderr escape control characters, line breaks and tabulators excepted, as
 * cps_shown_add_() does. Whatever was forgotten to be escaped where it was printed is, here.
 * Without memory they stay as they are. */
void guard_output(void);

#endif
