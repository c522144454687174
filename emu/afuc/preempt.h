/* SPDX-License-Identifier: MIT
 * When the preemption routine is entered, and what processors send each other for it. It does not
 * know who asks for a context switch (rings.h), nor what belongs to a context (saved.h). Private to
 * emu/afuc/. */
#ifndef CPS_AFUC_PREEMPT_H
#define CPS_AFUC_PREEMPT_H

#include "emu/afuc/core.h"

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

/** Handlers of ctrl.def. */
void preempt_write_trigger_(const struct cps_access *at);
void preempt_write_cntl_(const struct cps_access *at);
void preempt_write_wake_lpac_(const struct cps_access *at);
uint32_t preempt_read_stopped_(const struct cps_access *at);
void preempt_write_wake_bv_(const struct cps_access *at);
uint32_t preempt_read_word_(const struct cps_access *at);

#endif
