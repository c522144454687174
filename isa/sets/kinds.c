/* SPDX-License-Identifier: MIT
 * The kinds of fields, and those that are prefixes, registers, numbers, names and targets. */
#include "isa/sets/kinds.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/base/lex.h"

static const struct {
    void (*put)(const struct cps_printer *p, int64_t value);
    bool (*parse)(struct cps_parser *p, int64_t *ret);
    int64_t scale;
} kinds[] = {
#define KIND(id, flags, scale, print, parse, target) \
    {cps_put_##print##_, cps_parse_##parse##_, scale},
#include "isa/sets/kind.def"
};

int64_t cps_field_scale_(const struct cps_field *field)
{
    return kinds[field->kind].scale;
}

void cps_put_field_(struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    p->field = field;
    kinds[field->kind].put(p, value);
}

bool cps_parse_field_(struct cps_parser *p, const struct cps_field *field, int64_t *ret)
{
    p->field = field;
    return kinds[field->kind].parse(p, ret);
}

bool cps_parse_fail_(struct cps_parser *p, const char *at, const char *expected)
{
    at = cps_lex_blank(at);
    if (!p->furthest || at > p->furthest) {
        p->furthest = at;
        p->expected = expected;
        p->literal = 0;
        p->listed = CPS_SPACE_COUNT;
    }
    return false;
}

/* ---- prefixes ---- */

void cps_put_flag_(const struct cps_printer *p, int64_t value)
{
    if (value)
        cps_buf_printf(p->out, "(%s)", p->field->name);
}

void cps_put_count_(const struct cps_printer *p, int64_t value)
{
    if (value)
        cps_buf_printf(p->out, "(%s%" PRId64 ")", p->field->name, value);
}

bool cps_prefix_is_(const struct cps_parser *p, const struct cps_prefix *prefix,
                    const struct cps_field *field)
{
    return cps_field_is_prefix_(field) && (field->gens & p->bit) &&
           strlen(field->name) == prefix->length &&
           !memcmp(field->name, prefix->name, prefix->length);
}

/* Prefixes were read already, in any order. */
bool cps_parse_prefix_(struct cps_parser *p, int64_t *ret)
{
    for (unsigned i = 0; i < p->prefix_count; i++) {
        if (cps_prefix_is_(p, &p->prefix[i], p->field))
            *ret = p->prefix[i].count;
    }
    return true;
}

void cps_put_bang_(const struct cps_printer *p, int64_t value)
{
    if (value)
        cps_buf_str(p->out, "!");
}

bool cps_parse_bang_(struct cps_parser *p, int64_t *ret)
{
    p->at = cps_lex_blank(p->at);
    *ret = *p->at == '!';
    p->at += *ret;
    return true;
}

/* ---- registers ---- */

static enum cps_style style_of(const struct cps_printer *p)
{
    return p->names ? p->names->style : CPS_STYLE_OWN;
}

/* How many digits a number has at least that is padded to @p digits where the style pads. */
static unsigned least_digits(const struct cps_printer *p, unsigned digits)
{
    enum width { SHORT, PADDED };
    static const enum width width[] = {
#define STYLE(id, word, width, sp, lr) [CPS_STYLE_##id] = (width),
#include "isa/style.def"
    };
    return width[style_of(p)] == PADDED ? digits : 1;
}

static void put_register(const struct cps_printer *p, const char *const *special, int64_t number)
{
    const char *name = special[number & 31];
    if (!name && p->isa->style_names)
        name = p->isa->style_names[style_of(p)][number & 31];
    if (name)
        cps_buf_printf(p->out, "$%s", name);
    else
        cps_buf_printf(p->out, "$%02x", (unsigned)number);
}

void cps_put_source_(const struct cps_printer *p, int64_t value)
{
    put_register(p, p->isa->source_names, value);
}

void cps_put_destination_(const struct cps_printer *p, int64_t value)
{
    put_register(p, p->isa->target_names, value);
}

static const char want_register[] =
    "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)";

bool cps_parse_register_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (*word != '$')
        return cps_parse_fail_(p, word, want_register);
    const char *end = word + 1;
    while (isalnum((unsigned char)*end))
        end++;
    size_t length = (size_t)(end - word - 1);
    p->at = end;
    if (cps_lex_register_(word, length, ret))
        return true;
    for (unsigned i = 0; i < 32; i++) {
        const char *names[] = {p->isa->source_names[i], p->isa->target_names[i]};
        for (unsigned k = 0; k < 2; k++) {
            if (names[k] && strlen(names[k]) == length && !memcmp(names[k], word + 1, length)) {
                *ret = i;
                return true;
            }
        }
    }
    return cps_parse_fail_(p, word, want_register);
}

/* ---- numbers ---- */

