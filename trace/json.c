/* SPDX-License-Identifier: MIT
 * JSON with its errors checked. */
#include "trace/json.h"

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

struct cps_err *cps_json_defect(enum json_tokener_error why, const char *file, uint64_t offset,
                                const char *expected)
{
    if (why == json_tokener_continue)
        return cps_err_nomem();
    return cps_err_input(file, offset, "%s, expected %s as JSON",
                         why == json_tokener_success ? "no value" : json_tokener_error_desc(why),
                         expected);
}

static bool is_complete(struct json_object *value)
{
    size_t count =
        json_object_is_type(value, json_type_array) ? json_object_array_length(value) : 0;
    if (value && json_object_get_userdata(value) == &lost)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_complete(json_object_array_get_idx(value, i)))
            return false;
    }
    if (!json_object_is_type(value, json_type_object))
        return true;
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        if (!is_complete(member))
            return false;
    }
    return true;
}

const char *cps_json_print(struct json_object *value, int flags)
{
    return value && is_complete(value) ? json_object_to_json_string_ext(value, flags) : NULL;
}
