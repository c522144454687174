/* SPDX-License-Identifier: MIT
 * Where values of the session come from: the way to here once more, with an observer. */
#ifndef CPS_DEBUG_WHY_H
#define CPS_DEBUG_WHY_H

#include "tools/face/debugger/session.h"

/**
 * Appends where a value comes from.
 * @param what  as `cpscope why` takes it, its events counted as the debugger does; or a general or
 *              control register of @p core: "$02", "@IB_LEVEL"
 * @param json  as a line of JSON
 * @return NULL, CPS_ERR_NOMEM, or what is wrong with @p what, or that there is no such value
 */
CPS_MUST_USE struct cps_err *session_why(struct session *session, unsigned core, const char *what,
                                         bool json, struct cps_buf *out);

#endif