void cps_put_hex_(const struct cps_printer *p, int64_t value)
{
    cps_buf_hex(p->out, (uint64_t)value, least_digits(p, (p->field->width + 3u) / 4u));
}

void cps_put_decimal_(const struct cps_printer *p, int64_t value)
{
    cps_buf_printf(p->out, "%" PRId64, value * cps_field_scale_(p->field));
}

bool cps_parse_twice_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (!cps_lex_number(&p->at, ret) || *ret % 2)
        return cps_parse_fail_(p, word, "an even number");
    *ret /= 2;
    return true;
}

void cps_put_bit_(const struct cps_printer *p, int64_t value)
{
    cps_buf_printf(p->out, "b%" PRId64, value);
}

bool cps_parse_bit_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    const char *digits = word + 1;
    if (*word != 'b' || !isdigit((unsigned char)*digits) || !cps_lex_number(&digits, ret))
        return cps_parse_fail_(p, word, "a bit number (b0 to b31)");
    p->at = digits;
    return true;
}

/* ---- names ---- */

/* In pre-increment form the register number is in the offset register, so a name for the base
 * would mislead. */
static bool is_preincrement(const struct cps_printer *p)
{
    const struct cps_form *form = cps_form_(p->isa, p->insn->enc);
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        if (p->isa->fields[form->field[i]].kind == CPS_FIELD_BANG)
            return p->insn->operand[i];
    }
    return false;
}

/* Where the names of a kind are looked for. */
static enum cps_space space_of(const struct cps_field *field)
{
    switch (field->kind) {
    case CPS_FIELD_CTL:
        return CPS_SPACE_CONTROL;
    case CPS_FIELD_SQE:
        return CPS_SPACE_SQE;
    case CPS_FIELD_BITNO:
        return CPS_SPACE_FLAG;
    default:
        return CPS_SPACE_EVENT;
    }
}

void cps_put_named_(const struct cps_printer *p, int64_t value)
{
    unsigned index = 0;
    char sigil = p->field->kind == CPS_FIELD_CTL ? '@' : '%';
    const struct cps_names *names = p->names ? p->names->names : NULL;
    bool is_plain = is_preincrement(p); /* a number, which Mesa pads only where a name could be */
    const char *name =
        names && !is_plain ? cps_name(names, space_of(p->field), (uint32_t)value, &index) : NULL;
    if (!name)
        cps_buf_hex(p->out, (uint32_t)value, is_plain ? least_digits(p, 3) : 3);
    else if (index)
        cps_buf_printf(p->out, "%c%s+0x%x", sigil, name, index);
    else
        cps_buf_printf(p->out, "%c%s", sigil, name);
}

/* A number that may have a name, decimal without. */
void cps_put_number_(const struct cps_printer *p, int64_t value)
{
    const struct cps_names *names = p->names ? p->names->names : NULL;
    const char *name = names ? cps_name(names, space_of(p->field), (uint32_t)value, NULL) : NULL;
    if (name)
        cps_buf_str(p->out, name);
    else
        cps_buf_printf(p->out, "%" PRId64, value);
}

void cps_put_pairs_(const struct cps_printer *p, int64_t value)
{
    const struct cps_insn *insn = p->insn;
    (void)value;
    for (uint32_t at = insn->needs; insn->bytes && at + 8 <= insn->length; at += 8) {
        cps_buf_str(p->out, at == insn->needs ? "" : ", ");
        cps_buf_hex(p->out, cps_le32(insn->bytes + at), 8);
        cps_buf_str(p->out, "=");
        cps_buf_hex(p->out, cps_le32(insn->bytes + at + 4), 8);
    }
}

void cps_put_target_(const struct cps_printer *p, int64_t value)
{
    uint32_t target = cps_field_target_(p->field, p->pc, (uint32_t)value);
    const char *label =
        p->names && p->names->label ? p->names->label(p->names->context, target) : NULL;
    if (label)
        cps_buf_printf(p->out, "#%s", label);
    else
        cps_buf_hex(p->out, target, 4);
}

/* The number after a name of @p length bytes. */
static bool find_name(const struct cps_parser *p, enum cps_space space, const char *word,
                      size_t length, uint32_t *ret)
{
    return length && p->names && p->names->names &&
           cps_name_number(p->names->names, space, word, length, ret);
}

/* "#name", and what is added to it; gives a dword offset. */
static bool parse_label(struct cps_parser *p, int64_t *ret)
{
    const struct cps_parse_names *names = p->names;
    const char *expected =
        cps_lex_labels(&p->at, names ? names->label : NULL, names ? names->context : NULL, ret);
    return !expected || cps_parse_fail_(p, p->at, expected);
}

