/* SPDX-License-Identifier: MIT
 * The rows of hwsq.def, vp1.def and atom.def, and what the files of fw/nv/envy/ share. */
#ifndef CPS_ENVY_TABLE_H
#define CPS_ENVY_TABLE_H

#include "fw/nv/envy/envy.h"

/* Most bytes of an instruction. */
#define ENVY_BYTES 5u

/* Tables of rows: the instruction sets, and those that operands are. */
enum envy_table {
    ENVY_HWSQ,
    ENVY_VP1,
#define TABLE(id) ENVY_##id,
#include "fw/nv/envy/atom.def"
};
struct envy_row {
    enum envy_table table;
    uint64_t gens;
    uint64_t value, mask;
    unsigned bytes;
    const char *text;
};

enum envy_kind {
    ENVY_NUM,
    ENVY_TARGET,
    ENVY_REG,
    ENVY_TABLE,
    ENVY_CHOICE,
    ENVY_NOTHING,
    ENVY_DISCARD
};
enum envy_mark { ENVY_NOWHERE, ENVY_BRANCH, ENVY_CALL };
/* An operand; members that its kind does not name are 0. */
struct envy_atom {
    const char *id;
    enum envy_kind kind;
    unsigned low, bits, low2, bits2, shift;
    bool is_signed;
    bool relative;
    enum envy_mark mark;
    const char *name, *suffix; /* of a register; of a choice the texts of 0 and 1 */
    int zero;
    const char *alias;
    int alias_of;
    enum envy_table table;
};

/* table.c: all rows, in the order in which they are tried. */
const struct envy_row *cps_envy_rows_(size_t *count);
/* table.c: the operand of "{NAME}" at @p text; *@p end gets what is after it. */
const struct envy_atom *cps_envy_atom_(const char *text, const char **end);
/* table.c: the table of an instruction set, and bytes of its unit. */
enum envy_table cps_envy_table_(enum cps_gen gen);

/* What is known of an instruction at some place. */
struct envy_insn {
    unsigned bytes;      /* of it; those in the code may be less */
    enum envy_mark mark; /* what it does to `target` */
    uint64_t target;     /* in units */
};
/* print.c: appends an instruction and what of it is unknown. @p at  in units. */
void cps_envy_print_(enum cps_gen gen, const uint8_t *bytes, size_t size, uint64_t at,
                     struct envy_insn *ret, struct cps_buf *out);

struct envy_label {
    const char *name;
    size_t length;
    uint64_t value;
};
/* What names are while a text is assembled. */
struct envy_scope {
    enum cps_gen gen;
    uint64_t at;              /* of the instruction, in units */
    bool first;               /* pass: names are not known, so that no number has to fit */
    struct envy_label *label; /* owned by the assembler */
    size_t label_count;
    const char *unknown; /* of the instruction: a name that no label has, or NULL */
    size_t unknown_length;
};
/* parse.c: the label of a name, or NULL. */
struct envy_label *cps_envy_label_(const struct envy_scope *scope, const char *name, size_t length);
/* parse.c: an instruction's bits and bytes from its text; false if no row has such a text. */
bool cps_envy_parse_(struct envy_scope *scope, const char *text, size_t size, uint64_t *ret,
                     unsigned *bytes);
/* parse.c: a number, or a sum and the like of numbers and names; *@p text moves past it. */
bool cps_envy_value_(struct envy_scope *scope, const char **text, const char *end, uint64_t *ret);

#endif
