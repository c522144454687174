/* SPDX-License-Identifier: MIT
 * Text out of files, for where people see it: what could move a cursor, forge a line or turn the
 * reading order round is written as \xHH. Bytes that are no UTF-8 are, too.
 *
 * One function per destination: cps_shown_put_() for terminals and the lines of texts; html_text()
 * for HTML and XML (tools/cmd/render/html.h); cps_json_*() for JSON (trace/out/json.h); tap_text()
 * for TAP (tools/explain/regress/report.c). */
#ifndef CPS_SHOWN_H
#define CPS_SHOWN_H

#include <stddef.h>
#include <stdint.h>

#include "isa/base/buf.h"

/**
 * The character at @p at, a terminated text.
 * @param ret  gets its number
 * @return its bytes; 0 if they are no well-formed UTF-8 (RFC 3629)
 */
size_t cps_utf8_(const char *at, uint32_t *ret);
/** As cps_utf8_() for a character that may be shown as it is; 0 for what has to be escaped: also
 * control characters (line breaks among them), those that change the direction of text, and what is
 * no character. */
size_t cps_shown_(const char *at);
/** How many bytes at the start of a text are printable ASCII, or with @p lines a line break or
 * tabulator: nearly all of nearly every text. */
size_t cps_shown_plain_(const char *text, size_t size, bool lines);
/** Appends a text with everything else escaped. */
void cps_shown_put_(struct cps_buf *out, const char *text);
/** The same for @p size bytes, which may hold NULs. Line breaks and tabulators stay, where @p lines
 * is true. */
void cps_shown_add_(struct cps_buf *out, const char *text, size_t size, bool lines);

#endif
