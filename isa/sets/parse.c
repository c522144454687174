/* SPDX-License-Identifier: MIT
 * Text to instructions, along the same FORM that the printer walks. Every row with the right
 * mnemonic is tried; the error that reached furthest is the one reported. */
#include "isa/sets/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"

#define MAX_PREFIXES 4

struct prefix {
    const char *name;
    size_t length;
    uint32_t count; /* N of "(xmovN)", 1 for flags */
    size_t column;
};

struct parser {
    const struct cps_isa *isa;
    uint32_t bit; /* of the generation */
    const char *text;
    uint32_t pc;
    const struct cps_parse_names *names;
    struct prefix prefix[MAX_PREFIXES];
    unsigned prefix_count;
    const char *mnemonic;
    size_t mnemonic_length;
    const char *furthest; /* where the best attempt stopped */
    const char *expected; /* what it wanted there */
    struct cps_buf pairs; /* of the row that is tried: its list, as bytes */
    bool out_of_range;    /* it wanted a smaller number, not another word */
};

/* What a text stands for: the words of an instruction that any row gives, or literals. */
struct parsed {
    uint64_t bits[2];
    uint32_t length; /* bytes without the list */
};

/* Notes a failed attempt; always false, so that callers can return it. */
static bool fail(struct parser *p, const char *at, const char *expected)
{
    at = cps_lex_blank(at);
    if (!p->furthest || at > p->furthest) {
        p->furthest = at;
        p->expected = expected;
    }
    return false;
}

static const char want_register[] =
    "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)";

static bool parse_register(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (*word != '$')
        return fail(p, word, want_register);
    const char *end = word + 1;
    while (isalnum((unsigned char)*end))
        end++;
    size_t length = (size_t)(end - word - 1);
    *at = end;
    for (unsigned i = 0; i < 32; i++) {
        const char *names[] = {p->isa->source_names[i], p->isa->target_names[i]};
        for (unsigned k = 0; k < 2; k++) {
            if (names[k] && strlen(names[k]) == length && !memcmp(names[k], word + 1, length)) {
                *ret = i;
                return true;
            }
        }
    }
    return cps_lex_register_(word, length, ret) || fail(p, word, want_register);
}

/* A label reference "#name"; gives its dword offset. */
static bool parse_label(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    size_t length = cps_lex_identifier(word + 1);
    uint32_t target = 0;
    if (*word != '#' || !length)
        return fail(p, word, "a label (#name)");
    if (!p->names || !p->names->label ||
        !p->names->label(p->names->context, word + 1, length, &target))
        return fail(p, word, "a label that is defined");
    *at = word + 1 + length;
    *ret = target;
    return true;
}

static bool parse_target(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (*word == '#')
        return parse_label(p, at, ret);
    return cps_lex_number(at, ret) || fail(p, word, "a label (#name) or a dword address");
}

/* The distance to a target. Addresses wrap at 32 bits, as those printed for targets in front of the
 * image do. */
static bool parse_distance(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (!parse_target(p, at, ret))
        return false;
    if (*ret > UINT32_MAX)
        return fail(p, word, "a dword address of 32 bits");
    *ret = (int32_t)((uint32_t)*ret - p->pc);
    return true;
}

/* "@NAME", "%NAME", each with an optional "+ n". */
static bool parse_named(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    enum cps_space space = *word == '@' ? CPS_SPACE_CONTROL : CPS_SPACE_SQE;
    size_t length = cps_lex_identifier(word + 1);
    uint32_t number = 0;
    if (!length || !p->names || !p->names->names ||
        !cps_name_number(p->names->names, space, word + 1, length, &number))
        return fail(p, word,
                    space == CPS_SPACE_CONTROL ? "a control register that has this name"
                                               : "an SQE register that has this name");
    *at = word + 1 + length;
    *ret = number;
    const char *plus = cps_lex_blank(*at);
    int64_t more = 0;
    if (*plus == '+') {
        *at = plus + 1;
        if (!cps_lex_number(at, &more))
            return fail(p, *at, "a number");
        *ret += more;
    }
    return true;
}

/* The older documentation writes an element of an array of registers as CP_SCRATCH_REG[0x2], the
 * register database as CP_SCRATCH[2].REG. */
