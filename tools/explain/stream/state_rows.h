/* SPDX-License-Identifier: MIT
 * Registers of a state, or of two, as rows: pairs that are one register of 64 bits joined. */
#ifndef CPS_STATE_ROWS_H
#define CPS_STATE_ROWS_H

#include "tools/explain/stream/state.h"

/** How a register stands beside the state before. */
enum state_mark {
    STATE_KEPT,    /**< nothing wrote it since */
    STATE_AGAIN,   /**< written, with the same value */
    STATE_CHANGED, /**< another value */
    STATE_NEW,     /**< had none */
    STATE_GONE     /**< has none now: only where two runs are compared */
};

/** One register. */
struct state_row {
    uint32_t number;
    bool is_wide;     /**< 64 bits: also number + 1 */
    const char *name; /**< or NULL */
    unsigned half;    /**< 1: upper half of a pair whose lower half has no value */
    uint64_t value;   /**< now, unless it is gone */
    uint64_t old;     /**< before, unless it is new */
    enum state_mark mark;
    const struct state_register *writer; /**< of the value now; NULL if it is gone */
};

/** Two states of STATE_REGISTERS each, and what they are compared as. */
struct state_pair {
    const struct cps_names *names;
    const struct state_register *now, *before;
    uint64_t since; /**< events of `now` with a greater number came after `before`; of two runs
                       UINT64_MAX: nothing is said to be written again */
};

/** Hands out the rows of all registers that have a value in either, in the order of their numbers.
 */
void state_rows(const struct state_pair *pair,
                void (*each)(void *context, const struct state_row *row), void *context);
/** The same block by block, blocks in the order in which they come first. */
void state_rows_by_block(const struct state_pair *pair,
                         void (*each)(void *context, const struct state_row *row), void *context);
/** Prefix of a row's name up to the first '_', or "?": its block. @return bytes of @p ret */
size_t state_block(const struct state_row *row, char ret[16]);
/** "*", "+", "=", "-", or " ". */
char state_mark_text(enum state_mark mark);
/** "changed", "new", "again", "gone", "kept". */
const char *state_mark_word(enum state_mark mark);

#endif
