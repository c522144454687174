/* SPDX-License-Identifier: MIT
 * Text to instructions, along the same FORM that the printer walks. Every row with the right
 * mnemonic is tried; the error that reached furthest is the one reported. */
#include "isa/sets/kinds.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"
#include "isa/names/words.h"

/* What a text stands for: the words of an instruction that any row gives, or literals. */
struct parsed {
    uint64_t bits[2];
    uint32_t length; /* bytes without the list */
};

/* Whether every prefix that was written is one of the form's. */
static bool check_prefixes(struct cps_parser *p, const struct cps_form *form)
{
    for (unsigned k = 0; k < p->prefix_count; k++) {
        bool placed = false;
        for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++)
            placed = placed || cps_prefix_is_(p, &p->prefix[k], &p->isa->fields[form->field[i]]);
        if (!placed)
            return cps_parse_fail_(p, p->text + p->prefix[k].column,
                                   "a prefix that this instruction can have");
    }
    return true;
}

/* What a form's text has in one piece: a word, a register, "<<", or another character. */
static size_t literal_length(const char *text)
{
    size_t word = cps_lex_identifier(text);
    if (word)
        return word;
    if (*text == '$')
        return 1 + strspn(text + 1, "0123456789abcdefghijklmnopqrstuvwxyz");
    return *text == '<' ? strspn(text, "<") : 1;
}

/* Takes the literal at *want from the text, a word in one piece; *want moves to its last character.
 */
static bool parse_literal_text(struct cps_parser *p, const char **want)
{
    if (**want == ' ')
        return true;
    size_t length = literal_length(*want);
    for (size_t i = 0, step; i < length; i += step) {
        const char *word = cps_lex_blank(p->at);
        step = cps_lex_identifier(*want + i);
        step = step ? step : 1;
        if (strncmp(word, *want + i, step) != 0) {
            cps_parse_fail_(p, word, *want);
            p->literal = p->expected == *want ? length : p->literal;
            return false;
        }
        p->at = word + step;
    }
    *want += length - 1;
    return true;
}

/* The older documentation writes bits 15:12 as a last operand after the bracket. */
static bool parse_flags(struct cps_parser *p, uint64_t *flags)
{
    const char *word = cps_lex_blank(p->at);
    int64_t value = 0;
    if (*word != ',')
        return true;
    word++;
    if (!cps_lex_number(&word, &value) || value > 15)
        return cps_parse_fail_(p, word, "the flag bits (0x0 to 0xf)");
    p->at = word;
    *flags = (uint64_t)value << 12;
    return true;
}

/* Tries one row on the text after the mnemonic. */
static bool try_row(struct cps_parser *p, const struct cps_enc *enc, const char *at,
                    struct cps_insn *insn, uint64_t *flags)
{
    const struct cps_form *form = cps_form_(p->isa, enc);
    *insn = (struct cps_insn){.enc = enc, .op = enc->op, .needs = cps_enc_length_(p->isa, enc)};
    *flags = 0;
    p->at = at;
    cps_buf_clear(&p->pairs);
    if (!check_prefixes(p, form))
        return false;
    unsigned i = 0;
    for (; i < CPS_MAX_OPERANDS && form->field[i] &&
           cps_field_is_prefix_(&p->isa->fields[form->field[i]]);
         i++)
        cps_parse_field_(p, &p->isa->fields[form->field[i]], &insn->operand[i]);
    for (const char *want = form->text; *want; want++) {
        if (want[0] != '{') {
            if (!parse_literal_text(p, &want))
                return false;
            continue;
        }
        if (!cps_parse_field_(p, &p->isa->fields[form->field[i]], &insn->operand[i]))
            return false;
        i++;
        want++;
    }
    if (p->isa->bracket_flags && strchr(form->text, '[') && !parse_flags(p, flags))
        return false;
    insn->length = insn->needs + (uint32_t)p->pairs.size;
    at = cps_lex_blank(p->at);
    return *at == '\0' || cps_parse_fail_(p, at, "the end of the instruction");
}

/* "(rep)", "(xmov2)", "(peek)", "(sds1)" in any order. */
static const char *parse_prefixes(struct cps_parser *p, const char *at)
{
    for (at = cps_lex_blank(at); *at == '('; at = cps_lex_blank(at)) {
        const char *name = at + 1;
        const char *end = name;
        while (isalpha((unsigned char)*end))
            end++;
        uint32_t count = 1;
        size_t length = (size_t)(end - name);
        if (*end >= '1' && *end <= '3')
            count = (uint32_t)(*end++ - '0');
        if (*end != ')' || p->prefix_count == CPS_MAX_PREFIXES) {
            cps_parse_fail_(p, at, "a prefix such as (rep)");
            return NULL;
        }
        p->prefix[p->prefix_count++] =
            (struct cps_prefix){name, length, count, (size_t)(at - p->text)};
        at = end + 1;
    }
    return at;
}

