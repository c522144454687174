/* SPDX-License-Identifier: MIT
 * The words of a line, of assembly and of PM4 text: enough to know the word at a cursor. */
#include <ctype.h>
#include <string.h>

#include "tools/face/lsp/private.h"

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* After "[12]" at @p at, an index of a register's name; else 0. */
static size_t behind_index(const char *text, size_t at, size_t end)
{
    size_t from = at + 1;
    if (at >= end || text[at] != '[')
        return 0;
    for (at = from; at < end && isxdigit((unsigned char)text[at]);)
        at++;
    return at > from && at < end && text[at] == ']' ? at + 1 : 0;
}

/* After the word at @p at, which has no sigil: "CP_SCRATCH[2].REG" is one. */
static size_t behind_word(const char *text, size_t at, size_t end)
{
    for (bool more = true; more; at += more) {
        while (at < end && is_word(text[at]))
            at++;
        size_t index = behind_index(text, at, end);
        at = index ? index : at;
        more = at + 1 < end && text[at] == '.' && is_word(text[at + 1]);
    }
    return at;
}

/* Where a word with its sigil begins, from @p at on. */
static size_t find_word(const char *text, size_t at, size_t end, bool *in_comment)
{
    for (; at < end && !is_word(text[at]); at++) {
        *in_comment |= text[at] == ';';
        if (text[at] && strchr("@%#$.", text[at]) && at + 1 < end && is_word(text[at + 1]))
            break;
    }
    return at;
}

bool lsp_next_token(const struct lsp_document *d, struct lsp_token *token)
{
    const char *text = cps_buf_text(&d->text);
    size_t line = d->line[lsp_line_of(d, token->end)];
    size_t end = lsp_line_end(d, token->end);
    size_t at = find_word(text, token->end, end, &token->in_comment);
    if (at == end)
        return false;
    token->from = at;
    token->sigil = is_word(text[at]) ? '\0' : text[at];
    at += token->sigil != '\0';
    token->is_number = !token->sigil && isdigit((unsigned char)text[at]);
    token->end = behind_word(text, at, end);
    bool is_plain = !token->sigil && !token->in_comment;
    token->is_label = is_plain && token->end < end && text[token->end] == ':';
    bool is_prefix =
        is_plain && !token->index && token->from > line && text[token->from - 1] == '(';
    token->index += !token->is_label && !is_prefix;
    return true;
}

static struct lsp_token begin_line(const struct lsp_document *d, size_t offset)
{
    return (struct lsp_token){.end = d->line[lsp_line_of(d, offset)]};
}

bool lsp_token_at(const struct lsp_document *d, size_t offset, struct lsp_token *ret)
{
    *ret = begin_line(d, offset);
    while (lsp_next_token(d, ret) && ret->from <= offset) {
        if (offset <= ret->end)
            return true;
    }
    return false;
}

bool lsp_first_token(const struct lsp_document *d, size_t offset, struct lsp_token *ret)
{
    *ret = begin_line(d, offset);
    while (lsp_next_token(d, ret)) {
        if (ret->index)
            return !ret->in_comment;
    }
    return false;
}

const char *lsp_token_text(const struct lsp_document *d, const struct lsp_token *token,
                           size_t *length)
{
    size_t from = token->from + (token->sigil != '\0');
    *length = token->end - from;
    return cps_buf_text(&d->text) + from;
}

bool lsp_token_is(const struct lsp_document *d, const struct lsp_token *token, const char *text)
{
    size_t length = 0;
    const char *at = lsp_token_text(d, token, &length);
    return length == strlen(text) && !memcmp(at, text, length);
}
