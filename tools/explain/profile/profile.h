/* SPDX-License-Identifier: MIT
 * What firmware spends its instructions on: a sink that follows the events of a run, and the forms
 * that show what it found.
 *
 *   tree.c       frames, and how often each place ran in each
 *   follow.c     events become frames
 *   name.c       what frames are called
 *   table.c, results.c, folded.c, callgrind.c   what comes out */
#ifndef CPS_PROFILE_H
#define CPS_PROFILE_H

#include "tools/run/play.h"
#include "tools/explain/profile/tree.h"
#include "trace/event/launch.h"

/** The kinds of events that a profile is made of. */
#define PROFILE_KINDS                                                                 \
    (1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_PKT | 1u << CPS_EV_REG |   \
     1u << CPS_EV_PIPE | 1u << CPS_EV_MEMW | 1u << CPS_EV_ASSUME | 1u << CPS_EV_END | \
     1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT)

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
    bool is_wait_lost;
};

/** Makes @p play, which is opened, send its events here. */
void profile_begin(struct profile *profile, struct play *play);
void profile_deinit(struct profile *profile);
/** Closes what is open, once the run is over. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *profile_finish(struct profile *profile);

/* follow.c for profile.c */
void profile_follow_(struct profile *profile, const struct cps_event *event);
void profile_close_(struct profile *profile);

/** Appends what a frame is called. */
void profile_name(const struct profile *profile, const struct profile_node *node,
                  struct cps_buf *out);
/** The same of a packet by its key. */
void profile_packet_name(const struct profile *profile, unsigned who, uint32_t key,
                         struct cps_buf *out);
/** The path or name of the firmware that a processor runs. */
const char *profile_firmware(const struct profile *profile, unsigned who);
/** The source line of a dword, 0 where it is not known. */
uint32_t profile_line(const struct profile *profile, unsigned who, uint32_t pc);

/** Frames that are the same but for their parents and where they were called from. */
struct profile_row {
    struct profile_node what; /**< `parent` is 0; of packets `site` is the level */
    uint64_t total;           /**< with all below */
};
/** Sums by processor, or of packets by processor and level, or of functions, most instructions
 * first. @p ret  gets them; the caller frees them. @return how many, or -1: memory is short */
long profile_rows(const struct profile *profile, enum profile_kind kind, struct profile_row **ret);

/** Appends the table for people. */
CPS_MUST_USE struct cps_err *profile_table(const struct profile *profile, struct cps_buf *out);
/** Appends a line for each stack, as flame graphs are made from. */
CPS_MUST_USE struct cps_err *profile_folded(const struct profile *profile, struct cps_buf *out);
/** Appends Callgrind's format, version 1. */
CPS_MUST_USE struct cps_err *profile_callgrind(const struct profile *profile, struct cps_buf *out);
struct json_object;
/** {"format": "cpscope-profile 1", ...}: docs/profile.md. NULL: memory is short */
struct json_object *profile_json(const struct profile *profile);

#endif
