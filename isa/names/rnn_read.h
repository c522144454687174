/* SPDX-License-Identifier: MIT
 * rnndb XML as a tree, and the tables that it is read into. Private to rnn.c and rnn_read.c. */
#ifndef CPS_RNN_READ_H
#define CPS_RNN_READ_H

#include "isa/names/rnn.h"

/** Its numbers are, in part, not the GPU's: where both have a name, the GPU's is meant. */
#define CPS_RNN_GMU_FILE "a6xx_gmu.xml"

/** An element: its attributes are name, value, ..., NULL. */
struct cps_rnn_node {
    const char *name;
    const char **attributes;
    struct cps_rnn_node *child, *next;
    uint32_t line, end_line;
};

/** A condition: a varset and which of its values; NULL: always. */
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
    bool has_own;       /**< fields of its own, which come before those of its type */
    struct cps_rnn_when when;
};

/** A named list of fields. */
struct cps_rnn_bitset {
    const char *name;
    uint32_t first_field;
    uint32_t field_count;
};

/** Chips of a layout of NVIDIA's that are told apart. */
#define CPS_RNN_NV_CHIPS 32u

/** What NVIDIA's tree has beyond Adreno's: chips by name, groups, files that import each other. */
struct cps_rnn_nv {
    const char *dir; /**< where imports are looked for, NULL: nowhere */
    const char **file;
    size_t file_count;
    unsigned imports;  /**< that are open */
    const char **chip; /**< names, in the enumeration's order */
    size_t chip_count;
    size_t member[CPS_RNN_NV_CHIPS]; /**< the layout's chips among them */
    unsigned member_count;
    const struct cps_rnn_node **group; /**< one that is defined again continues the first */
    size_t group_count;
    size_t repeats;     /**< elements that groups repeated */
    unsigned repeating; /**< groups that are open, one inside the other */
    unsigned enums;     /**< made for values in fields */
};

struct cps_rnn {
    enum cps_layout layout;
    bool is_nv;
    struct cps_rnn_nv nv;
    uint32_t names; /**< everything counted against CPS_RNN_MAX_NAMES */
    struct cps_rnn_row *rows;
    uint32_t row_count;
    struct cps_rnn_field *read_fields;
    uint32_t read_count;
    struct cps_rnn_bitset *bitsets;
    uint32_t bitset_count;
    size_t read;                 /**< bytes of all files */
    struct cps_rnn_block *block; /**< newest block of what cps_rnn_alloc_() gave */
    /* What cps_rnn_finish_() makes of them. */
    struct cps_name_field *fields; /**< one for each that was read */
    struct cps_name_table *tables;
    uint32_t table_count;
    struct cps_name_source source;
};

/* rnn_tree.c */
/** Memory that lives as long as @p rnn; NULL when there is none. */
void *cps_rnn_alloc_(struct cps_rnn *rnn, size_t size);
/** A copy of @p text that lives as long; NULL when there is no memory. */
const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text);
/** Frees what these two gave. */
void cps_rnn_free_all_(struct cps_rnn *rnn);
/** The outermost element of an XML file; all of it lives as long as @p rnn. */
CPS_MUST_USE struct cps_err *cps_rnn_tree_(struct cps_rnn *rnn, const char *file, const void *data,
                                           size_t size, struct cps_rnn_node **ret);

/* rnn_chips.c */
/** Adds a name of the enumeration of chips, in the order that ranges go by, and its number or NULL.
 * False when out of memory. */
bool cps_rnn_add_chip_(struct cps_rnn *rnn, const char *name, const char *value);
/** The layout's chips that a list of ranges has, a bit each; all of them without an enumeration. */
uint32_t cps_rnn_chips_in_(const struct cps_rnn_nv *nv, const char *text);

/* rnn.c */
/** Adds a field; false without memory, or with @p rnn->names at its limit. */
bool cps_rnn_add_field_(struct cps_rnn *rnn, struct cps_rnn_field field);
/** Reads a file whole and adds its names. */
CPS_MUST_USE struct cps_err *cps_rnn_read_file_(struct cps_rnn *rnn, const char *path);

#endif
