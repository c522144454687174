/* SPDX-License-Identifier: MIT
 * The kinds of fields, and those that are prefixes, registers and plain numbers. */
#include "isa/sets/kinds.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "isa/base/lex.h"

static const struct {
    void (*put)(const struct cps_printer *p, const struct cps_field *field, int64_t value);
    bool (*parse)(struct cps_parser *p, const struct cps_field *field, const char **at,
                  int64_t *ret);
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

void cps_put_field_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    kinds[field->kind].put(p, field, value);
}

bool cps_parse_field_(struct cps_parser *p, const struct cps_field *field, const char **at,
                      int64_t *ret)
{
    return kinds[field->kind].parse(p, field, at, ret);
}

/* ---- prefixes ---- */

void cps_put_flag_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    if (value)
        cps_buf_printf(p->out, "(%s)", field->name);
}

void cps_put_count_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    if (value)
        cps_buf_printf(p->out, "(%s%" PRId64 ")", field->name, value);
}

/* Prefixes were read already, in any order. */
bool cps_parse_prefix_(struct cps_parser *p, const struct cps_field *field, const char **at,
                       int64_t *ret)
{
    (void)at;
    for (unsigned i = 0; i < p->prefix_count; i++) {
        if (cps_prefix_is_(p, &p->prefix[i], field))
            *ret = p->prefix[i].count;
    }
    return true;
}

void cps_put_bang_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    (void)field;
    if (value)
        cps_buf_str(p->out, "!");
}

bool cps_parse_bang_(struct cps_parser *p, const struct cps_field *field, const char **at,
                     int64_t *ret)
{
    (void)p;
    (void)field;
    *at = cps_lex_blank(*at);
    *ret = **at == '!';
    *at += *ret;
    return true;
}

/* ---- registers ---- */

static enum cps_style style_of(const struct cps_printer *p)
{
    return p->names ? p->names->style : CPS_STYLE_OWN;
}

unsigned cps_printer_digits_(const struct cps_printer *p, unsigned digits)
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

void cps_put_source_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    (void)field;
    put_register(p, p->isa->source_names, value);
}

void cps_put_destination_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    (void)field;
    put_register(p, p->isa->target_names, value);
}

static const char want_register[] =
    "a register ($00 to $1f, $rem, $addr, $usraddr, $memdata, $regdata, $data)";

bool cps_parse_register_(struct cps_parser *p, const struct cps_field *field, const char **at,
                         int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    (void)field;
    if (*word != '$')
        return cps_parse_fail_(p, word, want_register);
    const char *end = word + 1;
    while (isalnum((unsigned char)*end))
        end++;
    size_t length = (size_t)(end - word - 1);
    *at = end;
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

void cps_put_hex_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    cps_buf_hex(p->out, (uint64_t)value, cps_printer_digits_(p, (field->width + 3u) / 4u));
}

void cps_put_decimal_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    cps_buf_printf(p->out, "%" PRId64, value * cps_field_scale_(field));
}

bool cps_parse_twice_(struct cps_parser *p, const struct cps_field *field, const char **at,
                      int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    (void)field;
    if (!cps_lex_number(at, ret) || *ret % 2)
        return cps_parse_fail_(p, word, "an even number");
    *ret /= 2;
    return true;
}

void cps_put_bit_(const struct cps_printer *p, const struct cps_field *field, int64_t value)
{
    (void)field;
    cps_buf_printf(p->out, "b%" PRId64, value);
}

bool cps_parse_bit_(struct cps_parser *p, const struct cps_field *field, const char **at,
                    int64_t *ret)
{
    const char *word = cps_lex_blank(*at);
    const char *digits = word + 1;
    (void)field;
    if (*word != 'b' || !isdigit((unsigned char)*digits) || !cps_lex_number(&digits, ret))
        return cps_parse_fail_(p, word, "a bit number (b0 to b31)");
    *at = digits;
    return true;
}
