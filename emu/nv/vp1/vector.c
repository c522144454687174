/* SPDX-License-Identifier: MIT
 * VP1's vector unit: sixteen bytes at a time. */
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

static uint32_t condition_mask(const struct vp1 *s, const struct vp1_s2v *s2v)
{
    uint32_t word = s->word[VP1_V];
    if (!s2v || !s2v->valid)
        return half_of(s->old.vc[word & 3], word & 4);
    uint32_t mask = half_of(s->old.vc[s2v->vcidx], s2v->vcflag);
    if (s2v->xfrm == 7) {
        /* Every second bit of 32. */
        uint32_t value = mask | half_of(s->old.vc[s2v->vcidx | 1], s2v->vcflag) << 16;
        uint32_t ret = 0;
        for (unsigned i = 0; i < 16; i++)
            ret |= (value >> 2 * i & 1) << i;
        return ret;
    }
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

/* ---- the multiplier: acc = A + B * C + D * E in 28 bits, for sixteen bytes ---- */

enum addend { A_ZERO, A_VA, A_S2 };
enum factors { F_PRODUCT, F_PAIR, F_THIRD };
enum writes { W_VA = 1, W_BOTH = 3 }; /* bit 1: $v */

/* How a value is scaled, rounded and read out. */
struct scale {
    bool integers; /* else fractions */
    bool low;      /* the low half is read */
    bool is_signed;
    bool round;
    int shift;
    bool ties_down;
};

static int width_of(const struct scale *k)
{
    return k->integers ? 16 - k->shift : (k->is_signed ? 9 : 8) - k->shift;
}

static int input(const struct scale *k, int byte, bool is_signed)
{
    if (!is_signed)
        return byte;
    return (int8_t)byte * (k->integers ? 1 : 2);
}

/* Of what an addend is shifted by: to either side. */
static int64_t shifted(int64_t value, int by)
{
    return by < 0 ? value >> -by : value * (INT64_C(1) << by);
}

static int32_t accumulate(const struct scale *k, int64_t addend, int64_t products)
{
    int64_t acc = addend + products * (k->integers ? 256 : 1);
    int r = width_of(k) - (k->low ? 8 : 0);
    if (k->round && r > 0)
        acc += (INT64_C(1) << (r - 1)) - k->ties_down;
    return (int32_t)((uint32_t)acc << 4) >> 4;
}

static uint8_t read_out(const struct scale *k, int32_t acc)
{
    int64_t value = shifted(acc, -(width_of(k) - 8));
    if (k->is_signed)
        value = value < -0x8000 ? -0x8000 : value > 0x7fff ? 0x7fff : value;
    else
        value = value < 0 ? 0 : value > 0xffff ? 0xffff : value;
    return (uint8_t)(k->low ? value : value >> 8);
}

static void write_element(struct vp1 *s, const struct scale *k, unsigned writes, uint32_t dst,
                          unsigned i, int32_t acc)
{
    if (writes & 1)
        s->now.va[i] = acc;
    if (writes & 2)
        s->now.v[dst][i] = read_out(k, acc);
}

/* ---- multiply and add ---- */

/* What of the table's row the operation is. */
static const struct mad {
    uint8_t op, addend, factors, writes;
    bool is_signed;
} mads[] = {
#define SIGN_S 1
#define SIGN_U 0
#define ROW_MAD(id, addend, factors, sign, writes) \
    {CPS_VP1_##id, A_##addend, F_##factors, W_##writes, SIGN_##sign},
#include "emu/nv/vp1/rows.h"
};

static const struct mad *find_mad(unsigned op)
{
    size_t i = 0;
    while (mads[i].op != op)
        i++;
    return &mads[i];
}

bool vp1_mad_writes_v_(unsigned op)
{
    return find_mad(op)->writes == W_BOTH;
}

/* The second factor of a plain product: a register, or an immediate in one of two places. */
static int second_byte(const struct vp1 *s, uint32_t word, unsigned i)
{
    uint32_t opcode = word >> 24;
    if (!(opcode & 0x20))
        return s->old.v[VP1(word, VSRC2)][i];
    if (opcode == 0xb0)
        return (int)VP1(word, BADIMM);
    return (int)((VP1(word, MULIMM) | VP1(word, TOP) << 5) * 4);
}

/* What the scalar unit sent, for byte i. */
static void factors_of(const struct vp1_s2v *s2v, bool masks, uint32_t mask, unsigned i, int ret[2])
{
    uint32_t cc = mask >> i & 1;
    ret[0] = masks ? 0x100 * (int)(s2v->mask[0] >> i & 1) : s2v->factor[cc];
    ret[1] = masks ? 0x100 * (int)(s2v->mask[1] >> i & 1) : s2v->factor[2 | cc];
}

static int64_t products(const struct vp1 *s, const struct scale *k, const struct mad *m,
                        const int f[2], unsigned i)
{
    uint32_t word = s->word[VP1_V];
    bool sign1 = VP1(word, SIGNS) & 2;
    bool sign2 = VP1(word, SIGNS) & 1;
    int b = input(k, s->old.v[VP1(word, VSRC1)][i], sign1);
    if (m->factors == F_PRODUCT)
        return (int64_t)b * input(k, second_byte(s, word, i), sign2);
    uint32_t other = m->factors == F_PAIR ? VP1(word, VSRC1) | 1 : VP1(word, SRC3);
    return (int64_t)b * f[0] + (int64_t)input(k, s->old.v[other][i], sign1) * f[1];
}

static void multiply_add(struct nv *e, const struct vp1_s2v *s2v)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_V];
    const struct mad *m = find_mad(vp1_op_(s, VP1_V));
    const struct scale k = {.integers = VP1(word, MODE) & 1,
                            .low = VP1(word, MODE) & 2,
                            .is_signed = m->is_signed,
                            .round = VP1(word, RND),
                            .shift = VP1_SIGNED(word, SHIFT),
                            .ties_down = s->ties_down};
    uint32_t mask = condition_mask(s, s2v);
    for (unsigned i = 0; i < 16; i++) {
        int f[2];
        int s2 = input(&k, s->old.v[VP1(word, VSRC2)][i], VP1(word, SIGNS) & 1);
        int64_t addend = m->addend == A_VA   ? s->old.va[i]
                         : m->addend == A_S2 ? shifted(s2, width_of(&k))
                                             : 0;
        factors_of(s2v, VP1(word, S2V), mask, i, f);
        write_element(s, &k, m->writes, VP1(word, VDST), i,
                      accumulate(&k, addend, products(s, &k, m, f, i)));
    }
}

