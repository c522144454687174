/* SPDX-License-Identifier: MIT
 * The interpreter: fast.c, cover.c, step.c. Private to emu/afuc/. */
#ifndef CPS_AFUC_RUN_H
#define CPS_AFUC_RUN_H

#include "emu/afuc/core.h"

/** Handlers of micro-operations where nobody watches, by code. */
const void *const *afuc_handlers_(void);
/** Runs at most @p budget instructions; returns how many ran. */
uint64_t afuc_run_(struct afuc_core *core, uint64_t budget);
uint64_t afuc_run_counted_(struct afuc_core *core, uint64_t budget);
uint64_t afuc_run_watched_(struct afuc_core *core, uint64_t budget);

#endif
