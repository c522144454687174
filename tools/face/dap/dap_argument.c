/* SPDX-License-Identifier: MIT
 * The debug adapter: whether what a request carries has the types that it should. A wrong one says
 * so: taken for one that is missing, it would do something else than was asked for. */
#include <string.h>

#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

static const struct argument {
    const char *request, *key, *inner;
    enum dap_kind kind;
} arguments_table[] = {
#define ARGUMENT(request, key, inner, kind) {request, key, inner, DAP_##kind},
#include "tools/face/dap/dap.def"
};

static const struct {
    enum json_type type;
    const char *name;
} kinds[] = {[DAP_NUMBER] = {json_type_int, "a whole number"},
             [DAP_TEXT] = {json_type_string, "a text"},
             [DAP_BOOL] = {json_type_boolean, "true or false"},
             [DAP_LIST] = {json_type_array, "a list"},
             [DAP_OBJECT] = {json_type_object, "an object"}};

/* Lua cannot tell an empty object from an empty list. */
static bool is_of(struct json_object *value, enum dap_kind kind)
{
    return json_object_is_type(value, kinds[kind].type) ||
           (kind == DAP_OBJECT && json_object_is_type(value, json_type_array) &&
            !cps_json_count(value)) ||
           (kind == DAP_LIST && json_object_is_type(value, json_type_object) &&
            !json_object_object_length(value));
}

/* One would be cut there. */
static bool has_nul(struct json_object *value)
{
    return json_object_is_type(value, json_type_string) &&
           strlen(json_object_get_string(value)) != (size_t)json_object_get_string_len(value);
}

struct cps_err *dap_check_kind(const char *request, const char *name, struct json_object *value,
                               enum dap_kind kind)
{
    enum { LONG = 40 };
    CPS_BUF found = {0};
    bool right = is_of(value, kind);
    if (!value || (right && !has_nul(value)))
        return NULL;
    cps_json_put(&found, value, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    if (found.failed)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_INPUT, "%s: \"%s\" is %s: expected %s", request, name,
                       found.size > LONG ? json_type_to_name(json_object_get_type(value))
                                         : cps_buf_text(&found),
                       right ? "a text without NUL" : kinds[kind].name);
}

/* One member of what @p name names. */
static struct cps_err *check_inner(const struct argument *row, const char *name,
                                   struct json_object *from)
{
    CPS_BUF whole = {0};
    CPS_TRY(dap_check_kind(row->request, name, from, *row->inner ? DAP_OBJECT : row->kind));
    cps_buf_printf(&whole, "%s.%s", name, row->inner);
    if (whole.failed)
        return cps_err_nomem();
    return *row->inner ? dap_check_kind(row->request, cps_buf_text(&whole),
                                        cps_json_get(from, row->inner), row->kind)
                       : NULL;
}

static struct cps_err *check(const struct argument *row, struct json_object *arguments)
{
    struct json_object *value = cps_json_get(arguments, row->key);
    if (!row->inner)
        return dap_check_kind(row->request, row->key, value, row->kind);
    if (!json_object_is_type(value, json_type_array))
        return check_inner(row, row->key, value);
    for (size_t i = 0; i < cps_json_count(value); i++) {
        CPS_BUF name = {0};
        cps_buf_printf(&name, "%s[%zu]", row->key, i);
        if (name.failed)
            return cps_err_nomem();
        CPS_TRY(check_inner(row, cps_buf_text(&name), json_object_array_get_idx(value, i)));
    }
    return NULL;
}

struct cps_err *dap_check(const char *request, struct json_object *arguments)
{
    CPS_TRY(dap_check_kind(request, "arguments", arguments, DAP_OBJECT));
    for (size_t i = 0; i < sizeof(arguments_table) / sizeof(arguments_table[0]); i++) {
        if (!strcmp(arguments_table[i].request, request))
            CPS_TRY(check(&arguments_table[i], arguments));
    }
    return NULL;
}
