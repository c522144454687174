/* SPDX-License-Identifier: MIT
 * Repetitions in one piece. Private to emu/afuc/. */
#ifndef CPS_AFUC_BULK_H
#define CPS_AFUC_BULK_H

#include "emu/afuc/core.h"

/** Repetitions of a UOP_BULK in one piece, at most @p budget of them; returns how many were made, 0
 * if it takes single ones. */
uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

#endif
