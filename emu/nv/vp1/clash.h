/* SPDX-License-Identifier: MIT
 * What two units of a bundle have in common. */
#ifndef CPS_NV_VP1_CLASH_H
#define CPS_NV_VP1_CLASH_H

#include "emu/nv/vp1/vp1.h"

/** Says so, and changes the words as the hardware does. */
void vp1_clash_(struct nv *e);
/** Whether the scalar `mov` of the bundle loses against a load. */
bool vp1_mov_is_first_(const struct vp1 *s);

#endif
