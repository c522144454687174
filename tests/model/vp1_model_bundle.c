/* SPDX-License-Identifier: MIT
 * A naive model of a whole bundle of VP1: what the units do to each other, who wins, and the branch
 * unit. Written from the reference and the measured model of envytools' tester. */
#include "tests/model/vp1_model_unit.h"

enum { NOBODY = -1 };

/* ---- who reads and writes what ---- */

static u32 op_of(u32 word)
{
    return bits(word, 24, 8);
}

static int dst_of(u32 word)
{
    return (int)bits(word, 19, 5);
}

static int src1_of(u32 word)
{
    return (int)bits(word, 14, 5);
}

static int is_mov_to(u32 word, u32 file)
{
    return op_of(word) == 0x6a && bits(word, 3, 5) == file;
}

/* c0 to c6, d0 to d6, d8 to de: 0 horizontal, 1 vertical, 2 scalar; NOBODY: something else. */
static int form_of(u32 word, int stores)
{
    u32 op = op_of(word);
    if (op % 4 == 3 || (op >= 0xc8 && op < 0xd0) || (op % 8 >= 4) != stores)
        return NOBODY;
    return (int)op % 4;
}

static int scalar_load(u32 a)
{
    return form_of(a, 0) == 2 ? dst_of(a) : NOBODY;
}

static int scalar_store(u32 a)
{
    return form_of(a, 1) == 2 ? src1_of(a) : NOBODY;
}

static int vector_load(const struct vp1_model *m, u32 a)
{
    u32 k = m->was.c[bits(a, 3, 2)];
    if (form_of(a, 0) == 0 || form_of(a, 0) == 1 || (op_of(a) == 0xd7 && !bits(a, 0, 1)))
        return dst_of(a);
    if ((op_of(a) == 0xc8 || op_of(a) == 0xc9) && bits(k, (int)bits(a, 5, 4), 1))
        return dst_of(a) / 4 * 4 + (dst_of(a) + (int)bits(k, 4, 2)) % 4;
    return NOBODY;
}

/* The lowest bit of the field that names the $v which the address unit reads. */
static int vector_read_field(u32 a)
{
    if (form_of(a, 1) == 0 || form_of(a, 1) == 1)
        return 14;
    return op_of(a) != 0xd7 ? NOBODY : bits(a, 0, 1) ? 14 : 9;
}

static int address_write(u32 a)
{
    u32 op = op_of(a);
    if (op < 0xd8 && form_of(a, 0) != NOBODY)
        return src1_of(a);
    if ((op < 0xd8 && form_of(a, 1) != NOBODY) || (op == 0xd7 && bits(a, 0, 1)))
        return dst_of(a);
    if (op == 0xc8 || op == 0xc9)
        return src1_of(a);
    return (op >= 0xca && op <= 0xcd) || op == 0xd3 ? dst_of(a) : NOBODY;
}

/* @p is_late  it comes behind a load, as results do, but not what `mov` fetches from far files */
static int scalar_write(u32 s, int *is_late)
{
    u32 op = op_of(s);
    u32 file = bits(s, 3, 5);
    *is_late = 1;
    if (op == 0x6b) {
        *is_late = file == 0x14 || file == 0x15 || file == 0x18;
        int exists =
            file < 4 || (file >= 8 && file <= 13) || *is_late || file == 0x16 || file == 0x17;
        return exists ? dst_of(s) : NOBODY;
    }
    if (op == 0x45)
        return src1_of(s);
    int writes =
        is_in(op, "41 51 61 71 48 58 68 78 49 59 69 79 4a 5a 7a 4b 5b 7b 4c 5c 6c 7c 4d 5d 6d 7d "
                  "4e 5e 6e 7e 42 62 63 64 65 75 25 26 27 ") ||
        (op < 0x40 && is_in(op % 16, "01 02 08 09 0a 0b 0c 0d 0e "));
    return writes ? dst_of(s) : NOBODY;
}

static int vector_write(u32 v)
{
    int writes =
        is_in(op_of(v), "88 98 a8 b8 89 99 a9 b9 8a 9a 8b 8c 9c ac bc 8d 9d bd 8e ae 9e be "
                        "94 aa ab af ba ad bb 9b 9f a4 a5 81 91 a1 b1 82 92 a2 b2 85 95 "
                        "87 97 a7 90 b3 b6 b7 ");
    return writes ? dst_of(v) : NOBODY;
}

static int loop_write(u32 b)
{
    u32 op = op_of(b);
    if (op == 0xf0)
        return (int)bits(b, 19, 2);
    return op < 0xe8 && op % 2 ? (int)bits(b, 0, 2) : NOBODY;
}

/* ---- clashes ---- */

static int same(int one, int other, int what)
{
    return one != NOBODY && one == other ? what : 0;
}

