/* SPDX-License-Identifier: MIT
 * The vector unit's part of a bundle: vector.c, mad.c. */
#ifndef CPS_NV_VP1_VECTOR_H
#define CPS_NV_VP1_VECTOR_H

#include "emu/nv/vp1/vp1.h"

void vp1_vector_(struct nv *e, const struct vp1_s2v *s2v);
void vp1_mad_(struct nv *e, const struct vp1_s2v *s2v);
void vp1_lerp_(struct nv *e, const struct vp1_s2v *s2v);
bool vp1_mad_writes_v_(unsigned op);
/** The condition mask of a vector operation, a bit a byte. */
uint32_t vp1_condition_mask_(const struct vp1 *s, const struct vp1_s2v *s2v);

#endif
