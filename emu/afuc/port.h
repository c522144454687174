/* SPDX-License-Identifier: MIT
 * What special registers do. Private to emu/afuc/. */
#ifndef CPS_AFUC_PORT_H
#define CPS_AFUC_PORT_H

#include "emu/afuc/core.h"

bool afuc_ready_(struct afuc_core *core, const struct afuc_uop *uop);
uint32_t afuc_read_(struct afuc_core *core, const struct afuc_uop *uop, unsigned number);
void afuc_write_(struct afuc_core *core, unsigned number, uint32_t value);
void afuc_extra_moves_(struct afuc_core *core, const struct afuc_uop *uop);
void afuc_store_(struct afuc_core *core, uint32_t offset, uint32_t value);
uint32_t afuc_load_word_(struct afuc_core *core, uint32_t offset);

#endif
