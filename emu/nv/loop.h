/* SPDX-License-Identifier: MIT
 * The loop of an engine, and waiting. Private to emu/nv/. */
#ifndef CPS_NV_LOOP_H
#define CPS_NV_LOOP_H

#include "emu/nv/nv.h"

/* Lets the engine run up to @p budget instructions or the bus's `until`. */
enum cps_stop nv_loop_(struct nv *e, uint64_t budget);
/* How waiting ended: as it should, at its deadline, or not at all. */
enum cps_await { CPS_AWAIT_MET, CPS_AWAIT_LATE, CPS_AWAIT_HELD };
/* Lets time pass until @p holds, or to the tick @p deadline; asks whenever something has changed.
 */
enum cps_await nv_await_(struct nv *e, bool (*holds)(struct nv *e, const void *who),
                         const void *who, uint64_t deadline);
/* How a run stops that only the host can help: DEADLOCK, or BUDGET if it acts later. */
enum cps_stop nv_held_(struct nv *e);
/* Values that a STEP event of HWSQ and SEQ may show, as $00, $01 and so on. */
#define CPS_STEP_REGS 4u
/* Emits the STEP of an instruction at @p pc that changed registers, @p count of them and at most
 * 32, from @p before to @p after. */
void nv_step_(struct nv *e, unsigned who, uint32_t pc, const uint32_t *before,
              const uint32_t *after, unsigned count);

#endif