static bool find_element(const struct parser *p, const char *word, size_t length, uint32_t *ret)
{
    static const char tail[] = "_REG[";
    char name[64];
    const char *bracket = memchr(word, '[', length);
    int64_t index = 0;
    size_t stem = bracket ? (size_t)(bracket - word) + 1 : 0;
    if (stem < sizeof(tail) || stem > 40 || memcmp(bracket - 4, tail, 5) != 0)
        return false;
    bracket++;
    if (!cps_lex_number(&bracket, &index) || *bracket != ']')
        return false;
    int size = snprintf(name, sizeof(name), "%.*s[%" PRIi64 "].REG", (int)(stem - 5), word, index);
    return cps_name_number(p->names->names, CPS_SPACE_GPU, name, (size_t)size, ret);
}

/* The name of a GPU register, for its offset. */
static bool parse_gpu_name(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    size_t length = cps_lex_identifier(word);
    uint32_t number = 0;
    while (length && (isalnum((unsigned char)word[length]) || strchr("_[].", word[length])) &&
           word[length])
        length++;
    if (!length || !p->names || !p->names->names ||
        (!cps_name_number(p->names->names, CPS_SPACE_GPU, word, length, &number) &&
         !find_element(p, word, length, &number)))
        return false;
    *at = word + length;
    *ret = number;
    return true;
}

static bool parse_value(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (*word == '@' || *word == '%')
        return parse_named(p, at, ret);
    if (*word == '#')
        return parse_label(p, at, ret);
    return cps_lex_number(at, ret) || parse_gpu_name(p, at, ret) ||
           fail(p, word, "a number, @NAME, %NAME, a GPU register's name or #label");
}

static bool parse_bit(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    const char *digits = word + 1;
    if (*word != 'b' || !isdigit((unsigned char)*digits) || !cps_lex_number(&digits, ret))
        return fail(p, word, "a bit number (b0 to b31)");
    *at = digits;
    return true;
}

/* A number, or a name that stands for it. */
static bool parse_number(struct parser *p, enum cps_space space, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    size_t length = cps_lex_identifier(word);
    uint32_t number = 0;
    if (cps_lex_number(at, ret))
        return true;
    if (!length || !p->names || !p->names->names ||
        !cps_name_number(p->names->names, space, word, length, &number))
        return fail(p, word,
                    space == CPS_SPACE_FLAG ? "a flag's number or name"
                                            : "an event's number or name");
    *at = word + length;
    *ret = number;
    return true;
}

/* What is written doubled. */
static bool parse_twice(struct parser *p, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (!cps_lex_number(at, ret) || *ret % 2)
        return fail(p, word, "an even number");
    *ret /= 2;
    return true;
}

static bool add_word(struct parser *p, const char **at)
{
    const char *word = cps_lex_blank(*at);
    uint8_t bytes[4];
    int64_t value = 0;
    if (!parse_value(p, at, &value))
        return false;
    if (value > UINT32_MAX)
        return fail(p, word, "a number of 32 bits");
    cps_put_le32(bytes, (uint32_t)value);
    cps_buf_add(&p->pairs, (const char *)bytes, sizeof(bytes));
    return true;
}

/* "a=b, c=d". */
static bool parse_pairs(struct parser *p, const char **at)
{
    cps_buf_clear(&p->pairs);
    for (;;) {
        if (!add_word(p, at))
            return false;
        *at = cps_lex_blank(*at);
        if (**at != '=')
            return fail(p, *at, "'='");
        ++*at;
        if (!add_word(p, at))
            return false;
        *at = cps_lex_blank(*at);
        if (**at != ',')
            return true;
        ++*at;
    }
}

/* The group that a target begins, absolute or from the one that the instruction stands in. */
static bool parse_group(struct parser *p, bool absolute, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (!parse_target(p, at, ret))
        return false;
    if (*ret > UINT32_MAX || *ret % 4)
        return fail(p, word, "a word address that is a multiple of 4");
    *ret = absolute ? *ret / 4 : (int32_t)((uint32_t)*ret - (p->pc & ~3u)) / 4;
    return true;
}

/* Of the kinds that operand.c has. */
static bool parse_own(struct parser *p, const struct cps_field *field, const char **at,
                      int64_t *ret)
{
    const char *expected = cps_parse_operand_(p->isa, field, p->names, at, ret);
    return !expected || fail(p, *at, expected);
}

