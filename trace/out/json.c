/* SPDX-License-Identifier: MIT
 * JSON with its errors checked. */
#include "trace/out/json.h"

#include <stdio.h>
#include <string.h>

#include "isa/base/shown.h"

/* What an object that lost something has as its user data. */
static const char lost = 0;

static void lose(struct json_object *to)
{
    if (to)
        json_object_set_userdata(to, (void *)&lost, NULL);
}

void cps_json_add(struct json_object *to, const char *key, struct json_object *value)
{
    if (to && value && !json_object_object_add(to, key, value))
        return;
    json_object_put(value);
    lose(to);
}

static struct json_object *add_new(struct json_object *to, const char *key,
                                   struct json_object *value)
{
    cps_json_add(to, key, value);
    return value && cps_json_get(to, key) == value ? value : NULL;
}

struct json_object *cps_json_new_array(struct json_object *to, const char *key)
{
    return add_new(to, key, json_object_new_array());
}

struct json_object *cps_json_new_object(struct json_object *to, const char *key)
{
    return add_new(to, key, json_object_new_object());
}

void cps_json_append(struct json_object *to, struct json_object *value)
{
    bool is_array = json_object_is_type(to, json_type_array); /* a place in a list that lost one */
    if (is_array && value && !json_object_array_add(to, value))
        return;
    json_object_put(value);
    lose(to);
}

void cps_json_text(struct json_object *to, const char *key, const char *text)
{
    if (text)
        cps_json_add(to, key, json_object_new_string(text));
}

void cps_json_buf(struct json_object *to, const char *key, const struct cps_buf *text)
{
    cps_json_add(to, key, text->failed ? NULL : json_object_new_string(cps_buf_text(text)));
}

void cps_json_value(struct json_object *to, const struct cps_value *value)
{
    CPS_BUF text = {0};
    const char *key = value->name ? value->name : "no-name";
    if (!key[0])
        key = value->word ? value->word : "value";
    if (value->is_flag) {
        cps_json_bool(to, key, value->bits);
        return;
    }
    cps_value_put(value, &text);
    cps_json_buf(to, key, &text);
}

void cps_json_int(struct json_object *to, const char *key, int64_t value)
{
    cps_json_add(to, key, json_object_new_int64(value));
}

void cps_json_uint(struct json_object *to, const char *key, uint64_t value)
{
    cps_json_add(to, key, json_object_new_uint64(value));
}

void cps_json_bool(struct json_object *to, const char *key, bool value)
{
    cps_json_add(to, key, json_object_new_boolean(value));
}

void cps_json_null(struct json_object *to, const char *key)
{
    if (!to || json_object_object_add(to, key, NULL))
        lose(to);
}

struct json_object *cps_json_get(struct json_object *from, const char *key)
{
    struct json_object *value = NULL;
    if (json_object_is_type(from, json_type_object))
        json_object_object_get_ex(from, key, &value);
    return value;
}

struct json_object *cps_json_member(struct json_object *from, const char *key, enum json_type type)
{
    struct json_object *value = cps_json_get(from, key);
    return json_object_is_type(value, type) ? value : NULL;
}

const char *cps_json_get_text(struct json_object *from, const char *key, const char *fallback)
{
    struct json_object *value = cps_json_member(from, key, json_type_string);
    const char *text = value ? json_object_get_string(value) : NULL;
    return text && strlen(text) == (size_t)json_object_get_string_len(value) ? text : fallback;
}

int64_t cps_json_get_int(struct json_object *from, const char *key, int64_t fallback)
{
    struct json_object *value = cps_json_member(from, key, json_type_int);
    return value ? json_object_get_int64(value) : fallback;
}

bool cps_json_get_bool(struct json_object *from, const char *key, bool fallback)
{
    struct json_object *value = cps_json_member(from, key, json_type_boolean);
    return value ? json_object_get_boolean(value) : fallback;
}

size_t cps_json_count(struct json_object *array)
{
    return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static bool has_all(struct json_object *value)
{
    size_t count = cps_json_count(value);
    if (value && json_object_get_userdata(value) == &lost)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!has_all(json_object_array_get_idx(value, i)))
            return false;
    }
    if (!json_object_is_type(value, json_type_object))
        return true;
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        if (!has_all(member))
            return false;
    }
    return true;
}

bool cps_json_complete(struct json_object *value)
{
    return value && has_all(value);
}

/* ---- text: json-c's own printing drops what its buffer has no room for ---- */

/* What a terminal must not see, as an escape; a byte that is no UTF-8, which JSON has no way to
 * say, as the text that stands for it elsewhere. Returns its bytes. */
static size_t put_hidden(struct cps_buf *out, const char *at)
{
    uint32_t code = 0;
    size_t length = *at ? cps_utf8_(at, &code) : 1;
    if (!length)
        cps_buf_printf(out, "\\\\x%02x", (unsigned char)*at);
    else if (code > 0xffff)
        cps_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + ((code - 0x10000) >> 10),
                       0xdc00 + (code & 0x3ff));
    else
        cps_buf_printf(out, "\\u%04x", code);
    return length ? length : 1;
}

