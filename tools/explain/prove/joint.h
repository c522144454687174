/* SPDX-License-Identifier: MIT
 * Both revisions run side by side over the same unknown words, along every path, until they differ
 * or stand at the same place in the same state again. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_JOINT_H
#define CPS_PROVE_JOINT_H

#include "tools/explain/prove/side.h"

/** What a comparison from one place came to. */
enum outcome {
    OUTCOME_EQUAL,     /**< on all paths */
    OUTCOME_WAITS,     /**< the same, but one waits for what the other does not: joint.waits */
    OUTCOME_BOUNDED,   /**< on all paths that go round each loop at most joint.bound times */
    OUTCOME_DIFFERENT, /**< joint.difference says how */
    OUTCOME_UNDECIDED, /**< joint.why says why */
};

/** The first difference of a path, and words with which that path is gone. */
struct difference {
    char text[192];
    uint64_t left;               /**< as LIVE_*: what both leave another value in, or 0 */
    uint32_t r[32];              /**< where the handler begins */
    uint32_t data[WITNESS_MOST]; /**< from the stream */
    uint32_t data_count;
    uint32_t regdata[WITNESS_MOST], regdata_count;
    uint32_t memdata[WITNESS_MOST], memdata_count;
    uint32_t control[WITNESS_MOST], control_count;
    uint32_t loaded[WITNESS_MOST], loaded_count;
    /* Where those words come from: numbers of registers, addresses of memory. */
    uint32_t control_at[WITNESS_MOST], regdata_at[WITNESS_MOST];
    uint64_t memdata_at[WITNESS_MOST], loaded_at[WITNESS_MOST];
};

/** What is known of a place: nothing; that all is equal from there on; or that all is equal but for
 * a poll that only revision `side` has at `pc`, of which this is one. */
#define PROVEN_NOT             0u
#define PROVEN_EQUAL           1u
#define PROVEN_WAITS(side, pc) (2u + ((uint32_t)(side) << 30 | (pc)))
static inline uint32_t proven_pc(uint32_t proven)
{
    return (proven - 2) & 0x3fffffff;
}
static inline unsigned proven_side(uint32_t proven)
{
    return (proven - 2) >> 30;
}

/** Polls that are noted of one comparison. */
#define WAITS_MOST 4u

struct joint {
    struct smt smt;
    const struct code *code;
    struct runner run[2];
    const uint32_t *proven; /**< by dword of the old revision: PROVEN_*; NULL: nothing is known */
    const bool
        *refused;   /**< by dword of the old revision: places that stand for nothing; or NULL */
    bool follow;    /**< paths keep what they know, loops end after `bound` turns */
    unsigned bound; /**< turns of a loop */
    unsigned most_paths;   /**< then it is undecided */
    uint64_t most_queries; /**< the same, of the solver */
    uint64_t most_steps;   /**< the same, of instructions of each revision */
    /** With `follow`: paths end where as many before them have been at the same place of both,
     * which finds differences soon, but proves nothing: joint.pruned. 0: they do not. */
    unsigned most_visits;
    /** Differences are handed to this one; true: enough. NULL: the first is enough. */
    bool (*found)(void *context, const struct difference *difference);
    void *context;
    /* Results. */
    struct {
        uint32_t pc[WAITS_MOST];
        unsigned side[WAITS_MOST];
        unsigned count;
    } waits; /**< where polls begin that only one revision has */
    enum outcome outcome;
    struct difference difference;
    const char *why;
    uint32_t *child; /**< places of the old revision at which both were equal; owned */
    size_t children;
    unsigned paths;
    bool pruned; /**< a path was left because of `most_visits` */
    bool stop;
    uint16_t *visits; /**< by dword of the old revision: how often both were there; owned */
};

void joint_init(const struct code *code, unsigned effort, struct joint *ret);
void joint_deinit(struct joint *joint);
/** Compares from two places of the old and the new revision, in equal states.
 * @param start  the states; NULL: of which nothing is known but the invariants */
void joint_compare(struct joint *joint, uint32_t old, uint32_t new, const struct state start[2]);
/** What a model says of where the handler begins, of what it hears, and of where that comes from:
 * sources.c. What a repetition reads is not followed. */
void joint_take_model(const struct joint *joint, const struct state *state, unsigned side,
                      const struct smt_model *model, struct difference *ret);

/* ---- effect.c: what a place, or the end of a path, leaves to the code after it ---- */

/** A pair of terms, with a name for people. */
struct left {
    char name[24];
    uint64_t bit; /**< as LIVE_*; of SQE registers 0 */
    Z3_ast word[2];
};
#define MOST_LEFT (32u + 4u + SQE_COUNT)

/** The pairs of two states, @p s, that code behind them may read: @p live as LIVE_*.
 * @return how many of @p ret, which has room for MOST_LEFT */
unsigned left_words(const struct state *s, uint64_t live, struct left *ret);
/** What is live behind an end, as PC_* says which. */
uint64_t left_live(const struct code_side *side, uint32_t pc);

/** Asserts what holds wherever a handler begins: invariant.def. */
void joint_assert_invariants(const struct joint *j, const struct state *s);

#endif
