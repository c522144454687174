/* SPDX-License-Identifier: MIT
 * What random streams show of a handler. Private to hunt.c and hunt_judge.c. */
#ifndef CPS_PROVE_HUNT_JUDGE_H
#define CPS_PROVE_HUNT_JUDGE_H

#include "tools/explain/fuzz/fuzz.h"
#include "tools/explain/prove/witness.h"

/** Kinds of events that the rest of the GPU sees. */
#define HUNT_VISIBLE (RECORD_COMPARED & ~(1u << CPS_EV_END))
/** Differences of which another handler may be the cause: more are not looked into. */
#define HUNT_DOUBTS 60u

/** A search. */
struct hunt {
    const struct prove_part *part;
    const struct stage *stage;
    const struct prove_handler *handler;
    const struct hunt_hints *hints;
    enum cps_processor who;
    struct run run; /**< without oracles: it runs cases, and says what they did */
    struct protection protection;
    struct learned learned;
    struct grammar grammar;
    struct grammar own; /**< which makes packets of the handler only */
    struct rng rng;
    struct key_map edges;
    struct corpus all, aimed;
    bool wanted[CPS_FW_TABLE_SIZE]; /**< packets of the handler */
    bool equal[CPS_FW_TABLE_SIZE];  /**< packets whose handlers are equal */
    bool usable[CPS_FW_TABLE_SIZE]; /**< the same, but for waits */
    char inject[24];                /**< what cases run with */
    struct stage_context context;   /**< of that */
    unsigned doubts;
    uint64_t instructions;
    struct fuzz_case input, other, smaller, best;
    bool found, found_hidden;
};

/** What a case shows. */
struct shown {
    bool different;
    bool hidden;   /**< only in control registers */
    bool saved;    /**< in the record of a context, while a switch stores it */
    bool inside;   /**< in a packet of the handler, not after it */
    uint64_t iova; /**< of the handler's first packet */
    uint32_t header;
    uint8_t level;
};

/** Runs a case on both revisions. */
void hunt_run(struct hunt *hunt, const struct fuzz_case *input);
/** What the last run, of @p input, shows: a difference that is the handler's. */
struct shown hunt_judge(struct hunt *hunt, const struct fuzz_case *input);
/** Whether a header is of one of the handler's packets. */
bool hunt_wants(const struct hunt *hunt, uint32_t header);

#endif
