/* SPDX-License-Identifier: MIT
 * Reads the expressions of isa/afuc.def as C has them: precedence, promotions, conversions. */
#include "tools/explain/prove/smt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A value in the middle of an expression. */
struct value {
    Z3_ast term; /* bits wide */
    unsigned bits;
    bool is_signed;
};

struct reader {
    const struct smt *smt;
    const char *at;
    struct meaning *operand;
    struct value t, carry;
    bool bad;
};

static struct value comma(struct reader *r);
static struct value ternary(struct reader *r);
static struct value unary(struct reader *r);

/* Takes @p text if it is what comes next, a name as a whole. */
static bool take_text(struct reader *r, const char *text)
{
    size_t length = strlen(text);
    while (isspace((unsigned char)*r->at))
        r->at++;
    char next = strncmp(r->at, text, length) ? '\0' : r->at[length];
    bool found = !strncmp(r->at, text, length) &&
                 !(isalpha((unsigned char)*text) && (isalnum((unsigned char)next) || next == '_'));
    r->at += found ? length : 0;
    return found;
}

static void expect(struct reader *r, const char *text)
{
    if (!take_text(r, text))
        r->bad = true;
}

static struct value number(struct reader *r, uint64_t value, unsigned bits, bool is_signed)
{
    Z3_sort sort = Z3_mk_bv_sort(r->smt->z, bits);
    return (struct value){Z3_mk_unsigned_int64(r->smt->z, value, sort), bits, is_signed};
}

/* C's conversions: widening follows the sign of what is widened. */
static struct value convert(struct reader *r, struct value v, unsigned bits, bool is_signed)
{
    Z3_context z = r->smt->z;
    if (bits < v.bits)
        v.term = Z3_mk_extract(z, bits - 1, 0, v.term);
    else if (bits > v.bits && v.is_signed)
        v.term = Z3_mk_sign_ext(z, bits - v.bits, v.term);
    else if (bits > v.bits)
        v.term = Z3_mk_zero_ext(z, bits - v.bits, v.term);
    return (struct value){v.term, bits, is_signed};
}

/* The usual arithmetic conversions of two operands. */
static void meet(struct reader *r, struct value *x, struct value *y)
{
    unsigned bits = x->bits > y->bits ? x->bits : y->bits;
    bool x_signed = x->is_signed || x->bits < bits;
    bool y_signed = y->is_signed || y->bits < bits;
    bool is_signed = x_signed && y_signed;
    *x = convert(r, *x, bits, is_signed);
    *y = convert(r, *y, bits, is_signed);
}

static struct value truth(struct reader *r, Z3_ast condition)
{
    struct value one = number(r, 1, 32, true);
    struct value zero = number(r, 0, 32, true);
    one.term = Z3_mk_ite(r->smt->z, condition, one.term, zero.term);
    return one;
}

static Z3_ast not_zero(struct reader *r, struct value v)
{
    Z3_context z = r->smt->z;
    return Z3_mk_not(z, Z3_mk_eq(z, v.term, number(r, 0, v.bits, false).term));
}

static struct value literal(struct reader *r)
{
    char *end = NULL;
    uint64_t value = strtoull(r->at, &end, 0);
    bool is_unsigned = *end == 'u' || *end == 'U';
    r->at = end + is_unsigned;
    return number(r, value, 32, !is_unsigned);
}

/* How many bits are set, or where the highest is: sums and choices over all 32. */
static struct value popcount(struct reader *r, struct value v)
{
    Z3_context z = r->smt->z;
    struct value sum = number(r, 0, 32, true);
    for (unsigned i = 0; i < 32; i++)
        sum.term = Z3_mk_bvadd(z, sum.term, Z3_mk_zero_ext(z, 31, Z3_mk_extract(z, i, i, v.term)));
    return sum;
}

static struct value leading_zeros(struct reader *r, struct value v)
{
    Z3_context z = r->smt->z;
    struct value count = number(r, 32, 32, true);
    Z3_ast one = Z3_mk_unsigned_int64(z, 1, Z3_mk_bv_sort(z, 1));
    for (unsigned i = 0; i < 32; i++)
        count.term = Z3_mk_ite(z, Z3_mk_eq(z, Z3_mk_extract(z, i, i, v.term), one),
                               number(r, 31 - i, 32, true).term, count.term);
    return count;
}

static struct value inside(struct reader *r)
{
    expect(r, "(");
    struct value v = comma(r);
    expect(r, ")");
    return v;
}

/* A variable, after an assignment to it if `=` comes next. */
static struct value variable(struct reader *r, struct value *v)
{
    if (take_text(r, "==")) /* of what follows */
        r->at -= strlen("==");
    else if (take_text(r, "="))
        *v = convert(r, ternary(r), v->bits, false);
    return *v;
}

static struct value name_of(struct reader *r)
{
    if (take_text(r, "UINT64_C"))
        return convert(r, inside(r), 64, false);
    if (take_text(r, "__builtin_clz"))
        return leading_zeros(r, convert(r, inside(r), 32, false));
    if (take_text(r, "__builtin_popcount"))
        return popcount(r, convert(r, inside(r), 32, false));
    if (take_text(r, "t"))
        return variable(r, &r->t);
    if (take_text(r, "carry"))
        return variable(r, &r->carry);
    if (take_text(r, "a"))
        return (struct value){r->operand->a, 32, false};
    if (take_text(r, "b"))
        return (struct value){r->operand->b, 32, false};
    if (take_text(r, "d"))
        return (struct value){r->operand->d, 32, false};
    r->bad = true;
    return number(r, 0, 32, false);
}

