/* SPDX-License-Identifier: MIT
 * The debugger of `cpscope step`, for other commands. */
#ifndef CPS_CMD_STEP_H
#define CPS_CMD_STEP_H

#include "tools/cmd/options/opt.h"
#include "tools/face/debugger/session.h"

/** Opens a session and converses as the options of `step` say. @param capture  or script, or NULL
 * @param live  a device, in the place of a capture; NULL: none @return the exit status */
int step_session(const struct cps_options *opt, const char *capture, struct session_live *live);

#endif
