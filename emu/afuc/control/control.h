/* SPDX-License-Identifier: MIT
 * Control, SQE and pipe registers, and what they lead to. Private to emu/. */
#ifndef CPS_AFUC_CTRL_H
#define CPS_AFUC_CTRL_H

#include "emu/afuc/core/machine.h"

/** Control registers, by row of ctrl.def. */
enum ctl {
#define CTRL(id, ...) CTL_##id,
#include "emu/afuc/control/ctrl.def"
    CTL_COUNT,
};

uint32_t afuc_control_read_(struct afuc_core *core, uint32_t number);
/** @param extra  source of the (sdsN) words; only DRAW_STATE_SET_HDR looks at them */
void afuc_control_write_(struct afuc_core *core, uint32_t number, uint32_t value,
                         const uint32_t *extra);
void afuc_sqe_write_(struct afuc_core *core, uint32_t number, uint32_t value);
/** Whether the DDE of @p by has room for what a write of control register @p number sends to it:
 * words, draw-state groups, a fetch. */
bool afuc_dde_takes_(const struct afuc_core *by, uint32_t number);
/** Indexes the rows of the core's layout. */
CPS_MUST_USE struct cps_err *afuc_control_init_(struct afuc_core *core);
/** The stored value of a control register; 0 where the layout lacks it. No side effects. */
uint32_t afuc_control_get_(const struct afuc_core *core, enum ctl which);
void afuc_control_set_(struct afuc_core *core, enum ctl which, uint32_t value);
/** Its number in the core's layout, 0xffff where the layout lacks it. */
uint32_t afuc_control_number_(const struct afuc_core *core, enum ctl which);

/* ---- handlers of ctrl.def in other files ---- */

/** preempt.c: processors start, lock and wake each other, and what they share. */
enum { OWN_COMPLETED = 1 }; /* `own` of the rows of cps_afuc.completed */
cps_reg_write control_write_START, control_write_LOCK;
cps_reg_write control_write_SHARED, control_write_WAKE, control_write_TRIGGER, control_write_CNTL;
cps_reg_read control_read_SHARED, control_read_STOPPED, control_read_WORD;
/** saved.c: what hardware holds of a context. */
cps_reg_read control_read_POSITION, control_read_GROUP_AT, control_read_FIRST, control_read_OPS;
cps_reg_read control_read_SLOT, control_read_OP_MASK, control_read_RESOURCES, control_read_HALT;
cps_reg_read control_read_COMMAND, control_read_READY, control_read_SELECTED, control_read_STATUS;
cps_reg_write control_write_RESET_D, control_write_NEXT;
cps_reg_write control_write_COMMAND, control_write_GROUPS, control_write_REGDATA;

/* ---- draw-state groups: draw.c ---- */

void draw_set_group_(struct afuc_core *core, uint32_t header, const uint32_t *base);
void draw_execute_group_(struct afuc_core *core, uint32_t group);
uint32_t draw_queued_mask_(const struct afuc_core *core);
/** a7xx on: the packet may read the size of a visibility stream, which no binning pass wrote. */
void draw_assume_size_(struct afuc_core *core, uint64_t iova);
/** a7xx: queues every group of the active mask that the render mode asks for.
 * @p mode  MODE_BITMASK; @p to_dde  a8xx: the core's DDE reads them */
void draw_start_(struct afuc_core *core, uint32_t mode, bool to_dde);
/** a5xx PFP: one word of CP_SET_DRAW_STATE; @p first begins a packet. */
void draw_group_word_(struct afuc_core *core, uint32_t value, bool first);

/* ---- pipe registers: pipe.c ---- */

CPS_MUST_USE struct cps_err *afuc_pipe_init_(struct cps_afuc *machine);
void afuc_pipe_write_(struct afuc_core *core, uint32_t number, uint32_t value);
/** Whether a write to pipe register @p number is one of the NRT's data. */
bool afuc_pipe_is_memory_(const struct afuc_core *core, uint32_t number);
/** $addr is now @p address, whose 31:24 name a pipe register: those without payload act at once. */
void afuc_pipe_select_(struct afuc_core *core, uint32_t address);

/* ---- what hardware holds of a context: saved.c ----
 *
 * Handlers of ctrl.def and gpu.def, as the preemption routine reads and restores it. */

