/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace whose head says which layout it has. */
#ifndef CPS_TOOL_NAMES_H
#define CPS_TOOL_NAMES_H

#include "trace/form/trace.h"

/** Fills @p names for every processor that the head's machine can have. */
CPS_MUST_USE struct cps_err *trace_names(const struct cps_trace_head *head, const char *rnn,
                                         struct cps_names *names[CPS_CPU_COUNT]);
void trace_names_free(struct cps_names *names[CPS_CPU_COUNT]);

#endif
