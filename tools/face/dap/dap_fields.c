/* SPDX-License-Identifier: MIT
 * The debug adapter: the fields of a register as variables below it, enumerations by name. */
#include <inttypes.h>

#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

static const struct {
    enum cps_space space;
    char file;
} kinds[] = {[DAP_CONTROL] = {CPS_SPACE_CONTROL, CPS_FILE_CONTROL},
             [DAP_SQE] = {CPS_SPACE_SQE, CPS_FILE_SQE},
             [DAP_GPU] = {CPS_SPACE_GPU, CPS_FILE_REGISTER}};

int64_t dap_fields_reference(const struct dap *d, unsigned core, enum dap_space space,
                             uint32_t number)
{
    if (number >= DAP_MAX_FIELDS || core >= 8 ||
        core >= session_engine(&d->debugger->session)->cores)
        return 0;
    return DAP_FIELDS + ((int64_t)core << 20) + ((int64_t)space << 18) + number;
}

static void add_field(void *context, const struct cps_value *value)
{
    struct json_object *field = json_object_new_object();
    CPS_BUF text = {0};
    CPS_BUF name = {0};
    cps_value_put(value, &text);
    if (value->name && *value->name)
        cps_buf_str(&name, value->name);
    else if (value->name)
        cps_buf_str(&name, value->word ? value->word : "value");
    else
        cps_buf_printf(&name, "bits %u to %u", value->low, value->high);
    cps_json_buf(field, "name", &name);
    cps_json_buf(field, "value", &text);
    cps_json_int(field, "variablesReference", 0);
    cps_json_append(context, field);
}

struct cps_err *dap_fields(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    const struct session *s = &d->debugger->session;
    int64_t reference = dap_number(arguments, "variablesReference", 0) - DAP_FIELDS;
    unsigned core = (unsigned)(reference >> 20);
    unsigned space = (unsigned)(reference >> 18) & 3;
    uint32_t number = (uint32_t)(reference % DAP_MAX_FIELDS);
    if (reference < 0 || core >= session_engine(s)->cores || space == DAP_GENERAL)
        return cps_err_new(CPS_ERR_INPUT, "variablesReference %" PRId64 " is not known",
                           reference + DAP_FIELDS);
    struct json_object *list = json_object_new_array();
    uint32_t value = (uint32_t)session_value(s, core, kinds[space].file, number);
    cps_name_values(session_names(s, core), kinds[space].space, number, value, add_field, list);
    cps_json_add(body, "variables", list);
    return NULL;
}
