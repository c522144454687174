/* SPDX-License-Identifier: MIT
 * A naive model of VP1's vector unit, but for what multiplies (vp1_model_mad.c), written from the
 * reference and the measured model of envytools' tester. */
#include "tests/model/vp1_model_unit.h"

/* What one component comes to. */
struct result {
    int value;
    int sign, zero;       /* its flags */
    int has_value, flags; /* whether $v and $vc are written */
};

static int as_byte(int value, int is_signed)
{
    value &= 0xff;
    return is_signed && value >= 128 ? value - 256 : value;
}

/* ---- masks ---- */

int vp1_model_mask(const struct vp1_model *m, u32 word, const struct vp1_model_path *path, int i)
{
    static const uint8_t from[8][16] = {
        {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
        {2, 2, 2, 2, 6, 6, 6, 6, 10, 10, 10, 10, 14, 14, 14, 14},
        {4, 5, 4, 5, 4, 5, 4, 5, 12, 13, 12, 13, 12, 13, 12, 13},
        {0, 0, 2, 0, 4, 4, 6, 4, 8, 8, 10, 8, 12, 12, 14, 12},
        {1, 1, 1, 3, 5, 5, 5, 7, 9, 9, 9, 11, 13, 13, 13, 15},
        {0, 0, 2, 2, 4, 4, 6, 6, 8, 8, 10, 10, 12, 12, 14, 14},
        {1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13},
        {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
    };
    u32 op = bits(word, 24, 8);
    int family = op == 0x8f || (op % 16 < 8 && op != 0x90 && (op < 0xb3 || op > 0xb7));
    int takes_path = path->is_valid && family;
    u32 number = takes_path ? (u32)path->vc : bits(word, 0, 2);
    int half = takes_path ? path->is_zero_flags : (int)bits(word, 2, 1);
    int bit = from[takes_path ? path->transform : 0][i];
    if (bit >= 16)
        return (int)bits(m->was.vc[number | 1], bit - 16 + 16 * half, 1);
    return (int)bits(m->was.vc[number], bit + 16 * half, 1);
}

/* ---- arithmetic ---- */

static int clipped(int value, int is_signed)
{
    int low = is_signed ? -128 : 0;
    int high = is_signed ? 127 : 255;
    return value < low ? low : value > high ? high : value;
}

static int shifted(int x, int amount)
{
    int n = amount & 15;
    for (n = n >= 8 ? n - 16 : n; n < 0; n++)
        x *= 2;
    for (; n > 0; n--)
        x = x < 0 ? (x - 1) / 2 : x / 2; /* towards minus infinity */
    return x;
}

static int sum_of(u32 low, int x, int y)
{
    switch (low) {
    case 8:
        return x < y ? x : y;
    case 9:
        return x > y ? x : y;
    case 10:
        return x < 0 ? -x : x;
    case 11:
        return -x;
    case 12:
        return x + y;
    default:
        return x - y;
    }
}

static struct result arithmetic(u32 op, int x, int y)
{
    int is_signed = !bits(op, 4, 1);
    int sum = sum_of(op % 16, as_byte(x, is_signed), as_byte(y, is_signed));
    int value = clipped(sum, is_signed);
    int sign = is_signed ? sum < 0 : (sum & 0x100) != 0;
    return (struct result){value, sign, value == 0, 1, 1};
}

static struct result logic(u32 table, int x, int y)
{
    int value = 0;
    for (int i = 0; i < 8; i++)
        value |= (int)bits(table, 2 * (x >> i & 1) + (y >> i & 1), 1) << i;
    return (struct result){value, 0, value == 0, 1, 1};
}

/* The one in the middle of three. */
static struct result clip(int x, int y, int z)
{
    x = as_byte(x, 1), y = as_byte(y, 1), z = as_byte(z, 1);
    int low = x < y ? x : y;
    int high = x < y ? y : x;
    int value = z < low ? low : z > high ? high : z;
    return (struct result){value, !(y < x && x < z), value == 0, 1, 1};
}

static struct result smallest_size(int x, int y)
{
    x = as_byte(x, 1), y = as_byte(y, 1);
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    int value = clipped(x < y ? x : y, 1);
    return (struct result){value, 0, value == 0, 1, 1};
}

/* Nine signed bits of a lane of two components. */
static struct result add_nine(const uint8_t *low, const uint8_t *high, int x, int i)
{
    const uint8_t *lane = (i < 8 ? low : high) + 2 * (i % 8);
    int sum = x + signed_bits(lane[0] + 256 * (u32)lane[1], 0, 9);
    int value = clipped(sum, 0);
    return (struct result){value, (sum & 0x100) != 0, value == 0, 1, 1};
}

static struct result pick(const uint8_t *first, const uint8_t *other, u32 how, int turned)
{
    u32 component = turned ? how / 16 : how % 16;
    u32 which = turned ? how % 2 : how / 16 % 2;
    return (struct result){which ? other[component] : first[component], 0, 0, 1, 0};
}

/* Absolute difference against a limit. */
static struct result compare(const struct vp1_model *m, u32 word, const struct vp1_model_path *path,
                             int i)
{
    u32 src1 = bits(word, 14, 5);
    u32 src2 = vp1_model_chosen(m, word, bits(word, 9, 5));
    int gap = m->was.v[src1][i] - m->was.v[src2][i];
    int limit = m->was.v[src1 | 1][i];
    gap = gap < 0 ? -gap : gap;
    int which = 2 * (gap < limit) + vp1_model_mask(m, word, path, i);
    return (struct result){0, (int)bits(word, 19 + which, 1), gap == limit, 0, 1};
}

/* ---- one component, and all ---- */

static struct result component(struct vp1_model *m, u32 word, const struct vp1_model_path *path,
                               int i)
{
    const struct result nothing = {0, 0, 0, 0, 0};
    u32 op = bits(word, 24, 8);
    const uint8_t *first = m->was.v[bits(word, 14, 5)];
    const uint8_t *other = m->was.v[bits(word, 9, 5)];
    const uint8_t *third = m->was.v[bits(word, 4, 5)];
    int imm = (int)bits(word, 3, 8);
    int y = op >= 0xa0 ? imm : other[i];
    uint8_t byte = 0;
    switch (op) {
    case 0x88:
    case 0x98:
    case 0xa8:
    case 0xb8:
    case 0x89:
    case 0x99:
    case 0xa9:
    case 0xb9:
    case 0x8a:
    case 0x9a:
    case 0x8b:
    case 0x8c:
    case 0x9c:
    case 0xac:
    case 0xbc:
    case 0x8d:
    case 0x9d:
    case 0xbd:
        return arithmetic(op, first[i], y);
    case 0x8e:
    case 0xae:
    case 0x9e:
    case 0xbe:
        y = shifted(as_byte(first[i], op % 32 < 16), y) & 0xff;
        return (struct result){y, y >= 128, y == 0, 1, 1};
    case 0x94:
        return logic(bits(word, 3, 4), first[i], y);
    case 0xaa:
        return logic(8, first[i], imm);
    case 0xab:
        return logic(6, first[i], imm);
    case 0xaf:
        return logic(14, first[i], imm);
    case 0xba:
        return logic(12, first[i], imm);
    case 0xad:
        return (struct result){imm, imm >= 128, imm == 0, 1, 1};
    case 0xbb:
        return (struct result){(int)bits(m->was.vc[i / 4], i % 4 * 8, 8), 0, 0, 1, 0};
    case 0x9b:
        return pick(first, other, third[i], (int)bits(word, 3, 1));
    case 0x9f:
        return add_nine(other, third, first[i], i);
    case 0xa4:
        return clip(first[i], other[i], third[i]);
    case 0xa5:
        return smallest_size(first[i], other[i]);
    case 0x8f:
        return compare(m, word, path, i);
    default:
        if (vp1_model_mad(m, word, path, i, &byte))
            return (struct result){byte, 0, 0, 1, 0};
        return nothing;
    }
}

void vp1_model_vector(struct vp1_model *m, u32 word, const struct vp1_model_path *path)
{
    u32 cdst = bits(word, 0, 3);
    u32 flags = 0;
    int has_flags = 0;
    for (int i = 0; i < 16; i++) {
        struct result r = component(m, word, path, i);
        if (r.has_value)
            m->is.v[bits(word, 19, 5)][i] = (uint8_t)(r.value & 0xff);
        flags |= (u32)r.sign << i | (u32)r.zero << (16 + i);
        has_flags = r.flags;
    }
    if (has_flags && cdst < 4)
        m->is.vc[cdst] = flags;
}
