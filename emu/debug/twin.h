/* SPDX-License-Identifier: MIT
 * The run of a debugger once more, with its changes or without them, to go on beside it.
 *
 * Threads: as debug.h. */
#ifndef CPS_TWIN_H
#define CPS_TWIN_H

#include "debug.h"

CPS_C_BEGIN

/**
 * Makes a debugger of the same run that stands where its first change was made. It has no points.
 * @param debug    which; nothing moves
 * @param changed  with the changes that were made until where @p debug stands; else with none
 * @param ret      gets the other one, which the caller destroys before this one's feeder
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: nothing was changed, or it was interrupted
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_twin(struct cps_debug *debug, bool changed,
                                                       struct cps_debug **ret);

CPS_C_END

#endif
