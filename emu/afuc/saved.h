/* SPDX-License-Identifier: MIT
 * What hardware holds of a context, as the preemption routine reads it and puts it back: handlers
 * of ctrl.def and gpu.def. Where a number has another meaning outside of the routine, or none, they
 * look whether the core is in it. They do not know why it is (preempt.h). Private to emu/afuc/. */
#ifndef CPS_AFUC_SAVED_H
#define CPS_AFUC_SAVED_H

#include "emu/afuc/core.h"

/** What is read of a level: base low and high, dwords, dwords consumed. */
uint32_t saved_read_position_(const struct cps_access *at);
/** Words of the current draw-state group that were consumed. */
uint32_t saved_read_group_position_(const struct cps_access *at);
/** How many fetches wait at each level. */
uint32_t saved_fetches_(struct afuc_core *core);
uint32_t saved_fetches_a7xx_(struct afuc_core *core);
uint32_t saved_read_first_(const struct cps_access *at);
/** Writes of IBn_DWORDS inside the routine; 25:24 say which part of a fetch that is. */
void saved_restore_fetch_(struct afuc_core *core, enum level level, uint64_t iova, uint32_t value);
/** The same of MEM_READ_DWORDS: how many words are to be fetched. */
uint32_t saved_restore_read_(uint32_t value);
void saved_write_next_(const struct cps_access *at);
void saved_write_next_a7xx_(const struct cps_access *at);
uint32_t saved_read_status_(const struct cps_access *at);
void saved_write_regdata_(const struct cps_access *at);
uint32_t saved_read_selected_(const struct cps_access *at);
uint32_t saved_read_ready_(const struct cps_access *at);
uint32_t saved_read_resources_(const struct cps_access *at);
uint32_t saved_read_halt_(const struct cps_access *at);
uint32_t saved_read_command_(const struct cps_access *at);
void saved_write_command_(const struct cps_access *at);
uint32_t saved_read_ops_(const struct cps_access *at);
uint32_t saved_read_slot_(const struct cps_access *at);
/** Pulses that reset units; bit 2 the operations on draw-state groups. */
void saved_write_reset_(const struct cps_access *at);
uint32_t saved_read_op_mask_(const struct cps_access *at);
/** SDS_START = 6: fetches the active groups as they were. */
void saved_resume_groups_(struct afuc_core *core);
void saved_write_groups_(const struct cps_access *at);
/** Whether $addr and $usraddr only take what is written, without acting. */
bool saved_quiet_(const struct afuc_core *core);
/** Whether REG_WRITE and REG_READ reach registers of a unit behind the aperture. */
bool saved_unit_(const struct afuc_core *core);
uint32_t saved_unit_read_(uint32_t offset);
void saved_unit_write_(struct afuc_core *core, uint32_t offset, uint32_t value);
/** Whether an NRT write only shows where it would have gone. */
bool saved_captures_nrt_(const struct afuc_core *core);
/** The NRT write that was captured: kind, address low, high; 0 of other words. */
uint32_t saved_captured_(const struct afuc_core *core, uint32_t word);
/** CP_MRB_*: the memory reads that have not arrived. */
uint32_t saved_read_mrb_(const struct cps_access *at);

#endif
