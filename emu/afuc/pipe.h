/* SPDX-License-Identifier: MIT
 * Pipe registers. Private to emu/afuc/. */
#ifndef CPS_AFUC_PIPE_H
#define CPS_AFUC_PIPE_H

#include "emu/afuc/core.h"

CPS_MUST_USE struct cps_err *afuc_pipe_init_(struct cps_afuc *machine);
void afuc_pipe_write_(struct afuc_core *core, uint32_t number, uint32_t value);
/** Whether a write to pipe register @p number is one of the NRT's data. */
bool afuc_pipe_is_memory_(const struct afuc_core *core, uint32_t number);
/** $addr is now @p address, whose 31:24 name a pipe register: those without payload act at once. */
void afuc_pipe_select_(struct afuc_core *core, uint32_t address);

#endif
