/* SPDX-License-Identifier: MIT
 * What the GPU's registers hold at a draw, as text: for the prompt and the screen. */
#ifndef CPS_LOOK_STATE_H
#define CPS_LOOK_STATE_H

#include "tools/face/debugger/session.h"

/** Appends the state where the session stands, its changes included, and what changed since the
 * draw before. Runs all the way to here once more. @param all  also what is as it was
 * @return NULL, CPS_ERR_SYNTAX where there are no draws, or what cps_debug_retrace() says */
CPS_MUST_USE struct cps_err *look_state_here(struct session *session, bool all,
                                             struct cps_buf *out);
/** Appends the state at draw @p draw of the capture, as `cpscope state` has it: changes of the
 * session are no part of it. @return NULL, or an error: there is no capture, or no such draw */
CPS_MUST_USE struct cps_err *look_state_draw(const struct session *session, long draw, bool all,
                                             struct cps_buf *out);

#endif
