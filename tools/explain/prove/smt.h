/* SPDX-License-Identifier: MIT
 * Terms of 32 bits, and what a solver says of them: the part of z3 that proofs need. Terms belong
 * to their struct smt and go with it. Private to tools/explain/prove/. */
#ifndef CPS_PROVE_SMT_H
#define CPS_PROVE_SMT_H

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

enum smt_answer { SMT_NO, SMT_YES, SMT_UNKNOWN };

struct smt {
    Z3_context z;
    Z3_solver solver;
    Z3_sort word;     /**< 32 bits */
    uint64_t queries; /**< that the solver was asked */
};

/** What is done when z3 has no memory, which it does not come back from: processes that have
 * nothing to lose end. NULL: nothing. */
extern void (*smt_out_of_memory)(void);

/** @param effort  steps that one query may take: z3's rlimit, which is the same on every machine */
void smt_init(struct smt *smt, unsigned effort);
void smt_deinit(struct smt *smt);

Z3_ast smt_word(const struct smt *smt, uint32_t value);
/** A word of which nothing is known; the same @p name and @p number, the same word. */
Z3_ast smt_unknown(const struct smt *smt, const char *name, unsigned number);
/** The simplest form of a term. */
Z3_ast smt_plain(const struct smt *smt, Z3_ast term);
/** Whether a word is known; @p ret gets it. */
bool smt_known(const struct smt *smt, Z3_ast term, uint32_t *ret);
/** Whether a condition is known. */
bool smt_decided(const struct smt *smt, Z3_ast condition, bool *ret);
Z3_ast smt_equal(const struct smt *smt, Z3_ast a, Z3_ast b);
Z3_ast smt_not(const struct smt *smt, Z3_ast condition);
/** Starts a scope of assertions, which smt_pop() ends. */
void smt_push(const struct smt *smt);
void smt_pop(const struct smt *smt);
void smt_assert(const struct smt *smt, Z3_ast condition);
/** Whether @p condition is possible under the assertions; NULL: whether those are. */
enum smt_answer smt_possible(struct smt *smt, Z3_ast condition);
/** The value of a word in the model of the last query that was possible; unknown words are 0 there
 * if nothing asks for more. */
struct smt_model {
    const struct smt *smt;
    Z3_model model;
};
/** As smt_possible(); on SMT_YES @p ret is valid until smt_model_release(). */
enum smt_answer smt_model(struct smt *smt, Z3_ast condition, struct smt_model *ret);
void smt_model_release(struct smt_model *model);
uint32_t smt_model_word(const struct smt_model *model, Z3_ast term);

/* ---- meaning.c: the rows of isa/afuc.def as terms: it reads the text of a row's expression, which
 * the interpreter compiles ---- */

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
