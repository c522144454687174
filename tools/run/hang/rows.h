/* SPDX-License-Identifier: MIT
 * The emulator beside the hardware: rows of values with a verdict, in groups. */
#ifndef CPS_PLAY_ROWS_H
#define CPS_PLAY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** In the order in which they are printed. */
enum replay_group {
    REPLAY_PROCESSOR,  /**< program counter, registers, stack, headers, positions, scratch */
    REPLAY_ROQ,        /**< words that were fetched */
    REPLAY_QUEUES,     /**< register writes on their way */
    REPLAY_BANKS,      /**< registers of the clusters, by context */
    REPLAY_REGISTERS,  /**< the other registers that the replay wrote */
    REPLAY_DRAW_STATE, /**< CP_DRAW_STATE */
    REPLAY_GROUPS,
};

enum replay_verdict {
    REPLAY_EQUAL,
    REPLAY_DIFFERENT,
    REPLAY_IN_FLIGHT, /**< hardware has the value before: the write waits in CP_MEMPOOL */
    REPLAY_BANK,      /**< hardware has the value of the other context */
    REPLAY_NO_VALUE,  /**< one of the two has none to compare */
    REPLAY_OLDER,     /**< it is from before the replay began */
    REPLAY_VERDICTS,
};

/** One line: `$01 0xdeadd00d 0xdeadd00d equal`. */
struct replay_row {
    char name[64];
    uint32_t hardware, emulated;
    uint8_t group, verdict;
    const char *why; /**< static text behind the verdict, or NULL */
};

/** All of them. */
struct replay_rows {
    struct replay_row *row; /**< owned */
    size_t count;
    bool failed; /**< memory was short */
    unsigned counts[REPLAY_GROUPS][REPLAY_VERDICTS];
};

struct json_object;

/** Adds a row; the format makes its name. */
void rows_add(struct replay_rows *rows, enum replay_group group, enum replay_verdict verdict,
              uint32_t hardware, uint32_t emulated, const char *why, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void rows_deinit(struct replay_rows *rows);
/** Rows of all groups with a verdict. */
unsigned rows_count(const struct replay_rows *rows, enum replay_verdict verdict);
/** A line for each row that differs, or for each (@p all), then one for each group and the sum. */
void rows_print(const struct replay_rows *rows, bool all, FILE *out);
/** The rows as an array. */
struct json_object *rows_json(const struct replay_rows *rows);
/** Verdicts by group. */
struct json_object *rows_json_counts(const struct replay_rows *rows);

#endif
