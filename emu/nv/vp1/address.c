/* SPDX-License-Identifier: MIT
 * VP1's address unit: loads and stores of the data store, and arithmetic on addresses.
 *
 * An address register is an address (bits 15:0), a limit (29:16) and a stride (31:30). The store
 * has 16 banks, so that the 16 bytes of a line, or of a column of a matrix of that stride, lie in
 * different ones. */
#include <string.h>

#include "isa/base/le.h"
#include "emu/nv/vp1/vp1.h"

enum shape { LINE, COLUMN, WORD };

static uint32_t stride_of(uint32_t reg)
{
    return reg >> 30;
}

static uint32_t bank_of(uint32_t addr, uint32_t stride)
{
    return (addr + (stride ? addr >> (4 + stride) : addr >> 5 & 7)) & 15;
}

/* Byte @p i of the line or column at @p addr. */
static uint8_t *byte_at(struct vp1 *s, uint32_t addr, uint32_t stride, enum shape shape, unsigned i)
{
    uint32_t cell;
    if (shape != COLUMN) {
        addr &= 0x1ff0;
        return &s->ds[(bank_of(addr, stride) + i) & 15][addr >> 4];
    }
    addr &= 0x1fff & ~(0xfu << (4 + stride));
    cell = addr >> 4;
    if (stride)
        return &s->ds[(bank_of(addr, stride) + i) & 15][(cell | i << stride) & 0x1ff];
    /* Two bytes a step, in one bank. */
    return &s->ds[(bank_of(addr, stride) + i / 2) & 15][((cell | i / 2 << 1) + i % 2) & 0x1ff];
}

static void load(struct vp1 *s, uint32_t addr, uint32_t stride, enum shape shape, uint8_t ret[16])
{
    for (unsigned i = 0; i < 16; i++)
        ret[i] = *byte_at(s, addr, stride, shape, i);
}

static void store(struct vp1 *s, uint32_t addr, uint32_t stride, enum shape shape,
                  const uint8_t from[16])
{
    for (unsigned i = 0; i < 16; i++)
        *byte_at(s, addr, stride, shape, i) = from[i];
}

static void set_short(struct vp1 *s, uint32_t word, uint32_t addr, uint32_t reg)
{
    bool over = (addr & 0xffff) >= (reg >> 16 & 0x3fff);
    vp1_set_c_(s, VP1(word, CDST), 1u << 10, over ? 1u << 10 : 0);
}

/* The operand that an address is moved on by. */
static uint32_t increment(const struct vp1 *s, uint32_t word)
{
    if (s->code[word >> 24].source == VP1_FROM_IMM)
        return (uint32_t)VP1_SIGNED(word, IMM);
    return s->old.r[vp1_src2s_(s, word)];
}

static void add_low(struct vp1 *s, uint32_t number, uint32_t value)
{
    uint32_t reg = s->old.r[number];
    s->now.r[number] = (reg & 0xffff0000) | ((reg + value) & 0xffff);
}

/* ---- to and from registers ---- */

/* What of the table's row an operation is. */
enum way { LOAD, STORE };
enum behind { NOTHING, ADD, AT, EXTRA };
static const struct access {
    uint8_t way, shape, behind; /* NOTHING: no row */
} accesses[CPS_VP1_OP_COUNT] = {
#define ROW_ACCESS(id, way, shape, behind) [CPS_VP1_##id] = {way, shape, behind},
#include "emu/nv/vp1/rows.h"
};

static enum shape shape_of(unsigned op)
{
    return (enum shape)accesses[op].shape;
}

static void read_register(struct vp1 *s, uint32_t word, uint32_t addr, uint32_t reg)
{
    enum shape shape = shape_of(vp1_op_(s, VP1_A));
    uint8_t bytes[16];
    load(s, addr, stride_of(reg), shape, bytes);
    if (shape != WORD)
        memcpy(s->now.v[VP1(word, VDST)], bytes, sizeof(bytes));
    else if (VP1(word, DST) < 31)
        s->now.a[VP1(word, DST)] = cps_le32(bytes + (addr & 12));
}

static void write_register(struct vp1 *s, uint32_t word, uint32_t addr, uint32_t reg)
{
    enum shape shape = shape_of(vp1_op_(s, VP1_A));
    uint8_t bytes[16];
    if (shape == WORD) {
        load(s, addr, stride_of(reg), shape, bytes);
        cps_put_le32(bytes + (addr & 12), s->old.a[VP1(word, SRC1)]);
        store(s, addr, stride_of(reg), shape, bytes);
    } else {
        store(s, addr, stride_of(reg), shape, s->old.v[VP1(word, VSRC1)]);
    }
}

