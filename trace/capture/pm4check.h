/* SPDX-License-Identifier: MIT
 * PM4 text for who edits it: what is wrong, error by error. */
#ifndef CPS_PM4CHECK_H
#define CPS_PM4CHECK_H

#include "trace/event/item.h"

/** Gets an error: line from 1, column in bytes from 0, which may be that of the line's end. */
typedef void cps_pm4text_error_fn(void *context, unsigned line, size_t column, const char *message);

/**
 * Reads a whole text for who edits it: goes on behind errors.
 * @param text     @p size bytes, which stay the caller's
 * @param size     bytes
 * @param rnn_dir  of names, as of cps_names_create()
 * @param each     gets the errors
 * @param context  its first argument
 * @param sink     gets the items of the lines without errors, as cps_capture_read() gives them
 * @return NULL, CPS_ERR_NOMEM, or the error of @p sink
 */
CPS_MUST_USE struct cps_err *cps_pm4text_check_(const char *text, size_t size, const char *rnn_dir,
                                                cps_pm4text_error_fn *each, void *context,
                                                struct cps_item_sink *sink);

#endif
