/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view. */
#ifndef CPS_SCREEN_H
#define CPS_SCREEN_H

#include "tools/face/debugger/command.h"

/** Shows the view until the user leaves it; the session stays as it is then. Where that cannot be,
 * a line on stderr reports why. */
#ifdef CPS_HAVE_CURSES
void screen_run(struct debugger *debugger);
#else
#include <stdio.h>
static inline void screen_run(struct debugger *debugger)
{
    (void)debugger;
    fputs("built without ncurses: no full-screen view\n", stderr);
}
#endif

#endif
