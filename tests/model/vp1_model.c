/* SPDX-License-Identifier: MIT
 * A naive model of VP1's scalar unit, written from its reference alone: no table, no expression of
 * ours, one question after the other. Method code. */
#include "tests/model/vp1_model_unit.h"

void vp1_model_write_a(struct vp1_model *m, u32 number, u32 value)
{
    if (number != 31)
        m->is.a[number] = value;
}

/* ---- flags ---- */

static void set_scalar_flags(struct vp1_model *m, u32 word, u32 eight)
{
    u32 cdst = bits(word, 0, 3);
    if (cdst < 4)
        m->is.c[cdst] = (m->is.c[cdst] & 0xff00) | eight;
}

static void flags_part(struct vp1_model *m, u32 word, u32 res)
{
    u32 f = 0;
    if (res == 0)
        f += 2;
    if (bits(res, 19, 1))
        f += m->is_g80 ? 4 + 64 : 4;
    if (bits(res, 20, 1))
        f += 16;
    if (bits(res, 21, 1))
        f += 32;
    if (bits(res, 18, 1) && m->is_g80)
        f += 128;
    set_scalar_flags(m, word, f);
}

static void flags_full(struct vp1_model *m, u32 word, u32 res, u32 s1)
{
    flags_part(m, word, res);
    u32 cdst = bits(word, 0, 3);
    if (cdst >= 4)
        return;
    if (bits(res, 31, 1))
        m->is.c[cdst] |= 1;
    if (bits(res, 20, 1) != bits(s1, 20, 1))
        m->is.c[cdst] |= 8;
}

/* ---- sources ---- */

u32 vp1_model_chosen(const struct vp1_model *m, u32 word, u32 number)
{
    u32 k = m->was.c[bits(word, 3, 2)];
    u32 slct = bits(word, 5, 4);
    if (slct == 4)
        return (number / 4) * 4 + (number + k / 16) % 4;
    return bits(k, (int)slct, 1) ? number ^ 1 : number;
}

static u32 mangled(const struct vp1_model *m, u32 word)
{
    return vp1_model_chosen(m, word, bits(word, 9, 5));
}

static u32 shift(u32 s1, u32 s2, int arithmetic)
{
    int n = signed_bits(s2, 0, 6);
    if (n == -32)
        return s1;
    if (n < 0) {
        for (; n < 0; n++)
            s1 = s1 * 2;
        return s1;
    }
    for (; n > 0; n--) {
        u32 top = arithmetic ? s1 & 0x80000000 : 0;
        s1 = s1 / 2 + top;
    }
    return s1;
}

/* ---- arithmetic on words ---- */

static void word_op(struct vp1_model *m, u32 word, u32 low, u32 s1, u32 s2)
{
    u32 dst = bits(word, 19, 5);
    int32_t x = (int32_t)s1;
    int32_t y = (int32_t)s2;
    u32 res = 0;
    if (low == 1)
        res = (u32)(signed_bits(s1, 0, 16) * signed_bits(s2, 0, 16));
    if (low == 8)
        res = x < y ? s1 : s2;
    if (low == 9)
        res = x > y ? s1 : s2;
    if (low == 10)
        res = x < 0 ? 0 - s1 : s1;
    if (low == 11)
        res = 0 - s1;
    if (low == 12)
        res = s1 + s2;
    if (low == 13)
        res = s1 - s2;
    if (low == 14)
        res = shift(s1, s2, !bits(word, 28, 1));
    vp1_model_write_a(m, dst, res);
    flags_full(m, word, res, low == 11 ? 0 : s1);
}

static void bitop(struct vp1_model *m, u32 word)
{
    u32 s1 = m->was.a[bits(word, 14, 5)];
    u32 s2 = m->was.a[bits(word, 9, 5)];
    u32 res = 0;
    for (int i = 0; i < 32; i++) {
        int index = (int)bits(s1, i, 1) * 2 + (int)bits(s2, i, 1);
        res |= bits(word, 3 + index, 1) << i;
    }
    vp1_model_write_a(m, bits(word, 19, 5), res);
    flags_part(m, word, res);
}

static void logic_immediate(struct vp1_model *m, u32 word, u32 op)
{
    u32 s1 = m->was.a[bits(word, 14, 5)];
    u32 imm = (u32)signed_bits(word, 3, 11);
    u32 res = op == 0x62 ? s1 & imm : op == 0x63 ? s1 ^ imm : s1 | imm;
    vp1_model_write_a(m, bits(word, 19, 5), res);
    flags_part(m, word, res);
}

/* ---- arithmetic on bytes ---- */

static int clip(int value, int is_signed)
{
    int low = is_signed ? -128 : 0;
    int high = is_signed ? 127 : 255;
    if (value < low)
        return low;
    return value > high ? high : value;
}

static int byte_shift(int x, int amount)
{
    int n = amount % 16;
    n = n < 0 ? n + 16 : n;
    n = n >= 8 ? n - 16 : n;
    for (; n < 0; n++)
        x = x * 2;
    for (; n > 0; n--)
        x = x < 0 ? (x - 1) / 2 : x / 2; /* towards minus infinity */
    return x & 0xff;
}

