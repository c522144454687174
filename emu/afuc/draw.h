/* SPDX-License-Identifier: MIT
 * Draw-state groups. Private to emu/afuc/. */
#ifndef CPS_AFUC_DRAW_H
#define CPS_AFUC_DRAW_H

#include "emu/afuc/core.h"

void draw_set_group_(struct afuc_core *core, uint32_t header, const uint32_t *base);
void draw_execute_group_(struct afuc_core *core, uint32_t group);
uint32_t draw_queued_mask_(const struct afuc_core *core);
/** a7xx: queues every group of the active mask that the render mode asks for.
 * @p mode  MODE_BITMASK; @p to_dde  a8xx: the core's DDE reads them */
void draw_start_(struct afuc_core *core, uint32_t mode, bool to_dde);
/** a5xx PFP: one word of CP_SET_DRAW_STATE; @p first begins a packet. */
void draw_group_word_(struct afuc_core *core, uint32_t value, bool first);

#endif
