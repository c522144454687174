/* SPDX-License-Identifier: MIT
 * Values of registers and packets as text: the one place that writes them. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/names/words.h"
#include "isa/names/names.h"

/* As few digits as give the same float back, which all have; whole numbers keep ".0". */
static void put_real(double real, struct cps_buf *out)
{
    char text[40];
    if (isnan(real)) { /* printf() of some libraries shows its sign */
        cps_buf_str(out, "nan");
        return;
    }
    for (int digits = 6; digits <= 9; digits += 3) {
        snprintf(text, sizeof(text), "%.*g", digits, real);
        if ((float)strtod(text, NULL) == (float)real)
            break;
    }
    cps_buf_str(out, text);
    if (isfinite(real) && !strpbrk(text, ".e"))
        cps_buf_str(out, ".0");
}

static float single_float(uint32_t bits)
{
    const union {
        uint32_t bits;
        float real;
    } single = {.bits = bits};
    return single.real;
}

/* IEEE 754 with 5 bits of exponent. */
static double half_float(uint32_t bits)
{
    double sign = bits >> 15 & 1 ? -1 : 1;
    int exponent = (int)(bits >> 10 & 31);
    uint32_t fraction = bits & 0x3ff;
    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* Two's complement of the field's width. */
static int64_t sign_extended(const struct cps_value *value)
{
    unsigned width = value->high - value->low + 1u;
    uint64_t sign = UINT64_C(1) << (width - 1);
    return (int64_t)((value->bits ^ sign) - sign);
}

static void put_regid(uint64_t bits, struct cps_buf *out)
{
    cps_buf_printf(out, "r%" PRIu64 ".%c", bits >> 2, "xyzw"[bits & 3]);
}

void cps_value_put(const struct cps_value *value, struct cps_buf *out)
{
    uint64_t shifted = value->bits << value->shift;
    if (value->text) {
        cps_buf_str(out, value->text);
        return;
    }
    switch (value->kind) {
    case CPS_KIND_UINT:
        cps_buf_printf(out, "%" PRIu64, shifted);
        break;
    case CPS_KIND_INT:
        cps_buf_printf(out, "%" PRId64, sign_extended(value) * (INT64_C(1) << value->shift));
        break;
    case CPS_KIND_FLOAT:
        if (value->high - value->low == 15)
            put_real(half_float((uint32_t)value->bits), out);
        else if (value->high - value->low == 31)
            put_real(single_float((uint32_t)value->bits), out);
        else
            cps_buf_hex(out, value->bits, 1);
        break;
    case CPS_KIND_FIXED:
        put_real(ldexp((double)sign_extended(value), -value->radix), out);
        break;
    case CPS_KIND_UFIXED:
        put_real(ldexp((double)value->bits, -value->radix), out);
        break;
    case CPS_KIND_REGID:
        put_regid(value->bits, out);
        break;
    default:
        cps_buf_hex(out, shifted, 1);
    }
}

bool cps_value_address(const struct cps_value *value, uint64_t *ret)
{
    if (!value->is_address || value->high - value->low + value->shift < 32)
        return false;
    *ret = value->bits << value->shift;
    return true;
}

bool cps_value_line(const struct cps_value *value, struct cps_buf *out)
{
    if (value->is_flag && !value->bits)
        return false;
    if (value->name && !value->name[0] && value->word)
        cps_buf_str(out, value->word);
    else if (value->name && !value->name[0])
        cps_buf_printf(out, "[%" PRIu32 "]", value->number);
    else
        cps_buf_str(out, value->name ? value->name : "no-name");
    if (value->is_flag)
        return true;
    cps_buf_add(out, "=", 1);
    cps_value_put(value, out);
    return true;
}

/* A line of values: where it began. */
struct line {
    struct cps_buf *out;
    size_t start;
};

static void put_separator(struct line *line)
{
    if (line->out->size != line->start)
        cps_buf_str(line->out, " ");
}

static void put_value(void *context, const struct cps_value *value)
{
    struct line *line = context;
    if (value->is_flag && !value->bits)
        return;
    put_separator(line);
    cps_value_line(value, line->out);
}

/* The number itself and the register's name are said elsewhere. */
static void put_register_value(void *context, const struct cps_value *value)
{
    struct line *line = context;
    bool is_plain = !value->text && !value->shift && value->kind <= CPS_KIND_BOOL;
    if (!value->name || value->name[0]) {
        put_value(context, value);
    } else if (!is_plain) {
        put_separator(line);
        cps_value_put(value, line->out);
    }
}

void cps_name_fields(const struct cps_names *names, enum cps_space space, uint32_t number,
                     uint32_t value, struct cps_buf *out)
{
    struct line line = {out, out->size};
    cps_name_values(names, space, number, value, put_register_value, &line);
}

void cps_packet_fields(const struct cps_names *names, uint32_t opcode, const uint32_t *words,
                       size_t count, struct cps_buf *out)
{
    struct line line = {out, out->size};
    cps_packet_values(names, opcode, words, count, put_value, &line);
}

/* Two values of one register, side by side: the fields of the first, then those of the second. */
enum { MAX_FIELDS = 64 };

struct sides {
    struct cps_value value[2][MAX_FIELDS];
    unsigned count[2];
    unsigned now;
};

static void keep_value(void *context, const struct cps_value *value)
{
    struct sides *sides = context;
    unsigned *count = &sides->count[sides->now];
    if (value->name && value->name[0] && *count < MAX_FIELDS)
        sides->value[sides->now][(*count)++] = *value;
}

static void put_side(const struct cps_value *value, bool is_there, struct cps_buf *out)
{
    if (is_there)
        cps_value_put(value, out);
    else
        cps_buf_str(out, "missing");
}

uint32_t cps_name_changed_(const struct cps_names *names, enum cps_space space, uint32_t number,
                           const uint32_t *a, const uint32_t *b, struct cps_buf *out)
{
    struct sides sides = {.now = 0};
    cps_name_values(names, space, number, a ? *a : 0, keep_value, &sides);
    sides.now = 1;
    cps_name_values(names, space, number, b ? *b : 0, keep_value, &sides);
    uint32_t known = 0;
    size_t start = out->size;
    for (unsigned i = 0; i < sides.count[0] && i < sides.count[1]; i++) {
        const struct cps_value *one = &sides.value[0][i];
        const struct cps_value *other = &sides.value[1][i];
        unsigned width = one->high - one->low + 1u;
        known |= (UINT32_MAX >> (32 - width)) << (one->low & 31);
        if (one->bits == other->bits)
            continue;
        cps_buf_printf(out, "%s%s ", out->size == start ? "" : ", ", one->name);
        put_side(one, a, out);
        cps_buf_str(out, " -> ");
        put_side(other, b, out);
    }
    return known;
}