static struct cps_err *report(const struct cps_parser *p, size_t *column)
{
    *column = (size_t)(p->furthest - p->text);
    if (p->literal)
        return cps_err_new(CPS_ERR_SYNTAX, "expected '%.*s'", (int)p->literal, p->expected);
    CPS_BUF words = {0};
    if (p->listed != CPS_SPACE_COUNT && p->names)
        cps_names_words_(p->names->names, p->listed, &words);
    if (words.failed)
        return cps_err_nomem();
    return cps_err_new(CPS_ERR_SYNTAX, "expected %s%s", p->expected, cps_buf_text(&words));
}

static bool same_mnemonic(const struct cps_parser *p, const struct cps_enc *enc)
{
    const char *name = cps_mnemonic_(p->isa, enc);
    return strlen(name) == p->mnemonic_length && !memcmp(name, p->mnemonic, p->mnemonic_length);
}

/* The first row that takes the whole text wins. */
static struct cps_err *parse_rows(struct cps_parser *p, const char *at, size_t *column,
                                  struct parsed *ret)
{
    struct cps_err *range = NULL;
    for (size_t i = 0; i < p->isa->enc_count; i++) {
        const struct cps_enc *enc = &p->isa->encs[i];
        struct cps_insn insn;
        uint64_t flags = 0;
        if (!(enc->gens & p->bit) || (enc->flags & CPS_ENC_LITERAL) || !same_mnemonic(p, enc) ||
            !try_row(p, enc, at, &insn, &flags))
            continue;
        cps_err_free(range);
        range = cps_encode_bits_(p->isa, &insn, ret->bits);
        if (!range) {
            ret->bits[0] |= flags;
            ret->length = insn.needs;
            return NULL;
        }
    }
    if (range) {
        *column = (size_t)(cps_lex_blank(at) - p->text);
        return range;
    }
    if (!p->furthest)
        cps_parse_fail_(p, p->mnemonic, "an instruction of this generation");
    return report(p, column);
}

static struct cps_err *parse_insn(struct cps_parser *p, const char *at, size_t *column,
                                  struct parsed *ret)
{
    at = parse_prefixes(p, at);
    if (!at)
        return report(p, column);
    p->mnemonic = at;
    p->mnemonic_length = cps_lex_identifier(at);
    if (!p->mnemonic_length) {
        cps_parse_fail_(
            p, at, *at == '[' ? "a word of up to 8 hexadecimal digits in [ ]" : "an instruction");
        return report(p, column);
    }
    return parse_rows(p, at + p->mnemonic_length, column, ret);
}

struct cps_err *cps_parse(const struct cps_isa *isa, enum cps_gen gen, const char *text,
                          uint32_t pc, const struct cps_parse_names *names, size_t *column,
                          uint64_t *ret)
{
    struct cps_parser p = {
        .isa = isa, .bit = cps_gen_bit(gen), .text = text, .pc = pc, .names = names};
    struct parsed parsed = {0};
    const char *at = cps_lex_blank(text);
    if (*at == '[' && cps_lex_raw(at, ret))
        return NULL;
    CPS_TRY(parse_insn(&p, at, column, &parsed));
    *ret = parsed.bits[0];
    return NULL;
}

/* "[5f] [01]": one literal a unit. */
static struct cps_err *parse_literals(struct cps_parser *p, const char *at, size_t *column,
                                      struct cps_buf *ret)
{
    const unsigned unit = p->isa->unit;
    for (; *at; at = cps_lex_blank(at)) {
        uint8_t bytes[4];
        uint32_t value = 0;
        if (!cps_lex_unit(&at, unit * 2, &value)) {
            cps_parse_fail_(p, at,
                            unit == 1 ? "a byte of two hexadecimal digits in [ ]"
                                      : "a word of up to 8 hexadecimal digits in [ ]");
            return report(p, column);
        }
        cps_put_le32(bytes, value);
        cps_buf_add(ret, (const char *)bytes, unit);
    }
    return NULL;
}

struct cps_err *cps_parse_bytes(const struct cps_isa *isa, enum cps_gen gen, const char *text,
                                uint32_t pc, const struct cps_parse_names *names, size_t *column,
                                struct cps_buf *ret)
{
    struct cps_parser p = {
        .isa = isa, .bit = cps_gen_bit(gen), .text = text, .pc = pc, .names = names};
    struct parsed parsed = {0};
    uint8_t bytes[16];
    const char *at = cps_lex_blank(text);
    struct cps_err *err =
        *at == '[' ? parse_literals(&p, at, column, ret) : parse_insn(&p, at, column, &parsed);
    for (unsigned i = 0; i < 4; i++)
        cps_put_le32(bytes + 4 * i, (uint32_t)(parsed.bits[i / 2] >> i % 2 * 32));
    if (!err && parsed.length) {
        cps_buf_add(ret, (const char *)bytes, parsed.length);
        cps_buf_add(ret, cps_buf_text(&p.pairs), p.pairs.size);
        ret->failed = ret->failed || p.pairs.failed;
    }
    cps_buf_deinit(&p.pairs);
    return err;
}
