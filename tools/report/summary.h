/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#ifndef CPS_SUMMARY_H
#define CPS_SUMMARY_H

#include "tools/play/play.h"

struct json_object;

/** @param extra  rows of a replay for the JSON form, consumed; or NULL
 * @return CPS_ERR_NOMEM if the JSON form is not all there */
CPS_MUST_USE struct cps_err *summary_print(const struct play *play, bool json,
                                           struct json_object *extra);

#endif
