/* SPDX-License-Identifier: MIT
 * Cores and their images. Private to emu/afuc/. */
#ifndef CPS_AFUC_START_H
#define CPS_AFUC_START_H

#include "emu/afuc/machine.h"

/** Another processor starts at @p iova, which must lie in the firmware's image. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova);
/** Decodes the image that begins at dword @p start of @p words and lets the core run. */
CPS_MUST_USE struct cps_err *machine_load_core_(struct afuc_core *core, const uint32_t *words,
                                                uint32_t count, uint32_t start);
/** Where the image of a core lies in GPU memory. */
uint64_t machine_image_iova_(const struct cps_afuc *machine, unsigned core);

#endif
