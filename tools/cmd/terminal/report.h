/* SPDX-License-Identifier: MIT
 * One line on stderr, and the exit status that goes with it. */
#ifndef CPS_REPORT_H
#define CPS_REPORT_H

#include <stdbool.h>

#include "isa/base/err.h"

struct json_object;

/** Prints and frees @p err; returns 2 if it is about the command line, else 3. */
int report_error(struct cps_err *err);
/** The same; NULL is fine, and 0. */
int report_result(struct cps_err *err);
/** Prints what went wrong without ending the command; NULL is fine. Does not free @p err. */
void report_note(const char *what, const struct cps_err *err);
/** With @p quiet report_aside() says nothing. */
void report_be_quiet(bool quiet);
/** Says on stderr what people want to know beside the result, unless that is --quiet. */
void report_aside(const char *format, ...) CPS_PRINTF(1, 2);
/** Of several captures, one of another GPU than the firmware's is skipped: says so on stderr.
 * @param err  of @p captures[@p i]; freed if it is skipped
 * @param skipped  counts them
 * @return NULL, @p err, or an error that says that all of them were skipped */
CPS_MUST_USE struct cps_err *report_skip(struct cps_err *err, char *const *captures, unsigned count,
                                         unsigned i, unsigned *skipped);
/** Prints a JSON document on stdout and releases it. @return CPS_ERR_NOMEM if it is not all there
 */
CPS_MUST_USE struct cps_err *report_json(struct json_object *root);
/** Ends what was printed. @return @p status; 3, with a line on stderr, if something of it was lost
 * and nothing was said yet */
int report_stdout(int status);
/** Prints a complaint about the command line; returns 2. */
int report_usage(const char *format, ...) CPS_PRINTF(1, 2);

#endif
