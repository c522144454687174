/* SPDX-License-Identifier: MIT
 * The interpreter: fast.c, cover.c, step.c, and repetitions in one piece: bulk.c. Private to
 * emu/afuc/. */
#ifndef CPS_AFUC_RUN_H
#define CPS_AFUC_RUN_H

#include "emu/afuc/core.h"

/** Handlers of micro-operations where nobody watches, by code. */
const void *const *afuc_handlers_(void);
/** Runs at most @p budget instructions; returns how many ran. */
uint64_t afuc_run_(struct afuc_core *core, uint64_t budget);
uint64_t afuc_run_counted_(struct afuc_core *core, uint64_t budget);
uint64_t afuc_run_watched_(struct afuc_core *core, uint64_t budget);
/** Repetitions of a UOP_BULK in one piece, at most @p budget of them; returns how many were made, 0
 * if it takes single ones. */
uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

#endif
