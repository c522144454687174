/* SPDX-License-Identifier: MIT
 * Policies: what shapes a run where the rest of the GPU is not there, or where sources are silent.
 * They are rows of policy.def for every engine, and part of a trace's header. It does not know
 * where their words come from. */
#ifndef CPS_POLICY_H
#define CPS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../isa/isa.h"

CPS_C_BEGIN

/** The engines as bits, so that a row can be about several; their names are in policy.c. */
enum cps_engines {
    CPS_ON_AFUC = 1,
    CPS_ON_HWSQ = 2,
    CPS_ON_SEQ = 4,
    CPS_ON_VP1 = 8,
    CPS_ON_PFIFO = 16,
    CPS_ON_ALL = 31,
};
/** The bit of the engine called @p name, as cps_isa_name() has it; 0 if none is. */
CPS_PUBLIC unsigned cps_engines_named(const char *name);
/** The bit of the engine that a generation belongs to. */
CPS_PUBLIC unsigned cps_engines_of(enum cps_gen gen);
/** Appends the names of @p engines, with a comma between them and @p last before the last one:
 * " or " gives "hwsq, seq or vp1". */
CPS_PUBLIC void cps_engines_text(unsigned engines, const char *last, struct cps_buf *out);

/** One value per row of policy.def: the position of its word, or a number. */
struct cps_policy {
#define POLICY(engines, field, ...) uint64_t field;
#include "policy.def"
};
/** Names of `waits`: what a wait does for a value that only the rest of the GPU would write. */
enum cps_waits { CPS_WAITS_SATISFY, CPS_WAITS_STOP };
/** Names of `visibility`: what the visibility streams say. */
enum cps_visibility { CPS_VISIBILITY_ALL, CPS_VISIBILITY_NONE, CPS_VISIBILITY_CAPTURED };

/** What sources recommend. */
CPS_PUBLIC struct cps_policy cps_policy_default(void);
/**
 * Reads "name=word name=word" over what @p ret holds, for the engine of @p gen.
 * @return NULL, or CPS_ERR_SYNTAX that names the word and what was expected, also for a policy that
 *         has no meaning for that engine
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_policy_parse(const char *text, enum cps_gen gen,
                                                         struct cps_policy *ret);
/** The same where the generation is not known: policies may have a meaning for any of @p engines
 * (enum cps_engines). */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_policy_parse_for(const char *text, unsigned engines,
                                                             struct cps_policy *ret);
/** Appends the policies that have a meaning for the engine of @p gen, as cps_policy_parse() reads
 * them. */
CPS_PUBLIC void cps_policy_text(const struct cps_policy *policy, enum cps_gen gen,
                                struct cps_buf *out);

/** A row of policy.def, for help and documents. */
struct cps_policy_row {
    unsigned engines; /**< enum cps_engines */
    size_t offset;    /**< of the member in struct cps_policy */
    const char *name;
    const char *words; /**< with blanks between, the first is 0; "#": a number */
    uint64_t initial;
    const char *meaning;
};
/** All rows, in the order of the table; their number goes to @p count. */
CPS_PUBLIC const struct cps_policy_row *cps_policy_rows(size_t *count);
/** The row of the policy called by the first @p length characters of @p name; NULL if none is. */
CPS_PUBLIC const struct cps_policy_row *cps_policy_row(const char *name, size_t length);

CPS_C_END

#endif
