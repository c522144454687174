/* SPDX-License-Identifier: MIT
 * A naive model of VP1's address unit and its data store, written from the reference and the
 * measured model of envytools' tester. */
#include "tests/model/vp1_model_unit.h"

/* Where byte @p i of a line lies. */
struct cell {
    u32 bank, cell;
};

static u32 bank_of(u32 addr, u32 stride)
{
    if (stride == 0)
        return addr + bits(addr, 5, 3);
    if (stride == 1)
        return addr + addr / 32;
    return stride == 2 ? addr + addr / 64 : addr + addr / 128;
}

static struct cell horizontal(u32 addr, u32 stride, u32 i)
{
    addr = addr / 16 * 16;
    return (struct cell){(bank_of(addr, stride) + i) % 16, addr / 16};
}

/* Column of a picture whose lines lie 16 << stride bytes behind each other; of the narrowest each
 * step is two bytes of one bank. */
static struct cell vertical(u32 addr, u32 stride, u32 i)
{
    static const u32 lines[] = {0xf0, 0x1e0, 0x3c0, 0x780};
    addr &= ~lines[stride];
    u32 bank = bank_of(addr, stride);
    if (stride == 0)
        return (struct cell){(bank + i / 2) % 16, addr / 16 + i / 2 * 2 + i % 2};
    return (struct cell){(bank + i) % 16, addr / 16 + i * ((u32)1 << stride)};
}

static struct cell place(u32 form, u32 addr, u32 stride, u32 i)
{
    return form == 1 ? vertical(addr, stride, i) : horizontal(addr, stride, i);
}

/* ---- results ---- */

static u32 add_low(u32 value, u32 operand)
{
    return bits(value, 16, 16) * 65536 + (value + operand) % 65536;
}

static void flag_short(struct vp1_model *m, u32 word, u32 res)
{
    u32 cdst = bits(word, 0, 3);
    if (cdst < 4)
        m->is.c[cdst] =
            (m->is.c[cdst] & ~(u32)0x400) | (bits(res, 0, 16) >= bits(res, 16, 14) ? 0x400 : 0);
}

static void flag_long(struct vp1_model *m, u32 word, u32 res)
{
    u32 cdst = bits(word, 0, 3);
    if (cdst < 4)
        m->is.c[cdst] =
            (m->is.c[cdst] & ~(u32)0x300) | (bits(res, 31, 1) ? 0x100 : 0) | (res == 0 ? 0x200 : 0);
}

static u32 second(const struct vp1_model *m, u32 word)
{
    return m->was.r[vp1_model_chosen(m, word, bits(word, 9, 5))];
}

/* ---- loads and stores ---- */

static void load(const struct vp1_model *m, u32 form, u32 addr, u32 stride, uint8_t line[16])
{
    for (u32 i = 0; i < 16; i++) {
        struct cell at = place(form, addr, stride, i);
        line[i] = m->ds[at.bank][at.cell];
    }
}

static void store(struct vp1_model *m, u32 word, u32 form, u32 addr, u32 stride)
{
    u32 src = bits(word, 14, 5);
    for (u32 i = 0; i < 16; i++) {
        struct cell at = place(form, addr, stride, i);
        if (form != 2)
            m->ds[at.bank][at.cell] = m->was.v[src][i];
        else if (i / 4 == addr / 4 % 4)
            m->ds[at.bank][at.cell] = (uint8_t)bits(m->was.a[src], 8 * (int)(i % 4), 8);
    }
}

