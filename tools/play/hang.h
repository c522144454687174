/* SPDX-License-Identifier: MIT
 * A hardware dump run again: from the boot or the last retired submission to the hang, then the
 * emulated processor beside the hardware's own state, one line a register. */
#ifndef CPS_HANG_H
#define CPS_HANG_H

#include <stdio.h>

#include "tools/play/dump.h"
#include "tools/play/play.h"

enum hang_verdict { HANG_EQUAL, HANG_DIFFERENT, HANG_NOT_COMPARABLE };

/** One line: `$01 0xdeadd00d 0xdeadd00d equal`. */
struct hang_row {
    char name[24];
    uint32_t hardware, emulated;
    enum hang_verdict verdict;
    const char *why; /**< static text for NOT_COMPARABLE, else NULL */
};

#define HANG_MAX_ROWS 512

struct json_object;

struct hang {
    const struct dump *dump;
    struct play *play;
    const struct dump_ring *ring;
    bool from_boot;     /**< the ring still begins with the boot */
    bool same_firmware; /**< packet tables are equal */
    uint32_t start;     /**< dword of the ring where the replay began */
    uint64_t missing;   /**< streams on the way that the dump does not hold */
    uint32_t written;   /**< general registers that the replay has written, a bit each */
    struct hang_row row[HANG_MAX_ROWS];
    unsigned row_count;
    char scope[160]; /**< what was replayed, for people */
};

/** Fills the table from the engine as it stands, behind play_run() of the dump. */
void hang_compare(struct hang *hang);
void hang_free(struct hang *hang);
/** Rows with a verdict. */
unsigned hang_count(const struct hang *hang, enum hang_verdict verdict);
/** "equal", "different", "not comparable". */
const char *hang_word(enum hang_verdict verdict);
/** Prints scope and rows. */
void hang_print(const struct hang *hang, FILE *out);
/** The rows as an array, for the JSON summary. */
struct json_object *hang_json(const struct hang *hang);

#endif
