/* SPDX-License-Identifier: MIT
 * JSON with its errors checked. */
#include "trace/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void cps_json_append(struct json_object *to, struct json_object *value)
{
    if (to && value && !json_object_array_add(to, value))
        return;
    json_object_put(value);
    lose(to);
}

struct json_object *cps_json_list(struct json_object *to, const char *key)
{
    struct json_object *list = json_object_new_array();
    cps_json_add(to, key, json_object_get(list));
    if (list && !json_object_put(list)) /* another one has it, too */
        return list;
    return NULL;
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

void cps_json_double(struct json_object *to, const char *key, double value)
{
    cps_json_add(to, key, json_object_new_double(value));
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

static void put_string(struct cps_buf *out, const char *text, size_t size, int flags)
{
    static const char plain[] = "\b\f\n\r\t\"\\/";
    static const char escaped[] = "bfnrt\"\\/";
    size_t done = 0;
    cps_buf_add(out, "\"", 1);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\' && c != '/')
            continue;
        const char *special = c ? strchr(plain, c) : NULL;
        if (c == '/' && flags & JSON_C_TO_STRING_NOSLASHESCAPE)
            continue;
        cps_buf_add(out, text + done, i - done);
        done = i + 1;
        if (special)
            cps_buf_add(out, (char[]){'\\', escaped[special - plain]}, 2);
        else
            cps_buf_printf(out, "\\u%04x", (unsigned)c);
    }
    cps_buf_add(out, text + done, size - done);
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

/* One that was read keeps its text, and that of others looks like none of a whole number. */
static void put_double(struct cps_buf *out, struct json_object *value)
{
    const char *read = json_object_get_userdata(value);
    double number = json_object_get_double(value);
    char text[40];
    if (read) {
        cps_buf_str(out, read);
        return;
    }
    if (isnan(number) || isinf(number)) {
        cps_buf_str(out, isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity");
        return;
    }
    snprintf(text, sizeof(text), "%.17g", number);
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    cps_buf_str(out, text);
    if (!strpbrk(text, ".e"))
        cps_buf_str(out, ".0");
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

static void put_object(struct cps_buf *out, struct json_object *value, unsigned level, int flags)
{
    bool first = true;
    cps_buf_add(out, "{", 1);
    json_object_object_foreach(value, key, member)
    {
        if (!first)
            cps_buf_add(out, ",", 1);
        first = false;
        put_break(out, level + 1, flags);
        put_string(out, key, strlen(key), flags);
        cps_buf_add(out, ":", 1);
        put_value(out, member, level + 1, flags);
    }
    put_break(out, level, flags); /* also in an empty one */
    cps_buf_add(out, "}", 1);
}

static void put_array(struct cps_buf *out, struct json_object *value, unsigned level, int flags)
{
    size_t count = cps_json_count(value);
    cps_buf_add(out, "[", 1);
    for (size_t i = 0; i < count; i++) {
        if (i)
            cps_buf_add(out, ",", 1);
        put_break(out, level + 1, flags);
        put_value(out, json_object_array_get_idx(value, i), level + 1, flags);
    }
    put_break(out, level, flags);
    cps_buf_add(out, "]", 1);
}

static void put_value(struct cps_buf *out, struct json_object *value, unsigned level, int flags)
{
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
    case json_type_double:
        put_double(out, value);
        break;
    case json_type_string:
        put_string(out, json_object_get_string(value), (size_t)json_object_get_string_len(value),
                   flags);
        break;
    case json_type_object:
        put_object(out, value, level, flags);
        break;
    case json_type_array:
        put_array(out, value, level, flags);
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
