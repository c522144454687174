/* SPDX-License-Identifier: MIT
 * What the walks along a FORM (print.c, parse.c) and the kinds of fields (kinds.c, kinds_file.c)
 * share. Private to isa/. */
#ifndef CPS_KINDS_H
#define CPS_KINDS_H

#include "isa/sets/table.h"

/** An instruction on its way to text. */
struct cps_printer {
    const struct cps_isa *isa;
    const struct cps_insn *insn;
    const struct cps_print_names *names;
    struct cps_buf *out;
    uint32_t pc;
    const struct cps_field *field; /**< of the operand */
};

#define CPS_MAX_PREFIXES 4

struct cps_prefix {
    const char *name;
    size_t length;
    uint32_t count; /**< N of "(xmovN)", 1 for flags */
    size_t column;
};

/** Text on its way to an instruction. */
struct cps_parser {
    const struct cps_isa *isa;
    uint32_t bit; /**< of the generation */
    const char *text;
    uint32_t pc;
    const struct cps_parse_names *names;
    struct cps_prefix prefix[CPS_MAX_PREFIXES];
    unsigned prefix_count;
    const char *mnemonic;
    size_t mnemonic_length;
    const struct cps_field *field; /**< of the operand that is tried */
    const char *at;                /**< the text that is left */
    const char *furthest;          /**< where the best attempt stopped */
    const char *expected;          /**< what it wanted there */
    size_t literal;        /**< bytes of that which a FORM has literally; 0: a description */
    enum cps_space listed; /**< whose names belong behind it; CPS_SPACE_COUNT: none */
    struct cps_buf pairs;  /**< of the row that is tried: its list, as bytes */
};

/** Notes a failed attempt, always false. @p expected  constant text, not owned */
bool cps_parse_fail_(struct cps_parser *p, const char *at, const char *expected);

/** Whether a prefix is the one of @p field, in the parser's generation. */
bool cps_prefix_is_(const struct cps_parser *p, const struct cps_prefix *prefix,
                    const struct cps_field *field);

/** Appends the text of a field with this value. */
void cps_put_field_(struct cps_printer *p, const struct cps_field *field, int64_t value);
/** Reads it and moves @p p->at past it; false if cps_parse_fail_() was called. */
bool cps_parse_field_(struct cps_parser *p, const struct cps_field *field, int64_t *ret);

/* The functions that the rows of kind.def name. */
#define KIND(id, flags, scale, print, parse, target)                     \
    void cps_put_##print##_(const struct cps_printer *p, int64_t value); \
    bool cps_parse_##parse##_(struct cps_parser *p, int64_t *ret);
#include "isa/sets/kind.def"

#endif
