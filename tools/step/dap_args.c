/* SPDX-License-Identifier: MIT
 * The debug adapter: members of JSON objects, read with their types checked, and written. */
#include <stdio.h>

#include "tools/step/dap_private.h"

static struct json_object *member(struct json_object *from, const char *key, enum json_type type)
{
    struct json_object *value = NULL;
    if (!from || json_object_get_type(from) != json_type_object ||
        !json_object_object_get_ex(from, key, &value) || json_object_get_type(value) != type)
        return NULL;
    return value;
}

const char *dap_text(struct json_object *from, const char *key)
{
    struct json_object *value = member(from, key, json_type_string);
    return value ? json_object_get_string(value) : NULL;
}

int64_t dap_int(struct json_object *from, const char *key, int64_t fallback)
{
    struct json_object *value = member(from, key, json_type_int);
    return value ? json_object_get_int64(value) : fallback;
}

bool dap_bool(struct json_object *from, const char *key, bool fallback)
{
    struct json_object *value = member(from, key, json_type_boolean);
    return value ? json_object_get_boolean(value) : fallback;
}

struct json_object *dap_array(struct json_object *from, const char *key)
{
    return member(from, key, json_type_array);
}

void dap_put_text(struct json_object *to, const char *key, const char *text)
{
    json_object_object_add(to, key, json_object_new_string(text));
}

void dap_put_int(struct json_object *to, const char *key, int64_t value)
{
    json_object_object_add(to, key, json_object_new_int64(value));
}

void dap_put_bool(struct json_object *to, const char *key, bool value)
{
    json_object_object_add(to, key, json_object_new_boolean(value));
}

void dap_put_hex(struct json_object *to, const char *key, uint64_t value, int digits)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%0*llx", digits, (unsigned long long)value);
    dap_put_text(to, key, text);
}
