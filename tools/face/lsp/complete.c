/* SPDX-License-Identifier: MIT
 * Completions at the cursor. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "fw/fw.h"
#include "isa/sets/syntax.h"
#include "tools/face/lsp/private.h"

/* Names of one answer; the client asks again when more is typed. */
enum { MOST = 500 };
enum {
    KIND_FUNCTION = 3,
    KIND_VARIABLE = 6,
    KIND_KEYWORD = 14,
    KIND_REFERENCE = 18,
    KIND_CONSTANT = 21
};

struct proposals {
    struct lsp *lsp;
    const struct lsp_document *document;
    size_t from, to;        /* bytes that a proposal replaces */
    struct lsp_token first; /* word of the line, if has_first */
    bool has_first;
    unsigned index; /* which word of the line it is, from 1 */
    char sigil;
    unsigned count;
    struct json_object *list;
};

static void propose_name(struct proposals *p, const char *name, int kind, const char *detail)
{
    size_t typed = p->to - p->from;
    if (strncasecmp(name, cps_buf_text(&p->document->text) + p->from, typed) != 0 ||
        p->count++ >= MOST)
        return;
    struct json_object *item = doc_row(p->list, "label=%s kind=%d detail=%s", name, kind, detail);
    struct json_object *edit = cps_json_new_object(item, "textEdit");
    lsp_put_range(p->lsp, p->document, edit, "range", p->from, p->to);
    doc_put(edit, "newText=%s", name);
}

static void propose_space(struct proposals *p, enum cps_space space, uint32_t end)
{
    const struct cps_names *names = lsp_names(p->lsp, p->document->layout);
    for (uint32_t number = 0; names && number < end; number++) {
        unsigned index = 0;
        char detail[16];
        const char *name = cps_name(names, space, number, &index);
        if (!name || index)
            continue;
        snprintf(detail, sizeof(detail), "0x%02x", (unsigned)number);
        propose_name(p, name, KIND_CONSTANT, detail);
    }
}

/* @param words  separated by NUL, with one more at the end */
static void propose_words(struct proposals *p, const char *words)
{
    for (; *words; words += strlen(words) + 1)
        propose_name(p, words, KIND_KEYWORD, NULL);
}

static void propose_given(struct proposals *p)
{
    size_t count = 0;
    CPS_FREE struct lsp_name *names = lsp_names_given(p->document, &count);
    for (size_t i = 0; i < count; i++) {
        CPS_BUF text = {0};
        cps_buf_add(&text, cps_buf_text(&p->document->text) + names[i].from,
                    names[i].end - names[i].from);
        if (p->from < names[i].from || p->from > names[i].end)
            propose_name(p, tool_text(&text), KIND_REFERENCE, NULL);
    }
}

/* Each mnemonic once: rows of one stand together or not. */
static void propose_mnemonics(struct proposals *p)
{
    enum cps_gen gen = p->document->check.gen;
    const struct cps_isa *isa = cps_gen_isa(gen);
    for (size_t i = 0; gen && i < cps_syntax_count_(isa); i++) {
        struct cps_syntax row;
        struct cps_syntax before;
        bool again = false;
        CPS_BUF text = {0};
        if (!cps_syntax_(isa, gen, i, &row))
            continue;
        for (size_t j = 0; j < i && !again; j++)
            again = cps_syntax_(isa, gen, j, &before) && !strcmp(before.mnemonic, row.mnemonic);
        cps_syntax_put_(isa, i, &text);
        if (!again)
            propose_name(p, row.mnemonic, KIND_FUNCTION, tool_text(&text));
    }
}

static void propose_registers(struct proposals *p)
{
    enum { REGISTERS = 32 };
    const struct cps_isa *isa = cps_gen_isa(p->document->check.gen);
    for (unsigned i = 0; i < 2 * REGISTERS; i++) {
        char text[16] = "";
        if (cps_syntax_register_(isa, i % REGISTERS, i >= REGISTERS, text))
            propose_name(p, text, KIND_VARIABLE, i >= REGISTERS ? "written" : "read");
    }
}

