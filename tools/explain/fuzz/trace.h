/* SPDX-License-Identifier: MIT
 * The trace of a file, as `cpscope run` would write it. */
#ifndef CPS_FUZZ_TRACE_H
#define CPS_FUZZ_TRACE_H

#include "tools/cmd/options/opt.h"
#include "isa/base/err.h"

/** Runs @p input on the firmware of @p opt and writes the text of its trace to @p output. */
CPS_MUST_USE struct cps_err *trace_case(const struct cps_options *opt, uint64_t limit,
                                        const char *input, const char *output);

#endif
