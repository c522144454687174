/* SPDX-License-Identifier: MIT
 * Turns of the cores, and circles that they go round in. Private to emu/afuc/. */
#ifndef CPS_AFUC_SCHED_H
#define CPS_AFUC_SCHED_H

#include "emu/afuc/machine.h"

enum cps_stop machine_run_(struct cps_engine *engine, uint64_t ticks);
/** Whether the core waits for the next packet, and there is none. */
bool core_idle_(const struct afuc_core *core);
/** Goes on with the round of turns, at most @p budget ticks; returns how many passed. A round in
 * which nobody ran has machine->turn.finished and not .ran. */
uint64_t machine_round_(struct cps_afuc *machine, uint64_t budget);

/* spin.c: whether the cores go round in circles of at most @p largest steps for ever. Steps them
 * until *ran, to which it adds, reaches @p budget. */
bool machine_spins_(struct cps_afuc *machine, uint64_t largest, uint64_t budget, uint64_t *ran);

#endif