/* Opcodes c0 to c6, d0 to d6, d8 to de. */
static void move_line(struct vp1_model *m, u32 word)
{
    u32 op = bits(word, 24, 8);
    u32 form = op % 4;
    int stores = op % 8 >= 4;
    int in_place = op >= 0xd8;
    u32 base = bits(word, stores ? 19 : 14, 5);
    u32 value = m->was.r[base];
    u32 stride = bits(value, 30, 2);
    u32 addr = bits(value, 0, 13);
    u32 dst = bits(word, 19, 5);
    uint8_t line[16];
    u32 operand = op < 0xd0 ? second(m, word) : (u32)signed_bits(word, 3, 11);
    if (in_place) {
        operand = bits(word, 3, 11);
        addr |= operand;
    }
    load(m, form, addr, stride, line);
    if (stores)
        store(m, word, form, addr, stride);
    for (int i = 0; i < 16 && !stores && form != 2; i++)
        m->is.v[dst][i] = line[i];
    if (!stores && form == 2 && dst != 31)
        m->is.a[dst] = word_of(line + addr / 4 % 4 * 4);
    u32 res = add_low(value, operand);
    if (!in_place)
        m->is.r[base] = res;
    flag_short(m, word, res);
}

/* Opcodes c8, c9. */
static void load_extra(struct vp1_model *m, u32 word)
{
    u32 base = bits(word, 14, 5);
    u32 value = m->was.r[base];
    u32 k = m->was.c[bits(word, 3, 2)];
    u32 dst = bits(word, 19, 5);
    uint8_t line[16];
    load(m, bits(word, 24, 1), bits(value, 0, 13), bits(value, 30, 2), line);
    dst = dst / 4 * 4 + (dst + k / 16) % 4;
    for (int i = 0; i < 16; i++) {
        m->is.vx[i] = line[i];
        if (bits(k, (int)bits(word, 5, 4), 1))
            m->is.v[dst][i] = line[i];
    }
    m->is.r[base] = add_low(value, second(m, word));
    flag_short(m, word, m->is.r[base]);
}

/* Opcode d7: one cell of each bank. */
static void raw(struct vp1_model *m, u32 word)
{
    u32 dst = bits(word, 19, 5);
    u32 src = bits(word, 14, 5);
    if (bits(word, 0, 1)) {
        for (int i = 0; i < 16; i++)
            m->ds[i][bits(m->was.r[dst], 4, 9)] = m->was.v[src][i];
        m->is.r[dst] = add_low(m->was.r[dst], second(m, word));
        return;
    }
    for (int i = 0; i < 16; i++)
        m->is.v[dst][i] = m->ds[i][bits(m->was.r[src], 4, 9) | m->was.v[bits(word, 9, 5)][i]];
}

/* ---- arithmetic ---- */

static void bitop(struct vp1_model *m, u32 word)
{
    u32 s1 = m->was.r[bits(word, 14, 5)];
    u32 s2 = m->was.r[bits(word, 9, 5)];
    u32 res = 0;
    for (int i = 0; i < 32; i++)
        res |= bits(word, 3 + (int)bits(s1, i, 1) * 2 + (int)bits(s2, i, 1), 1) << i;
    m->is.r[bits(word, 19, 5)] = res;
    flag_long(m, word, res);
}

void vp1_model_address(struct vp1_model *m, u32 word)
{
    u32 op = bits(word, 24, 8);
    u32 dst = bits(word, 19, 5);
    u32 *to = &m->is.r[dst];
    if (op == 0xc8 || op == 0xc9) {
        load_extra(m, word);
    } else if (op == 0xca) {
        *to = add_low(m->was.r[dst], second(m, word));
        flag_short(m, word, *to);
    } else if (op == 0xcb) {
        *to = m->was.r[bits(word, 14, 5)] + second(m, word);
        flag_long(m, word, *to);
    } else if (op == 0xcc) {
        *to = m->was.r[dst] / 65536 * 65536 + bits(word, 0, 16);
    } else if (op == 0xcd) {
        *to = m->was.r[dst] % 65536 + bits(word, 0, 16) * 65536;
    } else if (op == 0xd3) {
        bitop(m, word);
    } else if (op == 0xd7) {
        raw(m, word);
    } else if (op % 4 != 3 && (op < 0xc8 || op >= 0xd0)) {
        move_line(m, word);
    }
}
