/* SPDX-License-Identifier: MIT
 * Where values come from, kept while a machine runs: beside every place that holds a value there is
 * the number of a node, and a node says which instruction, word or part of the hardware made the
 * value, out of which other nodes. Nothing is inferred afterwards.
 *
 * The machine then runs tick by tick: the state before a tick, the rows of isa/afuc.def and the
 * events of the tick say what went where. Every node has its value, and a place that holds another
 * value than its node says so (ORIGIN_HARDWARE) instead of naming the wrong one. A machine without
 * an observer does not look for one but once in a turn. Private to emu/ and tools/.
 */
#ifndef CPS_ORIGIN_H
#define CPS_ORIGIN_H

#include "emu/afuc/core/machine.h"
#include "trace/event/item.h"

enum origin_kind {
#define ORIGIN(id, ...) ORIGIN_##id,
#include "emu/afuc/origin/origin.def"
    ORIGIN_COUNT
};

/** Inputs of ORIGIN_INSN, by place in `in`; the third is d or the carry. */
enum { ORIGIN_A, ORIGIN_B, ORIGIN_D, ORIGIN_INPUTS };

/** Where a value comes from. Nodes are made in the order of the run: inputs have smaller numbers.
 */
struct origin_node {
    uint64_t place; /**< address of a word, number of a register; of INSN its immediate */
    uint64_t clock; /**< ticks so far */
    uint32_t value;
    uint32_t in[ORIGIN_INPUTS]; /**< nodes; 0: none */
    uint32_t packet;            /**< the packet at that time; of a packet: the stream it lies in */
    uint32_t pc;
    uint32_t aux; /**< WORD, MEMORY, PACKET: blocks that were known (origin_block()); STREAM, GROUP:
                     the group's number */
    uint32_t submission; /**< from 0, or ORIGIN_NO_SUBMISSION */
    uint8_t kind;        /**< enum origin_kind */
    uint8_t who;         /**< enum cps_processor */
    uint8_t sub;         /**< PACKET, STREAM: level; REG: path; MEMW: via; ASSUMED: what */
    uint8_t dst;         /**< INSN, OFFSET: general register; else R_TRASH */
    bool has_imm;        /**< INSN: b is `place` */
    bool known;          /**< MEMORY, WORD: somebody had stored something there */
};

/** Contents that the host has fed, with their place in the file. */
struct origin_block {
    uint64_t iova, size;
    uint64_t offset; /**< byte of the (decompressed) file, plus 1; 0: it does not stand there */
    uint32_t line;   /**< of a text, from 1; 0: none */
};

/** Submission of what the driver itself sends before the first one. No request is due there.
 */
#define ORIGIN_NO_SUBMISSION UINT32_MAX

struct origin;

/** Who wants to know what came of an event; @p number counts the events of the kinds that it asked
 * for, others have UINT64_MAX. */
typedef void origin_seen(void *context, uint64_t number, const struct cps_event *event,
                         uint32_t node);

/** Makes an observer of @p machine, from here on. Once one of them is gone the other only waits for
 * its own end. @p most  nodes; 0: a default. Its events must go to origin_sink_(), all of
 * ORIGIN_KINDS. */
CPS_MUST_USE struct cps_err *origin_create_(struct cps_afuc *machine, uint32_t most,
                                            struct origin **ret);
void origin_destroy_(struct origin *origin);
struct cps_sink *origin_sink_(struct origin *origin);
#define ORIGIN_KINDS (((1u << CPS_EV_COUNT) - 1) & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX))
/** @p kinds  events to number, from 0 */
void origin_tell_(struct origin *origin, uint32_t kinds, origin_seen *seen, void *context);

/** What the machine calls: a turn of a core, an item that it was fed. */
uint64_t origin_run_(struct origin *origin, struct afuc_core *core, uint64_t budget);
void origin_item_(struct origin *origin, const struct cps_item *item);

/** Where the capture has the word of a WORD, MEMORY or PACKET node; NULL: it does not. @p offset
 * gets the byte of the file if the block has one, else that of the block. */
const struct origin_block *origin_block_(const struct origin *origin,
                                         const struct origin_node *node, uint64_t *offset);

/** Keeps a node and all that it comes from; returns a number for origin_kept_(), UINT32_MAX if
 * memory is short. */
uint32_t origin_keep_(struct origin *origin, uint32_t node);
uint32_t origin_kept_(const struct origin *origin, uint32_t kept);
/** A node by its number, which is valid until the machine runs on. */
const struct origin_node *origin_at_(const struct origin *origin, uint32_t node);
/** Whether a value comes only from times of the assumed clock and constants of the firmware:
 * another number than 0, which is the same for two values that are made in the same way of times
 * that were read at the same places in the same packets. An address that came from a clock, or a
 * branch, is not part of a value. Call it before the machine runs on. */
uint64_t origin_clock_(const struct origin *origin, uint32_t node);
/** Whether something was left out because there was more than room for. */
bool origin_cut_(const struct origin *origin);

/** The last write to a GPU register, in any of its banks, and to a word of memory; 0: never. */
uint32_t origin_register_(const struct origin *origin, uint32_t offset);
uint32_t origin_memory_(const struct origin *origin, uint64_t iova);
/** A control register and a general register of a core. */
uint32_t origin_control_(const struct origin *origin, unsigned core, unsigned number);
uint32_t origin_general_(struct origin *origin, unsigned core, unsigned number);
/** Where the ring lies now, and its bytes. */
uint64_t origin_ring_(const struct origin *origin);
uint64_t origin_ring_bytes_(const struct origin *origin);

#endif
