/* SPDX-License-Identifier: MIT
 * The register files of VP1. */
#ifndef CPS_NV_VP1_FILE_H
#define CPS_NV_VP1_FILE_H

#include "emu/nv/vp1/vp1.h"

/** Registers as `mov` sees them. Reading gives false if there is no such file. */
bool vp1_read_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t *ret);
void vp1_write_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t value);
/** The same for the host. */
uint32_t vp1_view_read_(const struct cps_access *at);
void vp1_view_write_(const struct cps_access *at);
/** Rows of sr.def. */
extern const struct cps_reg_table vp1_special_;
/** Gives special registers the values that their rows begin with, if these are not 0. */
void vp1_file_initial_(struct vp1 *s, uint32_t first, uint32_t last);
void vp1_file_reset_(struct nv *e);

#endif
