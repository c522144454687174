/* SPDX-License-Identifier: MIT
 * The multiplier of VP1's vector unit: acc = A + B * C + D * E in 28 bits, for sixteen bytes. */
#include "emu/nv/vp1/vp1.h"

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

static void put(struct vp1 *s, const struct scale *k, unsigned writes, uint32_t dst, unsigned i,
                int32_t acc)
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

void vp1_mad_(struct nv *e, const struct vp1_s2v *s2v)
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
    uint32_t mask = vp1_condition_mask_(s, s2v);
    for (unsigned i = 0; i < 16; i++) {
        int f[2];
        int s2 = input(&k, s->old.v[VP1(word, VSRC2)][i], VP1(word, SIGNS) & 1);
        int64_t addend = m->addend == A_VA   ? s->old.va[i]
                         : m->addend == A_S2 ? shifted(s2, width_of(&k))
                                             : 0;
        factors_of(s2v, VP1(word, S2V), mask, i, f);
        put(s, &k, m->writes, VP1(word, VDST), i, accumulate(&k, addend, products(s, &k, m, f, i)));
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
    put(s, k, 2, VP1(word, VDST), i, accumulate(k, shifted(t, width_of(k)), product));
}

static void lerp_VLRP2(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    uint32_t word = s->word[VP1_V];
    uint32_t how = VP1(word, LRP);
    int q0 = input(k, quad(s, 0, i), how & 1);
    int base = input(k, quad(s, 0, i) ^ (how & 2 ? 0x80 : 0), how & 1);
    int64_t product = (int64_t)(input(k, quad(s, 2, i), how & 1) - q0) * f[0] +
                      (int64_t)(input(k, quad(s, 3, i), how & 1) - q0) * f[1];
    put(s, k, how & 4 ? 3 : 2, VP1(word, VDST), i,
        accumulate(k, shifted(base, width_of(k)), product));
}

static void lerp_VLRP4A(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    int q0 = quad(s, 0, i);
    int64_t product = (int64_t)(quad(s, 2, i) - q0) * f[0] + (int64_t)(quad(s, 3, i) - q0) * f[1];
    put(s, k, 1, 0, i, accumulate(k, shifted(q0, width_of(k)), product));
}

static void lerp_VLRPF(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    int s2 = (int8_t)s->old.v[VP1(s->word[VP1_V], VSRC2)][i];
    int q3 = quad(s, 3, i);
    int64_t product = (int64_t)(quad(s, 2, i) - q3) * f[0] + (int64_t)q3 * f[1];
    put(s, k, 1, 0, i, accumulate(k, shifted(s2, width_of(k)), product));
}

static void lerp_VLRP4B(struct vp1 *s, const struct scale *k, const int f[2], unsigned i)
{
    uint32_t word = s->word[VP1_V];
    int p0 = quad(s, 0, i);
    int p1 = quad(s, 1, i);
    if (VP1(word, SLCT) != 4)
        p0 = p1 = s->old.v[VP1(word, VSRC1) ^ (uint32_t)vp1_condition_(s, word)][i];
    int64_t product = (int64_t)(p1 - p0) * f[0] + (int64_t)(s->old.vx[i] - p0) * f[1];
    put(s, k, W_BOTH, VP1(word, VDST), i, accumulate(k, s->old.va[i], product));
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

void vp1_lerp_(struct nv *e, const struct vp1_s2v *s2v)
{
    struct vp1 *s = vp1_of_(e);
    uint32_t word = s->word[VP1_V];
    unsigned op = vp1_op_(s, VP1_V);
    const struct scale k = lerp_scale(s, word, op);
    uint32_t mask = vp1_condition_mask_(s, NULL);
    for (unsigned i = 0; i < 16; i++) {
        int f[2];
        factors_of(s2v, false, mask, i, f);
        lerps[op](s, &k, f, i);
    }
}
