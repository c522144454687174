/* SPDX-License-Identifier: MIT
 * Delta debugging: which of many things can be left out of a job that still ends the same way
 * (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002). It knows
 * numbers only: what they stand for, its caller knows. */
#ifndef CPS_DDMIN_H
#define CPS_DDMIN_H

#include <stdbool.h>
#include <stddef.h>

#include "isa/base/err.h"

/** Whether a job is still the same without some of its things. */
struct ddmin_test {
    /** @p out  one flag for each thing: it is left out. The same flags give the same answer.
     * @p ret  gets the answer */
    struct cps_err *(*holds)(struct ddmin_test *test, const bool *out, bool *ret);
};

/**
 * Leaves out as much as it finds can be. With everything in, the job is the same by definition.
 * What stays is 1-minimal: without any one thing more the answer is no.
 * @param count  of things
 * @param out    gets one flag for each
 * @return NULL, CPS_ERR_NOMEM, or the error of @p test
 */
CPS_MUST_USE struct cps_err *ddmin(struct ddmin_test *test, size_t count, bool *out);

#endif
