/* SPDX-License-Identifier: MIT
 * What events write when they complete. Private to emu/afuc/. */
#ifndef CPS_AFUC_STAMP_H
#define CPS_AFUC_STAMP_H

#include "emu/afuc/core.h"

/** The write of EVENT_TS_DATA, which completes the event. */
void stamp_(struct afuc_core *core, uint32_t value);
/** a7xx: of EVENT_TS_DATA_HI, behind it. */
void stamp_high_(struct afuc_core *core, uint32_t value);
/** Whether the on-chip word that the core's pipe waits for has reached its value. */
bool stamp_reached_(const struct afuc_core *core);

#endif
