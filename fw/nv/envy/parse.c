/* SPDX-License-Identifier: MIT
 * Instructions as envyas reads them: each row is tried, with its operands, until one fits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fw/nv/envy/table.h"

#define MAX_TOKENS 64u
#define MAX_DEPTH  32u /* of parentheses */

enum token_kind {
    T_END,
    T_WORD, /* and what is not anything else */
    T_NUM,
    T_REG,   /* without its "$" */
    T_NAME,  /* without its "#" */
    T_HASH,  /* "#" alone */
    T_PUNCT, /* one character; 'n' a minus of one operand, 'l' <<, 'r' >> */
};
struct token {
    enum token_kind kind;
    const char *at;
    size_t length;
    uint64_t number;
    char punct;
};

struct parser {
    struct envy_scope *scope;
    struct token token[MAX_TOKENS + 1]; /* the last one is T_END */
    unsigned count;
    unsigned depth;
    uint64_t word;
    unsigned bytes;
};

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* ---- tokens ---- */

/* A number of C: 0x, octal with 0 in front, decimal; of 64 bits. */
static bool read_number(const char *at, size_t length, uint64_t *ret)
{
    char text[32];
    char *end = NULL;
    if (length >= sizeof(text))
        return false;
    memcpy(text, at, length);
    text[length] = '\0';
    errno = 0;
    *ret = strtoull(text, &end, 0);
    return !*end && !errno;
}

/* A minus with a blank in front and none after it belongs to what follows. */
static char punct_at(const char *at, const char *start, const char *end)
{
    bool blank_before = at == start || at[-1] == ' ' || at[-1] == '\t' || at[-1] == '(';
    bool blank_behind = at + 1 < end && (at[1] == ' ' || at[1] == '\t');
    if (at + 1 < end && at[0] == '<' && at[1] == '<')
        return 'l';
    if (at + 1 < end && at[0] == '>' && at[1] == '>')
        return 'r';
    return at[0] == '-' && blank_before && !blank_behind ? 'n' : at[0];
}

static bool read_token(const char *at, const char *start, const char *end, struct token *ret)
{
    size_t length = 0;
    bool marked = *at == '$' || *at == '#';
    while (at + marked + length < end && is_name(at[marked + length]))
        length++;
    *ret = (struct token){.kind = T_PUNCT, .at = at + marked, .length = length};
    if (*at == '#')
        ret->kind = length ? T_NAME : T_HASH;
    else if (*at == '$' && length)
        ret->kind = T_REG;
    else if (length && *at >= '0' && *at <= '9')
        ret->kind = T_NUM;
    else if (length)
        ret->kind = T_WORD;
    ret->length += ret->kind == T_PUNCT;
    if (ret->kind == T_PUNCT)
        ret->punct = punct_at(at, start, end);
    ret->length += ret->punct == 'l' || ret->punct == 'r';
    return ret->kind != T_NUM || read_number(at, length, &ret->number);
}

static bool read_tokens(struct parser *p, const char *start, const char *end)
{
    for (const char *at = start; at < end;) {
        if (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
            continue;
        }
        if (p->count == MAX_TOKENS || !read_token(at, start, end, &p->token[p->count]))
            return false;
        at = p->token[p->count].at + p->token[p->count].length;
        p->count++;
    }
    p->token[p->count] = (struct token){.kind = T_END, .at = end};
    return true;
}

static bool is_punct(const struct parser *p, unsigned t, char punct)
{
    return p->token[t].kind == T_PUNCT && p->token[t].punct == punct;
}

/* ---- values ---- */

/* Operators by how they bind, loosest first; those of the first four are only allowed in
 * parentheses. */
static const char *const levels[] = {"|", "^", "&", "lr", "+-", "*/%"};
enum { LOOSEST = 0, SUM = 4, LEVELS = 6 };

static bool apply(char op, uint64_t right, uint64_t *left)
{
    switch (op) {
    case '|':
        *left |= right;
        return true;
    case '^':
        *left ^= right;
        return true;
    case '&':
        *left &= right;
        return true;
    case 'l':
        *left = right < 64 ? *left << right : 0;
        return true;
    case 'r':
        *left = right < 64 ? *left >> right : 0;
        return true;
    case '+':
        *left += right;
        return true;
    case '-':
        *left -= right;
        return true;
    case '*':
        *left *= right;
        return true;
    case '/':
        *left = right ? *left / right : 0;
        return right;
    default:
        *left = right ? *left % right : 0;
        return right;
    }
}

