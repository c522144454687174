/* SPDX-License-Identifier: MIT
 * The account of a regression run: which pairs there have to be, and whether each is there once. A
 * list of pairs has a digest, which stands in the results, so that merged ones are held against
 * their manifest, too. */
#ifndef CPS_REGRESS_ACCOUNT_H
#define CPS_REGRESS_ACCOUNT_H

#include "tools/explain/regress/regress.h"

/** Sets "manifest" (the digest) and "pairs_total" of results: all pairs of the manifest, whatever
 * the share. */
CPS_MUST_USE struct cps_err *account_open(struct regress *regress);
/** Holds sorted results against the manifest and the share. @return CPS_ERR_INPUT that names the
 * first one missing, invented or without a status */
CPS_MUST_USE struct cps_err *account_close(const struct regress *regress);
/** The digest and number of the pairs of sorted results. */
CPS_MUST_USE struct cps_err *account_digest(struct json_object *pairs, char ret[65]);

#endif
