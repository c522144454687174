/* SPDX-License-Identifier: MIT
 * Text on stdout, whole or with an error. */
#ifndef CPS_REPORT_TEXT_H
#define CPS_REPORT_TEXT_H

#include "isa/base/buf.h"

/** Prints a text on stdout. @return CPS_ERR_NOMEM, and nothing printed, if it is not all there */
CPS_MUST_USE struct cps_err *report_text(const struct cps_buf *text);

#endif