static bool parse_operand(struct parser *p, const struct cps_field *field, const char **at,
                          int64_t *ret)
{
    switch ((enum cps_field_kind)field->kind) {
    case CPS_FIELD_SRC:
    case CPS_FIELD_DST:
        return parse_register(p, at, ret);
    case CPS_FIELD_BIT:
        return parse_bit(p, at, ret);
    case CPS_FIELD_REL:
    case CPS_FIELD_SKIP:
        return parse_distance(p, at, ret);
    case CPS_FIELD_ABS:
        return parse_target(p, at, ret);
    case CPS_FIELD_BANG:
        *at = cps_lex_blank(*at);
        *ret = **at == '!';
        *at += *ret;
        return true;
    case CPS_FIELD_TWICE:
        return parse_twice(p, at, ret);
    case CPS_FIELD_BITNO:
        return parse_number(p, CPS_SPACE_FLAG, at, ret);
    case CPS_FIELD_EVENT:
        return parse_number(p, CPS_SPACE_EVENT, at, ret);
    case CPS_FIELD_PAIRS:
        return parse_pairs(p, at);
    case CPS_FIELD_GROUP:
    case CPS_FIELD_GROUPABS:
        return parse_group(p, field->kind == CPS_FIELD_GROUPABS, at, ret);
    case CPS_FIELD_HEX:
    case CPS_FIELD_DEC:
    case CPS_FIELD_BASE:
    case CPS_FIELD_CTL:
    case CPS_FIELD_SQE:
    case CPS_FIELD_FLAG:
    case CPS_FIELD_COUNT:
        return parse_value(p, at, ret);
    default:
        return parse_own(p, field, at, ret);
    }
}

/* Gives the prefixes that were written to the form's prefix fields; false if one has no place. */
static bool place_prefixes(struct parser *p, const struct cps_form *form, struct cps_insn *insn)
{
    for (unsigned k = 0; k < p->prefix_count; k++) {
        const struct prefix *prefix = &p->prefix[k];
        bool placed = false;
        for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i] && !placed; i++) {
            const struct cps_field *field = &p->isa->fields[form->field[i]];
            placed = cps_field_is_prefix_(field) && (field->gens & p->bit) &&
                     strlen(field->name) == prefix->length &&
                     !memcmp(field->name, prefix->name, prefix->length);
            if (placed)
                insn->operand[i] = prefix->count;
        }
        if (!placed)
            return fail(p, p->text + prefix->column, "a prefix that this instruction can have");
    }
    return true;
}

static const char *describe_literal(const char *want)
{
    switch (*want) {
    case ',':
        return "','";
    case '[':
        return "'['";
    case '+':
        return "'+'";
    case ']':
        return "']'";
    case '<':
        return "'<<'";
    case 's':
        return "'shl'";
    case 'o':
        return "'out['";
    case 'r':
        return "'reg'";
    case 'v':
        return "'val'";
    case 'f':
        return "'file'";
    case 'i':
        return want[1] == 'm' ? "'imm'" : "'intr'";
    case 'l':
        return "'loop'";
    case 'n':
        return "'not'";
    default:
        return "$02";
    }
}

/* A word of the form or a single character; *want moves to its last one. */
static bool parse_literal_text(struct parser *p, const char **want, const char **at)
{
    if (**want == ' ')
        return true;
    const char *word = cps_lex_blank(*at);
    size_t length = cps_lex_identifier(*want);
    length = length ? length : 1;
    if (strncmp(word, *want, length) != 0)
        return fail(p, word, describe_literal(*want));
    *at = word + length;
    *want += length - 1;
    return true;
}

/* The older documentation writes bits 15:12 as a last operand behind the bracket. */
static bool parse_flags(struct parser *p, const char **at, uint64_t *flags)
{
    const char *word = cps_lex_blank(*at);
    int64_t value = 0;
    if (*word != ',')
        return true;
    word++;
    if (!cps_lex_number(&word, &value) || value > 15)
        return fail(p, word, "the flag bits (0x0 to 0xf)");
    *at = word;
    *flags = (uint64_t)value << 12;
    return true;
}

