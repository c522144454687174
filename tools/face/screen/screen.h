/* SPDX-License-Identifier: MIT
 * The debugger's full-screen view. */
#ifndef CPS_SCREEN_H
#define CPS_SCREEN_H

#include "tools/face/debugger/command.h"

/** Shows the view until the user leaves it; the session stays as it is then. Where that cannot be,
 * a line on stderr says why. */
void screen_run(struct debugger *debugger);

#endif
