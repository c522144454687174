/* SPDX-License-Identifier: MIT
 * Policies: what shapes a run where the rest of the GPU is not there, or where sources are silent.
 * They are rows of policy.def for every engine, and part of a trace's header. It does not know
 * where their words come from.
 *
 * Threads: rows are constant, and a policy is a plain value. All functions may be called from
 * everywhere. */
#ifndef CPS_POLICY_H
#define CPS_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../isa/isa.h"

CPS_C_BEGIN

/** The engines as bits, so that a row can be about several: in the order of their first GEN rows in
 * target.def, so that one without a name here has a bit, too. */
enum cps_engines {
    /** Adreno's command processors. */
    CPS_ON_AFUC = 1,
    /** NVIDIA's HWSQ. */
    CPS_ON_HWSQ = 2,
    /** NVIDIA's SEQ. */
    CPS_ON_SEQ = 4,
    /** NVIDIA's PFIFO. */
    CPS_ON_PFIFO = 8,
    /** NVIDIA's VP1. */
    CPS_ON_VP1 = 16,
    /** All of them. */
    CPS_ON_ALL = 0xffff,
};
/**
 * The bit of a named engine.
 * @param name  as cps_isa_name() has it
 * @return 0 if none is called so
 */
CPS_PUBLIC unsigned cps_engines_named(const char *name);
/**
 * The bit of the engine that a generation belongs to.
 * @param gen  any
 */
CPS_PUBLIC unsigned cps_engines_of(enum cps_gen gen);
/**
 * Appends the names of engines: "hwsq, seq or vp1".
 * @param engines  bits of enum cps_engines
 * @param last     separates the last name, instead of a comma: " or "
 * @param out      where to
 */
CPS_PUBLIC void cps_engines_text(unsigned engines, const char *last, struct cps_buf *out);

/* enum cps_policy_FIELD for each row of policy.def that has words: they are its values. */
#define POLICY_FIRST(id, word)                                CPS_##id,
#define POLICY_WORD(id, word)                                 CPS_##id,
#define POLICY(engines, field, name, words, initial, meaning) enum cps_policy_##field{words};
#include "policy.def"

/** One value per row of policy.def, which says what it means: of enum cps_policy_FIELD, or a
 * number. Zero-initialised is a policy, but not the recommended one: cps_policy_default(). */
struct cps_policy {
#define POLICY(engines, field, ...)        uint64_t field;
#define POLICY_NUMBER(engines, field, ...) uint64_t field;
#include "policy.def"
};

/** What sources recommend. */
CPS_PUBLIC struct cps_policy cps_policy_default(void);
/**
 * Reads policies of one engine.
 * @param text  "name=word name=word"
 * @param gen   of the engine
 * @param ret   gets the values, over what it holds; on error those before the bad one
 * @return NULL, or CPS_ERR_SYNTAX that names the word and what was expected, also for a policy that
 *         has no meaning for that engine
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_policy_parse(const char *text, enum cps_gen gen,
                                                         struct cps_policy *ret);
/**
 * As cps_policy_parse(), where the generation is not known.
 * @param text     "name=word name=word"
 * @param engines  bits of enum cps_engines: a policy may have a meaning for any of them
 * @param ret      gets the values, over what it holds
 * @return NULL or CPS_ERR_SYNTAX
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_policy_parse_for(const char *text, unsigned engines,
                                                             struct cps_policy *ret);
/**
 * Appends the policies that have a meaning for an engine, as cps_policy_parse() reads them.
 * @param policy  the values
 * @param gen     of the engine
 * @param out     where to
 */
CPS_PUBLIC void cps_policy_text(const struct cps_policy *policy, enum cps_gen gen,
                                struct cps_buf *out);

/** A row of policy.def, for help and documents. All strings are constant. */
struct cps_policy_row {
    /** Those that it says something about: bits of enum cps_engines. */
    unsigned engines;
    /** Of the member in struct cps_policy, in bytes. */
    size_t offset;
    /** What people type. */
    const char *name;
    /** The choices with blanks between, the first is 0; "#": a number; "#4-12/4": 4, 8 or 12. */
    const char *words;
    /** The value in cps_policy_default(). */
    uint64_t initial;
    /** cps_policy_text() names it only where it is not that. */
    bool late;
    /** For people. */
    const char *meaning;
};
/**
 * All rows, in the order of the table.
 * @param count  gets how many
 * @return the first one; constant
 */
CPS_PUBLIC const struct cps_policy_row *cps_policy_rows(size_t *count);
/**
 * The row of a name.
 * @param name    its first @p length bytes
 * @param length  bytes
 * @return NULL if none is called so
 */
CPS_PUBLIC const struct cps_policy_row *cps_policy_row(const char *name, size_t length);

CPS_C_END

#endif