static unsigned first_operand(const struct cps_isa *isa, const struct cps_form *form)
{
    unsigned i = 0;
    while (i < CPS_MAX_OPERANDS && form->field[i] &&
           cps_field_is_prefix_(&isa->fields[form->field[i]]))
        i++;
    return i;
}

/* Tries one row on the text behind the mnemonic. */
static bool try_row(struct parser *p, const struct cps_enc *enc, const char *at,
                    struct cps_insn *insn, uint64_t *flags)
{
    const struct cps_form *form = cps_form_(p->isa, enc);
    *insn = (struct cps_insn){.enc = enc, .op = enc->op, .needs = cps_enc_length_(p->isa, enc)};
    *flags = 0;
    cps_buf_clear(&p->pairs);
    if (!place_prefixes(p, form, insn))
        return false;
    unsigned i = first_operand(p->isa, form);
    for (const char *want = form->text; *want; want++) {
        if (want[0] != '{') {
            if (!parse_literal_text(p, &want, &at))
                return false;
            continue;
        }
        if (!parse_operand(p, &p->isa->fields[form->field[i]], &at, &insn->operand[i]))
            return false;
        i++;
        want++;
    }
    if (p->isa->bracket_flags && strchr(form->text, '[') && !parse_flags(p, &at, flags))
        return false;
    insn->length = insn->needs + (uint32_t)p->pairs.size;
    at = cps_lex_blank(at);
    return *at == '\0' || fail(p, at, "the end of the instruction");
}

/* "(rep)", "(xmov2)", "(peek)", "(sds1)" in any order. */
static const char *parse_prefixes(struct parser *p, const char *at)
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
        if (*end != ')' || p->prefix_count == MAX_PREFIXES) {
            fail(p, at, "a prefix such as (rep)");
            return NULL;
        }
        p->prefix[p->prefix_count++] = (struct prefix){name, length, count, (size_t)(at - p->text)};
        at = end + 1;
    }
    return at;
}

static struct cps_err *report(const struct parser *p, size_t *column)
{
    *column = (size_t)(p->furthest - p->text);
    return cps_err_new(CPS_ERR_SYNTAX, "expected %s", p->expected);
}

static bool same_mnemonic(const struct parser *p, const struct cps_enc *enc)
{
    const char *name = cps_mnemonic_(p->isa, enc);
    return strlen(name) == p->mnemonic_length && !memcmp(name, p->mnemonic, p->mnemonic_length);
}

/* The first row that takes the whole text wins. */
static struct cps_err *parse_rows(struct parser *p, const char *at, size_t *column,
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
        fail(p, p->mnemonic, "an instruction of this generation");
    return report(p, column);
}

static struct cps_err *parse_insn(struct parser *p, const char *at, size_t *column,
                                  struct parsed *ret)
{
    at = parse_prefixes(p, at);
    if (!at)
        return report(p, column);
    p->mnemonic = at;
    p->mnemonic_length = cps_lex_identifier(at);
    if (!p->mnemonic_length) {
        fail(p, at, *at == '[' ? "a word of up to 8 hexadecimal digits in [ ]" : "an instruction");
        return report(p, column);
    }
    return parse_rows(p, at + p->mnemonic_length, column, ret);
}

struct cps_err *cps_parse(const struct cps_isa *isa, enum cps_gen gen, const char *text,
                          uint32_t pc, const struct cps_parse_names *names, size_t *column,
                          uint64_t *ret)
{
    struct parser p = {.isa = isa, .bit = cps_gen_bit(gen), .text = text, .pc = pc, .names = names};
    struct parsed parsed = {0};
    const char *at = cps_lex_blank(text);
    if (*at == '[' && cps_lex_raw(at, ret))
        return NULL;
    CPS_TRY(parse_insn(&p, at, column, &parsed));
    *ret = parsed.bits[0];
    return NULL;
}

/* "[5f] [01]": one literal a unit. */
static struct cps_err *parse_literals(struct parser *p, const char *at, size_t *column,
                                      struct cps_buf *ret)
{
    const unsigned unit = p->isa->unit;
    for (; *at; at = cps_lex_blank(at)) {
        uint8_t bytes[4];
        uint32_t value = 0;
        if (!cps_lex_unit(&at, unit * 2, &value)) {
            fail(p, at,
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
    struct parser p = {.isa = isa, .bit = cps_gen_bit(gen), .text = text, .pc = pc, .names = names};
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