static struct value unary(struct reader *r)
{
    Z3_context z = r->smt->z;
    if (r->bad)
        return number(r, 0, 32, false);
    if (take_text(r, "(uint32_t)"))
        return convert(r, unary(r), 32, false);
    if (take_text(r, "(int32_t)"))
        return convert(r, unary(r), 32, true);
    if (take_text(r, "(uint64_t)"))
        return convert(r, unary(r), 64, false);
    if (take_text(r, "!"))
        return truth(r, Z3_mk_not(z, not_zero(r, unary(r))));
    bool flips = take_text(r, "~");
    if (flips || take_text(r, "-")) {
        struct value v = unary(r);
        v.term = flips ? Z3_mk_bvnot(z, v.term) : Z3_mk_bvneg(z, v.term);
        return v;
    }
    if (take_text(r, "(")) {
        r->at--;
        return inside(r);
    }
    return isdigit((unsigned char)*r->at) ? literal(r) : name_of(r);
}

/* Operators of C by how strongly they bind. */
struct infix {
    const char *text;
    unsigned level;
};
static const struct infix infixes[] = {
    {"==", 3}, {"!=", 3}, {"<<", 5}, {">>", 5}, {"*", 7}, {"+", 6},
    {"-", 6},  {"<", 4},  {">", 4},  {"&", 2},  {"^", 1}, {"|", 0},
};
#define LEVELS 8u

static const struct infix *take_infix(struct reader *r, unsigned level)
{
    for (unsigned i = 0; i < sizeof(infixes) / sizeof(infixes[0]); i++) {
        const char *before = r->at;
        if (!take_text(r, infixes[i].text))
            continue;
        r->at = infixes[i].level == level ? r->at : before;
        return infixes[i].level == level ? &infixes[i] : NULL;
    }
    return NULL;
}

/* A shift has the type of what it shifts. */
static struct value shift(struct reader *r, bool left, struct value x, struct value y)
{
    Z3_context z = r->smt->z;
    y = convert(r, y, x.bits, y.is_signed);
    if (left)
        x.term = Z3_mk_bvshl(z, x.term, y.term);
    else if (x.is_signed)
        x.term = Z3_mk_bvashr(z, x.term, y.term);
    else
        x.term = Z3_mk_bvlshr(z, x.term, y.term);
    return x;
}

static struct value compared(struct reader *r, const char *op, struct value x, struct value y)
{
    Z3_context z = r->smt->z;
    Z3_ast equal = Z3_mk_eq(z, x.term, y.term);
    if (op[0] == '=')
        return truth(r, equal);
    if (op[0] == '!')
        return truth(r, Z3_mk_not(z, equal));
    Z3_ast low = op[0] == '<' ? x.term : y.term;
    Z3_ast high = op[0] == '<' ? y.term : x.term;
    return truth(r, x.is_signed ? Z3_mk_bvslt(z, low, high) : Z3_mk_bvult(z, low, high));
}

static struct value apply(struct reader *r, const struct infix *op, struct value x, struct value y)
{
    Z3_context z = r->smt->z;
    if (op->level == 5)
        return shift(r, op->text[0] == '<', x, y);
    meet(r, &x, &y);
    if (op->level == 3 || op->level == 4)
        return compared(r, op->text, x, y);
    static Z3_ast (*const make[128])(Z3_context, Z3_ast, Z3_ast) = {
        ['*'] = Z3_mk_bvmul, ['+'] = Z3_mk_bvadd, ['-'] = Z3_mk_bvsub,
        ['&'] = Z3_mk_bvand, ['^'] = Z3_mk_bvxor, ['|'] = Z3_mk_bvor,
    };
    x.term = make[(unsigned char)op->text[0]](z, x.term, y.term);
    return x;
}

static struct value binary(struct reader *r, unsigned level)
{
    if (level == LEVELS)
        return unary(r);
    struct value x = binary(r, level + 1);
    const struct infix *op = NULL;
    while (!r->bad && (op = take_infix(r, level)))
        x = apply(r, op, x, binary(r, level + 1));
    return x;
}

static struct value ternary(struct reader *r)
{
    struct value x = binary(r, 0);
    if (r->bad || !take_text(r, "?"))
        return x;
    Z3_ast condition = not_zero(r, x);
    struct value yes = comma(r);
    expect(r, ":");
    struct value no = ternary(r);
    meet(r, &yes, &no);
    yes.term = Z3_mk_ite(r->smt->z, condition, yes.term, no.term);
    return yes;
}

static struct value comma(struct reader *r)
{
    struct value v = ternary(r);
    while (!r->bad && take_text(r, ","))
        v = ternary(r);
    return v;
}

static bool read_all(const struct smt *smt, const char *text, struct meaning *operand,
                     struct reader *r, struct value *ret)
{
    *r = (struct reader){.smt = smt, .at = text, .operand = operand};
    r->t = number(r, 0, 64, false);
    r->carry = (struct value){operand->carry, 32, false};
    *ret = comma(r);
    operand->carry = smt_plain(smt, r->carry.term);
    return take_text(r, "") && !r->bad && !*r->at;
}

bool meaning_value(const struct smt *smt, const char *text, struct meaning *operand, Z3_ast *ret)
{
    struct reader r;
    struct value v;
    if (!read_all(smt, text, operand, &r, &v))
        return false;
    *ret = smt_plain(smt, convert(&r, v, 32, false).term);
    return true;
}

bool meaning_condition(const struct smt *smt, const char *text, struct meaning *operand,
                       Z3_ast *ret)
{
    struct reader r;
    struct value v;
    if (!read_all(smt, text, operand, &r, &v))
        return false;
    *ret = smt_plain(smt, not_zero(&r, v));
    return true;
}
