/* SPDX-License-Identifier: MIT
 * A naive model of VP1's scalar unit, written from its reference alone: no table, no expression of
 * ours, one question after the other. G80, method code. */
#include "tests/model/vp1_model.h"

typedef uint32_t u32;

static u32 bits(u32 word, int low, int count)
{
    u32 result = 0;
    for (int i = 0; i < count; i++)
        if (word & ((u32)1 << (low + i)))
            result |= (u32)1 << i;
    return result;
}

static int32_t signed_bits(u32 word, int low, int count)
{
    int32_t result = (int32_t)bits(word, low, count);
    if (bits(word, low + count - 1, 1))
        result -= (int32_t)1 << count;
    return result;
}

static int byte(u32 word, int i, int is_signed)
{
    int value = (int)bits(word, 8 * i, 8);
    return is_signed && value >= 128 ? value - 256 : value;
}

static void write_a(struct vp1_model *m, u32 number, u32 value)
{
    if (number != 31)
        m->a[number] = value;
}

/* ---- flags ---- */

static void set_scalar_flags(struct vp1_model *m, u32 word, u32 eight)
{
    u32 cdst = bits(word, 0, 3);
    if (cdst < 4)
        m->c[cdst] = (m->c[cdst] & 0xff00) | eight;
}

static void flags_part(struct vp1_model *m, u32 word, u32 res)
{
    u32 f = 0;
    if (res == 0)
        f += 2;
    if (bits(res, 19, 1))
        f += 4 + 64;
    if (bits(res, 20, 1))
        f += 16;
    if (bits(res, 21, 1))
        f += 32;
    if (bits(res, 18, 1))
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
        m->c[cdst] |= 1;
    if (bits(res, 20, 1) != bits(s1, 20, 1))
        m->c[cdst] |= 8;
}

/* ---- sources ---- */

static u32 mangled(const struct vp1_model *m, u32 word)
{
    u32 k = m->c[bits(word, 3, 2)];
    u32 slct = bits(word, 5, 4);
    u32 src2 = bits(word, 9, 5);
    if (slct == 4)
        return (src2 / 4) * 4 + (src2 + k / 16) % 4;
    return bits(k, (int)slct, 1) ? src2 ^ 1 : src2;
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
    write_a(m, dst, res);
    flags_full(m, word, res, low == 11 ? 0 : s1);
}

static void bitop(struct vp1_model *m, u32 word)
{
    u32 s1 = m->a[bits(word, 14, 5)];
    u32 s2 = m->a[bits(word, 9, 5)];
    u32 res = 0;
    for (int i = 0; i < 32; i++) {
        int index = (int)bits(s1, i, 1) * 2 + (int)bits(s2, i, 1);
        res |= bits(word, 3 + index, 1) << i;
    }
    write_a(m, bits(word, 19, 5), res);
    flags_part(m, word, res);
}

static void logic_immediate(struct vp1_model *m, u32 word, u32 op)
{
    u32 s1 = m->a[bits(word, 14, 5)];
    u32 imm = (u32)signed_bits(word, 3, 11);
    u32 res = op == 0x62 ? s1 & imm : op == 0x63 ? s1 ^ imm : s1 | imm;
    write_a(m, bits(word, 19, 5), res);
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
    u32 s1 = m->a[bits(word, 14, 5)];
    u32 imm = bits(word, 3, 8);
    u32 s2 = op >= 0x20 ? imm + imm * 256 + imm * 65536 + imm * 16777216 : m->a[mangled(m, word)];
    u32 res = 0;
    for (int i = 0; i < 4; i++) {
        int value = byte_op(op % 16, byte(s1, i, is_signed), byte(s2, i, is_signed), is_signed);
        res |= ((u32)value & 0xff) << (8 * i);
    }
    write_a(m, bits(word, 19, 5), res);
    set_scalar_flags(m, word, 0);
}

static void byte_logic(struct vp1_model *m, u32 word, u32 op)
{
    u32 res = m->a[bits(word, 14, 5)];
    for (int i = 0; i < 4; i++) {
        u32 imm = bits(word, 3, 8) << (8 * i);
        if (op == 0x25)
            res &= imm | ~((u32)0xff << (8 * i));
        else if (op == 0x26)
            res |= imm;
        else
            res ^= imm;
    }
    write_a(m, bits(word, 19, 5), res);
    set_scalar_flags(m, word, 0);
}

static void bmul(struct vp1_model *m, u32 word, u32 op)
{
    int out_signed = !bits(op, 4, 1);
    u32 s1 = m->a[bits(word, 14, 5)];
    u32 res = 0;
    for (int i = 0; i < 4; i++) {
        int sign1 = (int)bits(word, 2, 1);
        int sign2 = (int)bits(word, 1, 1);
        u32 right = bits(m->a[bits(word, 9, 5)], 8 * i, 8);
        if (op == 0x21 || op == 0x31)
            right = (bits(word, 9, 5) + 32 * bits(word, 0, 1)) * 4;
        if (op == 0x22 || op == 0x32)
            right = bits(word, 0, 8);
        int p = byte(s1, i, sign1) * (sign1 ? 2 : 1) * byte(right, 0, sign2) * (sign2 ? 2 : 1);
        int divisor = out_signed ? 512 : 256;
        if (bits(word, 8, 1))
            p += divisor / 2;
        int r = p / divisor - (p % divisor < 0); /* towards minus infinity */
        res |= ((u32)clip(r, out_signed) & 0xff) << (8 * i);
    }
    write_a(m, bits(word, 19, 5), res);
}

