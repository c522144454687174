/* SPDX-License-Identifier: MIT
 * Errors made of others, for our own rooms. Not part of what is installed. */
#ifndef CPS_WITHIN_H
#define CPS_WITHIN_H

#include <stdarg.h>

#include "isa/base/err.h"

/**
 * Says where an error arose: "PLACE: message".
 * @param err     which, consumed; NULL stays NULL, and an out-of-memory error is left as it is
 * @param format  of the place, as for printf()
 */
struct cps_err *cps_err_within_(struct cps_err *err, const char *format, ...) CPS_PRINTF(2, 3);
/** The first of two errors, either of which may be NULL; the other one is released. */
struct cps_err *cps_err_first_(struct cps_err *first, struct cps_err *second);
/** As cps_err_new(). */
struct cps_err *cps_err_vnew_(enum cps_err_code code, const char *format, va_list args)
    CPS_PRINTF(2, 0);
/** An error of several lines; cps_err_new() escapes line breaks, which may be out of a name. */
struct cps_err *cps_err_lines_(enum cps_err_code code, const char *lines);

#endif
