/* SPDX-License-Identifier: MIT
 * GPU registers. Private to emu/afuc/. */
#ifndef CPS_AFUC_GPU_H
#define CPS_AFUC_GPU_H

#include "emu/afuc/machine.h"

CPS_MUST_USE struct cps_err *gpu_init_(struct cps_afuc *machine);
uint32_t gpu_read_(struct afuc_core *core, uint32_t offset);
void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path);

/** Whether CP_PROTECT forbids anything. */
bool gpu_protects_(const struct afuc_core *core);
/** Whether CP_PROTECT forbids the access to any of @p count registers. */
bool gpu_protected_(const struct afuc_core *core, uint32_t offset, uint32_t count, bool write);

#endif
