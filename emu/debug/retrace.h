/* SPDX-License-Identifier: MIT
 * The way from the start to where a debugger stands, once more: for whoever looks closer than it
 * does.
 *
 * Threads: as debug.h. */
#ifndef CPS_RETRACE_H
#define CPS_RETRACE_H

#include "debug.h"

CPS_C_BEGIN

/** Who looks at a way that is gone once more. */
struct cps_debug_retrace {
    /** Called at the start, where the first @p fed items have been fed; takes the engine's sink. An
     * error ends it. */
    struct cps_err *(*ready)(void *context, struct cps_engine *engine, uint64_t fed);
    /** Called when the engine stands where the debugger does. */
    struct cps_err *(*done)(void *context, struct cps_engine *engine);
    /** What they get. */
    void *context;
};
/**
 * Goes all the way from the start to here once more, with an engine of its own that is gone
 * afterwards; nothing moves.
 * @param debug    which
 * @param retrace  who looks
 * @return NULL, what `ready` or `done` returned, CPS_ERR_NOMEM, or CPS_ERR_INPUT: it was
 *         interrupted
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_debug_retrace(struct cps_debug *debug,
                                                          const struct cps_debug_retrace *retrace);

CPS_C_END

#endif
