/* SPDX-License-Identifier: MIT
 * Names for the commentary of a trace whose head says which layout it has. */
#ifndef CPS_TOOL_NAMES_H
#define CPS_TOOL_NAMES_H

#include "trace/form/trace.h"

/** Fills @p names for every processor that the head's machine can have. */
CPS_MUST_USE struct cps_err *trace_names(const struct cps_trace_head *head, const char *rnn,
                                         struct cps_names *names[CPS_CPU_COUNT]);
/** Lets a trace for viewers of waves show registers: @p list  names or numbers of GPU registers
 * with commas between them, NULL: none. @return NULL, CPS_ERR_NOMEM, or CPS_ERR_USAGE: nothing is
 * called so, or @p form shows none */
CPS_MUST_USE struct cps_err *trace_signals(const char *list, enum cps_trace_form form,
                                           struct cps_names *const names[CPS_CPU_COUNT],
                                           struct cps_trace_writer *writer);
void trace_names_free(struct cps_names *names[CPS_CPU_COUNT]);

#endif
