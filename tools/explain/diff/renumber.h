/* SPDX-License-Identifier: MIT
 * How the control registers of two chips' firmware correspond, for people and as JSON. */
#ifndef CPS_RENUMBER_H
#define CPS_RENUMBER_H

#include "fw/fw.h"

struct json_object;

/** Finds it and appends a line for each range of numbers to @p out, or a row to @p json, which is
 * an array or NULL. @p rnn  as for cps_names_create() */
CPS_MUST_USE struct cps_err *renumber_print(const struct cps_fw *a, const struct cps_fw *b,
                                            const char *rnn, struct json_object *json,
                                            struct cps_buf *out);

/** Which places differ in numbers of private control registers alone, where the map of these is one
 * to one over all accesses of both (renamed.c). @param ret  gets @p count of them */
CPS_MUST_USE struct cps_err *renumber_only(const struct cps_fw *a, const struct cps_fw *b,
                                           const struct cps_fw_change *change, size_t count,
                                           bool *ret);
/** @return NULL, or CPS_ERR_MISMATCH: no processor runs a part of both, nothing can be compared */
CPS_MUST_USE struct cps_err *renumber_check(const struct cps_fw *a, const struct cps_fw *b);

#endif