static bool value(struct parser *p, unsigned *t, unsigned level, uint64_t *ret);

struct envy_label *cps_envy_label_(const struct envy_scope *scope, const char *name, size_t length)
{
    for (size_t i = 0; i < scope->label_count; i++) {
        if (scope->label[i].length == length && !memcmp(scope->label[i].name, name, length))
            return &scope->label[i];
    }
    return NULL;
}

/* A name without a label is 0 in the first pass. */
static bool name_value(struct parser *p, const struct token *token, uint64_t *ret)
{
    const struct envy_label *label = cps_envy_label_(p->scope, token->at, token->length);
    *ret = label ? label->value : 0;
    if (label || p->scope->first)
        return true;
    p->scope->unknown = token->at;
    p->scope->unknown_length = token->length;
    return false;
}

static bool primary(struct parser *p, unsigned *t, uint64_t *ret)
{
    const struct token *token = &p->token[*t];
    bool good = p->depth < MAX_DEPTH;
    p->depth++;
    ++*t;
    if (token->kind == T_NUM)
        *ret = token->number;
    else if (token->kind == T_NAME)
        good = good && name_value(p, token, ret);
    else if (is_punct(p, *t - 1, '('))
        good = good && value(p, t, LOOSEST, ret) && is_punct(p, (*t)++, ')');
    else if (is_punct(p, *t - 1, 'n') || is_punct(p, *t - 1, '~')) {
        good = good && primary(p, t, ret);
        *ret = token->punct == 'n' ? 0 - *ret : ~*ret;
    } else {
        good = false;
    }
    p->depth--;
    return good;
}

static bool value(struct parser *p, unsigned *t, unsigned level, uint64_t *ret)
{
    if (level == LEVELS)
        return primary(p, t, ret);
    if (!value(p, t, level + 1, ret))
        return false;
    while (p->token[*t].kind == T_PUNCT && p->token[*t].punct &&
           strchr(levels[level], p->token[*t].punct)) {
        char op = p->token[(*t)++].punct;
        uint64_t right = 0;
        if (!value(p, t, level + 1, &right) || !apply(op, right, ret))
            return false;
    }
    return true;
}

bool cps_envy_value_(struct envy_scope *scope, const char **text, const char *end, uint64_t *ret)
{
    struct parser p = {.scope = scope};
    unsigned t = 0;
    if (!read_tokens(&p, *text, end) || !value(&p, &t, SUM, ret))
        return false;
    *text = p.token[t].at - (p.token[t].kind == T_NAME || p.token[t].kind == T_REG);
    return true;
}

/* ---- operands ---- */

/* Puts a value's bits in, if it has the right ones. */
static bool put_bits(const struct parser *p, const struct envy_atom *atom, uint64_t number,
                     uint64_t *word)
{
    unsigned bits = atom->bits + atom->bits2;
    uint64_t most = UINT64_MAX >> (64 - bits);
    uint64_t field =
        atom->is_signed ? (uint64_t)((int64_t)number >> atom->shift) : number >> atom->shift;
    uint64_t back = atom->is_signed && field >> (bits - 1) & 1 ? field | ~most : field & most;
    if (!p->scope->first && back << atom->shift != number)
        return false;
    *word |= (field & (UINT64_MAX >> (64 - atom->bits))) << atom->low;
    if (atom->bits2)
        *word |= (field >> atom->bits & (UINT64_MAX >> (64 - atom->bits2))) << atom->low2;
    return true;
}

