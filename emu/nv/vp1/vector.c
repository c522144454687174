/* SPDX-License-Identifier: MIT
 * VP1's vector unit, but for its multiplier: sixteen bytes at a time. */
#include <string.h>

#include "emu/nv/vp1/vp1.h"

/* Flags of sixteen bytes: signs below, zeros above. */
static void set_vc(struct vp1 *s, uint32_t word, uint32_t flags)
{
    if (VP1(word, VCDST) < 4)
        s->now.vc[VP1(word, VCDST)] = flags;
}

/* ---- condition masks ---- */

static uint32_t half_of(uint32_t vc, bool zeros)
{
    return zeros ? vc >> 16 : vc & 0xffff;
}

/* Every second bit of 32. */
static uint32_t even_bits(uint32_t value)
{
    uint32_t ret = 0;
    for (unsigned i = 0; i < 16; i++)
        ret |= (value >> 2 * i & 1) << i;
    return ret;
}

/* Output bit i is input bit T[i % 4] of the same four. */
static uint32_t transform(uint32_t mask, unsigned how)
{
    static const uint8_t from[7][4] = {{0, 1, 2, 3}, {2, 2, 2, 2}, {0},         {0, 0, 2, 0},
                                       {1, 1, 1, 3}, {0, 0, 2, 2}, {1, 1, 1, 1}};
    uint32_t ret = 0;
    for (unsigned i = 0; i < 16; i++) {
        unsigned bit = how == 2 ? (i & 8) + 4 + i % 2 : (i & 12) + from[how][i % 4];
        ret |= (mask >> bit & 1) << i;
    }
    return ret;
}

uint32_t vp1_condition_mask_(const struct vp1 *s, const struct vp1_s2v *s2v)
{
    uint32_t word = s->word[VP1_V];
    if (!s2v || !s2v->valid)
        return half_of(s->old.vc[word & 3], word & 4);
    uint32_t mask = half_of(s->old.vc[s2v->vcidx], s2v->vcflag);
    if (s2v->xfrm == 7)
        return even_bits(mask | half_of(s->old.vc[s2v->vcidx | 1], s2v->vcflag) << 16);
    return transform(mask, s2v->xfrm);
}

/* ---- operations that are expressions ---- */

/* One byte, not clipped. @p x, @p y  as signed as the kind says */
static int byte_value(unsigned op, int x, int y, uint32_t t)
{
    switch (op) {
#define ROW_VS(id, ...) \
    case CPS_VP1_##id:  \
        return __VA_ARGS__;
#define ROW_VU(id, ...)   ROW_VS(id, __VA_ARGS__)
#define ROW_VSH(id, ...)  ROW_VS(id, __VA_ARGS__)
#define ROW_VLOG(id, ...) ROW_VS(id, __VA_ARGS__)
#include "emu/nv/vp1/rows.h"
    default:
        return 0;
    }
}

static uint8_t finish_byte(unsigned kind, int value, bool *sign)
{
    *sign = kind == VP1_KIND_VS    ? value < 0
            : kind == VP1_KIND_VU  ? value >> 8 & 1
            : kind == VP1_KIND_VSH ? value >> 7 & 1
                                   : false;
    if (kind == VP1_KIND_VS)
        value = vp1_clip(value, -128, 127);
    else if (kind == VP1_KIND_VU)
        value = vp1_clip(value, 0, 255);
    return (uint8_t)value;
}

static void do_bytes(struct vp1 *s, uint32_t word, unsigned op, unsigned kind)
{
    bool immediate = s->code[word >> 24].source == VP1_FROM_BIMM;
    uint8_t *dst = s->now.v[VP1(word, VDST)];
    uint32_t flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        int x = s->old.v[VP1(word, VSRC1)][i];
        int y = immediate ? (int)VP1(word, BIMM) : s->old.v[VP1(word, VSRC2)][i];
        bool is_signed = kind == VP1_KIND_VS;
        bool sign = false;
        int value = is_signed ? byte_value(op, (int8_t)x, (int8_t)y, 0)
                              : byte_value(op, x, y, VP1(word, BITOP));
        dst[i] = finish_byte(kind, value, &sign);
        flags |= (uint32_t)sign << i | (uint32_t)!dst[i] << (16 + i);
    }
    set_vc(s, word, flags);
}