/** How many fetches wait at each level. */
uint32_t saved_fetches_(struct afuc_core *core);
uint32_t saved_fetches_a7xx_(struct afuc_core *core);
/** Writes of IBn_DWORDS inside the routine; 25:24 say which part of a fetch that is. */
void saved_restore_fetch_(struct afuc_core *core, enum level level, uint64_t iova, uint32_t value);
/** The same of MEM_READ_DWORDS: how many words are to be fetched. */
uint32_t saved_restore_read_(uint32_t value);
/** SDS_START = 6: fetches the active groups as they were. */
void saved_resume_groups_(struct afuc_core *core);
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

/* ---- when the preemption routine is entered: preempt.c ----
 */

enum { PC_MARKER = 0x9880 };
/** Bits of PREEMPT_CAUSE (F: 740 181f, BV 14f9, 14fc; a660 112 LPAC 0802). */
enum {
    PREEMPT_BY_DRIVER = 1,
    PREEMPT_PUT_OFF = 2,
    PREEMPT_BY_PROCESSOR_A660 = 1 << 4,
    PREEMPT_BY_PROCESSOR = 1 << 9,
};

/** A value of `look`: though nothing asks for it. */
enum { PREEMPT_ONCE = 2 };

/** The core goes on with a packet. */
void preempt_passed_(struct afuc_core *core);
/** Decides whether packets are inspected: an interrupt can be requested, or was. */
void preempt_watch_(struct cps_afuc *machine);
void preempt_request_(struct afuc_core *core, uint32_t cause);
/** Whether the routine is to be entered before a packet, and where the core is. */
bool preempt_due_(const struct afuc_core *core);
bool preempt_anywhere_(const struct afuc_core *core);
/** State of the core inside the routine, and after it. */
void preempt_enter_(struct afuc_core *core);
void preempt_leave_(struct afuc_core *core);

/* ---- packets that wait: wait.c ---- */

/** Of struct condition: values of CP_WAIT_REG_MEM's function. */
enum { FUNCTION_EQUAL = 3, FUNCTION_REACHED = 5, FUNCTION_SIGNED = 8 };
/** What is at a place that is waited for, without effect. */
uint32_t wait_read_(const struct afuc_core *core, bool in_memory, uint64_t at);
uint64_t wait_read_wide_(const struct afuc_core *core, const struct condition *wait);
/** Whether a packet that waits may begin: the policy needs all of its words, which the ME of a5xx
 * gets one by one, and what the ME has yet to write, because the PFP may poll that. */
bool wait_ready_(struct afuc_core *core, uint32_t header);
/** Notes what the packet that begins waits for, if it does, and applies the policy. */
void wait_begin_(struct afuc_core *core, uint32_t header);

/* ---- the own ways of a5xx's ME to registers and memory: me.c ---- */

/** $addr or $usraddr with bit 20: queues registers in $regdata; with bit 23: read-modify-write. */
void me_select_(struct afuc_core *me, uint32_t address, unsigned path);
/** A value for $data while a read-modify-write is in progress; false if there is none. */
bool me_rmw_data_(struct afuc_core *me, uint32_t value);
/** Serves a read of register 0x1d that no request follows, as the older documentation has
 * it; false if there is nothing to read. */
bool me_read_through_(struct afuc_core *me);
void me_reg_write_(struct afuc_core *me, uint32_t offset, uint32_t value);

/* ---- what events write when they complete: pipe.c ---- */

/** How many registers an event may store is UNKNOWN; drivers ask for one or two (D). A bound keeps
 * a single packet from storing the whole register file. */
#define STAMP_REGISTERS 1024u

/** The write of EVENT_TS_DATA, which completes the event. */
void stamp_(struct afuc_core *core, uint32_t value);
/** a7xx: of EVENT_TS_DATA_HI, after it. */
void stamp_high_(struct afuc_core *core, uint32_t value);
/** The time that the counters behind time stamps have, in the policy's unit; each reading of the
 * clock of packets is later than the one before. */
uint64_t stamp_clock_(struct afuc_core *core);
/** The sample counter is stored in 64 bits. */
void stamp_samples_(struct afuc_core *core, uint64_t iova);
/** Whether the on-chip word that the core's pipe waits for has reached its value. */
bool stamp_reached_(const struct afuc_core *core);

#endif
