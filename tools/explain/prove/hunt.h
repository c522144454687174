/* SPDX-License-Identifier: MIT
 * A difference that the fuzzer's machinery finds where the solver's streams do not show it. Private
 * to tools/explain/prove/. */
#ifndef CPS_PROVE_HUNT_H
#define CPS_PROVE_HUNT_H

#include "tools/explain/prove/witness.h"

/** Payloads that the solver found, which the search begins with. */
#define HUNT_HINTS 24u

struct hunt_hints {
    struct difference *list; /**< owned */
    unsigned count;
};

/**
 * Runs random streams with packets of a handler on both revisions: made by the grammar of
 * tools/explain/fuzz/ and from the hints, kept and mutated if they reach new edges of the handler.
 * The number of runs and instructions is bounded, and the result depends on nothing else. A
 * difference counts if it follows a packet of the handler, is not of the clock, and no other
 * handler can be its cause: all others that ran are equal, or it is gone if the handler's packets
 * become CP_NOP.
 * @param ret  gets a smaller stream that shows the same, if one was found
 */
CPS_MUST_USE struct cps_err *hunt_find(const struct prove_part *part, const struct stage *stage,
                                       const struct prove_handler *handler,
                                       const struct hunt_hints *hints, struct witness *ret);

#endif
