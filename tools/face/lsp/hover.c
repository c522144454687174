/* SPDX-License-Identifier: MIT
 * What the word under the cursor means. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tools/face/lsp/private.h"

void lsp_put_head(const struct lsp *l, struct cps_buf *out, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    cps_buf_printf(out, l->markdown ? "%s**%s**\n\n" : "%s%s\n", out->size ? "\n" : "", text);
}

void lsp_put_code(const struct lsp *l, struct cps_buf *out, const char *text)
{
    cps_buf_printf(out, l->markdown ? "- `%s`\n" : "    %s\n", text);
}

/* The line of the label or buffer that the word names. */
static void mean_name(struct lsp *l, struct lsp_request *r, struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t at = 0;
    if (!lsp_given_at(l, r, &at))
        return;
    size_t line = lsp_line_of(d, at);
    CPS_BUF text = {0};
    cps_buf_add(&text, cps_buf_text(&d->text) + d->line[line], lsp_line_end(d, at) - d->line[line]);
    lsp_put_head(l, out, "line %zu", line + 1);
    lsp_put_code(l, out, cps_buf_text(&text));
    out->failed |= text.failed;
}

static void mean_plain(struct lsp *l, const struct lsp_document *d, const char *word, size_t length,
                       struct cps_buf *out)
{
    lsp_mean_packet(l, d->layout, word, length, out);
    if (!out->size)
        lsp_mean_register(l, d->layout, CPS_SPACE_GPU, word, length, out);
    if (!out->size)
        lsp_mean_register(l, d->layout, CPS_SPACE_PIPE, word, length, out);
    if (!out->size)
        lsp_mean_register(l, d->layout, CPS_SPACE_FLAG, word, length, out);
    if (!out->size)
        lsp_mean_register(l, d->layout, CPS_SPACE_EVENT, word, length, out);
}

static void mean_asm(struct lsp *l, struct lsp_request *r, const struct lsp_token *token,
                     struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t length = 0;
    const char *word = lsp_token_text(d, token, &length);
    if (d->check.gen == CPS_GEN_NONE)
        return;
    if (token->is_number)
        lsp_mean_number(l, d->layout, word, length, out);
    else if (token->sigil == '@')
        lsp_mean_register(l, d->layout, CPS_SPACE_CONTROL, word, length, out);
    else if (token->sigil == '%')
        lsp_mean_register(l, d->layout, CPS_SPACE_SQE, word, length, out);
    else if (!token->sigil && token->index == 1 && !token->in_comment && !token->is_label)
        lsp_mean_instruction(l, d->check.gen, word, length, out);
    else if (!token->sigil || token->sigil == '#')
        mean_plain(l, d, word, length, out);
    if (token->sigil == '#')
        mean_name(l, r, out);
}

static struct cps_err *mean_pm4(struct lsp *l, struct lsp_request *r, const struct lsp_token *token,
                                struct cps_buf *out)
{
    const struct lsp_document *d = r->document;
    size_t length = 0;
    const char *word = lsp_token_text(d, token, &length);
    CPS_BUF packet = {0};
    CPS_TRY(lsp_mean_line(l, d, lsp_line_of(d, token->from) + 1, &packet));
    if (token->in_comment)
        mean_plain(l, d, word, length, out);
    else if (token->index > 1 && token->is_number)
        lsp_mean_number(l, d->layout, word, length, out);
    else if (token->index > 1 && !token->sigil)
        lsp_mean_register(l, d->layout, CPS_SPACE_GPU, word, length, out);
    else if (token->index == 1 && !packet.size)
        lsp_mean_packet(l, d->layout, word, length, out);
    if (token->index > 1)
        mean_name(l, r, out);
    if (packet.size && out->size)
        cps_buf_str(out, "\n");
    cps_buf_join(out, &packet);
    return NULL;
}

struct cps_err *lsp_hover(struct lsp *l, struct lsp_request *r)
{
    struct lsp_token token;
    CPS_BUF text = {0};
    if (!lsp_token_at(r->document, r->offset, &token))
        return NULL;
    if (r->document->kind == LSP_PM4)
        CPS_TRY(mean_pm4(l, r, &token, &text));
    else
        mean_asm(l, r, &token, &text);
    if (text.failed)
        return cps_err_nomem();
    if (!text.size)
        return NULL;
    lsp_give(r, json_object_new_object());
    struct json_object *contents = cps_json_new_object(r->result, "contents");
    cps_json_text(contents, "kind", l->markdown ? "markdown" : "plaintext");
    cps_json_buf(contents, "value", &text);
    lsp_put_range(l, r->document, r->result, "range", token.from, token.end);
    return NULL;
}
