/* SPDX-License-Identifier: MIT
 * Options that an editor names: of `step` in the request `launch`, of `lsp` in `initialize`. */
#include "tools/cmd/json_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cmd/options/opt_engine.h"
#include "tools/face/dap/frame.h"
#include "trace/out/json.h"

/* Where the options go. */
struct taking {
    const char *request;
    unsigned command;
    struct cps_options *opt;
};

/* A name of the command line, or as JSON has it: "seq-abi" or "seqAbi". */
static struct json_object *find_option(struct json_object *from, const char *name)
{
    char camel[32];
    size_t size = 0;
    struct json_object *value = cps_json_get(from, name);
    for (const char *at = name; *at && size < sizeof(camel) - 1; at++) {
        bool joins = *at == '-' && at[1];
        at += joins;
        camel[size++] = joins ? (char)(*at - 'a' + 'A') : *at;
    }
    camel[size] = '\0';
    return value ? value : cps_json_get(from, camel);
}

/* A flag, one text, or a number as one. */
static struct cps_err *take_one(const struct taking *t, const char *name, struct json_object *value,
                                enum opt_form form)
{
    char number[24];
    bool is_number = form == OPT_NUMBER && json_object_is_type(value, json_type_int);
    bool is_text = form != OPT_NUMBER || json_object_is_type(value, json_type_string);
    if (!is_number)
        CPS_TRY(frame_check_kind(t->request, name, value,
                                 form == OPT_FLAG ? 'b'
                                 : is_text        ? 't'
                                                  : 'n'));
    if (form == OPT_FLAG)
        return json_object_get_boolean(value) ? opt_take(t->command, name, NULL, t->opt) : NULL;
    snprintf(number, sizeof(number), "%" PRId64, json_object_get_int64(value));
    return opt_take(t->command, name, is_number ? number : json_object_get_string(value), t->opt);
}

static struct cps_err *take_option(const struct taking *t, const char *name,
                                   struct json_object *value, enum opt_form form)
{
    if (form != OPT_LIST || !json_object_is_type(value, json_type_array))
        return take_one(t, name, value, form);
    for (size_t i = 0; i < cps_json_count(value); i++) {
        struct json_object *item = json_object_array_get_idx(value, i);
        if (!item)
            return cps_err_new(CPS_ERR_INPUT, "%s: \"%s[%zu]\" is null: expected a text",
                               t->request, name, i);
        CPS_TRY(take_one(t, name, item, form));
    }
    return NULL;
}

struct cps_err *json_options_take(const char *request, unsigned command, struct json_object *from,
                                  struct cps_options *opt)
{
    const struct taking taking = {request, command, opt};
    enum opt_form form = OPT_FLAG;
    const char *name = NULL;
    for (unsigned i = 0; (name = opt_form(command, i, &form)); i++) {
        struct json_object *value = find_option(from, name);
        bool is_about_terminals = !strcmp(name, "dap") || !strcmp(name, "screen");
        if (value && !is_about_terminals)
            CPS_TRY(take_option(&taking, name, value, form));
    }
    return opt_taken(command, opt);
}
