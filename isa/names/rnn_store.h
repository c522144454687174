/* SPDX-License-Identifier: MIT
 * The tables that rnndb XML is read into. Knows names and bit sets, not XML. Private to isa/. */
#ifndef CPS_RNN_STORE_H
#define CPS_RNN_STORE_H

#include "isa/names/rnn.h"

/** Of what varset and which of its values, as read; all NULL and the generations: always. */
struct cps_rnn_when {
    const char *set;    /**< an enumeration, or NULL */
    const char *values; /**< names of its values, separated by blanks */
};

/** A field as read: its type may be defined later, in another file. */
struct cps_rnn_field {
    struct cps_name_field field;
    const char *type; /**< a word of rnndb or an enumeration, or NULL */
    struct cps_rnn_when when;
};

/** A row as read. */
struct cps_rnn_row {
    struct cps_name_row row;
    const char *domain; /**< as cps_names_domain_() calls it */
    const char *type;   /**< bit set whose fields it takes, or NULL */
    bool has_own;       /**< fields of its own, which stand in front of those of its type */
    struct cps_rnn_when when;
};

/** A named list of fields. */
struct cps_rnn_bitset {
    const char *name;
    uint32_t first_field;
    uint32_t field_count;
};

struct cps_rnn_nv;

struct cps_rnn {
    enum cps_layout layout;
    struct cps_rnn_nv *nv; /**< what reading NVIDIA's tree needs; NULL for Adreno */
    uint32_t names;        /**< everything counted against CPS_RNN_MAX_NAMES */
    struct cps_rnn_row *rows;
    uint32_t row_count;
    struct cps_rnn_field *read_fields;
    uint32_t read_count;
    struct cps_rnn_bitset *bitsets;
    uint32_t bitset_count;
    struct cps_rnn_text *text; /**< newest block of copied names */
    /* What cps_rnn_finish_() makes of them. */
    struct cps_name_field *fields; /**< one for each that was read */
    struct cps_name_table *tables;
    uint32_t table_count;
    struct cps_name_source source;
};

/** Each returns false when out of memory or, with @p rnn->names at its limit, when full. */
bool cps_rnn_add_row_(struct cps_rnn *rnn, const struct cps_rnn_row *row);
bool cps_rnn_add_field_(struct cps_rnn *rnn, const struct cps_rnn_field *field);
bool cps_rnn_add_bitset_(struct cps_rnn *rnn, const struct cps_rnn_bitset *bitset);
/** A copy of @p text that lives as long as @p rnn, or NULL when out of memory. */
const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text);

#endif
