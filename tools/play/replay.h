/* SPDX-License-Identifier: MIT
 * A hardware dump run again: from the boot or the last retired submission to the hang, then the
 * emulated processor beside the hardware's own state, one line a register. */
#ifndef CPS_REPLAY_H
#define CPS_REPLAY_H

#include <stdio.h>

#include "tools/play/dump.h"
#include "tools/play/play.h"

enum replay_verdict { REPLAY_EQUAL, REPLAY_DIFFERENT, REPLAY_NOT_COMPARABLE };

/** One line: `$01 0xdeadd00d 0xdeadd00d equal`. */
struct replay_row {
    char name[24];
    uint32_t hardware, emulated;
    enum replay_verdict verdict;
    const char *why; /**< static text for NOT_COMPARABLE, else NULL */
};

#define REPLAY_MAX_ROWS 512

struct json_object;

struct replay {
    const struct dump *dump;
    struct play *play;
    const struct dump_ring *ring;
    bool from_boot;     /**< the ring still begins with the boot */
    bool same_firmware; /**< packet tables are equal */
    uint32_t start;     /**< dword of the ring where the replay began */
    uint64_t missing;   /**< streams on the way that the dump does not hold */
    uint32_t written;   /**< general registers that the replay has written, a bit each */
    struct replay_row row[REPLAY_MAX_ROWS];
    unsigned row_count;
    char scope[160]; /**< what was replayed, for people */
};

/** Fills the table from the engine as it stands, behind play_run() of the dump. */
void replay_compare(struct replay *replay);
void replay_free(struct replay *replay);
/** Rows with a verdict. */
unsigned replay_count(const struct replay *replay, enum replay_verdict verdict);
/** "equal", "different", "not comparable". */
const char *replay_word(enum replay_verdict verdict);
/** Prints scope and rows. */
void replay_print(const struct replay *replay, FILE *out);
/** The rows as an array, for the JSON summary. */
struct json_object *replay_json(const struct replay *replay);

#endif
