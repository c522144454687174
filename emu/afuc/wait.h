/* SPDX-License-Identifier: MIT
 * The policy about values that the rest of the GPU would write. Private to emu/afuc/. */
#ifndef CPS_AFUC_WAIT_H
#define CPS_AFUC_WAIT_H

#include "emu/afuc/core.h"

void wait_policy_(struct afuc_core *core, uint32_t header);
/** Whether the words that the policy looks at are there: the ME gets them one by one. */
bool wait_ready_(struct afuc_core *core, uint32_t header);

#endif
