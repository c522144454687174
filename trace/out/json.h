/* SPDX-License-Identifier: MIT
 * JSON, on json-c: members in and out, with types and memory checked. An object that a member was
 * lost of remembers it, and so do those that it becomes part of: the one check is at the end, where
 * cps_json_print() has no text then. Only for what writes or reads JSON; isa, fw and emu do not. */
#ifndef CPS_JSON_H
#define CPS_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "isa/base/buf.h"
#include "isa/isa.h"

/** Sets a member of an object. Takes @p value over, which may be gone then; NULL: it was lost for
 * lack of memory. */
void cps_json_add(struct json_object *to, const char *key, struct json_object *value);
/** The same for the end of an array. */
void cps_json_append(struct json_object *to, struct json_object *value);
/** Makes an empty array or object a member, and gives it to be filled; NULL, which nothing can be
 * added to, where memory was short, which @p to remembers. What cps_json_add() took over must not
 * be used afterwards: it may be gone. */
struct json_object *cps_json_new_array(struct json_object *to, const char *key);
struct json_object *cps_json_new_object(struct json_object *to, const char *key);
/** Sets a member; one without a @p text (NULL) is left out. */
void cps_json_text(struct json_object *to, const char *key, const char *text);
void cps_json_buf(struct json_object *to, const char *key, const struct cps_buf *text);
void cps_json_int(struct json_object *to, const char *key, int64_t value);
void cps_json_uint(struct json_object *to, const char *key, uint64_t value);
void cps_json_bool(struct json_object *to, const char *key, bool value);
/** A member that is there, but has no value. */
void cps_json_null(struct json_object *to, const char *key);

/** Sets a member for a value of a register or packet: true or false for a flag, else its text. A
 * word that is one value is called as the word, or "value". */
void cps_json_value(struct json_object *to, const struct cps_value *value);

/** Reads a text of @p size bytes, with nothing but blanks around it. @p ret  gets it, to be
 * released by the caller; is left alone where the text is no JSON (RFC 8259, UTF-8), or null.
 * @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cps_json_parse(const char *text, size_t size,
                                            struct json_object **ret);

/** A member of an object; NULL where there is none (or no object). Belongs to @p from. */
struct json_object *cps_json_get(struct json_object *from, const char *key);
/** A member of one type; NULL where there is none of it. */
struct json_object *cps_json_member(struct json_object *from, const char *key, enum json_type type);
/** The members of those types, or @p fallback. A text with a NUL in it is none. */
const char *cps_json_get_text(struct json_object *from, const char *key, const char *fallback);
int64_t cps_json_get_int(struct json_object *from, const char *key, int64_t fallback);
bool cps_json_get_bool(struct json_object *from, const char *key, bool fallback);

/** Whether nothing was lost for lack of memory; of NULL everything was. */
bool cps_json_complete(struct json_object *value);
/** Appends the text of @p value as json-c's @p flags say: PLAIN or PRETTY, perhaps NOSLASHESCAPE.
 * @p out has failed if it is not all there for lack of memory. */
void cps_json_put(struct cps_buf *out, struct json_object *value, int flags);
/** The text of an object or array; NULL if it is not all there for lack of memory. Belongs to
 * @p value, until it is printed again or loses a member. */
const char *cps_json_print(struct json_object *value, int flags);

/** How many items an array has; none where memory was short for the array itself. */
size_t cps_json_count(struct json_object *array);

#endif