/* One character. Returns its bytes. */
static size_t put_character(struct cps_buf *out, const char *text, size_t left, int flags)
{
    static const char plain[] = "\b\f\n\r\t\"\\/";
    static const char escaped[] = "bfnrt\"\\/";
    const char *special = *text ? strchr(plain, *text) : NULL;
    char one[5] = {0};
    if (special && !(*text == '/' && flags & JSON_C_TO_STRING_NOSLASHESCAPE)) {
        cps_buf_add(out, (char[]){'\\', escaped[special - plain]}, 2);
        return 1;
    }
    memcpy(one, text, left < 4 ? left : 4);
    size_t length = cps_shown_(one);
    if (!length)
        return put_hidden(out, one);
    cps_buf_add(out, text, length);
    return length;
}

static void put_string(struct cps_buf *out, const char *text, size_t size, int flags)
{
    cps_buf_add(out, "\"", 1);
    for (size_t at = 0; at < size;) {
        size_t end = at;
        while (end < size && text[end] >= ' ' && text[end] <= '~' && text[end] != '"' &&
               text[end] != '\\' && text[end] != '/')
            end++;
        cps_buf_add(out, text + at, end - at);
        at = end < size ? end + put_character(out, text + end, size - end, flags) : end;
    }
    cps_buf_add(out, "\"", 1);
}

static void put_number(struct cps_buf *out, struct json_object *value)
{
    char text[24];
    size_t at = sizeof(text);
    int64_t number = json_object_get_int64(value);
    uint64_t rest = number < 0            ? -(uint64_t)number
                    : number == INT64_MAX ? json_object_get_uint64(value) /* or more */
                                          : (uint64_t)number;
    do {
        text[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0)
        text[--at] = '-';
    cps_buf_add(out, text + at, sizeof(text) - at);
}

static void put_break(struct cps_buf *out, unsigned level, int flags)
{
    if (!(flags & JSON_C_TO_STRING_PRETTY))
        return;
    cps_buf_add(out, "\n", 1);
    while (level--)
        cps_buf_add(out, "  ", 2);
}

static void put_value(struct cps_buf *out, struct json_object *value, unsigned level, int flags);

/* One of an object's or array's; @p key is NULL in an array. */
static void put_member(struct cps_buf *out, const char *key, struct json_object *value,
                       unsigned level, int flags, bool first)
{
    if (!first)
        cps_buf_add(out, ",", 1);
    put_break(out, level + 1, flags);
    if (key) {
        put_string(out, key, strlen(key), flags);
        cps_buf_add(out, ":", 1);
    }
    put_value(out, value, level + 1, flags);
}

/* The closing bracket has a line of its own also where nothing is inside. */
static void put_container(struct cps_buf *out, struct json_object *value, unsigned level, int flags)
{
    bool is_array = json_object_is_type(value, json_type_array);
    bool first = true;
    cps_buf_add(out, is_array ? "[" : "{", 1);
    for (size_t i = 0; i < cps_json_count(value); i++, first = false)
        put_member(out, NULL, json_object_array_get_idx(value, i), level, flags, first);
    if (!is_array) {
        json_object_object_foreach(value, key, member)
        {
            put_member(out, key, member, level, flags, first);
            first = false;
        }
    }
    put_break(out, level, flags);
    cps_buf_add(out, is_array ? "]" : "}", 1);
}

static void put_value(struct cps_buf *out, struct json_object *value, unsigned level, int flags)
{
    const char *text = NULL;
    switch (json_object_get_type(value)) {
    case json_type_null:
        cps_buf_str(out, "null");
        break;
    case json_type_boolean:
        cps_buf_str(out, json_object_get_boolean(value) ? "true" : "false");
        break;
    case json_type_int:
        put_number(out, value);
        break;
    case json_type_double: /* one that was read keeps its text */
        text = json_object_get_userdata(value);
        text = text ? text : json_object_to_json_string_ext(value, flags);
        cps_buf_str(out, text ? text : "");
        out->failed = out->failed || !text;
        break;
    case json_type_string:
        put_string(out, json_object_get_string(value), (size_t)json_object_get_string_len(value),
                   flags);
        break;
    case json_type_object:
    case json_type_array:
        put_container(out, value, level, flags);
        break;
    }
}

void cps_json_put(struct cps_buf *out, struct json_object *value, int flags)
{
    if (cps_json_complete(value))
        put_value(out, value, 0, flags);
    else
        out->failed = true;
}

static void free_text(struct json_object *value, void *text)
{
    (void)value;
    free(text);
}

const char *cps_json_print(struct json_object *value, int flags)
{
    CPS_BUF text = {0};
    cps_json_put(&text, value, flags);
    if (text.failed)
        return NULL;
    char *whole = CPS_TAKE(text.data);
    json_object_set_userdata(value, whole, free_text);
    return whole;
}
