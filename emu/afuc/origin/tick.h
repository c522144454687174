/* SPDX-License-Identifier: MIT
 * What an instruction reads and computes: origin.h. */
#ifndef CPS_ORIGIN_TICK_H
#define CPS_ORIGIN_TICK_H

#include "emu/afuc/origin/state.h"

void origin_learn_(struct origin *o);
/** What the instruction of a tick that ran did to registers, and which values left. */
void origin_effects_(struct origin *o, struct tick *t);

/** What an INSN node's operation computes; @p carry  of additions, may be changed. */
uint32_t origin_evaluate_(unsigned code, uint32_t a, uint32_t b, uint32_t d, uint32_t *carry);

#endif