/* "@NAME", "%NAME", each with an optional "+ n", which may be a name, too. */
static bool parse_named(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    enum cps_space space = *word == '@' ? CPS_SPACE_CONTROL : CPS_SPACE_SQE;
    size_t length = cps_lex_identifier(word + 1);
    uint32_t number = 0;
    if (!find_name(p, space, word + 1, length, &number))
        return cps_parse_fail_(p, word,
                               space == CPS_SPACE_CONTROL ? "a control register that has this name"
                                                          : "an SQE register that has this name");
    p->at = word + 1 + length;
    *ret = number;
    const char *plus = cps_lex_blank(p->at);
    int64_t more = 0;
    if (*plus == '+') {
        p->at = plus + 1;
        plus = cps_lex_blank(p->at);
        bool named = *plus == '@' || *plus == '%';
        if (named ? !parse_named(p, &more) : !cps_lex_number(&p->at, &more))
            return cps_parse_fail_(p, p->at, "a number");
        *ret += more;
    }
    return true;
}

/* The older documentation writes an element of an array of registers as CP_SCRATCH_REG[0x2], the
 * register database as CP_SCRATCH[2].REG. */
static bool find_element(const struct cps_parser *p, const char *word, size_t length, uint32_t *ret)
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
    return find_name(p, CPS_SPACE_GPU, name, (size_t)size, ret);
}

/* The name of a GPU register, for its offset. */
static bool parse_gpu_name(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    size_t length = cps_lex_identifier(word);
    uint32_t number = 0;
    while (length && (isalnum((unsigned char)word[length]) || strchr("_[].", word[length])) &&
           word[length])
        length++;
    if (!find_name(p, CPS_SPACE_GPU, word, length, &number) &&
        !find_element(p, word, length, &number))
        return false;
    p->at = word + length;
    *ret = number;
    return true;
}

bool cps_parse_value_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (*word == '@' || *word == '%')
        return parse_named(p, ret);
    if (*word == '#')
        return parse_label(p, ret);
    return cps_lex_number(&p->at, ret) || parse_gpu_name(p, ret) ||
           cps_parse_fail_(p, word, "a number, @NAME, %NAME, a GPU register's name or #label");
}

/* A number, or a name that stands for it. */
bool cps_parse_number_(struct cps_parser *p, int64_t *ret)
{
    const char *expected =
        p->field->kind == CPS_FIELD_BITNO ? "a flag's number or name" : "an event's number or name";
    const char *word = cps_lex_blank(p->at);
    size_t length = cps_lex_identifier(word);
    uint32_t number = 0;
    if (cps_lex_number(&p->at, ret))
        return true;
    if (!find_name(p, space_of(p->field), word, length, &number)) {
        cps_parse_fail_(p, word, expected);
        p->listed = p->expected == expected ? space_of(p->field) : p->listed;
        return false;
    }
    p->at = word + length;
    *ret = number;
    return true;
}

static bool add_word(struct cps_parser *p)
{
    const char *word = cps_lex_blank(p->at);
    uint8_t bytes[4];
    int64_t value = 0;
    if (!cps_parse_value_(p, &value))
        return false;
    if (value > UINT32_MAX)
        return cps_parse_fail_(p, word, "a number of 32 bits");
    cps_put_le32(bytes, (uint32_t)value);
    cps_buf_add(&p->pairs, (const char *)bytes, sizeof(bytes));
    return true;
}

/* "a=b, c=d". */
bool cps_parse_pairs_(struct cps_parser *p, int64_t *ret)
{
    (void)ret;
    cps_buf_clear(&p->pairs);
    for (;;) {
        if (!add_word(p))
            return false;
        p->at = cps_lex_blank(p->at);
        if (*p->at != '=')
            return cps_parse_fail_(p, p->at, "'='");
        p->at++;
        if (!add_word(p))
            return false;
        p->at = cps_lex_blank(p->at);
        if (*p->at != ',')
            return true;
        p->at++;
    }
}

/* ---- targets ---- */

bool cps_parse_target_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (*word == '#')
        return parse_label(p, ret);
    return cps_lex_number(&p->at, ret) ||
           cps_parse_fail_(p, word, "a label (#name) or a dword address");
}

/* Addresses wrap at 32 bits, as those printed for targets before the image do. */
bool cps_parse_distance_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (!cps_parse_target_(p, ret))
        return false;
    if (*ret > UINT32_MAX)
        return cps_parse_fail_(p, word, "a dword address of 32 bits");
    *ret = (int32_t)((uint32_t)*ret - cps_field_target_(p->field, p->pc, 0));
    return true;
}

/* The group that a target begins, absolute or from the one that the instruction is in. */
bool cps_parse_group_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (!cps_parse_target_(p, ret))
        return false;
    if (*ret > UINT32_MAX || *ret % 4)
        return cps_parse_fail_(p, word, "a word address that is a multiple of 4");
    if (cps_field_is_signed_(p->field))
        *ret = (int32_t)((uint32_t)*ret - cps_field_target_(p->field, p->pc, 0));
    *ret /= 4;
    return true;
}
