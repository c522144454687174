/* SPDX-License-Identifier: MIT
 * Where names are given and used: labels of assembly, buffers of PM4 text. */
#include <string.h>

#include "fw/fw.h"
#include "fw/image/private.h"
#include "isa/base/lex.h"
#include "tools/face/lsp/private.h"

/* The line's first word is `.section NAME`: its number; else UINT_MAX. */
static unsigned section_begun(const struct lsp_document *d, const struct lsp_token *first)
{
    struct lsp_token name = *first;
    if (first->sigil != '.' || !lsp_token_is(d, first, "section") || !lsp_next_token(d, &name))
        return UINT32_MAX;
    for (unsigned i = 0; i < CPS_FW_ROLE_COUNT; i++) {
        const char *known = cps_fw_role_section((enum cps_fw_role)i);
        if (known && lsp_token_is(d, &name, known))
            return i;
    }
    return UINT32_MAX;
}

/* Calls back for each word of the text, with the section that it is in. */
typedef void token_fn(void *context, const struct lsp_token *token, unsigned section);

static void each_token(const struct lsp_document *d, token_fn *each, void *context)
{
    unsigned section = CPS_FW_SQE;
    for (size_t line = 0; line < d->lines; line++) {
        struct lsp_token token = {.end = d->line[line]};
        while (lsp_next_token(d, &token) && !token.in_comment) {
            unsigned begun = token.index == 1 ? section_begun(d, &token) : UINT32_MAX;
            section = begun == UINT32_MAX ? section : begun;
            each(context, &token, section);
        }
    }
}

/* ---- names that are given ---- */

struct given {
    const struct lsp_document *document;
    struct lsp_name *name;
    size_t count;
    size_t buffer; /* of PM4 text: the line, and 1, that begins with "buffer" */
};

static void note_name(void *context, const struct lsp_token *token, unsigned section)
{
    struct given *g = context;
    const struct lsp_document *d = g->document;
    size_t line = lsp_line_of(d, token->from) + 1;
    bool is_pm4 = d->kind == LSP_PM4;
    if (is_pm4 && token->index == 1)
        g->buffer = lsp_token_is(d, token, "buffer") ? line : 0;
    if (is_pm4 ? token->index != 3 || g->buffer != line || token->sigil : !token->is_label)
        return;
    TOOL_ROOM(g->name, g->count);
    g->name[g->count++] = (struct lsp_name){token->from, token->end, section};
}

struct lsp_name *lsp_names_given(const struct lsp_document *d, size_t *count)
{
    struct given given = {.document = d};
    each_token(d, note_name, &given);
    *count = given.count;
    return given.name;
}

/* ---- the name at hand ---- */

struct wanted {
    const struct lsp *lsp;
    const struct lsp_document *document;
    const char *text;
    size_t length;
    size_t at;        /* of the word that was asked for */
    unsigned section; /* that it is in */
    struct lsp_name found;
    bool is_found;
    struct json_object *list;
    size_t count; /* places that it should have */
    bool with_given;
};

static void note_section(void *context, const struct lsp_token *token, unsigned section)
{
    struct wanted *w = context;
    if (token->from <= w->at)
        w->section = section;
}

/* A word that can be the name of a label or a buffer. */
static bool is_name(const struct lsp_document *d, const struct lsp_token *token)
{
    return !token->is_number &&
           (!token->sigil || token->sigil == '#' || (token->sigil == '@' && d->kind == LSP_PM4));
}

static bool is_wanted(const struct wanted *w, const char *text, size_t length)
{
    return length == w->length && !memcmp(text, w->text, length);
}

/* Where it is given: the first of its section; where there is none, the first of all. */
static bool find_name(struct lsp *l, struct lsp_request *r, struct wanted *ret)
{
    const struct lsp_document *d = r->document;
    struct lsp_token token;
    size_t count = 0;
    *ret = (struct wanted){.lsp = l, .document = d, .section = CPS_FW_SQE};
    if (!lsp_token_at(d, r->offset, &token) || !is_name(d, &token))
        return false;
    ret->text = lsp_token_text(d, &token, &ret->length);
    ret->at = token.from;
    each_token(d, note_section, ret);
    CPS_FREE struct lsp_name *names = lsp_names_given(d, &count);
    for (size_t i = 0; i < count && !(ret->is_found && ret->found.section == ret->section); i++) {
        const struct lsp_name *name = &names[i];
        if (!is_wanted(ret, cps_buf_text(&d->text) + name->from, name->end - name->from) ||
            (ret->is_found && name->section != ret->section))
            continue;
        ret->found = *name;
        ret->is_found = true;
    }
    return ret->is_found;
}

