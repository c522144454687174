/* SPDX-License-Identifier: MIT
 * VP1's scalar unit: arithmetic from the table's expressions, moves, and what it hands to the
 * vector unit. */
#include <string.h>

#include "emu/nv/vp1/vp1.h"

/* ---- flags ---- */

static void set_flags(struct nv *e, uint32_t word, uint32_t bits)
{
    vp1_set_c_(vp1_of_(e), VP1(word, CDST), 0xff, vp1_is_g80_(e) ? bits : bits & 0x3f);
}

/* Of a value alone; the arithmetic operations add two. */
static uint32_t partial(uint32_t value)
{
    uint32_t bit19 = value >> 19 & 1;
    return (uint32_t)!value << 1 | bit19 << 2 | (value >> 20 & 3) << 4 | bit19 << 6 |
           (value >> 18 & 1) << 7;
}

static uint32_t full(uint32_t value, uint32_t source)
{
    return partial(value) | value >> 31 | ((value ^ source) >> 20 & 1) << 3;
}

/* ---- operands and results ---- */

static void set_a(struct vp1 *s, uint32_t number, uint32_t value)
{
    if (number < 31)
        s->now.a[number] = value;
}

static uint32_t second_source(const struct vp1 *s, uint32_t word)
{
    switch ((enum vp1_source)s->code[word >> 24].source) {
    case VP1_FROM_IMM:
        return (uint32_t)VP1_SIGNED(word, IMM);
    case VP1_FROM_BIMM:
        return VP1(word, BIMM) * 0x01010101;
    case VP1_FROM_REG:
        return s->old.a[VP1(word, SRC2)];
    case VP1_FROM_SELECT:
        break;
    }
    return s->old.a[vp1_src2s_(s, word)];
}

static int byte_of(uint32_t value, unsigned i, bool is_signed)
{
    uint8_t byte = (uint8_t)(value >> 8 * i);
    return is_signed ? (int8_t)byte : byte;
}

/* ---- operations that are expressions ---- */

/* One byte of a bytewise operation, not clipped. */
static int byte_value(unsigned op, int x, int y)
{
    switch (op) {
#define ROW_SBYTE(id, ...) \
    case CPS_VP1_##id:     \
        return __VA_ARGS__;
#define ROW_UBYTE(id, ...) ROW_SBYTE(id, __VA_ARGS__)
#include "emu/nv/vp1/rows.h"
    default:
        return 0;
    }
}

static void do_bytes(struct nv *e, uint32_t word, unsigned op, bool is_signed)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t a = s->old.a[VP1(word, SRC1)];
    uint32_t b = second_source(s, word);
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; i++) {
        int value = byte_value(op, byte_of(a, i, is_signed), byte_of(b, i, is_signed));
        value = is_signed ? vp1_clip(value, -128, 127) : vp1_clip(value, 0, 255);
        result |= (uint32_t)(uint8_t)value << 8 * i;
    }
    set_a(s, VP1(word, DST), result);
    set_flags(e, word, 0);
}

/* A word's value, and its flags; false if the operation is of another kind. */
static bool word_value(unsigned op, uint32_t a, uint32_t b, uint32_t t, uint32_t *ret,
                       uint32_t *flags)
{
    switch (op) {
#define ROW_FULL(id, ...)       \
    case CPS_VP1_##id:          \
        *ret = __VA_ARGS__;     \
        *flags = full(*ret, a); \
        return true;
#define ROW_FULLZ(id, ...)      \
    case CPS_VP1_##id:          \
        *ret = __VA_ARGS__;     \
        *flags = full(*ret, 0); \
        return true;
#define ROW_PART(id, ...)       \
    case CPS_VP1_##id:          \
        *ret = __VA_ARGS__;     \
        *flags = partial(*ret); \
        return true;
#include "emu/nv/vp1/rows.h"
    default:
        return false;
    }
}

/* ---- bytes times bytes ---- */

static bool is_bytewise(uint32_t word)
{
    return !(word >> 24 & 0x40);
}

static int factor_of(uint32_t value, unsigned i, bool is_signed)
{
    int byte = byte_of(value, i, is_signed);
    return is_signed ? byte * 2 : byte;
}

static uint32_t mul_source(const struct vp1 *s, uint32_t word)
{
    uint32_t op = word >> 24;
    if (!(op & 0x20))
        return s->old.a[op == 0x1f ? vp1_src2s_(s, word) : VP1(word, SRC2)];
    if ((op & 0xf) == 0xf)
        return VP1(word, BIMM) * 0x01010101;
    if ((op & 0xf) != 1)
        return VP1(word, BADIMM) * 0x01010101;
    return (VP1(word, MULIMM) | VP1(word, TOP) << 5) * 4 * 0x01010101;
}

