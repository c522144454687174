/* SPDX-License-Identifier: MIT
 * Which terminals have a full-screen view. A file of its own: the header of terminfo has macros for
 * names as common as `lines`. */
#include "tools/face/screen/screen_private.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

/* One that is not known, or cannot put its cursor anywhere, has no picture. To be asked before
 * newterm(), which loses memory where it fails. */
bool screen_has_terminal_(void)
{
    int found = 0;
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK)
        return false;
    const char *place = tigetstr("cup");
    bool good = place && place != (char *)-1;
    del_curterm(cur_term);
    return good;
}
