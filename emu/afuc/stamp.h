/* SPDX-License-Identifier: MIT
 * What events write when they complete. Private to emu/afuc/. */
#ifndef CPS_AFUC_STAMP_H
#define CPS_AFUC_STAMP_H

#include "emu/afuc/core.h"

/** How many registers an event may store is UNKNOWN; drivers ask for one or two (D). A bound keeps
 * a single packet from storing the whole register file. */
#define STAMP_REGISTERS 1024u

/** The write of EVENT_TS_DATA, which completes the event. */
void stamp_(struct afuc_core *core, uint32_t value);
/** a7xx: of EVENT_TS_DATA_HI, behind it. */
void stamp_high_(struct afuc_core *core, uint32_t value);
/** Whether the on-chip word that the core's pipe waits for has reached its value. */
bool stamp_reached_(const struct afuc_core *core);

#endif