static bool match_register(const struct parser *p, const struct envy_atom *atom,
                           const struct token *token, uint64_t *word)
{
    size_t prefix = strlen(atom->name);
    size_t suffix = strlen(atom->suffix);
    uint64_t number = 0;
    if (token->kind == T_NUM && !token->number && atom->zero >= 0)
        return put_bits(p, atom, (uint64_t)atom->zero, word);
    if (token->kind != T_REG)
        return false;
    if (atom->alias && strlen(atom->alias) == token->length &&
        !memcmp(atom->alias, token->at, token->length))
        return put_bits(p, atom, (uint64_t)atom->alias_of, word);
    if (token->length < prefix + suffix || memcmp(token->at, atom->name, prefix) != 0 ||
        memcmp(token->at + token->length - suffix, atom->suffix, suffix) != 0)
        return false;
    size_t digits = token->length - prefix - suffix;
    if (!atom->bits || !digits)
        return !atom->bits && !digits;
    bool leading = token->at[prefix] == '0' && digits > 1;
    if (leading || !read_number(token->at + prefix, digits, &number) ||
        number >> (atom->bits + atom->bits2))
        return false;
    return put_bits(p, atom, number, word);
}

/* What is left to match after a table's row. */
struct rest {
    const char *text;
    const struct rest *next;
};

static bool match(struct parser *p, const char *text, const struct rest *rest, unsigned t,
                  uint64_t word);

static bool match_table(struct parser *p, enum envy_table table, const struct rest *rest,
                        unsigned t, uint64_t word)
{
    size_t count = 0;
    const struct envy_row *rows = cps_envy_rows_(&count);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].table != table || !(rows[i].gens & cps_gen_mask(p->scope->gen)) ||
            rows[i].text[0] == '?')
            continue;
        if (match(p, rows[i].text, rest, t, word | rows[i].value)) {
            p->bytes = rows[i].bytes ? rows[i].bytes : p->bytes;
            return true;
        }
    }
    return false;
}

static bool match_atom(struct parser *p, const struct envy_atom *atom, const char *text,
                       const struct rest *rest, unsigned t, uint64_t word)
{
    const struct rest more = {text, rest};
    uint64_t number = 0;
    switch (atom->kind) {
    case ENVY_TABLE:
        return match_table(p, atom->table, &more, t, word);
    case ENVY_REG:
        return match_register(p, atom, &p->token[t], &word) && match(p, text, rest, t + 1, word);
    case ENVY_CHOICE:
        return match(p, atom->name, &more, t, word) ||
               match(p, atom->suffix, &more, t, word | (uint64_t)1 << atom->low);
    case ENVY_DISCARD:
        return p->token[t].kind == T_HASH && match(p, text, rest, t + 1, word);
    case ENVY_NOTHING:
        return match(p, text, rest, t, word);
    default:
        if (!value(p, &t, SUM, &number))
            return false;
        number -= atom->relative ? p->scope->at & ~(uint64_t)0 << atom->shift : 0;
        return put_bits(p, atom, number, &word) && match(p, text, rest, t, word);
    }
}

/* A word, name, register or parenthesis of a row's text. */
static bool match_literal(const struct parser *p, const char **text, unsigned t)
{
    struct token want;
    const struct token *have = &p->token[t];
    read_token(*text, *text, *text + strlen(*text), &want);
    *text = want.at + want.length;
    return have->kind == want.kind && have->length == want.length &&
           !memcmp(have->at, want.at, want.length);
}

static bool match(struct parser *p, const char *text, const struct rest *rest, unsigned t,
                  uint64_t word)
{
    text += strspn(text, " ");
    if (!*text && rest)
        return match(p, rest->text, rest->next, t, word);
    if (!*text) {
        p->word = word;
        return p->token[t].kind == T_END;
    }
    if (*text == '{') {
        const char *behind = NULL;
        const struct envy_atom *atom = cps_envy_atom_(text, &behind);
        return match_atom(p, atom, behind, rest, t, word);
    }
    return match_literal(p, &text, t) && match(p, text, rest, t + 1, word);
}

bool cps_envy_parse_(struct envy_scope *scope, const char *text, size_t size, uint64_t *ret,
                     unsigned *bytes)
{
    struct parser p = {.scope = scope};
    scope->unknown = NULL;
    bool good = read_tokens(&p, text, text + size) && p.count &&
                match_table(&p, cps_envy_table_(scope->gen), NULL, 0, 0);
    *ret = p.word;
    *bytes = p.bytes;
    return good;
}
