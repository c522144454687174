/* SPDX-License-Identifier: MIT
 * Growable text. Appending never fails visibly: after an out-of-memory the buffer stays valid,
 * remembers it in `failed`, and the one check at the end reports it. */
#ifndef CPS_BUF_H
#define CPS_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

CPS_C_BEGIN

/** A NUL-terminated text of `size` bytes; zero-initialised is the empty text. */
struct cps_buf {
    char *data; /**< NULL while nothing was appended */
    size_t size;
    size_t capacity;
    bool failed; /**< an allocation failed; the contents are incomplete */
};

#define CPS_BUF CPS_CLEANUP(cps_buf_deinit) struct cps_buf

CPS_PUBLIC void cps_buf_deinit(struct cps_buf *buf);
/** Empties the text but keeps the memory. */
CPS_PUBLIC void cps_buf_clear(struct cps_buf *buf);
CPS_PUBLIC void cps_buf_add(struct cps_buf *buf, const char *text, size_t size);
CPS_PUBLIC void cps_buf_str(struct cps_buf *buf, const char *text);
CPS_PUBLIC void cps_buf_printf(struct cps_buf *buf, const char *format, ...) CPS_PRINTF(2, 3);
/** "0x" and exactly @p digits lower-case hexadecimal digits (more if the value needs them). */
CPS_PUBLIC void cps_buf_hex(struct cps_buf *buf, unsigned long long value, unsigned digits);
/** Appends spaces until the current line is @p column wide; at least none. */
CPS_PUBLIC void cps_buf_pad(struct cps_buf *buf, size_t line_start, size_t column);
/** The text, never NULL; valid until the next append. */
CPS_PUBLIC const char *cps_buf_text(const struct cps_buf *buf);

CPS_C_END

#endif
