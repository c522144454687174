/* SPDX-License-Identifier: MIT
 * How instructions may be written, for who explains them or proposes them: the rows of a set's
 * table as text. */
#ifndef CPS_SYNTAX_H
#define CPS_SYNTAX_H

#include "isa/isa.h"

/** A row of the table that people may write. */
struct cps_syntax {
    const char *mnemonic;
    unsigned op; /**< number of the operation */
};

/** How many rows a set has. */
size_t cps_syntax_count_(const struct cps_isa *isa);
/** Row number @p row; false if the generation has it not, or it is only written as a literal. */
bool cps_syntax_(const struct cps_isa *isa, enum cps_gen gen, size_t row, struct cps_syntax *ret);
/** Appends how the row is written: "(rep) add dst, src1, imm16". */
void cps_syntax_put_(const struct cps_isa *isa, size_t row, struct cps_buf *out);
/** Appends what an operation does: the text of its row, or the row's C expression.
 * @return whether it is an expression */
bool cps_syntax_meaning_(const struct cps_isa *isa, unsigned op, struct cps_buf *out);
/** The name of a register as it stands where it is read, or written: "$02", "$memdata" without the
 * "$"; false if the set's registers have no names of their own. */
bool cps_syntax_register_(const struct cps_isa *isa, unsigned number, bool written, char ret[16]);

#endif