/* ---- the others ---- */

static void own_VFROMVC(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    (void)s2v;
    for (unsigned i = 0; i < 16; i++)
        s->now.v[VP1(word, VDST)][i] = (uint8_t)(s->old.vc[i / 4] >> 8 * (i % 4));
}

static void own_VSWZ(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    (void)s2v;
    const uint8_t *how = s->old.v[VP1(word, SRC3)];
    const uint8_t *from[2] = {s->old.v[VP1(word, VSRC1)], s->old.v[VP1(word, VSRC2)]};
    for (unsigned i = 0; i < 16; i++) {
        uint8_t h = how[i];
        s->now.v[VP1(word, VDST)][i] =
            VP1(word, HIGH) ? from[h & 1][h >> 4] : from[h >> 4 & 1][h & 15];
    }
}

/* The second source's bytes are pairs that hold words of 9 bits. */
static void own_VADD9(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    (void)s2v;
    uint32_t flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        const uint8_t *pair = s->old.v[i < 8 ? VP1(word, VSRC2) : VP1(word, SRC3)] + i % 8 * 2;
        int nine = (pair[0] | pair[1] << 8) & 0x1ff;
        int value = s->old.v[VP1(word, VSRC1)][i] + nine - (nine & 0x100 ? 0x200 : 0);
        uint8_t byte = (uint8_t)vp1_clip(value, 0, 255);
        s->now.v[VP1(word, VDST)][i] = byte;
        flags |= (uint32_t)(value >> 8 & 1) << i | (uint32_t)!byte << (16 + i);
    }
    set_vc(s, word, flags);
}

static int median(int a, int b, int c)
{
    int low = a < b ? a : b;
    int high = a < b ? b : a;
    return vp1_clip(c, low, high);
}

static void own_VCLIP(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    (void)s2v;
    uint32_t flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        int s1 = (int8_t)s->old.v[VP1(word, VSRC1)][i];
        int s2 = (int8_t)s->old.v[VP1(word, VSRC2)][i];
        int s3 = (int8_t)s->old.v[VP1(word, SRC3)][i];
        int value = median(s1, s2, s3);
        s->now.v[VP1(word, VDST)][i] = (uint8_t)value;
        flags |= (uint32_t) !(s2 < s1 && s1 < s3) << i | (uint32_t)!value << (16 + i);
    }
    set_vc(s, word, flags);
}

static void own_VCMPAD(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    uint32_t mask = vp1_condition_mask_(s, s2v);
    uint32_t flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        int d = s->old.v[VP1(word, VSRC1)][i] - s->old.v[vp1_src2s_(s, word)][i];
        int t = s->old.v[VP1(word, VSRC1) | 1][i];
        d = d < 0 ? -d : d;
        uint32_t which = 2 * (uint32_t)(d < t) + (mask >> i & 1);
        flags |= (VP1(word, CMPOP) >> which & 1) << i | (uint32_t)(d == t) << (16 + i);
    }
    set_vc(s, word, flags);
}

#define own_VNOP NULL
/* NULL for what is not of this unit: the host may inject it. */
static void (*const handlers[CPS_VP1_OP_COUNT])(struct vp1 *s, uint32_t word,
                                                const struct vp1_s2v *s2v) = {
#define ROW_V(id, ...) [CPS_VP1_##id] = own_##id,
#include "emu/nv/vp1/rows.h"
};

void vp1_vector_(struct nv *e, const struct vp1_s2v *s2v)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_V];
    unsigned op = vp1_op_(s, VP1_V);
    switch ((enum vp1_kind)s->code[word >> 24].kind) {
    case VP1_KIND_MAD:
        vp1_mad_(e, s2v);
        break;
    case VP1_KIND_LRP:
        vp1_lerp_(e, s2v);
        break;
    case VP1_KIND_VS:
    case VP1_KIND_VU:
    case VP1_KIND_VSH:
    case VP1_KIND_VLOG:
        do_bytes(s, word, op, s->code[word >> 24].kind);
        break;
    default:
        if (handlers[op])
            handlers[op](s, word, s2v);
        break;
    }
}
