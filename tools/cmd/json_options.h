/* SPDX-License-Identifier: MIT
 * Options that an editor names, as members of a JSON object. */
#ifndef CPS_JSON_OPTIONS_H
#define CPS_JSON_OPTIONS_H

#include "tools/cmd/options/opt.h"

struct json_object;

/** Takes the options of a command (OPT_SHIFT_STEP, ...) that are members of @p from: "chip-id" or
 * "chipId". Texts of @p opt point into @p from then. @param request  for messages
 * @return CPS_ERR_INPUT, CPS_ERR_USAGE */
CPS_MUST_USE struct cps_err *json_options_take(const char *request, unsigned command,
                                               struct json_object *from, struct cps_options *opt);

#endif
