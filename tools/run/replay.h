/* SPDX-License-Identifier: MIT
 * A hardware dump run again: from the boot or the last retired submission to where the hardware
 * stood, then the emulator beside the hardware, value by value. */
#ifndef CPS_REPLAY_H
#define CPS_REPLAY_H

#include "tools/run/hang/hang.h"
#include "tools/run/play.h"

/** Registers that keep what packets store there, of a6xx and a7xx. */
enum { CP_SCRATCH_FIRST = 0x883, CP_SCRATCH_LAST = 0x88a };

struct replay {
    const struct dump *dump;
    struct play *play;
    const struct dump_ring *ring;
    bool from_boot;     /**< the ring still begins with the boot */
    bool splits;        /**< an emulator's dump: retired submissions are a run of their own */
    bool skips;         /**< their streams are left out: the dump lacks their memory */
    bool same_firmware; /**< packet tables are equal */
    uint32_t start;     /**< dword of the ring where the replay began */
    size_t starts;      /**< registers that begin with the dump's values: nobody writes them */
    char scope[160];    /**< what was replayed, for people */
    struct roq roq;
    struct mempool pool;
    struct hang_position place;
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
/** Whether the replay lacks streams that ran before those of the dump. */
static inline bool replay_lacks_history(const struct replay *replay)
{
    return !replay->from_boot || replay->skips;
}
/** Whether the dump has the blocks that a comparison needs. */
bool replay_has_place(const struct replay *replay);
/** Whether the hardware's place was found, all of the dump could be compared, and nothing differs.
 */
bool replay_agrees(const struct replay *replay);
/** Prints what was replayed, the rows that differ (@p all: each one), and the sums. */
void replay_print(const struct replay *replay, bool all, FILE *out);
/** All of that, for the JSON summary. */
struct json_object *replay_json(const struct replay *replay);

/* ---- Groups of the comparison: each adds its rows to the replay, whose engine stands where the
 * hardware stood (hang/). ---- */

/** processor.c: the processor's own registers, positions and scratch. */
void compare_processor(struct replay *replay);
/** fetched.c: the words in CP_ROQ. */
void compare_fetched(struct replay *replay);
/** queued.c: the writes in CP_MEMPOOL; finds out how far each queue was read. */
void compare_queued(struct replay *replay);
/** registers.c: the sections `clusters` and `registers`. */
void compare_banks(struct replay *replay);
void compare_registers(struct replay *replay);
/** draw_state.c: CP_DRAW_STATE. */
void compare_draw_state(struct replay *replay);

/** fetched.c: "ring", "ib1", "ib2" or "sds", in names of rows. */
const char *fetched_level(uint32_t level);
/** How many fetches of a level wait, with the one that is read; 0: nothing is read there. Registers
 * name the last of them, which is being filled. */
unsigned fetched_count(const struct replay *replay, uint32_t level);
/**
 * How many dwords further the emulated processor has read the streams of a level than the words
 * that wait in CP_ROQ say of the hardware.
 * @return false if the dump does not say or cannot be right, or nothing is read at this level
 */
bool fetched_ahead(const struct replay *replay, uint32_t level, int64_t *ret);

/** holes.c: holes of a recovered firmware that a replay comes by: where words were put in or taken
 * out is tried, and the replay that comes closest to the hardware decides. Changes the engine and
 * the firmware of @p replay, whose feed has all items; does nothing where the firmware was not
 * recovered. */
CPS_MUST_USE struct cps_err *holes_fill(struct replay *replay);

#endif
