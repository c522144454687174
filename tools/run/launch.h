/* SPDX-License-Identifier: MIT
 * Loads the plugin of `--launch` (tools/run/plugin.h) for a run. */
#ifndef CPS_TOOLS_LAUNCH_H
#define CPS_TOOLS_LAUNCH_H

#include "tools/run/play.h"

struct launch;

/** Opens the plugin that @p word ("PATH[:ARGS]") names, for @p play and all engines that it gets;
 * after play_open(). @return NULL; CPS_ERR_INPUT or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *launch_open(const char *word, struct play *play, struct launch **ret);
/** The error of a run that ended because the plugin failed; else NULL. */
CPS_MUST_USE struct cps_err *launch_failed(const struct launch *launch);
/** After the last use of the engine. NULL is fine. */
void launch_close(struct launch *launch);

#endif
