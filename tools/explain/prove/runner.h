/* SPDX-License-Identifier: MIT
 * What the parts of a run share: side.c operands and control flow, access.c what is read and
 * written. Private to those two. */
#ifndef CPS_PROVE_RUNNER_H
#define CPS_PROVE_RUNNER_H

#include "tools/explain/prove/side.h"

/** The next word of a source: the same unknown in both revisions. */
Z3_ast runner_heard_(struct runner *run, struct state *s, enum channel from);
/** A new effect, to which the caller adds the words. */
struct effect *runner_effect_(struct runner *run, struct state *s, enum effect_kind kind);
void runner_add_word_(struct effect *effect, Z3_ast word);
/** The value of operand @p number of an instruction. */
Z3_ast runner_source_(struct runner *run, struct state *s, const struct afuc_uop *uop,
                      unsigned number);
/** @p a + @p b; @p a & @p mask. */
Z3_ast runner_plus_(struct runner *run, Z3_ast a, uint32_t b);
Z3_ast runner_masked_(struct runner *run, Z3_ast a, uint32_t mask);

/** Which poll begins at a place: its number in code.poll + 1; 0: none, also where the machine is
 * known, whose loops turn. */
unsigned runner_poll_(const struct runner *run, uint32_t pc);
/** The value that ends a poll. */
Z3_ast runner_poll_value_(struct runner *run, struct state *s, Z3_ast at, unsigned id);
void runner_control_write_(struct runner *run, struct state *s, const struct afuc_uop *uop);
Z3_ast runner_control_read_(struct runner *run, struct state *s, const struct afuc_uop *uop);
void runner_store_(struct runner *run, struct state *s, const struct afuc_uop *uop);
Z3_ast runner_load_(struct runner *run, struct state *s, const struct afuc_uop *uop);
/** SQE registers are storage. @return false for what is not followed */
bool runner_sqe_write_(struct runner *run, struct state *s, const struct afuc_uop *uop);
bool runner_sqe_read_(struct runner *run, struct state *s, const struct afuc_uop *uop, Z3_ast *ret);

#endif
