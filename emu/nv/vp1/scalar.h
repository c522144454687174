/* SPDX-License-Identifier: MIT
 * The scalar unit's part of a bundle. */
#ifndef CPS_NV_VP1_SCALAR_H
#define CPS_NV_VP1_SCALAR_H

#include "emu/nv/vp1/vp1.h"

void vp1_scalar_(struct nv *e, struct vp1_s2v *ret);

#endif
