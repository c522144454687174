/* SPDX-License-Identifier: MIT
 * The reader of rnndb XML, for the files of isa/names/ that make it up. Private to them. */
#ifndef CPS_RNN_READ_H
#define CPS_RNN_READ_H

#include <expat.h>
#include <stdbool.h>

#include "isa/names/rnn_store.h"

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
