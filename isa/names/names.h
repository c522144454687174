/* SPDX-License-Identifier: MIT
 * What a handle of names holds. Private to isa/names. */
#ifndef CPS_NAMES_HANDLE_H
#define CPS_NAMES_HANDLE_H

#include "isa/isa.h"
#include "isa/names/rnn.h"
#include "isa/names/table.h"

/** Where names are looked for, in this order. */
enum { CPS_NAMES_USER, CPS_NAMES_BUILT_IN, CPS_NAMES_SOURCES };

struct cps_names {
    enum cps_layout layout;
    uint8_t chips;
    struct cps_rnn *rnn; /**< owner of the user's tables, or NULL */
    /** All tables of each, for enumerations; NULL: there is none. */
    const struct cps_name_source *source[CPS_NAMES_SOURCES];
    const struct cps_name_table *table[CPS_NAMES_SOURCES][CPS_SPACE_COUNT];
};

/** The row that covers a number: @p index is 1 for the upper half of a 64-bit register, @p from
 * says whose. @return NULL if none does. In names.c. */
const struct cps_name_row *cps_names_cover_(const struct cps_names *names, enum cps_space space,
                                            uint32_t number, unsigned *index, unsigned *from);
/** The name of @p number in a table, in the generation of @p names, or NULL. In names.c. */
const char *cps_names_in_(const struct cps_names *names, const struct cps_name_table *table,
                          uint32_t number);
/** The table of the words behind a packet's header; @p from says whose. NULL if none has one. In
 * names.c. */
const struct cps_name_table *cps_names_payload_(const struct cps_names *names, uint32_t opcode,
                                                unsigned *from);

#endif
