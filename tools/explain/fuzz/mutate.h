/* SPDX-License-Identifier: MIT
 * Cases out of others: packets come, go, move between streams and change, words change, streams are
 * joined, and what names a stream is led to another one. */
#ifndef CPS_FUZZ_MUTATE_H
#define CPS_FUZZ_MUTATE_H

#include "tools/explain/fuzz/grammar.h"

/** Changes a case a few times. @param other  a case to take parts of */
void mutate(const struct grammar *grammar, struct rng *rng, const struct fuzz_case *other,
            struct fuzz_case *edited);

#endif
