/* SPDX-License-Identifier: MIT
 * Changes to a JSON document that leave it one. */
#include <inttypes.h>
#include <string.h>

#include "tests/fuzz/mutate.h"
#include "trace/out/json.h"

/* A member or an element. */
struct place {
    struct json_object *parent;
    const char *key; /* of an object's */
    size_t index;    /* of an array's */
};

static struct json_object *value_of(struct place p)
{
    return p.key ? cps_json_get(p.parent, p.key) : json_object_array_get_idx(p.parent, p.index);
}

/* Goes on to the place number *left, counted from 0; what it passes by is taken off. */
static bool find(struct json_object *node, uint32_t *left, struct place *ret)
{
    if (json_object_is_type(node, json_type_object)) {
        json_object_object_foreach(node, key, value)
        {
            *ret = (struct place){node, key, 0};
            if (!(*left)-- || find(value, left, ret))
                return true;
        }
    }
    for (size_t i = 0;
         json_object_is_type(node, json_type_array) && i < json_object_array_length(node); i++) {
        *ret = (struct place){node, NULL, i};
        if (!(*left)-- || find(json_object_array_get_idx(node, i), left, ret))
            return true;
    }
    return false;
}

static bool some_place(uint32_t *state, struct json_object *root, struct place *ret)
{
    uint32_t left = UINT32_MAX;
    find(root, &left, ret);
    uint32_t count = UINT32_MAX - left;
    left = mutate_below(state, count);
    return count && find(root, &left, ret);
}

static void set(struct place p, struct json_object *value)
{
    if (p.key)
        json_object_object_add(p.parent, p.key, value);
    else
        json_object_array_put_idx(p.parent, p.index, value);
}

static void remove_place(struct place p)
{
    if (p.key)
        json_object_object_del(p.parent, p.key);
    else
        json_object_array_del_idx(p.parent, p.index, 1);
}

static struct json_object *odd_value(uint32_t *state)
{
    switch (mutate_below(state, 8)) {
    case 0:
        return NULL;
    case 1:
        return json_object_new_object();
    case 2:
        return json_object_new_array();
    case 3:
        return json_object_new_boolean(mutate_below(state, 2) == 0);
    case 4:
        return json_object_new_double(1e300);
    case 5:
        return json_object_new_string_len("a\0b\xff", 4);
    case 6:
        return json_object_new_int64(mutate_below(state, 2) ? INT64_MIN : INT64_MAX);
    default:
        return json_object_new_int64((int32_t)mutate_edge(state, 0));
    }
}

/* The same kind of value, a little different. */
static struct json_object *near_value(uint32_t *state, struct json_object *old)
{
    CPS_BUF text = {0};
    if (json_object_is_type(old, json_type_int))
        return json_object_new_int64(
            (int32_t)mutate_edge(state, (uint32_t)json_object_get_int64(old)));
    if (!json_object_is_type(old, json_type_string))
        return odd_value(state);
    cps_buf_add(&text, json_object_get_string(old), (size_t)json_object_get_string_len(old));
    mutate_text(state, &text);
    return json_object_new_string_len(cps_buf_text(&text), (int)text.size);
}

void mutate_json(uint32_t *state, struct json_object *root)
{
    struct place a;
    struct place b;
    struct json_object *copy = NULL;
    if (!some_place(state, root, &a) || !some_place(state, root, &b))
        return;
    switch (mutate_below(state, 6)) {
    case 0:
        remove_place(a);
        break;
    case 1:
        set(a, odd_value(state));
        break;
    case 2: /* another value of the document, which may be larger than this one */
        if (!json_object_deep_copy(value_of(b), &copy, NULL))
            set(a, copy);
        break;
    case 3:
        if (json_object_is_type(a.parent, json_type_array) &&
            !json_object_deep_copy(value_of(a), &copy, NULL))
            json_object_array_add(a.parent, copy);
        break;
    default:
        set(a, near_value(state, value_of(a)));
    }
}
