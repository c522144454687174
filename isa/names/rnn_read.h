/* SPDX-License-Identifier: MIT
 * The reader of rnndb XML and the tables that it fills, for the files that make it up. Private to
 * them. */
#ifndef CPS_RNN_READ_H
#define CPS_RNN_READ_H

#include <expat.h>

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
/** Reads a file whole and adds what it has. */
CPS_MUST_USE struct cps_err *cps_rnn_read_file_(struct cps_rnn *rnn, const char *path);
/** A copy of @p text that lives as long as @p rnn, or NULL when out of memory. */
const char *cps_rnn_copy_(struct cps_rnn *rnn, const char *text);

/* Its numbers are, in part, not the GPU's: where both have a name, the GPU's is meant. */
#define CPS_RNN_GMU_FILE "a6xx_gmu.xml"

enum kind { OTHER, DOMAIN, ARRAY, STRIPE, REGISTER, BITSET, BITFIELD, ENUM, VALUE };

struct element;

/* An open XML element. What is not set by its own attributes is inherited from its parent. */
struct frame {
    enum kind kind;
    const struct element *element; /* how it is read, NULL: not at all */
    const char *domain; /* the domain or enum around, or NULL: not one that gives names */
    uint8_t chips;      /* generations in which it exists */
    uint32_t members;   /* NVIDIA: the layout's chips that have it, a bit each */
    const char *varset; /* what `variants` means here: an enum, or NULL: generations */
    struct cps_rnn_when when;
    bool is_packet;  /* the words behind a packet's header */
    bool is_indexed; /* an array, or a register with a length */
    bool is_wide;
    bool is_value; /* a register that is one field itself, the first of its fields */
    bool has_own;  /* a register with fields of its own beside those that its type may have */
    bool has_registers;
    const char *name;
    const char *type;
    uint32_t offset, stride, length;
    uint32_t first_field;
    uint32_t field; /* the index of the field that it is */
    uint32_t width; /* of a register, in bits */
};

struct reader {
    struct cps_rnn *rnn;
    XML_Parser parser;
    const char *file;
    bool is_gmu;
    struct cps_err *err; /* the first one; then expat has been told to stop */
    unsigned depth;
    unsigned repeats; /* depth of the array that the row in hand repeats with, or 0 */
    struct frame frame[CPS_RNN_MAX_DEPTH + 1]; /* [0] stands for the file */
};

/* Notes an error, the first one, and stops the parser. */
CPS_PRINTF(2, 3) void cps_rnn_fail_(struct reader *reader, const char *format, ...);
/* A table refused to grow: too much input, or no memory. */
void cps_rnn_fail_full_(struct reader *reader);
/* Attributes of an element: one, or NULL; a number, or @p fallback; a copy that lasts, or NULL. */
const char *cps_rnn_attribute_(const char **attributes, const char *name);
uint32_t cps_rnn_number_(struct reader *reader, const char **attributes, const char *name,
                         uint32_t fallback);
const char *cps_rnn_text_(struct reader *reader, const char **attributes, const char *name);
/* A row for the open register or value, whose full name is known. */
void cps_rnn_named_row_(struct reader *reader, const char *name, uint32_t at);
/* What expat calls: an element of a file, or one that a group repeats. */
void XMLCALL cps_rnn_start_(void *context, const char *name, const char **attributes);
void XMLCALL cps_rnn_end_(void *context, const char *name);

#endif
