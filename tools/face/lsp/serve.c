/* SPDX-License-Identifier: MIT
 * The language server: which message is answered by what, and when. Everything is answered in the
 * order in which it came, before the next message is read. */
#include <string.h>

#include "tools/face/lsp/private.h"

enum wants { NOTHING, DOCUMENT, PLACE };

typedef struct cps_err *run_fn(struct lsp *l, struct lsp_request *r);

static struct cps_err *lsp_nothing(struct lsp *l, struct lsp_request *r)
{
    (void)l;
    (void)r;
    return NULL;
}

static struct cps_err *lsp_shutdown(struct lsp *l, struct lsp_request *r)
{
    (void)r;
    l->state = LSP_SHUT;
    return NULL;
}

static struct cps_err *lsp_exit(struct lsp *l, struct lsp_request *r)
{
    (void)r;
    l->done = true;
    return NULL;
}

static const struct row {
    const char *method;
    run_fn *run;
    enum wants wants;
    bool is_request;
} rows[] = {
#define REQUEST(method, run, wants)      {method, lsp_##run, wants, true},
#define NOTIFICATION(method, run, wants) {method, lsp_##run, wants, false},
#include "tools/face/lsp/lsp.def"
#include "tools/cmd/render/doc.h"
};

static const struct row *find_row(const char *method, bool is_request)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].is_request == is_request && !strcmp(rows[i].method, method))
            return &rows[i];
    }
    return NULL;
}

static void send_message(struct lsp *l, struct json_object *message)
{
    cps_json_text(message, "jsonrpc", "2.0");
    frame_write(l->out, message);
}

void lsp_notify(struct lsp *l, const char *method, struct json_object *params)
{
    struct json_object *message = json_object_new_object();
    doc_put(message, "method=%s", method);
    cps_json_add(message, "params", params);
    send_message(l, message);
}

/* A reply to a request of that id; of what has no readable id to null. @param value  NULL: null */
static void send_reply(struct lsp *l, struct json_object *id, const char *key,
                       struct json_object *value)
{
    struct json_object *message = doc_new();
    if (id)
        cps_json_add(message, "id", json_object_get(id));
    else
        cps_json_null(message, "id");
    if (value)
        cps_json_add(message, key, value);
    else
        cps_json_null(message, key);
    send_message(l, message);
}

static void send_error(struct lsp *l, struct json_object *id, enum lsp_code code, const char *text)
{
    struct json_object *error = doc_new();
    doc_put(error, "code=%d message=%s", code, text);
    send_reply(l, id, "error", error);
}

/* Reads what the row wants of the parameters, and does it. */
static struct cps_err *run_row(struct lsp *l, const struct row *row, struct lsp_request *r)
{
    struct json_object *named = cps_json_member(r->params, "textDocument", json_type_object);
    const char *uri = cps_json_get_text(named, "uri", NULL);
    r->document = uri && row->wants != NOTHING ? lsp_find(l, uri) : NULL;
    if (!uri && row->wants != NOTHING)
        return cps_err_new(CPS_ERR_INPUT, "expected \"textDocument\" with a text as \"uri\"");
    if (!r->document && row->wants != NOTHING)
        return cps_err_new(CPS_ERR_INPUT, "the document is not open");
    if (row->wants == PLACE &&
        !lsp_offset(l, r->document, cps_json_get(r->params, "position"), &r->offset))
        return cps_err_new(CPS_ERR_INPUT, "expected \"position\" with \"line\" and \"character\", "
                                          "whole numbers from 0 on");
    return tool_err(row->run(l, r));
}

static void answer_request(struct lsp *l, const struct row *row, struct json_object *id,
                           struct json_object *params)
{
    struct lsp_request r = {.params = params};
    struct cps_err *err = run_row(l, row, &r);
    if (err) {
        json_object_put(r.result);
        send_error(l, id, LSP_INVALID_PARAMS, err->message);
    } else {
        send_reply(l, id, "result", r.result);
    }
    cps_err_free(err);
}

static void handle_request(struct lsp *l, const char *method, struct json_object *id,
                           struct json_object *params)
{
    const struct row *row = find_row(method, true);
    bool begins = !strcmp(method, "initialize");
    if (l->state == LSP_NEW && !begins)
        send_error(l, id, LSP_NOT_INITIALIZED, "expected initialize first");
    else if (l->state == LSP_SHUT)
        send_error(l, id, LSP_INVALID_REQUEST, "expected exit after shutdown");
    else if (begins && l->state != LSP_NEW)
        send_error(l, id, LSP_INVALID_REQUEST, "initialize came before");
    else if (!row)
        send_error(l, id, LSP_METHOD_NOT_FOUND, "the method is not known");
    else
        answer_request(l, row, id, params);
}

/* There is no answer: those that are not known, or come too early or late, are passed over. */
static void handle_notification(struct lsp *l, const char *method, struct json_object *params)
{
    struct lsp_request r = {.params = params};
    const struct row *row = find_row(method, false);
    if (!row || (l->state != LSP_READY && row->run != lsp_exit))
        return;
    struct cps_err *err = run_row(l, row, &r);
    if (err) {
        enum { ERROR = 1 };
        struct json_object *message = json_object_new_object();
        CPS_BUF text = {0};
        cps_buf_printf(&text, "%s: %s", method, err->message);
        doc_put(message, "type=%d message=%p", ERROR, &text);
        lsp_notify(l, "window/logMessage", message);
    }
    cps_err_free(err);
}

static bool is_id(struct json_object *id)
{
    return json_object_is_type(id, json_type_int) || json_object_is_type(id, json_type_string);
}

static void handle_message(struct lsp *l, struct json_object *message)
{
    struct json_object *id = NULL;
    struct json_object *params = cps_json_get(message, "params");
    const char *method = cps_json_get_text(message, "method", NULL);
    bool has_id = json_object_object_get_ex(message, "id", &id);
    bool is_reply = json_object_object_get_ex(message, "result", NULL) ||
                    json_object_object_get_ex(message, "error", NULL);
    if (has_id && !is_id(id))
        send_error(l, NULL, LSP_INVALID_REQUEST, "expected a number or a text as \"id\"");
    else if (!method && !(has_id && is_reply))
        send_error(l, id, LSP_INVALID_REQUEST, "expected a text as \"method\"");
    else if (method && has_id)
        handle_request(l, method, id, params);
    else if (method)
        handle_notification(l, method, params);
}

static struct cps_err *serve_client(struct lsp *l)
{
    while (!l->done && !l->failed) {
        struct json_object *message = NULL;
        struct cps_err *err = frame_read(&l->frame, &message);
        if (err && err->code == CPS_ERR_INPUT)
            send_error(l, NULL, LSP_PARSE_ERROR, err->message);
        if (err || !message)
            return err;
        handle_message(l, message);
        json_object_put(message);
    }
    struct cps_err *err = l->failed;
    l->failed = NULL;
    return err;
}

struct cps_err *lsp_serve(lsp_options *options, const void *context, FILE *in, FILE *out,
                          int *status)
{
    struct lsp *l = tool_alloc(1, sizeof(*l));
    l->frame = (struct frame){
        .name = "(stdin)", .protocol = "Language Server Protocol", .in = fileno(in), .wake = -1};
    l->out = out;
    l->options = options;
    l->context = context;
    struct cps_err *err = serve_client(l);
    *status = l->state != LSP_SHUT;
    lsp_forget(l);
    for (unsigned i = 0; i < CPS_LAYOUT_COUNT; i++)
        cps_names_destroy(l->names[i]);
    json_object_put(l->named);
    cps_err_free(l->failed);
    free(l);
    return err;
}
