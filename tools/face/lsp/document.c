/* SPDX-License-Identifier: MIT
 * The texts that the client has open. */
#include <string.h>

#include "tools/face/lsp/private.h"

/* Bytes: of one text, and of all. */
#define MOST_TEXT  ((size_t)16 << 20)
#define MOST_TEXTS ((size_t)64 << 20)

struct lsp_document *lsp_find(struct lsp *l, const char *uri)
{
    struct lsp_document *d = l->documents;
    while (d && strcmp(d->uri, uri) != 0)
        d = d->next;
    return d;
}

static void drop_document(struct lsp *l, struct lsp_document *which)
{
    struct lsp_document **at = &l->documents;
    while (*at != which)
        at = &(*at)->next;
    *at = which->next;
    l->bytes -= which->text.size;
    cps_asm_check_deinit_(&which->check);
    cps_buf_deinit(&which->text);
    free(which->line);
    free(which->last);
    free(which->uri);
    free(which);
}

void lsp_forget(struct lsp *l)
{
    while (l->documents)
        drop_document(l, l->documents);
}

/* Takes a text in place of the one that is there. */
static struct cps_err *set_text(struct lsp *l, struct lsp_document *d, struct cps_buf *text)
{
    tool_need(!text->failed);
    if (text->size > MOST_TEXT || l->bytes - d->text.size + text->size > MOST_TEXTS)
        return cps_err_new(CPS_ERR_INPUT,
                           "the text has %zu bytes, expected at most 16 MiB, and of "
                           "all texts 64 MiB",
                           text->size);
    const struct cps_buf old = d->text;
    l->bytes = l->bytes - old.size + text->size;
    cps_asm_check_deinit_(&d->check); /* labels point into the old one */
    d->check = (struct cps_asm_check){0};
    d->text = *text;
    *text = old;
    lsp_index(d);
    return NULL;
}

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text);
    size_t wanted = strlen(end);
    return size >= wanted && !strcmp(text + size - wanted, end);
}

static struct cps_err *get_text(struct json_object *from, struct cps_buf *ret)
{
    struct json_object *text = cps_json_member(from, "text", json_type_string);
    if (!text)
        return cps_err_new(CPS_ERR_INPUT, "expected a text as \"text\"");
    cps_buf_add(ret, json_object_get_string(text), (size_t)json_object_get_string_len(text));
    return NULL;
}

struct cps_err *lsp_open(struct lsp *l, struct lsp_request *r)
{
    struct json_object *item = cps_json_member(r->params, "textDocument", json_type_object);
    const char *uri = cps_json_get_text(item, "uri", NULL);
    CPS_BUF text = {0};
    if (!uri)
        return cps_err_new(CPS_ERR_INPUT, "expected \"textDocument\" with a text as \"uri\"");
    CPS_TRY(get_text(item, &text));
    struct lsp_document *d = lsp_find(l, uri);
    if (!d) {
        d = tool_alloc(1, sizeof(*d));
        d->uri = tool_strdup(uri);
        d->last = tool_alloc(1, sizeof(*d->last));
        d->next = l->documents;
        l->documents = d;
    }
    d->version = cps_json_get_int(item, "version", 0);
    /* As the editor calls it, as the file is called, or as it begins. */
    const char *language = cps_json_get_text(item, "languageId", "");
    bool is_pm4 = strstr(language, "pm4") || ends_with(uri, ".pm4") ||
                  !strncmp(cps_buf_text(&text), "# cpscope-pm4", 13);
    d->kind = is_pm4 ? LSP_PM4 : LSP_ASM;
    struct cps_err *err = set_text(l, d, &text);
    if (!err)
        return lsp_check(l, d);
    drop_document(l, d);
    return err;
}

/* One change, whole or of a range. */
static struct cps_err *change_text(struct lsp *l, struct lsp_document *d, struct json_object *item)
{
    struct json_object *range = cps_json_get(item, "range");
    size_t part[2] = {0, d->text.size};
    CPS_BUF text = {0};
    if (range && !lsp_range(l, d, range, part))
        return cps_err_new(CPS_ERR_INPUT, "expected \"range\" with \"start\" not after \"end\"");
    cps_buf_add(&text, cps_buf_text(&d->text), part[0]);
    CPS_TRY(get_text(item, &text));
    cps_buf_add(&text, cps_buf_text(&d->text) + part[1], d->text.size - part[1]);
    return set_text(l, d, &text);
}

struct cps_err *lsp_change(struct lsp *l, struct lsp_request *r)
{
    struct json_object *named = cps_json_get(r->params, "textDocument");
    struct json_object *changes = cps_json_member(r->params, "contentChanges", json_type_array);
    struct cps_err *err = NULL;
    if (!changes)
        return cps_err_new(CPS_ERR_INPUT, "expected a list as \"contentChanges\"");
    for (size_t i = 0; i < cps_json_count(changes) && !err; i++)
        err = change_text(l, r->document, json_object_array_get_idx(changes, i));
    r->document->version = cps_json_get_int(named, "version", r->document->version);
    struct cps_err *checked = lsp_check(l, r->document); /* also of half the changes */
    if (err)
        cps_err_free(checked);
    return err ? err : checked;
}

struct cps_err *lsp_close(struct lsp *l, struct lsp_request *r)
{
    lsp_uncheck(l, r->document);
    drop_document(l, r->document);
    return NULL;
}
