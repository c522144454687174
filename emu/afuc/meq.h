/* SPDX-License-Identifier: MIT
 * From the PFP of a5xx to its ME. Private to emu/afuc/. */
#ifndef CPS_AFUC_MEQ_H
#define CPS_AFUC_MEQ_H

#include "emu/afuc/core.h"

bool meq_room_(const struct afuc_core *pfp, uint32_t words);
void meq_push_(struct afuc_core *pfp, uint32_t value);
uint32_t meq_pop_(struct afuc_core *me);
/** Whether the side stream holds @p words words, its end mark counted. */
bool side_has_(const struct afuc_core *me, uint32_t words);
bool side_at_end_(const struct afuc_core *me);

#endif
