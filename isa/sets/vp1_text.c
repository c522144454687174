/* SPDX-License-Identifier: MIT
 * Operands of VP1: registers that have a file and two names, and what is not written at its usual
 * value. Text in both directions. */
#include "isa/sets/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"

/* Of a mangled source: which condition, which flag, which register. */
#define SELECT_FLAG(value)     ((unsigned)(value) >> 2 & 15)
#define SELECT_REGISTER(value) ((unsigned)(value) >> 6)
#define FLAG_FALSE             14u /* and condition 0: the register itself */
#define FLAG_QUAD              4u  /* two bits choose among four */

/* ---- text ---- */

static void put_register(const struct cps_regfile *file, unsigned scheme, unsigned number,
                         struct cps_buf *out)
{
    cps_buf_printf(out, "$%s%u", file->as[scheme].name, file->as[scheme].first + number);
}

/* One blank in front of what comes last. */
static void put_blank(struct cps_buf *out)
{
    if (out->size && out->data[out->size - 1] != ' ')
        cps_buf_str(out, " ");
}

static void put_option(const struct cps_field *field, int64_t value, struct cps_buf *out)
{
    if (!value)
        return;
    put_blank(out);
    cps_buf_str(out, field->name);
    if (field->width > 1)
        cps_buf_printf(out, "=0x%" PRIx64, (uint64_t)value);
}

static const char *flag_name(const struct cps_print_names *names, unsigned flag)
{
    return names && names->names ? cps_name(names->names, CPS_SPACE_FLAG, flag, NULL) : NULL;
}

static void put_select(const struct cps_regfile *file, int64_t value,
                       const struct cps_print_names *names, struct cps_buf *out)
{
    unsigned flag = SELECT_FLAG(value);
    unsigned scheme = names ? names->scheme : 0;
    if (value % 64 == FLAG_FALSE << 2) {
        put_register(file, scheme, SELECT_REGISTER(value), out);
        return;
    }
    cps_buf_printf(out, "(slct $c%u ", (unsigned)value & 3);
    if (flag_name(names, flag))
        cps_buf_str(out, flag_name(names, flag));
    else
        cps_buf_printf(out, "%u", flag);
    cps_buf_str(out, " ");
    put_register(file, scheme, SELECT_REGISTER(value), out);
    cps_buf_str(out, flag == FLAG_QUAD ? "q)" : "d)");
}

static bool is_absent(const struct cps_field *field, int64_t value)
{
    return (field->kind == CPS_FIELD_CDST || field->kind == CPS_FIELD_CLAST) &&
           value == (INT64_C(1) << field->width) - 1;
}

void cps_put_operand_(const struct cps_isa *isa, const struct cps_field *field, int64_t value,
                      const struct cps_print_names *names, struct cps_buf *out)
{
    const struct cps_regfile *file = &isa->files[field->file];
    unsigned scheme = names ? names->scheme : 0;
    if (is_absent(field, value))
        return;
    switch (field->kind) {
    case CPS_FIELD_SELECT:
        put_select(file, value, names, out);
        break;
    case CPS_FIELD_OPTION:
        put_option(field, value, out);
        break;
    case CPS_FIELD_SIGNED:
        cps_buf_printf(out, "%s0x%" PRIx64, value < 0 ? "-" : "",
                       (uint64_t)(value < 0 ? -value : value));
        break;
    case CPS_FIELD_CLAST:
        put_blank(out);
        put_register(file, scheme, (unsigned)value, out);
        break;
    default:
        put_register(file, scheme, (unsigned)value, out);
        if (field->kind == CPS_FIELD_CDST)
            cps_buf_str(out, " ");
        else if (field->kind == CPS_FIELD_TWIN)
            cps_buf_printf(out, " $c%u", (unsigned)value);
        break;
    }
}

/* ---- and back ---- */

/* A register as it is written, of any file. */
struct name {
    const char *word;
    size_t length; /* of its letters */
    int64_t number;
    const char *end;
};

static bool read_name(const char *at, struct name *ret)
{
    *ret = (struct name){.word = cps_lex_blank(at) + 1};
    if (ret->word[-1] != '$')
        return false;
    while (isalpha((unsigned char)ret->word[ret->length]))
        ret->length++;
    const char *digit = ret->word + ret->length;
    for (; isdigit((unsigned char)*digit) && ret->number < 1000; digit++)
        ret->number = ret->number * 10 + *digit - '0';
    ret->end = digit;
    return ret->length && digit != ret->word + ret->length;
}

/* The register of a file that the name is, as @p as spells it; -1 if none. */
static int64_t find_as(const struct cps_regfile *file, unsigned as, const struct name *name)
{
    const char *text = file->as[as].name;
    int64_t number = name->number - file->as[as].first;
    bool same = text && strlen(text) == name->length && !memcmp(text, name->word, name->length);
    return same && number >= 0 && number < 32 ? number : -1;
}

