/* SPDX-License-Identifier: MIT
 * One run through the cache: for whoever has no workers. */
#ifndef CPS_KEPT_H
#define CPS_KEPT_H

#include "tools/explain/regress/cache.h"

/** Where results came from. */
struct kept_counts {
    uint64_t emulated, cached, same;
};

/** record_run() of inputs whose hashes @p run has, unless the cache knows what it gives. That the
 * cache cannot be written is no error. @param setup  with `cover`: else no code is known */
CPS_MUST_USE struct cps_err *kept_run(const struct cache_run *run, const struct record_setup *setup,
                                      const char *const firmware[2], const char *capture,
                                      struct kept_counts *counts, struct record *ret);

#endif
