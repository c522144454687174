/* SPDX-License-Identifier: MIT
 * All code that the processor can come to from some places: the one piece that knows what may run
 * after an instruction. Not installed.
 *
 * A node is a pair (pc, npc), as the processor has it: an instruction, and what comes after it,
 * which is a branch's target where the instruction is in a delay slot. So a word in two slots
 * is two nodes, and a branch in a slot leads where it leads. Where a register says is an end: only
 * `guess` takes constants for addresses. */
#ifndef CPS_FW_WALK_H
#define CPS_FW_WALK_H

#include "fw/fw.h"

/** Where the code ends: numbers that are no dword of an image, and no node. */
enum {
    CPS_FW_AT_DISPATCH = 0xffffff00u, /**< at the next packet */
    CPS_FW_AT_RETURN,                 /**< where the caller goes on: the call stack says */
    CPS_FW_AT_ILLEGAL,                /**< at no instruction: the processor faults */
    CPS_FW_AT_OUTSIDE,                /**< after the code */
    CPS_FW_AT_REGISTER,               /**< where a register says: unknown */
    CPS_FW_AT_LIMIT,                  /**< there are more than `most` nodes */
    CPS_FW_AT_LINK,                   /**< `jump $lr`: where the caller goes on, if it used `bl` */
};

struct cps_fw_node {
    uint32_t pc, npc; /**< npc: a dword of the image, or an end */
    uint32_t
        next[3]; /**< nodes or ends, in a fixed order; the second one of a call is its callee */
    uint8_t count;
    bool call;
};

struct cps_fw_walk {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    size_t most; /**< nodes */
    bool guess;  /**< also where constants may be addresses, of code and of tables of jumps */
    /** NULL, or what hears of each word that leads to another one of the code, as a walk finds it;
     * @p from  CPS_FW_NONE: a constant does. It may hear of the same twice. */
    void (*lead)(void *context, uint32_t from, uint32_t to);
    void *context;
    struct cps_fw_node *node; /**< in the order in which they are found; owned */
    size_t count;
    uint32_t *slot; /* hash table of node numbers + 1 */
    size_t slots;
    size_t done; /* nodes that have been followed */
};

/** An empty walk over the words of a part that are before its packet table. The caller calls
 * cps_fw_walk_deinit_(). */
void cps_fw_walk_init_(const struct cps_fw *fw, const struct cps_fw_part *part, size_t most,
                       struct cps_fw_walk *ret);
void cps_fw_walk_deinit_(struct cps_fw_walk *walk);
/** Forgets all nodes. */
void cps_fw_walk_clear_(struct cps_fw_walk *walk);

/** Words before the packet table: what is after is no code. */
uint32_t cps_fw_code_end_(const struct cps_fw_part *part);

/** Adds a place to begin at. @param ret  gets its node, or CPS_FW_AT_OUTSIDE, CPS_FW_AT_LIMIT; NULL
 * is fine. @return CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cps_fw_walk_from_(struct cps_fw_walk *walk, uint32_t pc,
                                               uint32_t *ret);
/** Finds all that the nodes lead to. @return CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cps_fw_walk_(struct cps_fw_walk *walk);

#endif
