/* SPDX-License-Identifier: MIT
 * The numbers of DWARF 4 line tables (section 7.21) that the writer and the reader use. Private to
 * fw/. */
#ifndef CPS_DWARF_FORM_H
#define CPS_DWARF_FORM_H

#define DWARF_VERSION 4
#define DWARF_UNIT    4 /* bytes of an instruction: addresses count in them */

/* Opcodes from DWARF_OPCODE_BASE on make a row and advance line and address at once. */
#define DWARF_LINE_BASE   (-3)
#define DWARF_LINE_RANGE  12
#define DWARF_OPCODE_BASE 13

/* Operands of the opcodes below DWARF_OPCODE_BASE, from 1. */
#define DWARF_OPERANDS                     \
    {                                      \
        0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 \
    }

enum dwarf_opcode {
    DWARF_COPY = 1,
    DWARF_ADVANCE_PC = 2,
    DWARF_ADVANCE_LINE = 3,
    DWARF_SET_FILE = 4,
    DWARF_CONST_ADD_PC = 8,
    DWARF_FIXED_ADVANCE_PC = 9,
};

enum dwarf_extended {
    DWARF_END_SEQUENCE = 1,
    DWARF_SET_ADDRESS = 2,
};

#endif
