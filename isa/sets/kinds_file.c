/* SPDX-License-Identifier: MIT
 * Kinds of fields of sets with register files (VP1): registers that have a file and two names, and
 * what is not written at its usual value. */
#include "isa/sets/kinds.h"

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

static void put_register(const struct cps_printer *p, int64_t number)
{
    const struct cps_regfile *file = &p->isa->files[p->field->file];
    unsigned scheme = p->names ? p->names->scheme : 0;
    cps_buf_printf(p->out, "$%s%u", file->as[scheme].name,
                   file->as[scheme].first + (unsigned)number);
}

/* One blank before what comes last. */
static void put_blank(struct cps_buf *out)
{
    if (out->size && out->data[out->size - 1] != ' ')
        cps_buf_str(out, " ");
}

static int64_t absent_value(const struct cps_field *field)
{
    return (INT64_C(1) << field->width) - 1;
}

void cps_put_file_(const struct cps_printer *p, int64_t value)
{
    put_register(p, value);
}

void cps_put_twin_(const struct cps_printer *p, int64_t value)
{
    put_register(p, value);
    cps_buf_printf(p->out, " $c%u", (unsigned)value);
}

void cps_put_front_(const struct cps_printer *p, int64_t value)
{
    if (value == absent_value(p->field))
        return;
    put_register(p, value);
    cps_buf_str(p->out, " ");
}

void cps_put_last_(const struct cps_printer *p, int64_t value)
{
    if (value == absent_value(p->field))
        return;
    put_blank(p->out);
    put_register(p, value);
}

static const char *flag_name(const struct cps_print_names *names, unsigned flag)
{
    return names && names->names ? cps_name(names->names, CPS_SPACE_FLAG, flag, NULL) : NULL;
}

void cps_put_select_(const struct cps_printer *p, int64_t value)
{
    unsigned flag = SELECT_FLAG(value);
    if (value % 64 == FLAG_FALSE << 2) {
        put_register(p, SELECT_REGISTER(value));
        return;
    }
    cps_buf_printf(p->out, "(slct $c%u ", (unsigned)value & 3);
    if (flag_name(p->names, flag))
        cps_buf_str(p->out, flag_name(p->names, flag));
    else
        cps_buf_printf(p->out, "%u", flag);
    cps_buf_str(p->out, " ");
    put_register(p, SELECT_REGISTER(value));
    cps_buf_str(p->out, flag == FLAG_QUAD ? "q)" : "d)");
}

void cps_put_option_(const struct cps_printer *p, int64_t value)
{
    if (!value)
        return;
    put_blank(p->out);
    cps_buf_str(p->out, p->field->name);
    if (p->field->width > 1)
        cps_buf_printf(p->out, "=0x%" PRIx64, (uint64_t)value);
}

void cps_put_signed_(const struct cps_printer *p, int64_t value)
{
    cps_buf_printf(p->out, "%s0x%" PRIx64, value < 0 ? "-" : "",
                   (uint64_t)(value < 0 ? -value : value));
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

/* The next register; false, and no error, if there is none of the field's file. */
static bool take_register(struct cps_parser *p, int64_t *ret)
{
    struct name name;
    unsigned scheme = p->names ? p->names->scheme : 0;
    p->at = cps_lex_blank(p->at);
    if (!read_name(p->at, &name) || !find_register(p->isa, p->field, scheme, &name, ret))
        return false;
    p->at = name.end;
    return true;
}

/* "$c2" after a blank; no scheme has another name for it. */
static bool take_condition(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    if (word[0] != '$' || word[1] != 'c' || word[2] < '0' || word[2] > '3')
        return false;
    p->at = word + 3;
    *ret = word[2] - '0';
    return true;
}

static bool take_flag(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    size_t length = 0;
    uint32_t number = 0;
    if (cps_lex_number(&p->at, ret))
        return *ret < 16;
    length = cps_lex_identifier(word);
    if (!length || !p->names || !p->names->names ||
        !cps_name_number(p->names->names, CPS_SPACE_FLAG, word, length, &number))
        return false;
    p->at = word + length;
    *ret = number;
    return true;
}

bool cps_parse_file_(struct cps_parser *p, int64_t *ret)
{
    return take_register(p, ret) || cps_parse_fail_(p, p->at, "a register of this operand's file");
}

/* Of a register that need not be written. */
bool cps_parse_absent_(struct cps_parser *p, int64_t *ret)
{
    if (!take_register(p, ret))
        *ret = absent_value(p->field);
    return true;
}

/* "$a6", or "(slct $c2 zf $a6d)". */
bool cps_parse_select_(struct cps_parser *p, int64_t *ret)
{
    int64_t condition = 0;
    int64_t flag = FLAG_FALSE;
    int64_t number = 0;
    bool mangled = cps_lex_take(&p->at, "(slct");
    p->at = cps_lex_blank(p->at);
    if (mangled && !take_condition(p, &condition))
        return cps_parse_fail_(p, p->at, "a condition ($c0 to $c3)");
    p->at = cps_lex_blank(p->at);
    if (mangled && !take_flag(p, &flag)) {
        cps_parse_fail_(p, p->at, "a flag's number below 16, or its name");
        p->listed = CPS_SPACE_FLAG;
        return false;
    }
    if (!take_register(p, &number))
        return cps_parse_fail_(p, p->at,
                               "a register of this operand's file, or (slct $c0 FLAG REGISTERd)");
    if (mangled && !cps_lex_take(&p->at, flag == FLAG_QUAD ? "q)" : "d)"))
        return cps_parse_fail_(p, p->at, flag == FLAG_QUAD ? "'q)'" : "'d)'");
    *ret = number << 6 | flag << 2 | condition;
    return true;
}

bool cps_parse_twin_(struct cps_parser *p, int64_t *ret)
{
    int64_t condition = 0;
    if (!take_register(p, ret))
        return cps_parse_fail_(p, p->at, "a loop register ($l0 to $l3)");
    p->at = cps_lex_blank(p->at);
    if (!take_condition(p, &condition) || condition != *ret)
        return cps_parse_fail_(p, p->at, "the condition register of the same number");
    return true;
}

/* Nothing, or what the printer shows. */
bool cps_parse_option_(struct cps_parser *p, int64_t *ret)
{
    const char *word = cps_lex_blank(p->at);
    size_t length = strlen(p->field->name);
    *ret = 0;
    if (cps_lex_identifier(word) != length || memcmp(word, p->field->name, length) != 0)
        return true;
    p->at = word + length;
    *ret = 1;
    if (p->field->width > 1 && (!cps_lex_take(&p->at, "=") || !cps_lex_number(&p->at, ret)))
        return cps_parse_fail_(p, p->at, "'=' and a number");
    return true;
}

bool cps_parse_signed_(struct cps_parser *p, int64_t *ret)
{
    bool minus = cps_lex_take(&p->at, "-");
    if (!cps_lex_number(&p->at, ret))
        return cps_parse_fail_(p, p->at, "a number");
    *ret = minus ? -*ret : *ret;
    return true;
}
