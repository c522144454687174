/* SPDX-License-Identifier: MIT
 * A hardware dump run again: from the boot or the last retired submission to where the hardware
 * stood, then the emulator beside the hardware, value by value. */
#ifndef CPS_REPLAY_H
#define CPS_REPLAY_H

#include <stdio.h>

#include "tools/run/dump.h"
#include "tools/run/hang/mempool.h"
#include "tools/run/hang/place.h"
#include "tools/run/hang/rows.h"
#include "tools/run/hang/writes.h"
#include "tools/run/play.h"

struct json_object;

struct replay {
    const struct dump *dump;
    struct play *play;
    const struct dump_ring *ring;
    bool from_boot;     /**< the ring still begins with the boot */
    bool same_firmware; /**< packet tables are equal */
    uint32_t start;     /**< dword of the ring where the replay began */
    size_t starts;      /**< registers that begin with the dump's values: nobody writes them */
    char scope[160];    /**< what was replayed, for people */
    struct roq roq;
    struct mempool pool;
    struct hang_place place;
    struct cps_buf place_text; /**< what there is to say of it */
    struct writes writes;      /**< register writes up to that place */
    /* Of the comparison: */
    uint64_t missing;           /**< streams on the way that the dump does not hold */
    uint32_t written;           /**< general registers that the replay has written, a bit each */
    uint32_t state_parity;      /**< what tells the hardware's count of contexts from the replay's:
                                   writes_context() of the exclusive or */
    size_t head[DUMP_CLUSTERS]; /**< the first write that waits in each queue, or their number */
    bool first_found[DUMP_CLUSTERS]; /**< that one is the queue's first entry */
    struct replay_rows rows;
};

/** A copy of the replay's engine that has been fed with all items, and stands before the ring. The
 * caller destroys it. @p cover  counts what it executes: @p count dwords; or NULL */
CPS_MUST_USE struct cps_err *replay_fresh(struct replay *replay, struct cps_cover *cover,
                                          uint32_t count, struct cps_engine **ret);
/** Compares the engine as it stands, behind play_run() of the dump. */
CPS_MUST_USE struct cps_err *replay_compare(struct replay *replay);
void replay_free(struct replay *replay);
/** Whether the hardware's place was found, all of the dump could be compared, and nothing differs.
 */
bool replay_agrees(const struct replay *replay);
/** Prints what was replayed, the rows that differ (@p all: each one), and the sums. */
void replay_print(const struct replay *replay, bool all, FILE *out);
/** All of that, for the JSON summary. */
struct json_object *replay_json(const struct replay *replay);

#endif
