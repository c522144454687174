/* SPDX-License-Identifier: MIT
 * Packets of type 4 in one piece. Private to emu/afuc/. */
#ifndef CPS_AFUC_TYPE4_H
#define CPS_AFUC_TYPE4_H

#include "emu/afuc/core.h"

/** Runs the handler of type 4 that begins at @p uop, its waitin and the slot behind it, and goes on
 * as long as the next packet is of type 4, too; the state says where the core is then. Returns how
 * many ticks that took, at most @p budget; 0: the packet takes single instructions, and nothing has
 * happened. */
uint64_t afuc_type4_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

#endif