/* ---- between two values ---- */

/* Byte i of a register near SRC1 that a condition and bit @p k choose. */
static int quad(const struct vp1 *s, unsigned k, unsigned i)
{
    uint32_t word = s->word[VP1_V];
    return s->old.v[vp1_quad_(s, word, VP1(word, VSRC1), k)][i];
}

static void lerp_VLRP(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    (void)f;
    uint32_t word = s->word[VP1_V];
    int t = s->old.v[VP1(word, VSRC1) | 1][i];
    int64_t product = (int64_t)(s->old.v[VP1(word, VSRC1)][i] - t) * s->old.v[VP1(word, VSRC2)][i];
    write_element(s, k, 2, VP1(word, VDST), i, accumulate(k, shifted(t, width_of(k)), product));
}

static void lerp_VLRP2(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    uint32_t word = s->word[VP1_V];
    uint32_t how = VP1(word, LRP);
    int q0 = input(k, quad(s, 0, i), how & 1);
    int base = input(k, quad(s, 0, i) ^ (how & 2 ? 0x80 : 0), how & 1);
    int64_t product = (int64_t)(input(k, quad(s, 2, i), how & 1) - q0) * f[0] +
                      (int64_t)(input(k, quad(s, 3, i), how & 1) - q0) * f[1];
    write_element(s, k, how & 4 ? 3 : 2, VP1(word, VDST), i,
                  accumulate(k, shifted(base, width_of(k)), product));
}