/* Products of bytes, which go to the vector unit, too. Opcodes x0 to x3 have signs and rounding;
 * the others come from opcodes without a name, which multiply although nobody gets the result. */
static void multiply(const struct vp1 *s, uint32_t word, bool is_signed, int ret[4],
                     struct vp1_s2v *path)
{
    uint32_t op = word >> 24;
    uint32_t a = s->old.a[VP1(word, SRC1)];
    uint32_t b = mul_source(s, word);
    bool has_fields = !(op & 0xc);
    uint32_t signs = has_fields ? VP1(word, SIGNS) : 0;
    for (unsigned i = 0; i < 4; i++) {
        ret[i] = factor_of(a, i, signs & 2) * factor_of(b, i, signs & 1);
        if (has_fields && op & 3 && VP1(word, RND))
            ret[i] += is_signed ? 0x100 : 0x80;
        path->factor[i] = has_fields && !(op & 2) ? ret[i] >> 8 : ret[i];
    }
}

static void do_bmul(struct vp1 *s, uint32_t word, bool is_signed, struct vp1_s2v *path)
{
    int product[4];
    uint32_t result = 0;
    multiply(s, word, is_signed, product, path);
    for (unsigned i = 0; i < 4; i++) {
        int r =
            is_signed ? vp1_clip(product[i] >> 9, -128, 127) : vp1_clip(product[i] >> 8, 0, 255);
        result |= (uint32_t)(uint8_t)r << 8 * i;
    }
    set_a(s, VP1(word, DST), result);
}

/* Bytewise operations without a name multiply, whatever they are. */
static void drop_products(const struct vp1 *s, uint32_t word, struct vp1_s2v *path)
{
    int product[4];
    if (is_bytewise(word))
        multiply(s, word, !(word >> 24 & 0x10), product, path);
}

/* ---- to the vector unit ---- */

static void send_vc(uint32_t word, struct vp1_s2v *path)
{
    path->valid = true;
    path->vcidx = (uint8_t)VP1(word, VCIDX);
    path->vcflag = (uint8_t)VP1(word, VCFLAG);
    path->xfrm = (uint8_t)(VP1(word, XFRM) | VP1(word, XFRM4) << 2);
}

static void spread_bits(uint32_t bits, struct vp1_s2v *path)
{
    for (unsigned i = 0; i < 2; i++)
        path->factor[i] = (bits >> 2 * i & 1 ? 0x1e : 0) | (bits >> (2 * i + 1) & 1 ? 0x1e0 : 0);
    path->factor[2] = path->factor[3] = 0;
}

static void do_bvecmad(const struct vp1 *s, uint32_t word, bool select, struct vp1_s2v *path)
{
    uint32_t k = s->old.c[VP1(word, COND)];
    uint32_t a = s->old.a[VP1(word, SRC2) | vp1_choice_(s, word)];
    uint32_t b = s->old.a[vp1_third_source_(s, word)];
    int m = (int)(s->old.a[VP1(word, SRC1)] >> 11 & (select ? 0x7f : 0xff));
    for (unsigned i = 0; i < 4; i++)
        path->factor[i] = (byte_of(a, i, true) * 256 + m * byte_of(b, i, true) + 0x40) >> 7;
    if (!select)
        return;
    unsigned which = VP1(word, SLCT) == 2 && k >> 7 & 1;
    path->factor[0] = path->factor[1] = path->factor[which];
    path->factor[2] = path->factor[3] = path->factor[2 + which];
}

static void finish_path(struct vp1_s2v *path)
{
    for (unsigned i = 0; i < 4; i++)
        path->factor[i] = (int32_t)((uint32_t)path->factor[i] << 22) >> 22;
    for (unsigned i = 0; i < 2; i++)
        path->mask[i] = ((uint32_t)path->factor[2 * i] >> 1 & 0xff) |
                        ((uint32_t)path->factor[2 * i + 1] >> 1 & 0xff) << 8;
}

/* ---- moves ---- */

/* The measurements saw no effect of CDST, the tester that it clears the flags: as the policy says.
 * `mov` from $l beside exit does not arrive. */