bool lsp_given_at(struct lsp *l, struct lsp_request *r, size_t *ret)
{
    struct wanted w;
    bool found = find_name(l, r, &w);
    *ret = w.found.from;
    return found;
}

static struct json_object *new_location(const struct wanted *w, size_t from, size_t end)
{
    struct json_object *ret = json_object_new_object();
    cps_json_text(ret, "uri", w->document->uri);
    lsp_put_range(w->lsp, w->document, ret, "range", from, end);
    return ret;
}

struct cps_err *lsp_definition(struct lsp *l, struct lsp_request *r)
{
    struct wanted w;
    if (find_name(l, r, &w))
        r->result = new_location(&w, w.found.from, w.found.end);
    return NULL;
}

/* An answer takes some KiB of memory for each of its places. */
static struct cps_err *check_count(size_t count)
{
    if (count <= LSP_MOST_PLACES)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT, "the answer has %zu places, expected at most %d", count,
                       LSP_MOST_PLACES);
}

/* A use: "#label" of assembly, any word but the first one of PM4 text, whose names are no others.
 */
static void note_use(void *context, const struct lsp_token *token, unsigned section)
{
    struct wanted *w = context;
    size_t length = 0;
    const char *text = lsp_token_text(w->document, token, &length);
    bool is_asm = w->document->kind == LSP_ASM;
    bool is_given = token->from == w->found.from;
    bool is_use = is_asm ? token->sigil == '#' && section == w->found.section
                         : token->index > 1 && is_name(w->document, token);
    if (is_wanted(w, text, length) && (is_given ? w->with_given : is_use) &&
        w->count++ < LSP_MOST_PLACES)
        cps_json_append(w->list, new_location(w, token->from, token->end));
}

struct cps_err *lsp_references(struct lsp *l, struct lsp_request *r)
{
    struct wanted w;
    if (!find_name(l, r, &w))
        return NULL;
    w.with_given =
        cps_json_get_bool(cps_json_get(r->params, "context"), "includeDeclaration", false);
    w.list = r->result = json_object_new_array();
    each_token(r->document, note_use, &w);
    return check_count(w.count);
}

/* ---- all names ---- */

enum { KIND_OBJECT = 19, KIND_FUNCTION = 12, KIND_KEY = 20 };

static void put_detail(struct lsp *l, const struct lsp_document *d, const struct cps_buf *name,
                       struct json_object *to)
{
    const struct cps_names *names = lsp_names(l, d->layout);
    CPS_BUF detail = {0};
    unsigned number = 0;
    bool is_asm = d->kind == LSP_ASM;
    bool is_packet = is_asm && d->check.gen && names &&
                     cps_fw_packet_(names, cps_buf_text(name), name->size, &number);
    cps_json_int(to, "kind", !is_asm ? KIND_OBJECT : is_packet ? KIND_FUNCTION : KIND_KEY);
    if (!is_packet || !l->hierarchical)
        return;
    cps_buf_printf(&detail, "packet 0x%02x", number);
    cps_json_buf(to, "detail", &detail);
}

/* @param end  of what the name stands for */
static struct json_object *new_symbol(struct lsp *l, const struct lsp_document *d,
                                      const struct lsp_name *name, size_t end)
{
    struct json_object *item = json_object_new_object();
    CPS_BUF text = {0};
    cps_buf_add(&text, cps_buf_text(&d->text) + name->from, name->end - name->from);
    cps_json_buf(item, "name", &text);
    put_detail(l, d, &text, item);
    struct json_object *to = l->hierarchical ? item : cps_json_new_object(item, "location");
    lsp_put_range(l, d, to, "range", name->from, end);
    if (l->hierarchical)
        lsp_put_range(l, d, item, "selectionRange", name->from, name->end);
    else
        cps_json_text(to, "uri", d->uri);
    return item;
}

/* What a name stands for goes up to the next one. */
struct cps_err *lsp_symbols(struct lsp *l, struct lsp_request *r)
{
    const struct lsp_document *d = r->document;
    size_t count = 0;
    CPS_FREE struct lsp_name *names = lsp_names_given(d, &count);
    r->result = json_object_new_array();
    for (size_t i = 0; i < count && i < LSP_MOST_PLACES; i++)
        cps_json_append(r->result, new_symbol(l, d, &names[i],
                                              i + 1 < count ? names[i + 1].from : d->text.size));
    return check_count(count);
}
