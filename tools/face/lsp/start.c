/* SPDX-License-Identifier: MIT
 * The beginning of a session: what the client can, what we can, and options. */
#include <string.h>

#include "isa/version.h"
#include "tools/face/lsp/private.h"
#include "tools/run/config.h"

const struct cps_names *lsp_names(struct lsp *l, enum cps_layout layout)
{
    struct cps_names **names = &l->names[layout];
    struct cps_err *err = *names ? NULL : cps_names_create(layout, l->config.rnn, names);
    if (l->failed)
        cps_err_free(err);
    else
        l->failed = err;
    return *names;
}

/* Whether the options fit each other, and files that they name can be read. */
static struct cps_err *use_options(struct lsp *l)
{
    const struct cps_isa *isa = NULL;
    struct cps_names *names = NULL;
    l->gen = l->config.gen;
    if (cps_run_is_script(&l->config))
        CPS_TRY(cps_run_script_engine(&l->config, &isa, &l->gen));
    if (isa && !cps_isa_has_code(isa))
        return cps_err_new(CPS_ERR_USAGE, "%s has no code to assemble", l->config.engine);
    CPS_TRY(cps_names_create(CPS_LAYOUT_A6XX, l->config.rnn, &names));
    cps_names_destroy(names);
    return NULL;
}

static bool has_text(struct json_object *list, const char *text)
{
    bool found = false;
    for (size_t i = 0; json_object_is_type(list, json_type_array) && i < cps_json_count(list);
         i++) {
        struct json_object *item = json_object_array_get_idx(list, i);
        found |= json_object_is_type(item, json_type_string) &&
                 !strcmp(json_object_get_string(item), text);
    }
    return found;
}

static void read_client(struct lsp *l, struct json_object *params)
{
    struct json_object *can = cps_json_get(params, "capabilities");
    struct json_object *of_text = cps_json_get(can, "textDocument");
    l->utf8 = has_text(cps_json_get(cps_json_get(can, "general"), "positionEncodings"), "utf-8");
    l->markdown =
        has_text(cps_json_get(cps_json_get(of_text, "hover"), "contentFormat"), "markdown");
    l->hierarchical = cps_json_get_bool(cps_json_get(of_text, "documentSymbol"),
                                        "hierarchicalDocumentSymbolSupport", false);
}

static void put_capabilities(const struct lsp *l, struct json_object *to)
{
    enum { INCREMENTAL = 2 };
    struct json_object *can = cps_json_new_object(to, "capabilities");
    struct json_object *sync = cps_json_new_object(can, "textDocumentSync");
    struct json_object *complete = cps_json_new_object(can, "completionProvider");
    cps_json_add(complete, "triggerCharacters",
                 doc_array(NULL, "%s %s %s %s %s", "@", "%", "#", "$", "."));
    doc_put(can, "positionEncoding=%s", l->utf8 ? "utf-8" : "utf-16");
    doc_put(sync, "openClose?=%d change=%d", true, INCREMENTAL);
    doc_put(can,
            "hoverProvider?=%d definitionProvider?=%d referencesProvider?=%d "
            "documentSymbolProvider?=%d",
            true, true, true, true);
}

struct cps_err *lsp_initialize(struct lsp *l, struct lsp_request *r)
{
    struct json_object *options = cps_json_get(r->params, "initializationOptions");
    if (!json_object_is_type(r->params, json_type_object))
        return cps_err_new(CPS_ERR_INPUT, "expected an object as \"params\"");
    json_object_put(l->named);
    l->named = json_object_get(options);
    struct cps_err *err = l->options(l->context, options, &l->config);
    if (!err)
        err = use_options(l);
    CPS_TRY(err); /* the client may try others */
    read_client(l, r->params);
    r->result = doc_new();
    put_capabilities(l, r->result);
    doc_put(cps_json_new_object(r->result, "serverInfo"), "name=cpscope version=%s", CPS_VERSION);
    l->state = LSP_READY;
    return NULL;
}