static void lerp_VLRP4A(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    int q0 = quad(s, 0, i);
    int64_t product = (int64_t)(quad(s, 2, i) - q0) * f[0] + (int64_t)(quad(s, 3, i) - q0) * f[1];
    write_element(s, k, 1, 0, i, accumulate(k, shifted(q0, width_of(k)), product));
}

static void lerp_VLRPF(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    int s2 = (int8_t)s->old.v[VP1(s->word[VP1_V], VSRC2)][i];
    int q3 = quad(s, 3, i);
    int64_t product = (int64_t)(quad(s, 2, i) - q3) * f[0] + (int64_t)q3 * f[1];
    write_element(s, k, 1, 0, i, accumulate(k, shifted(s2, width_of(k)), product));
}

static void lerp_VLRP4B(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    uint32_t word = s->word[VP1_V];
    int p0 = quad(s, 0, i);
    int p1 = quad(s, 1, i);
    if (VP1(word, SLCT) != 4)
        p0 = p1 = s->old.v[VP1(word, VSRC1) ^ (uint32_t)vp1_condition_(s, word)][i];
    int64_t product = (int64_t)(p1 - p0) * f[0] + (int64_t)(s->old.vx[i] - p0) * f[1];
    write_element(s, k, W_BOTH, VP1(word, VDST), i, accumulate(k, s->old.va[i], product));
}

#define lerp_VLRP4BU lerp_VLRP4B

/* One byte; NULL for other operations. */
static void (*const lerps[CPS_VP1_OP_COUNT])(struct vp1 *s, const struct scale *k, const int f[2],
                                             unsigned i) = {
#define ROW_LRP(id, ...) [CPS_VP1_##id] = lerp_##id,
#include "emu/nv/vp1/rows.h"
};

static struct scale lerp_scale(const struct vp1 *s, uint32_t word, unsigned op)
{
    bool last = op == CPS_VP1_VLRP4B || op == CPS_VP1_VLRP4BU;
    return (struct scale){.low = op == CPS_VP1_VLRP4A || op == CPS_VP1_VLRPF,
                          .is_signed =
                              op == CPS_VP1_VLRP4B || (op == CPS_VP1_VLRP2 && VP1(word, LRP) & 8),
                          .round = last ? VP1(word, RND9) : VP1(word, RND),
                          .shift = last ? VP1_SIGNED(word, SHIFT11) : VP1_SIGNED(word, SHIFT),
                          .ties_down = s->ties_down};
}

static void lerp(struct nv *e, const struct vp1_s2v *s2v)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_V];
    unsigned op = vp1_op_(s, VP1_V);
    const struct scale k = lerp_scale(s, word, op);
    uint32_t mask = condition_mask(s, NULL);
    for (unsigned i = 0; i < 16; i++) {
        int f[2];
        factors_of(s2v, false, mask, i, f);
        lerps[op](s, &k, f, i);
    }
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

static void own_VCLIP(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    (void)s2v;
    uint32_t flags = 0;
    for (unsigned i = 0; i < 16; i++) {
        int s1 = (int8_t)s->old.v[VP1(word, VSRC1)][i];
        int s2 = (int8_t)s->old.v[VP1(word, VSRC2)][i];
        int s3 = (int8_t)s->old.v[VP1(word, SRC3)][i];
        int low = s1 < s2 ? s1 : s2;
        int high = s1 < s2 ? s2 : s1;
        int value = vp1_clip(s3, low, high);
        s->now.v[VP1(word, VDST)][i] = (uint8_t)value;
        flags |= (uint32_t) !(s2 < s1 && s1 < s3) << i | (uint32_t)!value << (16 + i);
    }
    set_vc(s, word, flags);
}

static void own_VCMPAD(struct vp1 *s, uint32_t word, const struct vp1_s2v *s2v)
{
    uint32_t mask = condition_mask(s, s2v);
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
        multiply_add(e, s2v);
        break;
    case VP1_KIND_LRP:
        lerp(e, s2v);
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
