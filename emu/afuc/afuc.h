/* SPDX-License-Identifier: MIT
 * What only afuc has, behind the interface of all engines: streams and their positions, packet
 * tables, packets that hardware injects, loops as machine code. Whoever includes this is about
 * Adreno's command processors; the rest knows emu/engine.h. */
#ifndef CPS_AFUC_H
#define CPS_AFUC_H

#include "../engine.h"

CPS_C_BEGIN

struct cps_afuc;

/** The engine as what it is; NULL if it is another one. */
CPS_PUBLIC struct cps_afuc *cps_afuc_of(struct cps_engine *engine);

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
CPS_PUBLIC bool cps_afuc_inject(struct cps_afuc *machine, enum cps_inject kind, uint32_t submission,
                                uint32_t packet);

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
CPS_PUBLIC unsigned cps_afuc_translate(const struct cps_afuc *machine, struct cps_buf *out);
/**
 * Lets the machine and its clones run @p loops, made from cps_afuc_translate()'s source for this
 * machine as it is, in place of the interpreter where nobody watches single instructions. What
 * happens is the same. They must outlive the machines. @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_afuc_use_native(struct cps_afuc *machine,
                                                            cps_native_loop *const *loops);

/** Instructions of a core's image; 0 while it is not started. */
CPS_PUBLIC uint32_t cps_afuc_image_size(const struct cps_afuc *machine, unsigned core);
/** Where the core's image begins, in dwords of the firmware's image. */
CPS_PUBLIC uint32_t cps_afuc_image_start(const struct cps_afuc *machine, unsigned core);
/** Where the image of a core lies in GPU memory, in bytes. */
CPS_PUBLIC uint64_t cps_afuc_image_iova(const struct cps_afuc *machine, unsigned core);
/** General registers that instructions have written since STEP events are wanted, a bit each. */
CPS_PUBLIC uint32_t cps_afuc_written(const struct cps_afuc *machine, unsigned core);
/** Whether anybody gave a GPU register a value. */
CPS_PUBLIC bool cps_afuc_reg_written(const struct cps_afuc *machine, uint32_t offset);
/** Packets dispatched of a packet table index. @param level  CPS_LEVEL_*, below 6 */
CPS_PUBLIC uint64_t cps_afuc_packets(const struct cps_afuc *machine, unsigned level, unsigned id);
/** Where a core stands in the stream of one level. */
struct cps_position {
    uint64_t iova;     /**< where the stream begins */
    uint32_t dwords;   /**< its length; the ring's size for the ring */
    uint32_t consumed; /**< dwords read of it */
    bool active;       /**< there is a stream at this level */
};
/** @param level  enum CPS_LEVEL_RB to CPS_LEVEL_SDS */
CPS_PUBLIC struct cps_position cps_afuc_position(const struct cps_afuc *machine, unsigned core,
                                                 unsigned level);
/** Header of the current packet (@p back 0) and of the two before it. */
CPS_PUBLIC uint32_t cps_afuc_header(const struct cps_afuc *machine, unsigned core, unsigned back);
/** The value that the firmware gave IB_LEVEL last. */
CPS_PUBLIC uint32_t cps_afuc_level(const struct cps_afuc *machine, unsigned core);
/** The address that the firmware set for NRT writes, before it advances. */
CPS_PUBLIC uint64_t cps_afuc_nrt(const struct cps_afuc *machine, unsigned core);
/** The handler of a packet table index, as the firmware stored it. */
CPS_PUBLIC uint32_t cps_afuc_packet_table(const struct cps_afuc *machine, unsigned core,
                                          unsigned id);

CPS_C_END

#endif