static int write_clashes(const struct vp1_model *m, const u32 w[4])
{
    int is_late;
    int scalar = scalar_write(w[1], &is_late);
    int to_v = is_mov_to(w[1], 0x12) ? dst_of(w[1]) : NOBODY;
    int result = scalar != 31 ? same(scalar_load(w[0]), scalar, VP1_MODEL_SAME_REGISTER) : 0;
    for (u32 file = 0; file < 4; file++)
        to_v = is_mov_to(w[1], file) ? dst_of(w[1]) : to_v;
    result |= same(vector_load(m, w[0]), vector_write(w[2]), VP1_MODEL_SAME_REGISTER);
    result |= same(to_v, vector_write(w[2]), VP1_MODEL_SAME_REGISTER);
    result |= same(to_v, vector_load(m, w[0]), VP1_MODEL_SAME_REGISTER);
    if (is_mov_to(w[1], 12))
        result |= same(dst_of(w[1]), address_write(w[0]), VP1_MODEL_SAME_REGISTER);
    if (is_mov_to(w[1], 11))
        result |= same(dst_of(w[1]), loop_write(w[3]), VP1_MODEL_SAME_REGISTER);
    return result;
}

static void put_field(u32 *word, int low, u32 number)
{
    *word = (*word & ~((u32)31 << low)) | number << low;
}

static int port(int wanted, u32 got)
{
    return wanted == (int)got ? 0 : VP1_MODEL_SAME_PORT;
}

/* One port serves two units: one of them gets the other's register. */
static int share_ports(const struct vp1_model *m, u32 w[4])
{
    int field = vector_read_field(w[0]);
    int stored = scalar_store(w[0]);
    int result = 0;
    if (op_of(w[1]) == 0x6b && bits(w[1], 3, 5) < 4 && field != NOBODY) {
        result |= port(src1_of(w[1]), bits(w[0], field, 5));
        put_field(&w[0], field, bits(w[1], 14, 5));
    }
    if (op_of(w[1]) == 0x6a && stored != NOBODY) {
        result |= port(stored, bits(w[1], 14, 5));
        put_field(&w[1], 14, (u32)stored);
    }
    if ((op_of(w[1]) == 4 || op_of(w[1]) == 5) && stored != NOBODY) {
        u32 k = m->was.c[bits(w[1], 3, 2)];
        u32 slct = bits(w[1], 5, 4);
        u32 third = bits(w[1], 9, 5) | 2 | (slct == 4 ? bits(k, 4, 2) : bits(k, (int)slct, 1));
        result |= port(stored, third);
        put_field(&w[0], 14, third);
    }
    return result;
}

/* ---- the branch unit ---- */

static void flag_loop(struct vp1_model *m, u32 number, int flag)
{
    if (number < 4)
        m->is.c[number] = (m->is.c[number] & ~(u32)0x2000) | (flag ? 0x2000 : 0);
}

static void loop(struct vp1_model *m, u32 word)
{
    u32 value = m->was.l[bits(word, 3, 2)];
    if (value % 256)
        value -= 1;
    else
        value += value / 256;
    m->is.l[bits(word, 0, 2)] = value;
    flag_loop(m, bits(word, 0, 3), value % 256 == 0);
}

static void branch(struct vp1_model *m, u32 word, u32 pc, struct vp1_model_end *end)
{
    u32 op = op_of(word);
    int holds = (int)bits(m->was.c[bits(word, 3, 2)], (int)bits(word, 5, 4), 1);
    if (op == 0xef)
        return;
    if (op == 0xf0) {
        m->is.l[bits(word, 19, 2)] = bits(word, 0, 16);
        flag_loop(m, bits(word, 19, 2), bits(word, 0, 8) == 0);
        return;
    }
    if (op == 0xea) {
        end->branches = 1;
        end->target = 4 * bits(word, 0, 16);
        return;
    }
    if (op % 2)
        loop(m, word);
    else
        flag_loop(m, bits(word, 0, 3), 1);
    end->branches = op % 4 < 2 ? holds : !holds;
    end->calls = end->branches && op >= 0xe4;
    end->target = (pc / 4 * 4 + (u32)(4 * signed_bits(word, 9, 15))) & 0xfffff;
}

/* ---- a bundle ---- */

/* What comes later wins: a load over a `mov` from a far file, a result over a load. */
struct vp1_model_end vp1_model_bundle(struct vp1_model *m, const uint32_t words[4], uint32_t pc)
{
    u32 w[4] = {words[0], words[1], words[2], words[3]};
    struct vp1_model_end end = {0, 0, 0, 0};
    u32 file = bits(w[1], 3, 5);
    int is_late;
    m->was = m->is;
    end.clashes = write_clashes(m, w) | share_ports(m, w);
    struct vp1_model_path path = vp1_model_send(m, words[1]);
    scalar_write(w[1], &is_late);
    int is_early = !is_late || (op_of(w[1]) == 0x6a && (file < 4 || file == 0x12));
    if (is_early)
        vp1_model_scalar(m, w[1]);
    vp1_model_address(m, w[0]);
    if (!is_early)
        vp1_model_scalar(m, w[1]);
    vp1_model_vector(m, w[2], &path);
    branch(m, w[3], pc, &end);
    return end;
}
