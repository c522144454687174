/* SPDX-License-Identifier: MIT
 * What firmware spends its instructions on: a sink that follows the events of a run, and the
 * formats that show the result.
 *
 *   profile.c      events become frames, each under the one that led to it
 *   profile_doc.c  sums of frames, as tables and as JSON
 *   stacks.c       names of frames; folded stacks, Callgrind's format */
#ifndef CPS_PROFILE_H
#define CPS_PROFILE_H

#include "tools/run/play.h"
#include "trace/event/launch.h"
#include "trace/form/frames.h"

/** What a frame is; its `key` is of this kind. */
enum profile_kind {
    PROFILE_ROOT,
    PROFILE_PROCESSOR, /**< no key */
    PROFILE_LEVEL,     /**< and those after it: enum cps_frame_kind */
    PROFILE_BOOT,
    PROFILE_PACKET, /**< opcode of type 7, PROFILE_TYPE4 or PROFILE_BAD */
    PROFILE_CALL,
    PROFILE_INTERRUPT,
};
#define PROFILE_TYPE4 0x80u
#define PROFILE_BAD   0x81u
#define PROFILE_NONE  UINT32_MAX

/** A frame under one parent; number 0 is the root. A parent is before its children. */
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

/** One processor on its way through the code. Of a frame `user` is its node, and `own` of a packet
 * the instructions of this visit, as profile_node.own. */
struct profile_core {
    struct cps_frames frames; /**< first */
    uint32_t node;            /**< its own; 0: it has not run yet */
    uint64_t total;           /**< instructions */
    uint32_t pc;              /**< of the last one */
    uint32_t general[32];     /**< registers */
    uint32_t before[32];      /**< the same at the last jump back */
    bool quiet;               /**< nothing was written since */
    uint32_t loop;            /**< where it led */
    uint64_t looped;          /**< `total` then */
};

/** Instructions of one kind of launch. */
struct profile_range {
    uint64_t count, sum, least, most;
};

/** A place where firmware waits. */
struct profile_wait {
    uint8_t who;
    bool assumed;    /**< the emulator supplied the value; else a loop that leaves all as it was */
    uint32_t packet; /**< key of the packet, or PROFILE_NONE */
    uint32_t pc;     /**< of the instruction; of the loop's start */
    uint64_t at;     /**< address of the value: iova, or offset of a register */
    uint64_t count;  /**< how often; of loops the rounds */
    uint64_t spent;  /**< instructions of those rounds */
};

/** A profile that is being made. Zero but for what profile_begin() sets. */
struct profile {
    struct cps_sink sink; /**< first */
    struct cps_frames_user user;
    struct play *play;
    struct profile_node *node; /**< owned */
    size_t nodes;
    struct profile_cost *cost; /**< owned, in the order of first executions */
    size_t costs;
    struct profile_slot {
        uint64_t key[2];
        uint32_t number; /**< 1 + index of a node or cost; 0: free */
    } * slot;            /**< hash table with open addressing; owned */
    size_t slots;        /**< a power of two, or 0 */
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

/** Instructions of each frame with all below it. @return one for each, which the caller frees */
uint64_t *profile_totals(const struct profile *profile);
/** Order of frames but for their parents: by processor, kind, site and key. */
int profile_compare(const struct profile_node *a, const struct profile_node *b);
/** Appends the name of a frame. */
void profile_name(const struct profile *profile, const struct profile_node *node,
                  struct cps_buf *out);

/** Appends the table for people. */
void profile_table(const struct profile *profile, struct cps_buf *out);
/** Appends a line for each stack, the input of flame graphs. */
void profile_folded(const struct profile *profile, struct cps_buf *out);
/** Appends Callgrind's format, version 1. */
void profile_callgrind(const struct profile *profile, struct cps_buf *out);
/** Appends {"format": "cpscope-profile 1", ...}: docs/profile.md. */
void profile_json(const struct profile *profile, struct cps_buf *out);

#endif
