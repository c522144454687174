/* SPDX-License-Identifier: MIT
 * libcps-emu: machines that execute firmware. A machine is one or more cores, the registers,
 * memory and queues around them, and a deterministic scheduler.
 *
 * It does not know files: firmware comes as words, a capture as calls that store memory and name
 * streams, results leave as events through a sink. It never prints, exits or blocks. */
#ifndef CPS_EMU_H
#define CPS_EMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"
#include "trace/event.h"

struct cps_machine;

/** What a wait for a value does that only the rest of the GPU would write. */
enum cps_waits { CPS_WAITS_SATISFY, CPS_WAITS_STOP };
/** What the visibility streams say, which the binning pass of a GPU would have written. */
enum cps_visibility { CPS_VISIBILITY_ALL, CPS_VISIBILITY_NONE, CPS_VISIBILITY_CAPTURED };

/** Policies: what shapes a run. They are part of a trace's header. */
struct cps_policy {
    enum cps_waits waits;
    enum cps_visibility visibility;
    bool prefetch; /**< the firmware's look-ahead over queued IBs */
};

/** The image of one core. */
struct cps_image {
    enum cps_processor who;
    uint32_t start; /**< dword of `words` where the core's own address 0 lies */
};

/** Everything a machine is made from; cps_machine_create() copies what it keeps. */
struct cps_machine_config {
    enum cps_layout layout;   /**< CPS_LAYOUT_A5XX_PFP stands for PFP and ME together */
    const uint32_t *words;    /**< the firmware image, without the leading dword of the file */
    uint32_t count;           /**< dwords */
    const uint32_t *me_words; /**< a5xx: the image of the ME */
    uint32_t me_count;
    struct cps_image image[4]; /**< the cores' parts of `words`, in scheduling order */
    unsigned image_count;
    struct cps_policy policy;
    uint32_t chip;         /**< what the chip identity control register reads */
    uint32_t variant;      /**< the same of the chip variant; 0: as the generation's first chip */
    uint64_t memory_limit; /**< bytes; 0: 4 GiB */
    uint64_t instr_iova;   /**< where the image lies in GPU memory; 0: the default */
};

/** Why cps_machine_run() came back. */
enum cps_stop {
    CPS_STOP_IDLE,       /**< every core waits for the ring: all that was submitted is done */
    CPS_STOP_BUDGET,     /**< the instruction budget is used up */
    CPS_STOP_DEADLOCK,   /**< no core can go on; see cps_machine_stopped_at() */
    CPS_STOP_FAULT,      /**< illegal instruction, or the firmware reported an error of its own */
    CPS_STOP_BAD_PACKET, /**< the firmware reported a packet that it refuses */
};

/** Counters of a run so far. */
struct cps_stats {
    uint64_t instructions; /**< a (rep) counts once, however often it repeats */
    uint64_t ticks;        /**< every repetition counts: the unit of budgets and of the clock */
    uint64_t packets;
    uint64_t events[CPS_EV_COUNT];  /**< all that happened, recorded or not */
    uint64_t packets_by_id[6][128]; /**< by enum CPS_LEVEL_* and table index */
};

/** @return NULL, or CPS_ERR_NOMEM / CPS_ERR_UNSUPPORTED; the caller destroys @p ret */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_machine_create(const struct cps_machine_config *config,
                                                           struct cps_machine **ret);
CPS_PUBLIC void cps_machine_destroy(struct cps_machine *machine);

/** Sends events of the kinds in @p kinds (bit per enum cps_event_kind) to @p sink; NULL: to
 * nobody, which costs nothing. Pending events go to the old sink first. */
CPS_PUBLIC void cps_machine_sink(struct cps_machine *machine, struct cps_sink *sink,
                                 uint32_t kinds);
/** Hands pending events to the sink. Runs end with this; a debugger may want it sooner. */
CPS_PUBLIC void cps_machine_flush(struct cps_machine *machine);
/** The CPS_REASON_* that the END event has for a stop. */
CPS_PUBLIC unsigned cps_stop_reason(enum cps_stop stop);
/** Emits the END event. */
CPS_PUBLIC void cps_machine_end(struct cps_machine *machine, enum cps_stop stop);

