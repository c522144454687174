/* SPDX-License-Identifier: MIT
 * What runs have shown: whether a job without a set of things ends the same way. Kept in a file
 * between calls, so that a search that was interrupted goes on where it was: it asks the same
 * questions again, and these are answered without a run. */
#ifndef CPS_VERDICT_H
#define CPS_VERDICT_H

#include "tools/explain/reduce/job.h"

struct verdict {
    struct drop_key key;
    bool holds;
};

struct verdicts {
    struct verdict *list;
    size_t count;
    size_t read;     /**< of them, those that the file had */
    char path[4096]; /**< of the file; "": none */
    char key[65];    /**< what the search is about */
    long saved;      /**< when, in seconds of a clock that only goes on */
};

/** Takes what the file of @p key in the cache @p dir has; a damaged one, or one that another user
 * could change, is none. @p dir  NULL: nothing is kept */
void verdicts_open(struct verdicts *verdicts, const char *dir, const char *key);
void verdicts_deinit(struct verdicts *verdicts);
/** @return false if nobody knows */
bool verdicts_find(const struct verdicts *verdicts, const struct drop_key *key, bool *ret);
/** Adds one, and saves all once a second. @return CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *verdicts_add(struct verdicts *verdicts, const struct drop_key *key,
                                          bool holds);
/** Writes the file. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *verdicts_save(struct verdicts *verdicts);
/** Forgets everything: what the file said has proved wrong. */
void verdicts_forget(struct verdicts *verdicts);

#endif
