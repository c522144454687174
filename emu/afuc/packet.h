/* SPDX-License-Identifier: MIT
 * waitin and its relatives. Private to emu/afuc/. */
#ifndef CPS_AFUC_PACKET_H
#define CPS_AFUC_PACKET_H

#include "emu/afuc/core.h"

enum afuc_dispatch {
    DISPATCH_NOTHING,   /* no header yet */
    DISPATCH_PACKET,    /* go to @p target behind the delay slot */
    DISPATCH_INTERRUPT, /* go there at once: the delay slot belongs to the packet behind */
};
/** Looks the next header up. @p target may lie outside the image. */
enum afuc_dispatch afuc_dispatch_(struct afuc_core *core, uint32_t *target);
/** Enters the preemption routine where the core stands, if that is due and it may. */
void afuc_interrupt_(struct afuc_core *core);
bool afuc_iret_(struct afuc_core *core, uint32_t *target);
bool afuc_setsecure_(struct afuc_core *core);

#endif
