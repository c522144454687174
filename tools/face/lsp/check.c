/* SPDX-License-Identifier: MIT
 * Diagnostics of a document: errors of the assembler, or of the reader of PM4 text. */
#include <inttypes.h>
#include <string.h>

#include "tools/face/lsp/private.h"
#include "trace/capture/formats.h"

/* Errors of one document; who has more sees these first. */
enum { MOST_ERRORS = 100, SEVERITY_ERROR = 1 };

struct errors {
    struct lsp *lsp;
    const struct lsp_document *document;
    struct json_object *list;
    unsigned count;
    uint32_t line; /* of the line end that was found last, from 1, */
    size_t start;  /* and where the next line begins */
};

/* Where a line begins as the assembler counts them: by "\n" alone. Errors come mostly in order. */
static size_t start_of(struct errors *e, uint32_t line)
{
    const struct cps_buf *text = &e->document->text;
    if (line < e->line || !e->line) {
        e->line = 1;
        e->start = 0;
    }
    for (; e->line < line; e->line++) {
        const char *from = cps_buf_text(text) + e->start;
        const char *end = memchr(from, '\n', text->size - e->start);
        if (!end)
            break;
        e->start += (size_t)(end - from) + 1;
    }
    return e->start;
}

/* The underlined range: the word at the place, or one character, of which a byte is enough. */
static void find_range(struct errors *e, uint32_t line, size_t column, size_t ret[2])
{
    const struct lsp_document *d = e->document;
    struct lsp_token token;
    size_t from = start_of(e, line);
    size_t end = lsp_line_end(d, from);
    size_t at = column < end - from ? from + column : end;
    ret[0] = at;
    ret[1] = at < end ? at + 1 : end;
    if (lsp_token_at(d, at, &token) && token.from <= at && at < token.end)
        ret[1] = token.end;
}

static void add_error(void *context, uint32_t line, size_t column, const char *message)
{
    struct errors *e = context;
    size_t range[2];
    if (e->count++ >= MOST_ERRORS)
        return;
    find_range(e, line, column, range);
    struct json_object *item = json_object_new_object();
    lsp_put_range(e->lsp, e->document, item, "range", range[0], range[1]);
    doc_put(item, "severity=%d source=cpscope message=%s", SEVERITY_ERROR, message);
    cps_json_append(e->list, item);
}

/* The layout of the last chip that the text names. */
struct chip_sink {
    struct cps_item_sink sink;
    enum cps_layout layout;
};

static struct cps_err *note_chip(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct chip_sink *chip = (struct chip_sink *)sink;
    if (item->kind == CPS_ITEM_CHIP)
        chip->layout =
            cps_gpu_layout(item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & 0xffffffff);
    return NULL;
}

static struct cps_err *read_document(struct lsp *l, struct lsp_document *d, struct errors *errors)
{
    const char *text = cps_buf_text(&d->text);
    struct chip_sink chip = {{note_chip}, CPS_LAYOUT_A6XX};
    if (d->kind == LSP_PM4) {
        CPS_TRY(
            cps_pm4text_check_(text, d->text.size, l->config.rnn, add_error, errors, &chip.sink));
        d->layout = chip.layout;
        return NULL;
    }
    cps_asm_check_deinit_(&d->check);
    d->check = (struct cps_asm_check){0};
    CPS_TRY(cps_asm_check_(text, d->text.size, l->gen, add_error, errors, &d->check));
    d->layout = d->check.layout;
    return NULL;
}

static void publish_errors(struct lsp *l, const struct lsp_document *d, struct json_object *list)
{
    struct json_object *params = json_object_new_object();
    doc_put(params, "uri=%s version=%" PRId64, d->uri, d->version);
    cps_json_add(params, "diagnostics", list);
    lsp_notify(l, "textDocument/publishDiagnostics", params);
}

struct cps_err *lsp_check(struct lsp *l, struct lsp_document *d)
{
    struct errors errors = {.lsp = l, .document = d, .list = json_object_new_array()};
    struct cps_err *err = read_document(l, d, &errors);
    if (err)
        json_object_put(errors.list);
    else
        publish_errors(l, d, errors.list);
    return err;
}

void lsp_uncheck(struct lsp *l, const struct lsp_document *d)
{
    publish_errors(l, d, json_object_new_array());
}
