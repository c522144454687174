/* SPDX-License-Identifier: MIT
 * A naive model of what multiplies and adds in VP1's vector unit, written from the reference and
 * the measured model of envytools' tester: A + B*C + D*E into $va, and a part of it to $v. */
#include "tests/model/vp1_model_unit.h"

/* One multiplication, opcode by opcode. */
struct mad {
    int is_int, is_signed, low, rounds, shift;
    int64_t a, b, c, d, e;
    int to_va, to_v;
};

static int64_t times_two(int64_t value, int times)
{
    for (; times > 0; times--)
        value *= 2;
    return value;
}

static int64_t halves(int64_t value, int times)
{
    for (; times > 0; times--)
        value = value < 0 ? (value - 1) / 2 : value / 2; /* towards minus infinity */
    return value;
}

static int64_t wrapped(int64_t value) /* to 28 bits with sign */
{
    value %= 268435456;
    if (value < 0)
        value += 268435456;
    return value >= 134217728 ? value - 268435456 : value;
}

static int signed_byte(int value)
{
    value &= 0xff;
    return value >= 128 ? value - 256 : value;
}

/* A source: a fraction with sign has seven bits behind its point, one without has eight. */
static int input(const struct mad *x, int value, int has_sign)
{
    if (!has_sign)
        return value & 0xff;
    return x->is_int ? signed_byte(value) : 2 * signed_byte(value);
}

/* How far $v's high byte lies above bit 0 of the sum, and a byte. */
static int scale(const struct mad *x)
{
    return (x->is_int ? 16 : x->is_signed ? 9 : 8) - x->shift;
}

/* Factors of the path, as numbers or as bits of masks. */
static void factors(const struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i,
                    int as_mask, struct mad *x)
{
    int k = vp1_model_mask(m, word, path, i);
    x->c = path->factor[k];
    x->e = path->factor[2 + k];
    if (as_mask) {
        x->c = bits((u32)path->factor[i / 8], 1 + i % 8, 1) ? 0x100 : 0;
        x->e = bits((u32)path->factor[2 + i / 8], 1 + i % 8, 1) ? 0x100 : 0;
    }
}

/* ---- 80 to 87, 90 to 97, a0 to a7, b0 to b2: fields of their own ---- */

static void read_fields(struct mad *x, u32 word, u32 op)
{
    x->is_int = (int)bits(word, 3, 1);
    x->low = (int)bits(word, 4, 1);
    x->shift = signed_bits(word, 5, 3);
    x->rounds = (int)bits(word, 8, 1);
    x->is_signed = !bits(op, 4, 1);
    x->to_va = 1;
    x->to_v = is_in(op, "81 91 a1 b1 82 92 a2 b2 85 95 87 97 a7 ");
}

static void plain(const struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i,
                  struct mad *x)
{
    u32 op = bits(word, 24, 8);
    u32 src1 = bits(word, 14, 5);
    int sign1 = (int)bits(word, 2, 1);
    int sign2 = (int)bits(word, 1, 1);
    int y = m->was.v[bits(word, 9, 5)][i];
    if (op >= 0xa0)
        y = (int)(bits(word, 9, 5) + 32 * bits(word, 0, 1)) * 4;
    if (op == 0xb0)
        y = (int)bits(word, 0, 8);
    read_fields(x, word, op);
    x->b = input(x, m->was.v[src1][i], sign1);
    x->c = input(x, y, sign2);
    if (op % 16 >= 4) {
        u32 other = is_in(op, "96 a6 a7 ") ? bits(word, 4, 5) : src1 | 1;
        factors(m, word, path, i, (int)bits(word, 0, 1), x);
        x->d = input(x, m->was.v[other][i], sign1);
    }
    if (is_in(op, "82 92 a2 b2 83 93 a3 86 96 a6 87 97 a7 "))
        x->a = m->was.va[i];
    if (is_in(op, "84 85 95 "))
        x->a = times_two(input(x, y, sign2), scale(x));
}

/* ---- 90, b3 to b7: interpolation ---- */

/* Component of the register at @p step in the quad of SRC1 that $c[COND] begins. */
static int quad(const struct vp1_model *m, u32 word, u32 step, int i)
{
    u32 src1 = bits(word, 14, 5);
    u32 k = m->was.c[bits(word, 3, 2)];
    return m->was.v[src1 / 4 * 4 + (src1 + k / 16 + step) % 4][i];
}

