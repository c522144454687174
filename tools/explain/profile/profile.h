/* SPDX-License-Identifier: MIT
 * What firmware spends its instructions on: a sink that follows the events of a run, and the forms
 * that show what it found.
 *
 *   follow.c  events become frames
 *   tree.c    frames, each under the one that led to it, and how often each place ran in each
 *   rows.c    sums of frames, as tables and as JSON
 *   stacks.c  what frames are called; folded stacks, Callgrind's format */
#ifndef CPS_PROFILE_H
#define CPS_PROFILE_H

#include "tools/run/play.h"
#include "trace/event/launch.h"
#include "trace/form/frames.h"

/* ---- The tree ---- */

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
    struct profile_slot {
        uint64_t hash;
        uint32_t number;
    } * slot;    /**< owned */
    size_t room; /**< a power of two, or 0 */
    size_t count;
};

/** Zero-initialised is empty. */
struct profile_tree {
    struct profile_node *node; /**< owned */
    size_t nodes;
    struct profile_cost *cost; /**< owned, in no order that means anything */
    size_t costs;
    struct profile_index by_frame, by_place;
};

/** Finds or makes a frame. @return its number; @p frame->parent where there is no room */
uint32_t profile_tree_frame(struct profile_tree *tree, const struct profile_node *frame);
/** Counts an instruction. */
void profile_tree_count(struct profile_tree *tree, uint32_t node, uint32_t pc);
/** Instructions of each frame with all below it. @return one for each, which the caller frees */
uint64_t *profile_tree_totals(const struct profile_tree *tree);
void profile_tree_deinit(struct profile_tree *tree);

/* ---- A profile ---- */

/** One processor on its way through the code. Of a frame `user` is its node, and `own` of a packet
 * the instructions of this visit, as profile_node.own. */
struct profile_core {
    struct cps_frames frames;
    uint32_t node;        /**< its own; 0: it has not run yet */
    uint64_t total;       /**< instructions */
    uint32_t pc;          /**< of the last one */
    uint32_t general[32]; /**< registers */
    uint32_t before[32];  /**< the same at the last way back */
    bool quiet;           /**< nothing was written since */
    uint32_t loop;        /**< where it led */
    uint64_t looped;      /**< `total` then */
};

/** Numbers of one sort of things. */
struct profile_range {
    uint64_t count, sum, least, most;
};

/** A place where firmware waits. */
struct profile_wait {
    uint8_t who;
    bool assumed; /**< the emulator gave what it waits for; else a loop that leaves all as it was */
    uint32_t packet; /**< key of the packet, or PROFILE_NONE */
    uint32_t pc;     /**< of the instruction; of the loop's start */
    uint64_t at;     /**< where the value was given: iova, or offset of a register */
    uint64_t count;  /**< how often; of loops how many rounds */
    uint64_t spent;  /**< instructions of those rounds */
};

/** A profile that is being made. Zero but for what profile_begin() sets. */
struct profile {
    struct cps_sink sink; /**< first */
    struct play *play;
    struct profile_tree tree;
    struct profile_core core[CPS_CPU_COUNT];
    struct profile_wait *wait; /**< owned */
    size_t waits;
    struct cps_launches launches;
    uint64_t launched; /**< instructions of their processor when the last one was over */
    struct profile_range launch[CPS_LAUNCH_KINDS]; /**< instructions since the one before */
    uint64_t instructions, packets;
    unsigned reason; /**< CPS_REASON_* of the END */
};

/** Makes @p play, which is opened, send its events here. */
void profile_begin(struct profile *profile, struct play *play);
void profile_deinit(struct profile *profile);
/** Closes what is open, once the run is over. */
void profile_finish(struct profile *profile);

/** Appends what a frame is called. */
void profile_name(const struct profile *profile, const struct profile_node *node,
                  struct cps_buf *out);

/** Appends the table for people. */
void profile_table(const struct profile *profile, struct cps_buf *out);
/** Appends a line for each stack, as flame graphs are made from. */
void profile_folded(const struct profile *profile, struct cps_buf *out);
/** Appends Callgrind's format, version 1. */
void profile_callgrind(const struct profile *profile, struct cps_buf *out);
/** Appends {"format": "cpscope-profile 1", ...}: docs/profile.md. */
void profile_json(const struct profile *profile, struct cps_buf *out);

#endif
