/* SPDX-License-Identifier: MIT
 * Lines of a stream, of any length: short ones as a string, long ones piece by piece. Knows nothing
 * of what they mean. Private to trace/. */
#ifndef CPS_LINES_H
#define CPS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/buf.h"
#include "trace/capture/stream.h"

/** The reader; zero-initialised but for `stream`. Begin a line with cps_lines_start_(), then take
 * it as a string with cps_lines_text_(), or in pieces with cps_lines_piece_() and
 * cps_lines_take_() up to cps_lines_end_(). */
struct cps_lines {
    struct cps_stream *stream;
    uint64_t offset; /**< of the line's first byte */
    unsigned indent; /**< blanks at the start of the line */
    bool done;       /**< cps_lines_start_() found the end of the file */
    char text[8192]; /**< the line without the blanks around it; what does not fit is left out */
    size_t size;     /**< bytes of it, without the NUL */
    bool cut;        /**< something was left out of it */
    bool may_end;    /**< set beforehand: that the file ends within a line is no error */
    bool ended;      /**< it does; that line was the last one */
    uint64_t number; /**< of the line, counted from 1 */

    bool started;
    uint64_t at_offset; /* of bytes[at] */
    size_t at, end;     /* bytes that are read and not consumed */
    char bytes[65536];
};

/** Begins the next line and consumes its indentation. Does nothing when it has begun already.
 * CPS_ERR_INPUT when the file ends behind blanks, unless it may. */
CPS_MUST_USE struct cps_err *cps_lines_start_(struct cps_lines *lines);
/** The rest of the line into `text`, and consumes the line's end. */
CPS_MUST_USE struct cps_err *cps_lines_text_(struct cps_lines *lines);
/** The rest of the line, whatever its length up to @p most bytes, behind what @p ret holds; without
 * its newline. CPS_ERR_INPUT when it is longer. */
CPS_MUST_USE struct cps_err *cps_lines_long_(struct cps_lines *lines, size_t most,
                                             struct cps_buf *ret);
/** What is at hand of the rest of the line; @p ret 0 only at its end or that of the file. */
CPS_MUST_USE struct cps_err *cps_lines_piece_(struct cps_lines *lines, const char **text,
                                              size_t *ret);
/** Consumes @p size characters of a piece. */
void cps_lines_take_(struct cps_lines *lines, size_t size);
/**
 * Consumes the rest of the line and its end.
 * @param[out] blank  there was nothing but blanks (and carriage returns) left
 * @return NULL, or CPS_ERR_INPUT when the file ends before the line does, unless it may
 */
CPS_MUST_USE struct cps_err *cps_lines_end_(struct cps_lines *lines, bool *blank);

/** Reads an unsigned number of 64 bits behind blanks, as strtoull() with @p base, and moves *at
 * behind it; false, and *at at it, if none of at most @p most is there, up to a blank, a ';' or the
 * end. */
bool cps_lines_number_(const char **at, int base, uint64_t most, uint64_t *ret);

#endif
