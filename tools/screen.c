/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view. */
#include "screen.h"

#include <stdio.h>

void screen_run(struct repl *repl)
{
    (void)repl;
    fputs("built without ncurses: no full-screen view\n", stderr);
}
