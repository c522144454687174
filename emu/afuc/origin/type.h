/* SPDX-License-Identifier: MIT
 * What nodes of provenance are: origin.h. */
#ifndef CPS_ORIGIN_TYPE_H
#define CPS_ORIGIN_TYPE_H

#include "trace/event/event.h"

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

/** Submission of what the driver itself sends in front of the first one. No request is due there.
 */
#define ORIGIN_NO_SUBMISSION UINT32_MAX

struct origin;

/** Who wants to know what came of an event; @p number counts the events of the kinds that it asked
 * for, others have UINT64_MAX. */
typedef void origin_seen(void *context, uint64_t number, const struct cps_event *event,
                         uint32_t node);

#endif
