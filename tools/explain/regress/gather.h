/* SPDX-License-Identifier: MIT
 * What workers send, made into results; and the account of it: every pair of the manifest ends in
 * exactly one state. */
#ifndef CPS_GATHER_H
#define CPS_GATHER_H

#include "tools/explain/regress/regress.h"

/** Results on their way in. */
struct gather {
    struct regress *regress;
    unsigned captures;    /**< of which the results came */
    bool *done;           /**< by capture */
    struct cps_buf death; /**< how a worker died, the last one that did */
};

CPS_MUST_USE struct cps_err *gather_begin(struct gather *gather);
void gather_end(struct gather *gather);
/** Takes a line of a worker's. @param[out] last  whether it is its last one
 * @return NULL, or an error that concerns all: the run ends */
CPS_MUST_USE struct cps_err *gather_line(struct gather *gather, const char *line, bool *last);
/** A worker died. @param capture  that it was at, or any other number @param how  for the reason */
CPS_MUST_USE struct cps_err *gather_death(struct gather *gather, unsigned capture,
                                          const struct cps_buf *how);
/** After the last line: captures that nobody ran, since no process was left or, @p stopped, since
 * the run was interrupted. */
CPS_MUST_USE struct cps_err *gather_rest(struct gather *gather, bool stopped);

#endif
