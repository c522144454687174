/* SPDX-License-Identifier: MIT
 * From the PFP of a5xx to its ME, from BR and BV of a8xx to their DDEs. Private to emu/afuc/. */
#ifndef CPS_AFUC_MEQ_H
#define CPS_AFUC_MEQ_H

#include "emu/afuc/core.h"

/** Whether @p to takes @p words more. */
bool meq_room_(const struct afuc_core *to, uint32_t words);
/** Sends a word from @p by to @p to. */
void meq_push_(struct afuc_core *by, struct afuc_core *to, uint32_t value);
uint32_t meq_pop_(struct afuc_core *me);
/** Whether the side stream holds @p words words, its end mark counted. */
bool side_has_(const struct afuc_core *me, uint32_t words);
bool side_at_end_(const struct afuc_core *me);

#endif
