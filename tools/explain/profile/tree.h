/* SPDX-License-Identifier: MIT
 * Where instructions were spent: a tree of frames, each under the one that led to it, and how often
 * each place of the code ran in each. Frames are numbers here; profile.h says what they are called.
 */
#ifndef CPS_PROFILE_TREE_H
#define CPS_PROFILE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/form/frames.h"

/** What a frame is; its `key` is of this kind. */
enum profile_kind {
    PROFILE_ROOT,
    PROFILE_PROCESSOR, /**< no key */
    PROFILE_LEVEL,     /**< and those behind it: enum cps_frame_kind */
    PROFILE_BOOT,
    PROFILE_PACKET, /**< opcode of type 7, PROFILE_TYPE4 or PROFILE_BAD */
    PROFILE_CALL,
    PROFILE_INTERRUPT,
};
#define PROFILE_TYPE4 0x80u
#define PROFILE_BAD   0x81u
#define PROFILE_NONE  UINT32_MAX

/** A frame under one parent; number 0 is the root. A parent stands in front of its children. */
struct profile_node {
    uint32_t parent;
    uint32_t key;
    uint32_t site; /**< dword of the call that led here; 0 where none did */
    uint8_t kind;  /**< enum profile_kind */
    uint8_t who;   /**< enum cps_processor */
    uint64_t visits;
    uint64_t self;        /**< instructions with this frame on top */
    uint64_t own;         /**< of packets: with its calls, without packets inside of it */
    uint64_t least, most; /**< `own` of one visit */
};

/** Executions of the instruction at a dword, with a frame on top. */
struct profile_cost {
    uint32_t node, pc;
    uint64_t count;
};

/** Open addressing: numbers of items + 1 by a hash of what they are. */
struct profile_index {
    uint32_t *slot; /**< owned */
    size_t room;    /**< a power of two, or 0 */
    size_t count;
};

/** Zero-initialised is empty. */
struct profile_tree {
    struct profile_node *node; /**< owned */
    size_t nodes;
    struct profile_cost *cost; /**< owned, in no order that means anything */
    size_t costs;
    struct profile_index by_frame, by_place;
    bool lost; /**< memory was short */
    bool full; /**< frames were left out: what they spent is their parent's */
};

/** Finds or makes a frame. @return its number; @p frame->parent where there is no room */
uint32_t profile_tree_frame(struct profile_tree *tree, const struct profile_node *frame);
/** Counts an instruction. */
void profile_tree_count(struct profile_tree *tree, uint32_t node, uint32_t pc);
/** Instructions of each frame with all below it. @return one for each, which the caller frees;
 * NULL: memory is short */
uint64_t *profile_tree_totals(const struct profile_tree *tree);
void profile_tree_deinit(struct profile_tree *tree);

#endif
