/* SPDX-License-Identifier: MIT
 * Code that nothing has executed, and why: what would have to be otherwise for it to run. */
#ifndef CPS_UNREACHED_H
#define CPS_UNREACHED_H

#include "emu/engine.h"
#include "fw/fw.h"

struct json_object;

/**
 * Appends a line per stretch of code that did not run, by processor and handler, with the reason,
 * and how many words each sort of reason is about.
 * @param names   by processor, or NULL
 * @param cover   one per dword of the image
 * @param results results of prove about this firmware, whose verdicts are told of each handler, or
 *                NULL
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT: results about other firmware, or code that no
 * processor has, made so that it leads to more places than can be followed
 */
CPS_MUST_USE struct cps_err *unreached_print(const struct cps_fw *fw, const struct cps_names *names,
                                             const struct cps_cover *cover,
                                             struct json_object *results, struct cps_buf *out);

#endif
