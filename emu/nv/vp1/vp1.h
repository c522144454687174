/* SPDX-License-Identifier: MIT
 * The state of VP1. Private to emu/. */
#ifndef CPS_VP1_H
#define CPS_VP1_H

#include "emu/nv/nv.h"

#define VP1_STACK 4u /* its $sr76 to $sr79; deeper calls are UNKNOWN */

/* Low bit and width of each field of vp1.def. */
enum {
#define FIELD(id, name, low, width, ...) VP1_LOW_##id = (low), VP1_WIDTH_##id = (width),
#include "isa/nv/vp1.def"
};
/** A field of a word, unsigned and signed. */
#define VP1(word, id) ((word) >> VP1_LOW_##id & ((UINT32_C(1) << VP1_WIDTH_##id) - 1))
#define VP1_SIGNED(word, id) \
    ((int32_t)((word) << (32 - VP1_LOW_##id - VP1_WIDTH_##id)) >> (32 - VP1_WIDTH_##id))

/** Selectors of register files, as `mov` and the host's view number them. */
enum vp1_selector {
    VP1_SEL_V,
    VP1_SEL_SR = 0x08,
    VP1_SEL_L = 0x0b,
    VP1_SEL_R,
    VP1_SEL_C,
    VP1_SEL_A = 0x0f, /* only the host's */
    VP1_SEL_V2 = 0x12,
    VP1_SEL_X = 0x14,
    VP1_SEL_D = 0x16,
    VP1_SEL_Z,
    VP1_SEL_Y,
};
/** Special registers that the engine itself looks at. */
enum {
    VP1_SR_EXIT = 9,
    VP1_SR_INJECT = 18, /* words A, S, V, B; the start */
    VP1_SR_BASE = 25,
    VP1_SR_ENABLE = 29,
    VP1_SR_RETURN = 64,
    VP1_SR_WORDS = 68,
    VP1_SR_PC = 72,
    VP1_SR_STATE,
    VP1_SR_CONFIG = 80,
};

enum vp1_unit { VP1_A, VP1_S, VP1_V, VP1_B, VP1_UNITS };

/** Registers that a bundle reads as they were before it. */
struct vp1_regs {
    uint32_t a[32], r[32], x[64], d[8], z[2], y[16];
    uint8_t v[32][16];
    uint16_t c[4], l[4];
    uint32_t vc[4];
    int32_t va[16]; /* 28 bits */
    uint8_t vx[16];
};

/** What the scalar unit hands to the vector unit in the same bundle. */
struct vp1_s2v {
    int32_t factor[4]; /* 10 bits */
    uint32_t mask[2];  /* 16 bits */
    bool valid;
    uint8_t vcidx, vcflag, xfrm;
};

/** What an opcode is, from the table. */
enum vp1_source { VP1_FROM_SELECT, VP1_FROM_REG, VP1_FROM_IMM, VP1_FROM_BIMM };
enum vp1_kind { /* of meanings: vp1.def; 0 is no instruction */
                VP1_KIND_NONE,
                VP1_KIND_S,
                VP1_KIND_V,
                VP1_KIND_A,
                VP1_KIND_B,
                VP1_KIND_STOP,
                VP1_KIND_FULL,
                VP1_KIND_FULLZ,
                VP1_KIND_PART,
                VP1_KIND_SBYTE,
                VP1_KIND_UBYTE,
                VP1_KIND_VS,
                VP1_KIND_VU,
                VP1_KIND_VSH,
                VP1_KIND_VLOG,
                VP1_KIND_MAD,
                VP1_KIND_LRP,
                VP1_KIND_ACCESS,
                VP1_KIND_IF,
};
struct vp1_code {
    uint8_t op;     /* enum cps_vp1_op */
    uint8_t kind;   /* enum vp1_kind */
    uint8_t source; /* enum vp1_source, of the second source */
};

/** What controls the program; a bundle changes it at its end. */
enum vp1_run { VP1_IDLE, VP1_METHOD, VP1_SWITCH, VP1_INJECTED };
struct vp1 {
    struct vp1_regs now, old;
    uint32_t sr[128];
    uint8_t ds[16][0x200]; /* data store: bank, cell */
    uint32_t pc;
    uint32_t word[VP1_UNITS]; /* of the bundle at hand; nops where it has none */
    uint8_t units;            /* a bit for each unit that it has a word for */
    uint32_t last[VP1_UNITS]; /* the word that each unit had last before it */
    uint8_t ties_down;        /* $sr80 bit 0 before it */
    uint8_t moved;            /* the $a that its `mov` to another file takes */
    uint32_t size;            /* its words in memory */
    uint32_t target;          /* of the branch before a delay slot */
    uint8_t run;              /* enum vp1_run */
    uint8_t pending;          /* the bundle at pc is a delay slot */
    uint8_t calls;            /* and its end is to be pushed */
    uint8_t branches;         /* this bundle does, to branch_to */
    uint8_t ends;             /* this bundle ends the program */
    uint8_t interrupt;        /* and requests an interrupt */
    uint32_t branch_to;
    uint32_t depth, stack[VP1_STACK];
    uint64_t tick_from; /* bus clock at which $sr30 is 0 */
    struct vp1_code code[256];
};

static inline struct vp1 *vp1_of_(const struct nv *e)
{
    return e->state;
}
static inline struct cps_by vp1_by_(const struct nv *e)
{
    return (struct cps_by){CPS_CPU_VP1, CPS_PATH_POKE, vp1_of_(e)->pc};
}
static inline unsigned vp1_op_(const struct vp1 *s, enum vp1_unit unit)
{
    return s->code[s->word[unit] >> 24].op;
}
static inline bool vp1_is_g80_(const struct nv *e)
{
    return e->engine.gen == CPS_VP1_G80;
}
/** A condition register's bit, before the bundle. */
static inline bool vp1_condition_(const struct vp1 *s, uint32_t word)
{
    return s->old.c[VP1(word, COND)] >> VP1(word, SLCT) & 1;
}
/** The register at @p number plus bits 5:4 of $c[COND] plus @p step, in its group of four. */
static inline uint32_t vp1_quad_(const struct vp1 *s, uint32_t word, uint32_t number, uint32_t step)
{
    return (number & 0x1c) | ((number + (s->old.c[VP1(word, COND)] >> 4) + step) & 3);
}
/** The register number of a mangled second source. */
static inline uint32_t vp1_src2s_(const struct vp1 *s, uint32_t word)
{
    uint32_t k = s->old.c[VP1(word, COND)];
    uint32_t src2 = VP1(word, SRC2);
    if (VP1(word, SLCT) == 4)
        return vp1_quad_(s, word, src2, 0);
    return src2 ^ (k >> VP1(word, SLCT) & 1);
}
/** What bvecmad and bvecmadsel put into the numbers of their sources: a count, or a bit. */
static inline uint32_t vp1_choice_(const struct vp1 *s, uint32_t word)
{
    uint32_t k = s->old.c[VP1(word, COND)];
    return VP1(word, SLCT) == 4 ? k >> 4 & 3 : k >> VP1(word, SLCT) & 1;
}
/** The $a that they read as their third source. */
static inline uint32_t vp1_third_source_(const struct vp1 *s, uint32_t word)
{
    return VP1(word, SRC2) | 2 | vp1_choice_(s, word);
}
/** The $v that ldaxh and ldaxv load beside $vx; 32 if their condition does not hold. */
static inline uint32_t vp1_extra_(const struct vp1 *s, uint32_t word)
{
    return vp1_condition_(s, word) ? vp1_quad_(s, word, VP1(word, VDST), 0) : 32;
}
/** Sets the bits of @p mask in the condition register that a word names, if it names one. */
static inline void vp1_set_c_(struct vp1 *s, uint32_t number, uint32_t mask, uint32_t bits)
{
    if (number < 4)
        s->now.c[number] = (uint16_t)((s->now.c[number] & ~mask) | (bits & mask));
}
static inline void vp1_unknown_(struct nv *e, enum cps_unknown what, uint32_t detail)
{
    const struct cps_by by = vp1_by_(e);
    cps_bus_unknown(e, what, &by, detail);
}

/** What vp1.def's expressions call. */
static inline uint32_t vp1_shift(uint32_t a, uint32_t b, uint32_t fill)
{
    int32_t n = (int32_t)(b << 26) >> 26;
    if (n == -32 || n == 0)
        return a;
    return n < 0 ? a << -n : a >> n | fill << (32 - n);
}
static inline int vp1_shift8(int x, int y)
{
    int n = (y & 15) - (y & 8 ? 16 : 0);
    return n < 0 ? (int)((unsigned)x << -n & 0xff) : x >> n;
}
static inline uint32_t vp1_bitop(uint32_t table, uint32_t a, uint32_t b)
{
    return (table & 1 ? ~a & ~b : 0) | (table & 2 ? ~a & b : 0) | (table & 4 ? a & ~b : 0) |
           (table & 8 ? a & b : 0);
}
static inline int vp1_minabs(int x, int y)
{
    x = x < 0 ? -x : x;
    y = y < 0 ? -y : y;
    y = x < y ? x : y;
    return y < 127 ? y : 127;
}
static inline int vp1_clip(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

/* ---- register files: file.c ---- */

/** Registers as `mov` sees them. Reading gives false if there is no such file. */
bool vp1_read_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t *ret);
void vp1_write_file_(struct nv *e, uint32_t selector, uint32_t index, uint32_t value);
/** The same for the host. */
uint32_t vp1_view_read_(const struct cps_access *at);
void vp1_view_write_(const struct cps_access *at);
/** Rows of sr.def. */
extern const struct cps_reg_table vp1_special_;
/** Gives special registers the values that their rows begin with, if these are not 0. */
void vp1_file_initial_(struct vp1 *s, uint32_t first, uint32_t last);
void vp1_file_reset_(struct nv *e);

/* ---- the units: address.c, scalar.c, vector.c, branch.c ---- */

void vp1_address_(struct nv *e);
void vp1_scalar_(struct nv *e, struct vp1_s2v *ret);
void vp1_vector_(struct nv *e, const struct vp1_s2v *s2v);
bool vp1_mad_writes_v_(unsigned op);
void vp1_branch_(struct nv *e);
/** Whether the bundle, not yet begun, will call. */
bool vp1_calls_(const struct vp1 *s);

/* ---- what two units of a bundle have in common: clash.c ---- */

/** Says so, and changes the words as the hardware does. */
void vp1_clash_(struct nv *e);
/** Whether the scalar `mov` of the bundle loses against a load. */
bool vp1_mov_is_first_(const struct vp1 *s);

#endif