/** a5xx: the word of CP_ME_INIT that selects work-arounds; the kernel sends 0xb for a505, a506 and
 * a530, 1 for a510, 0 for the others. Before cps_machine_boot(). */
CPS_PUBLIC void cps_machine_workarounds(struct cps_machine *machine, uint32_t word);
/** Runs the bootstrap and the generation's CP_ME_INIT, as the kernel driver submits it. */
CPS_PUBLIC enum cps_stop cps_machine_boot(struct cps_machine *machine, uint64_t budget);
/** Stores contents of a buffer of the capture. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_machine_load(struct cps_machine *machine, uint64_t iova,
                                                         const uint8_t *data, uint64_t size);
/** A new submission of the capture begins: all its buffers so far are gone. */
CPS_PUBLIC void cps_machine_forget(struct cps_machine *machine);
/**
 * Calls a stream from the ring with CP_INDIRECT_BUFFER; cps_machine_run() then executes it.
 * @return false, after an UNMODELLED event, when memory holds not even its first dword
 */
CPS_PUBLIC bool cps_machine_submit(struct cps_machine *machine, uint32_t index, uint64_t iova,
                                   uint32_t dwords);
/** Puts @p count dwords behind what the ring holds, for packets of the kernel's own; false if the
 * limit on memory is reached. The ring has 8192 dwords. */
CPS_PUBLIC bool cps_machine_ring(struct cps_machine *machine, const uint32_t *words,
                                 unsigned count);
/** From now on the ring is @p dwords long at @p iova, whose contents the caller has stored; cores
 * read from @p rptr to @p wptr (dwords). For rings of hardware dumps. */
CPS_PUBLIC void cps_machine_set_ring(struct cps_machine *machine, uint64_t iova, uint32_t dwords,
                                     uint32_t rptr, uint32_t wptr);
/** Packets that hardware makes itself, out of turn. */
enum cps_inject {
    CPS_INJECT_PREEMPT, /**< IN_PREEMPT: the driver's request to switch contexts */
    CPS_INJECT_GMU,     /**< IN_GMU_INTERRUPT: the power controller wants something */
};
/**
 * Lets hardware interrupt the SQE (BR, PFP) in front of packet @p packet of submission
 * @p submission, both counted from 0 as the trace shows them; packet 0 is the ring's call.
 * Requests are made in order. @return false if there are too many
 */
CPS_PUBLIC bool cps_machine_inject(struct cps_machine *machine, enum cps_inject kind,
                                   uint32_t submission, uint32_t packet);
/** Runs until a stop, at most @p budget instructions of all cores together. */
CPS_PUBLIC enum cps_stop cps_machine_run(struct cps_machine *machine, uint64_t budget);

/** What a translated loop works on. */
struct cps_native {
    uint32_t *r;   /**< general registers */
    uint64_t left; /**< ticks that it may take, and those it left */
    uint32_t carry;
};
/** Runs a loop until it is left or the ticks do not cover its next block; returns the dword of the
 * image to go on at. */
typedef uint32_t cps_native_loop(struct cps_native *state);
/**
 * Appends C source, without includes, for the loops of the cores that run now which stay among
 * general registers. It defines `cps_loops`, an array of cps_native_loop pointers.
 * @return how many loops there are
 */
CPS_PUBLIC unsigned cps_machine_translate(const struct cps_machine *machine, struct cps_buf *out);
/**
 * Lets the machine and its clones run @p loops, made from cps_machine_translate()'s source for this
 * machine as it is, in place of the interpreter where nobody watches single instructions. What
 * happens is the same. They must outlive the machines.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_machine_use_native(struct cps_machine *machine,
                                                               cps_native_loop *const *loops);

/** How often an instruction ran. */
struct cps_cover {
    uint64_t run;   /**< executions, repetitions of a (rep) counted */
    uint64_t taken; /**< of them, those that branched */
};
/** Counts what the cores execute from now on (not while STEP events are wanted). The counters lie
 * in
 * @p counts, one per instruction of the core's image from its start and one behind the last, @p
 * count of them; NULL stops it. They are the caller's and must outlive the counting. */
