/* SPDX-License-Identifier: MIT
 * A naive model of VP1: `mov` to and from other register files, and what the scalar unit sends to
 * the vector unit. */
#include "tests/model/vp1_model_unit.h"

/* ---- moves ---- */

static u32 sr_mask(const struct vp1_model *m, u32 number)
{
    if (number == 3)
        return 0xffffffff;
    if (number == 4)
        return 3;
    if (number == (m->is_g80 ? 50 : 38))
        return 0xffffffe3;
    if (number == 75)
        return 15;
    if (number >= 76 && number <= 79)
        return 0xfffff;
    return number == 80 ? 0x111 : 0;
}

static u32 read_sr(const struct vp1_model *m, u32 number)
{
    if (sr_mask(m, number) || number == 64)
        return m->was.sr[number];
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
    u32 value = m->was.a[bits(word, 14, 5)];
    if (file < 4 || file == 0x12)
        for (u32 k = 0; k < 4; k++)
            m->is.v[i][file % 16 * 4 + k] = (uint8_t)bits(value, 8 * (int)k, 8);
    if (file >= 8 && file <= 10 && sr_mask(m, (file - 8) * 32 + i))
        m->is.sr[(file - 8) * 32 + i] = value & sr_mask(m, (file - 8) * 32 + i);
    if (file == 11 && i < 4)
        m->is.l[i] = value & 0xffff;
    if (file == 12)
        m->is.r[i] = value;
    if (file == 0x14)
        m->is.x[i] = value;
    if (file == 0x15)
        m->is.x[32 + i] = value;
    if (file == 0x16 && m->is_g80)
        m->is.d[i % 8] = value & 0x1ffff;
    if (file == 0x18 && m->is_g80)
        m->is.y[i % 16] = value;
}

static void mov_from(struct vp1_model *m, u32 word)
{
    u32 file = bits(word, 3, 5);
    u32 i = bits(word, 14, 5);
    u32 dst = bits(word, 19, 5);
    if (file < 4)
        vp1_model_write_a(m, dst, word_of(m->was.v[i] + 4 * file));
    if (file >= 8 && file <= 10)
        vp1_model_write_a(m, dst, read_sr(m, (file - 8) * 32 + i));
    if (file == 11)
        vp1_model_write_a(m, dst, m->was.l[i % 4]);
    if (file == 12)
        vp1_model_write_a(m, dst, m->was.r[i]);
    if (file == 13)
        vp1_model_write_a(m, dst, i < 4 ? m->was.c[i] : 0);
    if (file == 0x14)
        vp1_model_write_a(m, dst, m->was.x[i]);
    if (file == 0x15)
        vp1_model_write_a(m, dst, m->was.x[32 + i]);
    if (file == 0x16 && m->is_g80)
        vp1_model_write_a(m, dst, m->was.d[i % 8]);
    if (file == 0x17)
        vp1_model_write_a(m, dst, 0);
    if (file == 0x18 && m->is_g80)
        vp1_model_write_a(m, dst, m->was.y[i % 16]);
}

void vp1_model_move(struct vp1_model *m, u32 word)
{
    u32 cdst = bits(word, 0, 3);
    if (bits(word, 24, 8) == 0x6a)
        mov_to(m, word);
    else
        mov_from(m, word);
    if (m->mov_clears && cdst < 4)
        m->is.c[cdst] &= 0xff00;
}

/* ---- the path to the vector unit ---- */

static int ten_bits(int value)
{
    return signed_bits((u32)value, 0, 10);
}

static int halved(int value, int times)
{
    for (; times > 0; times--)
        value = value < 0 ? (value - 1) / 2 : value / 2; /* towards minus infinity */
    return value;
}

/* Each of the lowest four bits of $a[SRC1] is four bits of a mask. */
static void send_mask(struct vp1_model_path *path, u32 nibble)
{
    path->factor[0] = (bits(nibble, 0, 1) ? 0x1e : 0) + (bits(nibble, 1, 1) ? 0x1e0 : 0);
    path->factor[1] = (bits(nibble, 2, 1) ? 0x1e : 0) + (bits(nibble, 3, 1) ? 0x1e0 : 0);
}

