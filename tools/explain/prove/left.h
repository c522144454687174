/* SPDX-License-Identifier: MIT
 * What a place, or the end of a path, leaves to the code behind it. Private to
 * tools/explain/prove/. */
#ifndef CPS_PROVE_LEFT_H
#define CPS_PROVE_LEFT_H

#include "tools/explain/prove/side.h"

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

struct joint;
/** Asserts what holds wherever a handler begins: invariant.def. */
void joint_assert_invariants(const struct joint *j, const struct state *s);

#endif