/* At the register's address, which moves on after it. */
static void access_then_add(struct vp1 *s, uint32_t word, bool is_store)
{
    uint32_t number = is_store ? VP1(word, RDST) : VP1(word, RSRC1);
    uint32_t reg = s->old.r[number];
    if (is_store)
        write_register(s, word, reg, reg);
    else
        read_register(s, word, reg, reg);
    add_low(s, number, increment(s, word));
    set_short(s, word, s->now.r[number], reg);
}

/* At an address with an offset. The flag is of the sum, the address of the bits of both. */
static void access_at(struct vp1 *s, uint32_t word, bool is_store)
{
    uint32_t reg = s->old.r[is_store ? VP1(word, RDST) : VP1(word, RSRC1)];
    uint32_t offset = VP1(word, UIMM);
    if (is_store)
        write_register(s, word, (reg & 0x1fff) | offset, reg);
    else
        read_register(s, word, (reg & 0x1fff) | offset, reg);
    set_short(s, word, reg + offset, reg);
}

/* To $vx, and to a register near DST if the condition holds. */
static void load_extra(struct vp1 *s, uint32_t word)
{
    uint32_t number = VP1(word, RSRC1);
    uint32_t reg = s->old.r[number];
    uint32_t dst = vp1_extra_(s, word);
    load(s, reg, stride_of(reg), shape_of(vp1_op_(s, VP1_A)), s->now.vx);
    if (dst < 32)
        memcpy(s->now.v[dst], s->now.vx, sizeof(s->now.vx));
    add_low(s, number, increment(s, word));
    set_short(s, word, s->now.r[number], reg);
}

/* A cell of its own for each bank. */
static void load_scattered(struct vp1 *s, uint32_t word)
{
    uint32_t cell = s->old.r[VP1(word, RSRC1)] >> 4 & 0x1ff;
    const uint8_t *offset = s->old.v[VP1(word, VSRC2)];
    for (unsigned i = 0; i < 16; i++)
        s->now.v[VP1(word, VDST)][i] = s->ds[i][cell | offset[i]];
}

/* ---- arithmetic ---- */

static void set_r(struct vp1 *s, uint32_t word, uint32_t value)
{
    s->now.r[VP1(word, RDST)] = value;
    vp1_set_c_(s, VP1(word, CDST), 3u << 8, (value >> 31) << 8 | (uint32_t)!value << 9);
}

static void own_AADD(struct vp1 *s, uint32_t word)
{
    uint32_t dst = VP1(word, RDST);
    add_low(s, dst, increment(s, word));
    set_short(s, word, s->now.r[dst], s->old.r[dst]);
}

static void own_RADD(struct vp1 *s, uint32_t word)
{
    set_r(s, word, s->old.r[VP1(word, RSRC1)] + increment(s, word));
}

static void own_RBITOP(struct vp1 *s, uint32_t word)
{
    set_r(s, word,
          vp1_bitop(VP1(word, BITOP), s->old.r[VP1(word, RSRC1)], s->old.r[VP1(word, RSRC2)]));
}

static void own_SETLO(struct vp1 *s, uint32_t word)
{
    uint32_t dst = VP1(word, RDST);
    s->now.r[dst] = (s->old.r[dst] & 0xffff0000) | VP1(word, IMM16);
}

static void own_RSETHI(struct vp1 *s, uint32_t word)
{
    uint32_t dst = VP1(word, RDST);
    s->now.r[dst] = (s->old.r[dst] & 0xffff) | VP1(word, IMM16) << 16;
}

static void own_LDR(struct vp1 *s, uint32_t word)
{
    if (word & 1) {
        uint32_t cell = s->old.r[VP1(word, RDST)] >> 4 & 0x1ff;
        for (unsigned i = 0; i < 16; i++)
            s->ds[i][cell] = s->old.v[VP1(word, VSRC1)][i];
        add_low(s, VP1(word, RDST), increment(s, word));
    } else {
        load_scattered(s, word);
    }
}

#define own_ANOP NULL
/* NULL for what is not of this unit: the host may inject it. */
static void (*const handlers[CPS_VP1_OP_COUNT])(struct vp1 *s, uint32_t word) = {
#define ROW_A(id, ...) [CPS_VP1_##id] = own_##id,
#include "emu/nv/vp1/rows.h"
};

void vp1_address_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_A];
    unsigned op = vp1_op_(s, VP1_A);
    bool is_store = accesses[op].way == STORE;
    switch ((enum behind)accesses[op].behind) {
    case ADD:
        access_then_add(s, word, is_store);
        break;
    case AT:
        access_at(s, word, is_store);
        break;
    case EXTRA:
        load_extra(s, word);
        break;
    case NOTHING:
        if (handlers[op])
            handlers[op](s, word);
        break;
    }
}
