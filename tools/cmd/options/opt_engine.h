/* SPDX-License-Identifier: MIT
 * Which engine options mean: afuc with its firmware, or one of those that run scripts (HWSQ, SEQ,
 * VP1) or what a host does to them (PFIFO). */
#ifndef CPS_OPT_ENGINE_H
#define CPS_OPT_ENGINE_H

#include "tools/cmd/options/opt.h"

/**
 * Refuses a run file where neither firmware nor an engine is named, as the first argument.
 * @return NULL, also if it cannot be read, or CPS_ERR_USAGE
 */
CPS_MUST_USE struct cps_err *opt_check_run_file(const struct cps_options *opt);
/** Refuses firmware, captures and traces where command number @p command takes another kind of
 * file.
 * @return NULL, also if a file cannot be read, or CPS_ERR_INPUT: what the file is, and what takes
 * it */
CPS_MUST_USE struct cps_err *opt_check_inputs(unsigned command, const struct cps_options *opt);
/** What a run file needs: "this is a run file, expected --engine hwsq, seq, pfifo or vp1". */
void opt_run_file_text(struct cps_buf *out);
/** The other way round: "hwsq:g92". */
void opt_engine_name(enum cps_gen gen, char ret[24]);
/** The style that --style names; CPS_STYLE_COUNT: there is none of that name. */
enum cps_style opt_style(const struct cps_options *opt);
/** Whose names of registers --names asks for. */
enum cps_scheme opt_scheme(const struct cps_options *opt);

#endif
