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

/* A walk through the words of a text, each with the section that it is in. */
struct words {
    const struct lsp_document *document;
    size_t line;
    struct lsp_token token;
    unsigned section;
};

static struct words begin_words(const struct lsp_document *d)
{
    return (struct words){.document = d, .section = CPS_FW_SQE};
}

static bool next_word(struct words *w)
{
    const struct lsp_document *d = w->document;
    while (!lsp_next_token(d, &w->token) || w->token.in_comment) {
        if (++w->line >= d->lines)
            return false;
        w->token = (struct lsp_token){.end = d->line[w->line]};
    }
    unsigned begun = w->token.index == 1 ? section_begun(d, &w->token) : UINT32_MAX;
    w->section = begun == UINT32_MAX ? w->section : begun;
    return true;
}

struct lsp_name *lsp_names_given(const struct lsp_document *d, size_t *count)
{
    struct lsp_name *names = NULL;
    bool in_buffer = false; /* the line, of PM4 text, begins with "buffer" */
    *count = 0;
    for (struct words w = begin_words(d); next_word(&w);) {
        if (w.token.index == 1)
            in_buffer = d->kind == LSP_PM4 && lsp_token_is(d, &w.token, "buffer");
        if (d->kind == LSP_PM4 ? w.token.index != 3 || !in_buffer || w.token.sigil
                               : !w.token.is_label)
            continue;
        TOOL_ROOM(names, *count);
        names[(*count)++] = (struct lsp_name){w.token.from, w.token.end, w.section};
    }
    return names;
}

/* ---- the name at hand ---- */

/* A name and where it is given. */
struct wanted {
    const char *text;
    size_t length;
    struct lsp_name found;
};

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
static bool find_name(const struct lsp_request *r, struct wanted *ret)
{
    const struct lsp_document *d = r->document;
    struct lsp_token token;
    unsigned section = CPS_FW_SQE; /* of the word that was asked for */
    size_t count = 0;
    bool is_found = false;
    *ret = (struct wanted){0};
    if (!lsp_token_at(d, r->offset, &token) || !is_name(d, &token))
        return false;
    ret->text = lsp_token_text(d, &token, &ret->length);
    for (struct words w = begin_words(d); next_word(&w) && w.token.from <= token.from;)
        section = w.section;
    CPS_FREE struct lsp_name *names = lsp_names_given(d, &count);
    for (size_t i = 0; i < count && !(is_found && ret->found.section == section); i++) {
        const struct lsp_name *name = &names[i];
        if (!is_wanted(ret, cps_buf_text(&d->text) + name->from, name->end - name->from) ||
            (is_found && name->section != section))
            continue;
        ret->found = *name;
        is_found = true;
    }
    return is_found;
}

bool lsp_given_at(const struct lsp_request *r, size_t *ret)
{
    struct wanted w;
    bool found = find_name(r, &w);
    *ret = w.found.from;
    return found;
}

static struct json_object *new_location(const struct lsp *l, const struct lsp_document *d,
                                        size_t from, size_t end)
{
    struct json_object *ret = doc_new();
    doc_put(ret, "uri=%s", d->uri);
    lsp_put_range(l, d, ret, "range", from, end);
    return ret;
}

struct cps_err *lsp_definition(struct lsp *l, struct lsp_request *r)
{
    struct wanted w;
    if (find_name(r, &w))
        r->result = new_location(l, r->document, w.found.from, w.found.end);
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

/* A use is "#label" of assembly, any word but the first one of PM4 text, whose names are no others.
 */
struct cps_err *lsp_references(struct lsp *l, struct lsp_request *r)
{
    const struct lsp_document *d = r->document;
    struct wanted wanted;
    size_t count = 0;
    if (!find_name(r, &wanted))
        return NULL;
    bool with_given =
        cps_json_get_bool(cps_json_get(r->params, "context"), "includeDeclaration", false);
    r->result = tool_json(json_object_new_array());
    for (struct words w = begin_words(d); next_word(&w);) {
        size_t length = 0;
        const char *text = lsp_token_text(d, &w.token, &length);
        bool is_given = w.token.from == wanted.found.from;
        bool is_use = d->kind == LSP_ASM ? w.token.sigil == '#' && w.section == wanted.found.section
                                         : w.token.index > 1 && is_name(d, &w.token);
        if (is_wanted(&wanted, text, length) && (is_given ? with_given : is_use) &&
            count++ < LSP_MOST_PLACES)
            cps_json_append(r->result, new_location(l, d, w.token.from, w.token.end));
    }
    return check_count(count);
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

/* @param end  of the code or buffer that the name is of */
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

/* The code or buffer of a name ends at the next name. */
struct cps_err *lsp_symbols(struct lsp *l, struct lsp_request *r)
{
    const struct lsp_document *d = r->document;
    size_t count = 0;
    CPS_FREE struct lsp_name *names = lsp_names_given(d, &count);
    r->result = tool_json(json_object_new_array());
    for (size_t i = 0; i < count && i < LSP_MOST_PLACES; i++)
        cps_json_append(r->result, new_symbol(l, d, &names[i],
                                              i + 1 < count ? names[i + 1].from : d->text.size));
    return check_count(count);
}
