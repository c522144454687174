/* SPDX-License-Identifier: MIT
 * The program around the engine, in the place of the driver and of other hardware. Private to
 * emu/afuc/. */
#ifndef CPS_AFUC_HOST_H
#define CPS_AFUC_HOST_H

#include "emu/afuc/machine.h"

/** CPS_ITEM_WRITE and CPS_ITEM_READ. */
CPS_MUST_USE struct cps_err *machine_host_(struct cps_afuc *machine, const struct cps_item *item);
/** Where the ring is read next, of all cores, as dwords of it. */
void machine_set_rptr_(struct cps_afuc *machine, uint64_t dword);
/** Whether the register is the host's, and its value. */
bool host_read_register_(struct cps_afuc *machine, uint32_t offset, uint32_t *ret);
/** Whether the register is the host's, who is told. */
bool host_write_register_(struct cps_afuc *machine, uint32_t offset, uint32_t value);
/** Raises an interrupt. */
void machine_irq_(struct afuc_core *core, uint32_t number);

#endif