CPS_PUBLIC void cps_machine_cover(struct cps_machine *machine, unsigned core,
                                  struct cps_cover *counts, uint32_t count);
/** Instructions of a core's image; 0 while it is not started. */
CPS_PUBLIC uint32_t cps_machine_image_size(const struct cps_machine *machine, unsigned core);
/** Where the core's image begins, in dwords of the firmware's image. */
CPS_PUBLIC uint32_t cps_machine_image_start(const struct cps_machine *machine, unsigned core);
/** A machine in the same state, which shares memory pages until one of them writes; without sink
 * and counters. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_machine_clone(struct cps_machine *machine,
                                                          struct cps_machine **ret);
/** Appends where and on what the machine stands after a stop: "sqe at 0x00c6: ...". */
CPS_PUBLIC void cps_machine_explain(const struct cps_machine *machine, enum cps_stop stop,
                                    struct cps_buf *out);
CPS_PUBLIC const struct cps_stats *cps_machine_stats(const struct cps_machine *machine);

/** Looks into a machine: for debuggers, tests and comparison with hardware dumps. */
CPS_PUBLIC unsigned cps_machine_core_count(const struct cps_machine *machine);
CPS_PUBLIC enum cps_processor cps_machine_core_who(const struct cps_machine *machine,
                                                   unsigned core);
CPS_PUBLIC uint32_t cps_machine_pc(const struct cps_machine *machine, unsigned core);
/** General register $00..$1f without side effects; 0x1d..0x1f read as the selected addresses. */
CPS_PUBLIC uint32_t cps_machine_gpr(const struct cps_machine *machine, unsigned core,
                                    unsigned number);
/** General registers that instructions have written since STEP events are wanted, a bit each. */
CPS_PUBLIC uint32_t cps_machine_written(const struct cps_machine *machine, unsigned core);
CPS_PUBLIC uint32_t cps_machine_control(const struct cps_machine *machine, unsigned core,
                                        uint32_t number);
CPS_PUBLIC uint32_t cps_machine_sqe(const struct cps_machine *machine, unsigned core,
                                    uint32_t number);
/** Where a core stands in the stream of one level. */
struct cps_position {
    uint64_t iova;     /**< where the stream begins */
    uint32_t dwords;   /**< its length; the ring's size for the ring */
    uint32_t consumed; /**< dwords read of it */
    bool active;       /**< there is a stream at this level */
};
/** @param level  enum CPS_LEVEL_RB to CPS_LEVEL_SDS */
CPS_PUBLIC struct cps_position cps_machine_position(const struct cps_machine *machine,
                                                    unsigned core, unsigned level);
/** Header of the current packet (@p back 0) and of the two before it. */
CPS_PUBLIC uint32_t cps_machine_header(const struct cps_machine *machine, unsigned core,
                                       unsigned back);
/** The value that the firmware gave IB_LEVEL last. */
CPS_PUBLIC uint32_t cps_machine_level(const struct cps_machine *machine, unsigned core);
/** The address that the firmware set for NRT writes, before it advances. */
CPS_PUBLIC uint64_t cps_machine_nrt(const struct cps_machine *machine, unsigned core);
CPS_PUBLIC uint32_t cps_machine_reg(const struct cps_machine *machine, uint32_t offset);
CPS_PUBLIC void cps_machine_set_reg(struct cps_machine *machine, uint32_t offset, uint32_t value);
CPS_PUBLIC uint32_t cps_machine_packet_table(const struct cps_machine *machine, unsigned core,
                                             unsigned id);
CPS_PUBLIC uint32_t cps_machine_memory(struct cps_machine *machine, uint64_t iova, bool *known);

#endif
