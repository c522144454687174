/* SPDX-License-Identifier: MIT
 * The debug adapter: `launch`. Its arguments are the options of `cpscope step`, by the names that
 * they have on the command line (tools/cmd/options/opt.def), and of the protocol's own kinds. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/options/opt_engine.h"
#include "tools/face/dap/dap_private.h"
#include "trace/out/json.h"

/* Options that are about terminals. */
static bool is_left_out(const char *name)
{
    return !strcmp(name, "dap") || !strcmp(name, "screen");
}

/* A name of the command line, or as JSON has it: "seq-abi" or "seqAbi". */
static struct json_object *find(struct json_object *arguments, const char *name)
{
    char camel[32];
    size_t size = 0;
    struct json_object *value = cps_json_get(arguments, name);
    for (const char *at = name; *at && size < sizeof(camel) - 1; at++) {
        bool joins = *at == '-' && at[1];
        at += joins;
        camel[size++] = joins ? (char)(*at - 'a' + 'A') : *at;
    }
    camel[size] = '\0';
    return value ? value : cps_json_get(arguments, camel);
}

/* One text, or a number as one; of lists each item. */
static struct cps_err *take_text(struct dap *d, const char *name, struct json_object *value,
                                 enum opt_form form)
{
    char number[24];
    bool counts = form == OPT_NUMBER && json_object_is_type(value, json_type_int);
    if (!counts)
        CPS_TRY(dap_check_kind("launch", name, value,
                               form == OPT_NUMBER && !json_object_is_type(value, json_type_string)
                                   ? DAP_NUMBER
                                   : DAP_TEXT));
    snprintf(number, sizeof(number), "%" PRId64, json_object_get_int64(value));
    return opt_take(OPT_SHIFT_STEP, name, counts ? number : json_object_get_string(value), &d->opt);
}

static struct cps_err *take(struct dap *d, const char *name, struct json_object *value,
                            enum opt_form form)
{
    if (form == OPT_FLAG) {
        CPS_TRY(dap_check_kind("launch", name, value, DAP_BOOL));
        return json_object_get_boolean(value) ? opt_take(OPT_SHIFT_STEP, name, NULL, &d->opt)
                                              : NULL;
    }
    if (form != OPT_LIST || !json_object_is_type(value, json_type_array))
        return take_text(d, name, value, form);
    for (size_t i = 0; i < cps_json_count(value); i++) {
        struct json_object *item = json_object_array_get_idx(value, i);
        if (!item)
            return cps_err_new(CPS_ERR_INPUT, "launch: \"%s[%zu]\" is null: expected a text", name,
                               i);
        CPS_TRY(take_text(d, name, item, form));
    }
    return NULL;
}

static struct cps_err *read_options(struct dap *d, struct json_object *arguments)
{
    enum opt_form form = OPT_FLAG;
    const char *name = NULL;
    for (unsigned i = 0; (name = opt_form(OPT_SHIFT_STEP, i, &form)); i++) {
        struct json_object *value = find(arguments, name);
        if (value && !is_left_out(name))
            CPS_TRY(take(d, name, value, form));
    }
    CPS_TRY(opt_taken(OPT_SHIFT_STEP, &d->opt));
    d->debugger->session.scheme = opt_scheme(&d->opt);
    if (!d->opt.fw_count && !d->opt.demo && !opt_is_script(&d->opt))
        return cps_err_new(CPS_ERR_INPUT, "launch: expected \"fw\": a file, \"demo\": true, or "
                                          "\"engine\" with a script as \"capture\"");
    return NULL;
}

/* Texts of options point into the arguments, which are kept. */
static struct cps_err *open_session(struct dap *d, struct json_object *arguments)
{
    json_object_put(d->launched);
    d->launched = json_object_get(arguments);
    d->capture[0] = (char *)cps_json_get_text(arguments, "capture", NULL);
    d->opt = opt_none(d->capture);
    d->opt.arg_count = d->capture[0] != NULL;
    CPS_TRY(read_options(d, arguments));
    d->debugger->session.interrupt = &d->debugger->interrupt;
    struct cps_err *err = session_open(&d->debugger->session, &d->opt);
    if (err) {
        session_close(&d->debugger->session);
        d->debugger->session = (struct session){0};
    }
    d->open = !err;
    return err;
}

struct cps_err *dap_launch(struct dap *d, struct json_object *arguments, struct json_object *body)
{
    (void)body;
    if (d->run)
        return cps_err_new(CPS_ERR_INPUT, "launch: this is a run, expected \"attach\"");
    d->stop_on_entry = cps_json_get_bool(arguments, "stopOnEntry", true);
    if (!d->open)
        CPS_TRY(open_session(d, arguments));
    d->start = cps_debug_place(d->debugger->session.debug).step;
    return NULL;
}

void dap_launched(struct dap *d)
{
    CPS_BUF said = {0};
    d->told_running = true; /* until the first `stopped` */
    dap_event(d, "initialized", json_object_new_object());
    session_opened(&d->debugger->session, &said);
    if (said.size)
        dap_output(d, &said);
}

/* The commands of "script", behind the client's own breakpoints. */
void dap_run_script(struct dap *d)
{
    struct debugger *r = d->debugger;
    if (!d->opt.script)
        return;
    struct cps_err *err = command_source(r, d->opt.script);
    if (err)
        cps_buf_printf(&r->out, "%s\n", err->message);
    cps_err_free(err);
    if (r->out.size || r->out.failed)
        dap_output(d, &r->out);
    cps_buf_clear(&r->out);
}
