/* SPDX-License-Identifier: MIT
 * The address unit's part of a bundle. */
#ifndef CPS_NV_VP1_ADDRESS_H
#define CPS_NV_VP1_ADDRESS_H

#include "emu/nv/vp1/vp1.h"

void vp1_address_(struct nv *e);

#endif