static void send_products(const struct vp1_model *m, struct vp1_model_path *path, u32 word)
{
    u32 op = bits(word, 24, 8);
    u32 left = m->was.a[bits(word, 14, 5)];
    u32 src2 = bits(word, 9, 5);
    int is_bmul = op % 16 < 4; /* of the others nothing but the plain product is left */
    int sign1 = is_bmul && bits(word, 2, 1);
    int sign2 = is_bmul && bits(word, 1, 1);
    for (int i = 0; i < 4; i++) {
        u32 right = bits(m->was.a[op == 0x1f ? vp1_model_chosen(m, word, src2) : src2], 8 * i, 8);
        if (op >= 0x20)
            right = op % 16 == 15  ? bits(word, 3, 8)
                    : op % 16 == 1 ? 4 * (src2 + 32 * bits(word, 0, 1))
                                   : bits(word, 0, 8);
        int product =
            byte_at(left, i, sign1) * (sign1 ? 2 : 1) * byte_at(right, 0, sign2) * (sign2 ? 2 : 1);
        if (is_bmul && op % 4 != 0 && bits(word, 8, 1))
            product += bits(op, 4, 1) ? 0x80 : 0x100;
        path->factor[i] = ten_bits(is_bmul && op % 4 < 2 ? halved(product, 8) : product);
    }
}

static void send_sums(const struct vp1_model *m, struct vp1_model_path *path, u32 word)
{
    int selects = bits(word, 24, 8) == 5;
    u32 k = m->was.c[bits(word, 3, 2)];
    u32 slct = bits(word, 5, 4);
    u32 u = slct == 4 ? bits(k, 4, 2) : bits(k, (int)slct, 1);
    u32 first = m->was.a[bits(word, 9, 5) | u];
    u32 second = m->was.a[bits(word, 9, 5) | 2 | u];
    int factor = (int)bits(m->was.a[bits(word, 14, 5)], 11, selects ? 7 : 8);
    for (int i = 0; i < 4; i++)
        path->factor[i] =
            halved(byte_at(first, i, 1) * 256 + factor * byte_at(second, i, 1) + 0x40, 7);
    if (selects && slct == 2 && bits(k, 7, 1)) {
        path->factor[0] = path->factor[1];
        path->factor[2] = path->factor[3];
    } else if (selects) {
        path->factor[1] = path->factor[0];
        path->factor[3] = path->factor[2];
    }
}

static void send_bytes(struct vp1_model_path *path, u32 value)
{
    for (int i = 0; i < 4; i++)
        path->factor[i] = 2 * byte_at(value, i, 1);
}

static void send_immediates(struct vp1_model_path *path, u32 word)
{
    path->factor[0] = path->factor[1] = signed_bits(word, 1, 9);
    path->factor[2] = path->factor[3] = signed_bits(word, 10, 9);
}

/* Opcodes that take the way of a product without being one. */
static int is_product(u32 op)
{
    if (op == 0x1f || op == 0x2f || op == 0x3f)
        return 1;
    if (op == 6 || op == 7 || (op >= 0x14 && op <= 0x17) || (op >= 0x34 && op <= 0x37))
        return 1;
    return op < 0x40 && op % 16 < 4;
}

struct vp1_model_path vp1_model_send(const struct vp1_model *m, u32 word)
{
    struct vp1_model_path path = {{0, 0, 0, 0}, 0, 0, 0, 0};
    u32 op = bits(word, 24, 8);
    path.is_valid = op == 4 || op == 5 || op == 0x0f || op == 0x24 || op == 0x45;
    path.vc = (int)bits(word, 19, 2);
    path.is_zero_flags = (int)bits(word, 21, 1);
    path.transform = (int)(bits(word, 22, 2) + 4 * bits(word, 0, 1));
    if (op == 4 || op == 5)
        send_sums(m, &path, word);
    else if (op == 0x0f)
        send_bytes(&path, m->was.a[bits(word, 14, 5)]);
    else if (op == 0x24)
        send_immediates(&path, word);
    else if (is_product(op))
        send_products(m, &path, word);
    else if (op == 0x75)
        send_mask(&path, m->was.a[bits(word, 19, 5)]);
    else if (op >= 0x40)
        send_mask(&path, m->was.a[bits(word, 14, 5)]);
    return path;
}
