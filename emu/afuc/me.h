/* SPDX-License-Identifier: MIT
 * The own ways of a5xx's ME to registers and memory. Private to emu/afuc/. */
#ifndef CPS_AFUC_ME_H
#define CPS_AFUC_ME_H

#include "emu/afuc/core.h"

/** $addr or $usraddr with bit 20: queues registers in $regdata; with bit 23: read-modify-write. */
void me_select_(struct afuc_core *me, uint32_t address, unsigned path);
/** A value for $data while a read-modify-write is in progress; false if there is none. */
bool me_rmw_data_(struct afuc_core *me, uint32_t value);
/** Serves a read of register 0x1d that no request stands behind, as the older documentation has
 * it; false if there is nothing to read. */
bool me_read_through_(struct afuc_core *me);
void me_reg_write_(struct afuc_core *me, uint32_t offset, uint32_t value);

#endif
