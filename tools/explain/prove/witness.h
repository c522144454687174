/* SPDX-License-Identifier: MIT
 * A difference that the emulator shows. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_WITNESS_H
#define CPS_PROVE_WITNESS_H

#include "tools/explain/prove/prove.h"
#include "tools/explain/prove/stage.h"
#include "trace/out/json.h"

struct witness {
    bool confirmed; /**< both revisions, run over it, do not do the same */
    bool hidden;    /**< but only in control registers */
    bool tried;     /**< at least one stream came to the handler */
    enum place_at place;
    struct stage_mark mark; /**< the packet that shows it */
    uint32_t word[WITNESS_MOST];
    uint32_t words;      /**< of its payload */
    struct cps_buf text; /**< the stream, as PM4 text; owned */
    char how[160];       /**< what the comparison found */
    char seen[200];      /**< the first event that differs */
};
void witness_deinit(struct witness *witness);
/** Takes a stream that shows a difference in place of the one so far. @param text  becomes empty */
void witness_take(struct witness *witness, const struct stage_answer *answer, enum place_at place,
                  const struct stage_mark *mark, const char *how, struct cps_buf *text);

/**
 * Looks for a stream that shows a handler's difference: from the states in which a machine that has
 * booted begins with it at each place, with a packet of each length, both are followed over unknown
 * payload, and each difference found is run.
 * If none shows it, a bounded random search looks for one: hunt.c.
 * @param ret  gets what came of it; the caller calls witness_deinit() in any case
 */
CPS_MUST_USE struct cps_err *witness_find(const struct prove_part *part, const struct stage *stage,
                                          const struct prove_handler *handler, struct witness *ret);
/** Compares what the boots of both revisions do in the emulator. The caller calls witness_deinit()
 * in any case. */
void witness_boot(const struct prove_part *part, const struct stage *stage, struct witness *ret);
/** What a stream shows that was found for the same handlers in other images. */
struct witness_shown {
    bool hidden;
    char seen[200];
};
/** Runs such a stream. @param witness  as results have it
 * @return whether it shows a difference here; false also where it cannot be run */
bool witness_replay(const struct prove_part *part, const struct stage *stage,
                    struct json_object *witness, struct witness_shown *ret);

/* ---- hunt.c: differences that the fuzzer's machinery finds where the solver's streams show none
 * ---- */

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