static void move(struct nv *e, uint32_t word, bool to)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t file = VP1(word, RFILE);
    bool lost = file == VP1_SEL_L && vp1_op_(s, VP1_B) == CPS_VP1_EXIT;
    uint32_t value = 0;
    if (VP1(word, CDST) < 4) {
        vp1_unknown_(e, CPS_UNKNOWN_VP1_MOV_FLAGS, VP1(word, CDST));
        switch ((enum cps_policy_mov_flags)e->engine.policy.mov_flags) {
        case CPS_MOV_FLAGS_KEEP:
            break;
        case CPS_MOV_FLAGS_CLEAR:
            set_flags(e, word, 0);
            break;
        }
    }
    if (to)
        vp1_write_file_(e, file, VP1(word, DST), s->old.a[s->moved]);
    else if (vp1_read_file_(e, file, VP1(word, SRC1), &value) && !lost)
        set_a(s, VP1(word, DST), value);
}

/* ---- the unit ---- */

/* What a handler works on. */
struct scalar {
    struct nv *e;
    struct vp1 *s;
    uint32_t word;
    struct vp1_s2v *path;
};

static void own_SNONE(const struct scalar *x)
{
    drop_products(x->s, x->word, x->path);
}

static void own_SZERO(const struct scalar *x)
{
    drop_products(x->s, x->word, x->path);
    set_flags(x->e, x->word, 0);
}

static void own_MOVI(const struct scalar *x)
{
    set_a(x->s, VP1(x->word, DST), (uint32_t)VP1_SIGNED(x->word, IMM19));
}

static void own_SETHI(const struct scalar *x)
{
    uint32_t dst = VP1(x->word, DST);
    spread_bits(x->s->old.a[dst], x->path); /* its first source is its destination */
    set_a(x->s, dst, (x->s->old.a[dst] & 0xffff) | VP1(x->word, IMM16) << 16);
}

static void own_MOVTO(const struct scalar *x)
{
    move(x->e, x->word, true);
}

static void own_MOVFROM(const struct scalar *x)
{
    move(x->e, x->word, false);
}

static void own_BMUL(const struct scalar *x)
{
    do_bmul(x->s, x->word, true, x->path);
}

static void own_BMULU(const struct scalar *x)
{
    do_bmul(x->s, x->word, false, x->path);
}

#define own_BMULA  own_BMUL
#define own_BMULAU own_BMULU

static void own_BVECMAD(const struct scalar *x)
{
    do_bvecmad(x->s, x->word, false, x->path);
    send_vc(x->word, x->path);
}

static void own_BVECMADSEL(const struct scalar *x)
{
    do_bvecmad(x->s, x->word, true, x->path);
    send_vc(x->word, x->path);
}

static void own_BVEC(const struct scalar *x)
{
    for (unsigned i = 0; i < 4; i++)
        x->path->factor[i] = byte_of(x->s->old.a[VP1(x->word, SRC1)], i, true) * 2;
    send_vc(x->word, x->path);
}

static void own_VEC(const struct scalar *x)
{
    x->path->factor[0] = x->path->factor[1] = VP1_SIGNED(x->word, FACT1);
    x->path->factor[2] = x->path->factor[3] = VP1_SIGNED(x->word, FACT2);
    send_vc(x->word, x->path);
}

static void own_VECMS(const struct scalar *x)
{
    uint32_t src1 = VP1(x->word, SRC1);
    set_a(x->s, src1, (uint32_t)((int32_t)x->s->old.a[src1] >> 4));
    send_vc(x->word, x->path);
}

#define own_SNOP NULL
/* NULL for what is not of this unit: the host may inject it. */
static void (*const handlers[CPS_VP1_OP_COUNT])(const struct scalar *x) = {
#define ROW_S(id, ...) [CPS_VP1_##id] = own_##id,
#include "emu/nv/vp1/rows.h"
};

void vp1_scalar_(struct nv *e, struct vp1_s2v *ret)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_S];
    unsigned op = vp1_op_(s, VP1_S);
    unsigned kind = s->code[word >> 24].kind;
    uint32_t value = 0;
    uint32_t flags = 0;
    *ret = (struct vp1_s2v){0};
    if (!is_bytewise(word)) /* bytewise operations that do not multiply leave zeros */
        spread_bits(s->old.a[VP1(word, SRC1)], ret);
    if (word_value(op, s->old.a[VP1(word, SRC1)], second_source(s, word), VP1(word, BITOP), &value,
                   &flags)) {
        set_a(s, VP1(word, DST), value);
        set_flags(e, word, flags);
    } else if (kind == VP1_KIND_SBYTE || kind == VP1_KIND_UBYTE) {
        do_bytes(e, word, op, kind == VP1_KIND_SBYTE);
    } else if (handlers[op]) {
        handlers[op](&(struct scalar){e, s, word, ret});
    }
    finish_path(ret);
}
