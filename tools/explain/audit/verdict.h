/* SPDX-License-Identifier: MIT
 * Whether a firmware has a flaw, by what it does. */
#ifndef CPS_AUDIT_VERDICT_H
#define CPS_AUDIT_VERDICT_H

#include "tools/explain/audit/case.h"
#include "tools/explain/audit/probe.h"

enum verdict {
    VERDICT_CLEAN,     /**< it did what the case needs, and not what it must not */
    VERDICT_FLAW,      /**< it did what it must not */
    VERDICT_NOT_ABOUT, /**< the case is about other generations, or a packet that it lacks */
    VERDICT_UNDECIDED, /**< it did not come so far */
    VERDICT_COUNT,
};

/** "has it not", "has the flaw", "does not apply", "undecided". */
const char *verdict_word(enum verdict verdict);
/** Tries @p c on a firmware. @p probe  NULL: it cannot run, and @p why says the reason.
 * @param why  gets what the verdict comes from */
CPS_MUST_USE struct cps_err *verdict_of(const struct audit_case *c, const struct cps_fw *fw,
                                        struct probe *probe, enum verdict *ret,
                                        struct cps_buf *why);

#endif