/* ---- moves ---- */

static u32 *sr(struct vp1_model *m, u32 number, u32 *mask)
{
    *mask = 0;
    if (number == 3)
        *mask = 0xffffffff;
    if (number == 4)
        *mask = 3;
    if (number == 50)
        *mask = 0xffffffe3;
    if (number == 75)
        *mask = 15;
    if (number >= 76 && number <= 79)
        *mask = 0xfffff;
    if (number == 80)
        *mask = 0x111;
    return *mask ? &m->sr[number] : 0;
}

static u32 read_sr(struct vp1_model *m, u32 number)
{
    u32 mask;
    if (sr(m, number, &mask))
        return m->sr[number];
    if (number == 2)
        return 0x80001000;
    if (number == 11)
        return 4;
    return number == 13 ? 0x1000 : 0;
}

static void mov_to(struct vp1_model *m, u32 word)
{
    u32 file = bits(word, 3, 5);
    u32 i = bits(word, 19, 5);
    u32 value = m->a[bits(word, 14, 5)];
    u32 mask;
    if (file < 4)
        m->v[i][file] = value;
    if (file == 0x12)
        m->v[i][2] = value;
    if (file >= 8 && file <= 10 && sr(m, (file - 8) * 32 + i, &mask))
        m->sr[(file - 8) * 32 + i] = value & mask;
    if (file == 11 && i < 4)
        m->l[i] = value & 0xffff;
    if (file == 12)
        m->r[i] = value;
    if (file == 0x14)
        m->x[i] = value;
    if (file == 0x15)
        m->x[32 + i] = value;
    if (file == 0x16)
        m->d[i % 8] = value & 0x1ffff;
    if (file == 0x18)
        m->y[i % 16] = value;
}

static void mov_from(struct vp1_model *m, u32 word)
{
    u32 file = bits(word, 3, 5);
    u32 i = bits(word, 14, 5);
    u32 dst = bits(word, 19, 5);
    if (file < 4)
        write_a(m, dst, m->v[i][file]);
    if (file >= 8 && file <= 10)
        write_a(m, dst, read_sr(m, (file - 8) * 32 + i));
    if (file == 11)
        write_a(m, dst, m->l[i % 4]);
    if (file == 12)
        write_a(m, dst, m->r[i]);
    if (file == 13)
        write_a(m, dst, i < 4 ? m->c[i] : 0);
    if (file == 0x14)
        write_a(m, dst, m->x[i]);
    if (file == 0x15)
        write_a(m, dst, m->x[32 + i]);
    if (file == 0x16)
        write_a(m, dst, m->d[i % 8]);
    if (file == 0x17)
        write_a(m, dst, 0);
    if (file == 0x18)
        write_a(m, dst, m->y[i % 16]);
}

/* ---- all of it ---- */

static int is_one_of(u32 op, const unsigned char *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == op)
            return 1;
    return 0;
}

static void rest(struct vp1_model *m, u32 word, u32 op)
{
    static const unsigned char zero[] = {0x1f, 0x40, 0x43, 0x44, 0x46, 0x47, 0x50, 0x52, 0x53,
                                         0x54, 0x55, 0x56, 0x57, 0x5f, 0x2f, 0x3f, 0x60, 0x66,
                                         0x67, 0x6f, 0x70, 0x72, 0x73, 0x74, 0x76, 0x77, 0x7f};
    u32 dst = bits(word, 19, 5);
    if (op == 0x65)
        write_a(m, dst, (u32)signed_bits(word, 0, 19));
    else if (op == 0x75)
        write_a(m, dst, m->a[dst] % 65536 + bits(word, 0, 16) * 65536);
    else if (op == 0x6a)
        mov_to(m, word);
    else if (op == 0x6b)
        mov_from(m, word);
    else if (op == 0x45)
        write_a(m, bits(word, 14, 5), shift(m->a[bits(word, 14, 5)], 4, 1));
    else if (is_one_of(op, zero, sizeof(zero)))
        set_scalar_flags(m, word, 0);
}

void vp1_model_scalar(struct vp1_model *m, uint32_t word)
{
    static const unsigned char registers[] = {0x41, 0x51, 0x48, 0x58, 0x49, 0x59, 0x4a, 0x5a,
                                              0x4b, 0x5b, 0x4c, 0x5c, 0x4d, 0x5d, 0x4e, 0x5e};
    static const unsigned char immediates[] = {0x61, 0x71, 0x68, 0x78, 0x69, 0x79, 0x7a,
                                               0x7b, 0x6c, 0x7c, 0x6d, 0x7d, 0x6e, 0x7e};
    u32 op = bits(word, 24, 8);
    u32 s1 = m->a[bits(word, 14, 5)];
    if (is_one_of(op, registers, sizeof(registers)))
        word_op(m, word, op % 16, s1, m->a[mangled(m, word)]);
    else if (is_one_of(op, immediates, sizeof(immediates)))
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