static void complete_asm(struct proposals *p)
{
    const struct lsp_document *d = p->document;
    bool is_afuc = cps_gen_isa(d->check.gen) == &cps_isa_afuc;
    if (p->sigil == '@')
        propose_space(p, CPS_SPACE_CONTROL, 0x1000);
    else if (p->sigil == '%')
        propose_space(p, CPS_SPACE_SQE, 0x1000);
    else if (p->sigil == '#')
        propose_given(p);
    else if (p->sigil == '$')
        propose_registers(p);
    else if (p->sigil == '.' && p->index == 1)
        propose_words(p, is_afuc ? "align\0jumptbl\0lead\0section\0" : "align\0names\0noend\0");
    else if (p->sigil)
        return;
    else if (p->index == 1)
        propose_mnemonics(p);
    else if (p->has_first && lsp_token_is(d, &p->first, "section")) {
        for (unsigned i = 0; i < CPS_FW_ROLE_COUNT; i++) {
            const char *name = cps_fw_role_section((enum cps_fw_role)i);
            if (name)
                propose_name(p, name, KIND_KEYWORD, NULL);
        }
    }
    if (!p->sigil && p->index == 1 && is_afuc && p->to > p->from) /* a handler's label */
        propose_space(p, CPS_SPACE_PACKET, 128);
}

static void complete_pm4(struct proposals *p)
{
    const struct lsp_document *d = p->document;
    static const char *const of_buffers[] = {"submit", "ring"};
    static const char *const of_registers[] = {"reg", "start"};
    bool wants[2] = {p->sigil == '@' || p->sigil == '#', false};
    for (unsigned i = 0; i < 2 && p->has_first && p->index == 2 && !p->sigil; i++) {
        wants[0] |= lsp_token_is(d, &p->first, of_buffers[i]);
        wants[1] |= lsp_token_is(d, &p->first, of_registers[i]);
    }
    if (wants[0])
        propose_given(p);
    else if (wants[1])
        propose_space(p, CPS_SPACE_GPU, 0x40000);
    else if (p->index == 1 && p->sigil == '.')
        propose_words(p, "word\0");
    else if (p->index == 1 && !p->sigil) {
        propose_words(p, "buffer\0chip\0gpu\0init\0reg\0reset\0ring\0start\0submit\0");
        propose_space(p, CPS_SPACE_PACKET, 128);
    }
}

/* Finds the beginning of the word before the cursor. False: in a comment. */
static bool find_place(struct proposals *p, size_t offset)
{
    const struct lsp_document *d = p->document;
    const char *text = cps_buf_text(&d->text);
    size_t line = d->line[lsp_line_of(d, offset)];
    struct lsp_token token = {.end = line};
    p->from = p->to = offset;
    while (p->from > line &&
           (isalnum((unsigned char)text[p->from - 1]) || text[p->from - 1] == '_'))
        p->from--;
    if (p->from > line && text[p->from - 1] && strchr("@%#$.", text[p->from - 1]))
        p->sigil = text[p->from - 1];
    if (memchr(text + line, ';', offset - line))
        return false;
    p->has_first = lsp_first_token(d, offset, &p->first) && p->first.end < p->from;
    p->index = 1;
    while (lsp_next_token(d, &token) && token.end < p->from)
        p->index = token.index + 1;
    return true;
}

struct cps_err *lsp_complete(struct lsp *l, struct lsp_request *r)
{
    struct proposals p = {.lsp = l, .document = r->document};
    r->result = doc_new();
    p.list = json_object_new_array();
    if (find_place(&p, r->offset)) {
        if (r->document->kind == LSP_PM4)
            complete_pm4(&p);
        else
            complete_asm(&p);
    }
    cps_json_bool(r->result, "isIncomplete", p.count > MOST);
    cps_json_add(r->result, "items", p.list);
    return NULL;
}