static void interpolate_one(const struct vp1_model *m, u32 word, int i, struct mad *x) /* 90 */
{
    u32 src1 = bits(word, 14, 5);
    int base = m->was.v[src1 | 1][i];
    x->rounds = (int)bits(word, 8, 1);
    x->shift = signed_bits(word, 5, 3);
    x->a = times_two(base, scale(x));
    x->b = m->was.v[src1][i] - base;
    x->c = m->was.v[bits(word, 9, 5)][i];
    x->to_v = 1;
}

static void interpolate_two(const struct vp1_model *m, u32 word, const struct vp1_model_path *path,
                            int i, struct mad *x) /* b3, b4 */
{
    int is_b3 = bits(word, 24, 8) == 0xb3;
    int has_sign = is_b3 && bits(word, 9, 1);
    int q0 = quad(m, word, 0, i);
    factors(m, word, path, i, 0, x);
    x->rounds = (int)bits(word, 8, 1);
    x->shift = signed_bits(word, 5, 3);
    x->is_signed = is_b3 && bits(word, 12, 1);
    x->low = !is_b3;
    x->to_v = is_b3;
    x->to_va = !is_b3 || bits(word, 11, 1);
    x->a = times_two(input(x, is_b3 && bits(word, 10, 1) ? q0 ^ 0x80 : q0, has_sign), scale(x));
    x->b = input(x, quad(m, word, 2, i), has_sign) - input(x, q0, has_sign);
    x->d = input(x, quad(m, word, 3, i), has_sign) - input(x, q0, has_sign);
}

static void interpolate_from(const struct vp1_model *m, u32 word, const struct vp1_model_path *path,
                             int i, struct mad *x) /* b5 */
{
    int q3 = quad(m, word, 3, i);
    factors(m, word, path, i, 0, x);
    x->rounds = (int)bits(word, 8, 1);
    x->shift = signed_bits(word, 5, 3);
    x->low = 1;
    x->to_va = 1;
    x->a = times_two(signed_byte(m->was.v[bits(word, 9, 5)][i]), scale(x));
    x->b = quad(m, word, 2, i) - q3;
    x->d = q3;
}

static void interpolate_rest(const struct vp1_model *m, u32 word, const struct vp1_model_path *path,
                             int i, struct mad *x) /* b6, b7 */
{
    u32 src1 = bits(word, 14, 5);
    int p0 = m->was.v[vp1_model_chosen(m, word, src1)][i];
    int p1 = bits(word, 5, 4) == 4 ? quad(m, word, 1, i) : p0;
    factors(m, word, path, i, 0, x);
    x->rounds = (int)bits(word, 9, 1);
    x->shift = signed_bits(word, 11, 3);
    x->is_signed = bits(word, 24, 8) == 0xb7;
    x->to_v = x->to_va = 1;
    x->a = m->was.va[i];
    x->b = p1 - p0;
    x->d = m->was.vx[i] - p0;
}

/* ---- the sum ---- */

static int64_t sum_of(const struct vp1_model *m, const struct mad *x)
{
    int64_t sum = x->b * x->c + x->d * x->e;
    sum = x->a + (x->is_int ? 256 * sum : sum);
    int dropped = scale(x) - (x->low ? 8 : 0);
    if (x->rounds && dropped > 0) {
        sum += times_two(1, dropped - 1);
        if (m->was.sr[80] % 2)
            sum -= 1;
    }
    return wrapped(sum);
}

static uint8_t part_of(const struct mad *x, int64_t sum)
{
    int dropped = scale(x) - 8;
    int64_t low = x->is_signed ? -32768 : 0;
    int64_t high = x->is_signed ? 32767 : 65535;
    int64_t w = dropped >= 0 ? halves(sum, dropped) : times_two(sum, -dropped);
    w = w < low ? low : w > high ? high : w;
    return (uint8_t)((x->low ? w : halves(w, 8)) & 0xff);
}

int vp1_model_mad(struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i,
                  uint8_t *ret)
{
    struct mad x = {0};
    u32 op = bits(word, 24, 8);
    if (is_in(op, "80 a0 b0 81 91 a1 b1 83 93 a3 82 92 a2 b2 84 85 95 86 87 97 96 a6 a7 "))
        plain(m, word, path, i, &x);
    else if (op == 0x90)
        interpolate_one(m, word, i, &x);
    else if (op == 0xb3 || op == 0xb4)
        interpolate_two(m, word, path, i, &x);
    else if (op == 0xb5)
        interpolate_from(m, word, path, i, &x);
    else if (op == 0xb6 || op == 0xb7)
        interpolate_rest(m, word, path, i, &x);
    else
        return 0;
    int64_t sum = sum_of(m, &x);
    if (x.to_va)
        m->is.va[i] = (int32_t)sum;
    *ret = part_of(&x, sum);
    return x.to_v;
}
