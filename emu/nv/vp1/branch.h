/* SPDX-License-Identifier: MIT
 * The branch unit's part of a bundle. */
#ifndef CPS_NV_VP1_BRANCH_H
#define CPS_NV_VP1_BRANCH_H

#include "emu/nv/vp1/vp1.h"

void vp1_branch_(struct nv *e);
/** Whether the bundle, not yet begun, will call. */
bool vp1_calls_(const struct vp1 *s);

#endif
