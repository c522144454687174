/* SPDX-License-Identifier: MIT
 * Pieces of HTML: everything that comes from an input goes through here. */
#ifndef CPS_HTML_H
#define CPS_HTML_H

#include <json-c/json.h>

#include "isa/base/buf.h"

/** Columns 0 and 1 of a line. */
enum {
    PLACE_HERE = '>',    /**< column 0: the first difference arises here */
    PLACE_CHANGED = '!', /**< column 1: other code on the other side, or none */
    PLACE_TARGET = '~',  /**< column 1: the same instruction, which branches elsewhere */
};

/** Appends text for HTML and XML, in elements and quoted attributes. What no document may hold
 * (control characters, bytes that are no UTF-8) becomes U+FFFD. */
void html_text(struct cps_buf *out, const char *text);
/** Appends @p before, the text, @p after. */
void html_wrap(struct cps_buf *out, const char *before, const char *text, const char *after);
/** The head of a page that needs no network and no script, up to the start of its body. */
void html_head(struct cps_buf *out, const char *title);
/** A <pre> of the text, or nothing. */
void html_pre(struct cps_buf *out, const char *text);
/** Appends lines, marked by their first two columns. */
void html_marked(struct cps_buf *out, const char *text);

#endif