static bool is_taken(const struct cps_isa *isa, unsigned scheme, const struct name *name)
{
    for (size_t i = 0; i < isa->file_count; i++) {
        if (find_as(&isa->files[i], scheme, name) >= 0)
            return true;
    }
    return false;
}

/* The name by its own scheme; by another one only if it means nothing in its own. */
static bool find_register(const struct cps_isa *isa, const struct cps_field *field, unsigned scheme,
                          const struct name *name, int64_t *ret)
{
    const struct cps_regfile *file = &isa->files[field->file];
    *ret = find_as(file, scheme, name);
    for (unsigned as = 0; as < 3 && *ret < 0 && !is_taken(isa, scheme, name); as++)
        *ret = find_as(file, as, name);
    return *ret >= 0;
}

static bool parse_register(const struct cps_isa *isa, const struct cps_field *field,
                           const struct cps_parse_names *names, const char **at, int64_t *ret)
{
    struct name name;
    *at = cps_lex_blank(*at);
    if (!read_name(*at, &name) || !find_register(isa, field, names ? names->scheme : 0, &name, ret))
        return false;
    *at = name.end;
    return true;
}

/* "$c2" behind a blank; no scheme has another name for it. */
static bool parse_condition(const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    if (word[0] != '$' || word[1] != 'c' || word[2] < '0' || word[2] > '3')
        return false;
    *at = word + 3;
    *ret = word[2] - '0';
    return true;
}

static bool parse_flag(const struct cps_parse_names *names, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    size_t length = 0;
    uint32_t number = 0;
    if (cps_lex_number(at, ret))
        return *ret < 16;
    length = cps_lex_identifier(word);
    if (!length || !names || !names->names ||
        !cps_name_number(names->names, CPS_SPACE_FLAG, word, length, &number))
        return false;
    *at = word + length;
    *ret = number;
    return true;
}

/* "$a6", or "(slct $c2 zf $a6d)". */
static const char *parse_select(const struct cps_isa *isa, const struct cps_field *field,
                                const struct cps_parse_names *names, const char **at, int64_t *ret)
{
    int64_t condition = 0;
    int64_t flag = FLAG_FALSE;
    int64_t number = 0;
    bool mangled = cps_lex_take(at, "(slct");
    *at = cps_lex_blank(*at);
    if (mangled && !parse_condition(at, &condition))
        return "a condition ($c0 to $c3)";
    *at = cps_lex_blank(*at);
    if (mangled && !parse_flag(names, at, &flag))
        return "a flag's number below 16, or its name";
    if (!parse_register(isa, field, names, at, &number))
        return "a register of this operand's file, or (slct $c0 FLAG REGISTERd)";
    if (mangled && !cps_lex_take(at, flag == FLAG_QUAD ? "q)" : "d)"))
        return flag == FLAG_QUAD ? "'q)'" : "'d)'";
    *ret = number << 6 | flag << 2 | condition;
    return NULL;
}

static const char *parse_twin(const struct cps_isa *isa, const struct cps_field *field,
                              const struct cps_parse_names *names, const char **at, int64_t *ret)
{
    int64_t condition = 0;
    if (!parse_register(isa, field, names, at, ret))
        return "a loop register ($l0 to $l3)";
    *at = cps_lex_blank(*at);
    if (!parse_condition(at, &condition) || condition != *ret)
        return "the condition register of the same number";
    return NULL;
}

/* Nothing, or what the printer shows. */
static const char *parse_option(const struct cps_field *field, const char **at, int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    size_t length = strlen(field->name);
    *ret = 0;
    if (cps_lex_identifier(word) != length || memcmp(word, field->name, length) != 0)
        return NULL;
    *at = word + length;
    *ret = 1;
    if (field->width > 1 && (!cps_lex_take(at, "=") || !cps_lex_number(at, ret)))
        return "'=' and a number";
    return NULL;
}

static const char *parse_signed(const char **at, int64_t *ret)
{
    bool minus = cps_lex_take(at, "-");
    if (!cps_lex_number(at, ret))
        return "a number";
    *ret = minus ? -*ret : *ret;
    return NULL;
}

const char *cps_parse_operand_(const struct cps_isa *isa, const struct cps_field *field,
                               const struct cps_parse_names *names, const char **at, int64_t *ret)
{
    switch (field->kind) {
    case CPS_FIELD_CDST:
    case CPS_FIELD_CLAST:
        if (!parse_register(isa, field, names, at, ret))
            *ret = (INT64_C(1) << field->width) - 1;
        return NULL;
    case CPS_FIELD_TWIN:
        return parse_twin(isa, field, names, at, ret);
    case CPS_FIELD_SELECT:
        return parse_select(isa, field, names, at, ret);
    case CPS_FIELD_OPTION:
        return parse_option(field, at, ret);
    case CPS_FIELD_SIGNED:
        return parse_signed(at, ret);
    default:
        return parse_register(isa, field, names, at, ret) ? NULL
                                                          : "a register of this operand's file";
    }
}
