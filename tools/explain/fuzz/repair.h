/* SPDX-License-Identifier: MIT
 * Cases that mutation has put out of step, put in step again: headers whose parity is wrong,
 * packets that are cut, counts that lead astray, operations that firmware refuses where they stand.
 */
#ifndef CPS_FUZZ_REPAIR_H
#define CPS_FUZZ_REPAIR_H

#include "tools/explain/fuzz/grammar.h"

/** The levels that streams are read at, as far as calls in them say; RB: nothing says it. */
void case_levels(const struct fuzz_case *from, uint8_t *ret);
/** Mostly puts streams in step that packets name; sometimes does nothing. */
void repair(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited);

#endif
