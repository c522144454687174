/* SPDX-License-Identifier: MIT
 * The tables that rnndb XML is read into. Knows names and bit sets, not XML. Private to isa/. */
#ifndef CPS_RNN_STORE_H
#define CPS_RNN_STORE_H

#include "isa/names/rnn.h"

/** A row as read: its bit set may be defined later, in another file. */
struct cps_rnn_row {
    struct cps_name_row row;
    const char *type; /**< bit set whose fields it takes if it has none itself, or NULL */
    int space;        /**< enum cps_space */
};

/** A named list of fields. */
struct cps_rnn_bitset {
    const char *name;
    uint32_t first_field;
    uint32_t field_count;
};

struct cps_rnn {
    enum cps_layout layout;
    uint32_t names; /**< everything counted against CPS_RNN_MAX_NAMES */
    struct cps_rnn_row *rows;
    uint32_t row_count;
    struct cps_name_field *fields;
    uint32_t field_count;
    struct cps_rnn_bitset *bitsets;
    uint32_t bitset_count;
    struct cps_rnn_text *text; /**< newest block of copied names */
    struct cps_name_table table[CPS_SPACE_COUNT];
};

/** Each returns false when out of memory or, with @p rnn->names at its limit, when full. */
bool cps_rnn_add_row_(struct cps_rnn *rnn, const struct cps_rnn_row *row);
bool cps_rnn_add_field_(struct cps_rnn *rnn, const struct cps_name_field *field);
bool cps_rnn_add_bitset_(struct cps_rnn *rnn, const struct cps_rnn_bitset *bitset);
/** A copy of @p text that lives as long as @p rnn, or NULL when out of memory. */
const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text);

#endif