static int byte_op(u32 low, int x, int y, int is_signed)
{
    switch (low) {
    case 8:
        return x < y ? x : y;
    case 9:
        return x > y ? x : y;
    case 10:
        return clip(x < 0 ? -x : x, is_signed);
    case 11:
        return clip(-x, is_signed);
    case 12:
        return clip(x + y, is_signed);
    case 13:
        return clip(x - y, is_signed);
    default:
        return byte_shift(x, y);
    }
}

static void bytes(struct vp1_model *m, u32 word, u32 op)
{
    int is_signed = !bits(op, 4, 1);
    u32 s1 = m->was.a[bits(word, 14, 5)];
    u32 imm = bits(word, 3, 8);
    u32 s2 =
        op >= 0x20 ? imm + imm * 256 + imm * 65536 + imm * 16777216 : m->was.a[mangled(m, word)];
    u32 res = 0;
    for (int i = 0; i < 4; i++) {
        int value =
            byte_op(op % 16, byte_at(s1, i, is_signed), byte_at(s2, i, is_signed), is_signed);
        res |= ((u32)value & 0xff) << (8 * i);
    }
    vp1_model_write_a(m, bits(word, 19, 5), res);
    set_scalar_flags(m, word, 0);
}

static void byte_logic(struct vp1_model *m, u32 word, u32 op)
{
    u32 res = m->was.a[bits(word, 14, 5)];
    for (int i = 0; i < 4; i++) {
        u32 imm = bits(word, 3, 8) << (8 * i);
        if (op == 0x25)
            res &= imm | ~((u32)0xff << (8 * i));
        else if (op == 0x26)
            res |= imm;
        else
            res ^= imm;
    }
    vp1_model_write_a(m, bits(word, 19, 5), res);
    set_scalar_flags(m, word, 0);
}

static void bmul(struct vp1_model *m, u32 word, u32 op)
{
    int out_signed = !bits(op, 4, 1);
    u32 s1 = m->was.a[bits(word, 14, 5)];
    u32 res = 0;
    for (int i = 0; i < 4; i++) {
        int sign1 = (int)bits(word, 2, 1);
        int sign2 = (int)bits(word, 1, 1);
        u32 right = bits(m->was.a[bits(word, 9, 5)], 8 * i, 8);
        if (op == 0x21 || op == 0x31)
            right = (bits(word, 9, 5) + 32 * bits(word, 0, 1)) * 4;
        if (op == 0x22 || op == 0x32)
            right = bits(word, 0, 8);
        int p =
            byte_at(s1, i, sign1) * (sign1 ? 2 : 1) * byte_at(right, 0, sign2) * (sign2 ? 2 : 1);
        int divisor = out_signed ? 512 : 256;
        if (bits(word, 8, 1))
            p += divisor / 2;
        int r = p / divisor - (p % divisor < 0); /* towards minus infinity */
        res |= ((u32)clip(r, out_signed) & 0xff) << (8 * i);
    }
    vp1_model_write_a(m, bits(word, 19, 5), res);
}

/* ---- all of it ---- */

static void rest(struct vp1_model *m, u32 word, u32 op)
{
    u32 dst = bits(word, 19, 5);
    if (op == 0x65)
        vp1_model_write_a(m, dst, (u32)signed_bits(word, 0, 19));
    else if (op == 0x75)
        vp1_model_write_a(m, dst, m->was.a[dst] % 65536 + bits(word, 0, 16) * 65536);
    else if (op == 0x6a || op == 0x6b)
        vp1_model_move(m, word);
    else if (op == 0x45)
        vp1_model_write_a(m, bits(word, 14, 5), shift(m->was.a[bits(word, 14, 5)], 4, 1));
    else if (is_in(op,
                   "1f 40 43 44 46 47 50 52 53 54 55 56 57 5f 2f 3f 60 66 67 6f 70 72 73 74 76 77 "
                   "7f "))
        set_scalar_flags(m, word, 0);
}

void vp1_model_scalar(struct vp1_model *m, u32 word)
{
    u32 op = bits(word, 24, 8);
    u32 s1 = m->was.a[bits(word, 14, 5)];
    if (is_in(op, "41 51 48 58 49 59 4a 5a 4b 5b 4c 5c 4d 5d 4e 5e "))
        word_op(m, word, op % 16, s1, m->was.a[mangled(m, word)]);
    else if (is_in(op, "61 71 68 78 69 79 7a 7b 6c 7c 6d 7d 6e 7e "))
        word_op(m, word, op % 16, s1, (u32)signed_bits(word, 3, 11));
    else if (op == 0x42)
        bitop(m, word);
    else if (op >= 0x62 && op <= 0x64)
        logic_immediate(m, word, op);
    else if (op < 0x40 && op % 16 >= 8 && op % 16 <= 14)
        bytes(m, word, op);
    else if (op >= 0x25 && op <= 0x27)
        byte_logic(m, word, op);
    else if (op < 0x40 && (op % 16 == 1 || op % 16 == 2))
        bmul(m, word, op);
    else
        rest(m, word, op);
}
