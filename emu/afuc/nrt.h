/* SPDX-License-Identifier: MIT
 * Memory as cores reach it, with events; NRT writes. Private to emu/afuc/. */
#ifndef CPS_AFUC_NRT_H
#define CPS_AFUC_NRT_H

#include "emu/afuc/core.h"

uint32_t core_mem_read_(struct afuc_core *core, uint64_t iova, unsigned via);
void core_mem_write_(struct afuc_core *core, uint64_t iova, uint32_t value, unsigned via);
void nrt_write_(struct afuc_core *core, uint32_t value);

#endif
