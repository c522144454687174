/* SPDX-License-Identifier: MIT
 * A result as a tree, which is written once: JSON is the tree itself, text and pages are layouts of
 * it.
 *
 * The tree is json-c's. A member whose key begins with a dot is not part of the JSON. A command
 * builds one tree, and has one layout for its text:
 *
 *     doc_put(root, ".name=%s kind=image entry=%" PRIx64, name, entry);
 *     list = cps_json_new_array(root, "segments");
 *     doc_row(list, "number=%u size=%" PRIu64 " inside?=%d", 0, size, true);
 *     return doc_print(root, "{.name:e}: an image\n{segments*  {number:2} {size:5} bytes\n}",
 * json);
 *
 * Without memory the command ends (tools/cmd/terminal/oom.h).
 */
#ifndef CPS_REPORT_DOC_H
#define CPS_REPORT_DOC_H

#include <json-c/json.h>

#include "isa/base/buf.h"

/** An empty object, which is the caller's. */
struct json_object *doc_new(void);
/**
 * Adds members to an object, in their order: "KEY=VALUE KEY=VALUE". A value is a word, or a
 * conversion of printf(), which takes an argument:
 *
 *     u d   a number
 *     x     a number as text, with "0x" and as many digits as the conversion has
 *     s     a text; NULL: no member
 *     p     the text of a struct cps_buf
 *
 * KEY?=VALUE is true or false where VALUE is a number; an empty text makes no member then.
 */
void doc_put(struct json_object *to, const char *members, ...) CPS_PRINTF(2, 3);
/** Appends an object with those members to an array. @return the object, which belongs to @p list
 */
struct json_object *doc_row(struct json_object *list, const char *members, ...) CPS_PRINTF(2, 3);

/** Appends an array of conversions to an array: "%d %08x %s". A text is escaped, as `{key:e}` is.
 * @return the array, which belongs to @p list, or if that is NULL to the caller */
struct json_object *doc_array(struct json_object *list, const char *values, ...) CPS_PRINTF(2, 3);
/** A text with escapes for what is not to be seen. */
struct json_object *doc_shown(const char *text);

/**
 * Appends a tree as text. In braces, members of the object at hand, or of those that it is part of:
 *
 *     {key}          text, or a number in decimals; nothing where there is no such member
 *     {key:FORM}     FORM is a width, or "*" for the member ".width"; after "-" flush left, after
 * "0" with zeros (numbers only); before "x" in hexadecimal, before "e" with escapes for what is not
 * to be seen {key?TEXT}     TEXT if the member is there, and neither false nor empty; 0 is there
 *     {key!TEXT}     the other way round
 *     {key=WORD?TEXT} {key=WORD!TEXT}  the same where the member's text is WORD
 *     {key~TEXT}     TEXT unless the member is 1: the end of a plural
 *     {key>TEXT}     TEXT of the members of the member, which is an object, if it is there
 *     {key*TEXT}     TEXT for each item of an array or member of an object; in it {.} is a value
 *                    that is no object, {@} the key of a member, and {#} how many came before
 *     {key/SEP/TEXT} the same, with SEP between them
 *
 * TEXT may hold braces. A lone brace cannot be written. Lines do not end with blanks. Tags of HTML
 * are left out, so that a layout may serve a page, too.
 */
void doc_text(struct json_object *root, const char *layout, struct cps_buf *out);
/** Appends a tree as HTML or XML, by a layout that has tags. Values are escaped, without blanks
 * before or after them; "m" as FORM marks lines by their first two columns (html_marked()). */
void doc_html(struct json_object *root, const char *layout, struct cps_buf *out);
/** The same as a whole page, which needs no network and no script. */
void doc_page(struct json_object *root, const char *title, const char *layout, struct cps_buf *out);
/** Takes away what is for the text only. */
void doc_strip(struct json_object *root);
/** Prints a tree on stdout, as JSON or by a layout, and releases it. */
CPS_MUST_USE struct cps_err *doc_print(struct json_object *root, const char *layout, bool json);

#endif
