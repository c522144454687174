/* SPDX-License-Identifier: MIT
 * The interpreter that logs branches. Private to emu/afuc/. */
#ifndef CPS_AFUC_EDGES_H
#define CPS_AFUC_EDGES_H

#include "emu/afuc/core.h"

/** As afuc_run_() of run.h; core->log is there. */
uint64_t afuc_run_logged_(struct afuc_core *core, uint64_t budget);
/** cps_edge.privilege of a core that has a log, as it is now. */
uint8_t afuc_privilege_(const struct afuc_core *core);

#endif
