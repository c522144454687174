/* SPDX-License-Identifier: MIT
 * Registers by which the preemption routine sees what hardware holds of a context, and puts it
 * back: handlers of ctrl.def and gpu.def. It does not know who asks for a context switch (rings.h).
 *
 * Where a number has another meaning outside of the routine, or none, the handlers look whether the
 * core is in it. Private to emu/afuc/. */
#ifndef CPS_AFUC_PREEMPT_H
#define CPS_AFUC_PREEMPT_H

#include "emu/afuc/core.h"

/** What is read of a level: base low and high, dwords, dwords consumed. */
uint32_t preempt_read_position_(const struct cps_access *at);
/** Words of the current draw-state group that were consumed. */
uint32_t preempt_read_group_position_(const struct cps_access *at);
/** How many fetches wait at each level. */
uint32_t preempt_fetches_(struct afuc_core *core);
uint32_t preempt_fetches_a7xx_(struct afuc_core *core);
uint32_t preempt_read_first_(const struct cps_access *at);
/** Writes of IBn_DWORDS inside the routine; 25:24 say which part of a fetch that is. */
void preempt_restore_fetch_(struct afuc_core *core, enum level level, uint64_t iova,
                            uint32_t value);
/** The same of MEM_READ_DWORDS: how many words are to be fetched. */
uint32_t preempt_restore_read_(uint32_t value);
void preempt_write_next_(const struct cps_access *at);
void preempt_write_next_a7xx_(const struct cps_access *at);
uint32_t preempt_read_status_(const struct cps_access *at);
void preempt_write_regdata_(const struct cps_access *at);
uint32_t preempt_read_selected_(const struct cps_access *at);
uint32_t preempt_read_ready_(const struct cps_access *at);
uint32_t preempt_read_resources_(const struct cps_access *at);
uint32_t preempt_read_halt_(const struct cps_access *at);
uint32_t preempt_read_command_(const struct cps_access *at);
void preempt_write_command_(const struct cps_access *at);
uint32_t preempt_read_ops_(const struct cps_access *at);
uint32_t preempt_read_op_mask_(const struct cps_access *at);
/** SDS_START = 6: fetches the active groups as they were. */
void preempt_resume_groups_(struct afuc_core *core);
void preempt_write_groups_(const struct cps_access *at);
void preempt_write_trigger_(const struct cps_access *at);
void preempt_write_cntl_(const struct cps_access *at);
void preempt_write_wake_lpac_(const struct cps_access *at);
uint32_t preempt_read_stopped_(const struct cps_access *at);
void preempt_write_wake_bv_(const struct cps_access *at);
uint32_t preempt_read_word_(const struct cps_access *at);
/** Whether $addr and $usraddr only take what is written, without acting. */
bool preempt_quiet_(const struct afuc_core *core);
/** Whether REG_WRITE and REG_READ reach registers of a unit behind the aperture. */
bool preempt_unit_(const struct afuc_core *core);
uint32_t preempt_unit_read_(uint32_t offset);
void preempt_unit_write_(struct afuc_core *core, uint32_t offset, uint32_t value);
/** Whether an NRT write only shows where it would have gone. */
bool preempt_captures_nrt_(const struct afuc_core *core);
/** The NRT write that was captured: kind, address low, high; 0 of other words. */
uint32_t preempt_captured_(const struct afuc_core *core, uint32_t word);
/** CP_MRB_*: the memory reads that have not arrived. */
uint32_t preempt_read_mrb_(const struct cps_access *at);

enum { PC_MARKER = 0x9880 };
/** Bits of PREEMPT_CAUSE (F: 740 181f, BV 14f9, 14fc). */
enum { PREEMPT_BY_DRIVER = 1, PREEMPT_PUT_OFF = 2, PREEMPT_BY_PROCESSOR = 1 << 9 };

/** A value of `look`: though nothing asks for it. */
enum { PREEMPT_ONCE = 2 };

/** The core goes on with a packet. */
void preempt_passed_(struct afuc_core *core);
void preempt_request_(struct afuc_core *core, uint32_t cause);
/** Whether the routine is to be entered in front of a packet, and where the core stands. */
bool preempt_due_(const struct afuc_core *core);
bool preempt_anywhere_(const struct afuc_core *core);
/** State of the core inside the routine, and behind it. */
void preempt_enter_(struct afuc_core *core);
void preempt_leave_(struct afuc_core *core);

#endif
