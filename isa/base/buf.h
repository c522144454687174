/* SPDX-License-Identifier: MIT
 * Growable text, which the printing functions of the library append to.
 *
 * Appending never fails visibly: after an out-of-memory the buffer stays valid, remembers it in
 * `failed`, and the one check at the end reports it. It does not know what the text means: it may
 * hold any bytes, also NUL.
 *
 * Threads: one at a time may use a buffer. */
#ifndef CPS_BUF_H
#define CPS_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

CPS_C_BEGIN

/** A text; zero-initialised is the empty one. Callers read the members, functions change them. */
struct cps_buf {
    /** The text, with a NUL behind it; NULL while nothing was appended. Owned. */
    char *data;
    /** Bytes of it, the NUL not counted. */
    size_t size;
    /** Bytes that `data` has room for. */
    size_t capacity;
    /** An allocation failed: the contents are incomplete. */
    bool failed;
};

/** Declares a buffer that is released at the end of its scope: `CPS_BUF text = {0};`. C only. */
#define CPS_BUF CPS_CLEANUP(cps_buf_deinit) struct cps_buf

/**
 * Releases the memory of a buffer, and leaves the empty text.
 * @param buf  one that was initialised
 */
CPS_PUBLIC void cps_buf_deinit(struct cps_buf *buf);
/**
 * Empties the text but keeps the memory; `failed` stays as it is.
 * @param buf  one that was initialised
 */
CPS_PUBLIC void cps_buf_clear(struct cps_buf *buf);
/**
 * Appends bytes.
 * @param buf   where to
 * @param text  @p size bytes, which are copied; they may hold NULs
 * @param size  bytes
 */
CPS_PUBLIC void cps_buf_add(struct cps_buf *buf, const char *text, size_t size);
/**
 * Appends a text.
 * @param buf   where to
 * @param text  up to its NUL; copied
 */
CPS_PUBLIC void cps_buf_str(struct cps_buf *buf, const char *text);
/**
 * Appends another text, and that it is incomplete if it is.
 * @param buf   where to
 * @param text  another one
 */
CPS_PUBLIC void cps_buf_join(struct cps_buf *buf, const struct cps_buf *text);
/**
 * Appends as printf() would print.
 * @param buf     where to
 * @param format  as for printf(), with its arguments behind it
 */
CPS_PUBLIC void cps_buf_printf(struct cps_buf *buf, const char *format, ...) CPS_PRINTF(2, 3);
/**
 * Appends a number as "0x" and lower-case hexadecimal digits.
 * @param buf     where to
 * @param value   any
 * @param digits  how many, with zeros in front; more if the value needs them
 */
CPS_PUBLIC void cps_buf_hex(struct cps_buf *buf, unsigned long long value, unsigned digits);
/**
 * Appends blanks until the current line is wide enough; at least none.
 * @param buf         where to
 * @param line_start  byte of the text at which the line begins
 * @param column      bytes that the line shall have
 */
CPS_PUBLIC void cps_buf_pad(struct cps_buf *buf, size_t line_start, size_t column);
/**
 * The text.
 * @param buf  one that was initialised
 * @return with a NUL behind it, never NULL: the empty text is "". Valid until the next append
 */
CPS_PUBLIC const char *cps_buf_text(const struct cps_buf *buf);

CPS_C_END

#endif
