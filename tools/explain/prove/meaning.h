/* SPDX-License-Identifier: MIT
 * What the rows of isa/afuc.def mean, as terms: the text of a row's expression is read here, which
 * the interpreter compiles. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_MEANING_H
#define CPS_PROVE_MEANING_H

#include "tools/explain/prove/smt.h"

/** What a row's expression reads; `t` and `carry` may be written by it. */
struct meaning {
    Z3_ast a, b, d, carry;
};

/**
 * The value of an ALU row's expression.
 * @param text     the expression: C, of words, `t` (64 bits) and the operators that rows use
 * @param operand  in and out: `carry` gets what the expression stores there
 * @param ret      gets the word
 * @return false for what is not understood: a row that a test must refuse
 */
bool meaning_value(const struct smt *smt, const char *text, struct meaning *operand, Z3_ast *ret);
/** As meaning_value(), of a branch's row: whether it is taken. */
bool meaning_condition(const struct smt *smt, const char *text, struct meaning *operand,
                       Z3_ast *ret);

#endif
