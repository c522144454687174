/* SPDX-License-Identifier: MIT
 * A difference that the emulator shows. Private to tools/prove/. */
#ifndef CPS_PROVE_WITNESS_H
#define CPS_PROVE_WITNESS_H

#include "tools/prove/prove.h"
#include "tools/prove/stage.h"
#include "trace/json.h"

struct witness {
    bool confirmed; /**< both revisions, run over it, do not do the same */
    bool hidden;    /**< but only in control registers */
    bool tried;     /**< at least one stream came to the handler */
    enum place_at place;
    struct stage_packet packet; /**< its setup is the one below */
    struct stage_setup setup;
    char how[160];  /**< what the comparison found */
    char seen[200]; /**< the first event that differs */
};

/**
 * Looks for a stream that shows a handler's difference: from the states in which a machine that has
 * booted begins with it at each place, with a packet of each length, both are followed over unknown
 * payload, and each difference found is run.
 * @param ret  gets what came of it
 */
CPS_MUST_USE struct cps_err *witness_find(const struct prove_part *part, const struct stage *stage,
                                          const struct prove_handler *handler, struct witness *ret);
/** Compares what the boots of both revisions do in the emulator. */
CPS_MUST_USE struct cps_err *witness_boot(const struct prove_part *part, const struct stage *stage,
                                          struct witness *ret);
/** What a stream shows that was found for the same handlers in other images. */
struct witness_shown {
    bool hidden;
    char seen[200];
};
/** Runs such a stream. @param witness  as results have it
 * @return whether it shows a difference here; false also where it cannot be run */
bool witness_replay(const struct prove_part *part, const struct stage *stage,
                    const struct prove_handler *handler, struct json_object *witness,
                    struct witness_shown *ret);
/** The witness as PM4 text. */
void witness_text(const struct prove_part *part, const struct witness *witness, const char *notes,
                  struct cps_buf *out);

#endif
