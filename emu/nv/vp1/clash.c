/* SPDX-License-Identifier: MIT
 * Bundles whose units want the same: envytools' tester says what comes of it, and real code avoids
 * it, so that it is worth a report. */
#include "emu/nv/vp1/vp1.h"

static bool reads_v(unsigned op)
{
    return op == CPS_VP1_STAVH || op == CPS_VP1_STAVV || op == CPS_VP1_STVH || op == CPS_VP1_STVV ||
           op == CPS_VP1_LDR;
}

static bool stores_a(unsigned op)
{
    return op == CPS_VP1_STAS || op == CPS_VP1_STS;
}

/* The vector register that the address unit loads, 32 if none. */
static uint32_t loads_v(const struct vp1 *s, unsigned op, uint32_t word)
{
    if (op == CPS_VP1_LDAXH || op == CPS_VP1_LDAXV)
        return vp1_extra_(s, word);
    bool loads = op == CPS_VP1_LDAVH || op == CPS_VP1_LDAVV || op == CPS_VP1_LDVH ||
                 op == CPS_VP1_LDVV || (op == CPS_VP1_LDR && !(word & 1));
    return loads ? VP1(word, VDST) : 32;
}

/* The address register that the unit writes, 32 if none. */
static uint32_t writes_r(unsigned op, uint32_t word)
{
    bool load = op >= CPS_VP1_LDAVH && op <= CPS_VP1_LDAS;
    bool extra = op == CPS_VP1_LDAXH || op == CPS_VP1_LDAXV;
    bool store = op >= CPS_VP1_STAVH && op <= CPS_VP1_STAS;
    bool value = op >= CPS_VP1_AADD && op <= CPS_VP1_RBITOP;
    if (load || extra)
        return VP1(word, RSRC1);
    return store || value || (op == CPS_VP1_LDR && word & 1) ? VP1(word, RDST) : 32;
}

bool vp1_mov_is_first_(const struct vp1 *s)
{
    uint32_t selector = VP1(s->word[VP1_S], RFILE);
    unsigned op = vp1_op_(s, VP1_S);
    if (op == CPS_VP1_MOVTO)
        return selector < 4 || selector == VP1_SEL_V2;
    return op == CPS_VP1_MOVFROM &&
           (selector < 4 || (selector >= VP1_SEL_L && selector <= VP1_SEL_C));
}

/* Whether `mov` from a file writes anything: of files that do not exist nothing arrives. */
static bool arrives(const struct vp1 *s)
{
    uint32_t selector = VP1(s->word[VP1_S], RFILE);
    return selector < 4 || (selector >= VP1_SEL_SR && selector <= VP1_SEL_C) ||
           (selector >= VP1_SEL_X && selector <= VP1_SEL_Y);
}

/* The register of a file that a unit writes, 32 if none: $a31 is none. */
static uint32_t scalar_a(const struct vp1 *s)
{
    uint32_t word = s->word[VP1_S];
    unsigned op = vp1_op_(s, VP1_S);
    bool writes = s->code[word >> 24].kind != VP1_KIND_S || op == CPS_VP1_MOVI ||
                  op == CPS_VP1_SETHI || (op == CPS_VP1_MOVFROM && arrives(s)) ||
                  (op >= CPS_VP1_BMUL && op <= CPS_VP1_BMULAU);
    uint32_t number = op == CPS_VP1_VECMS ? VP1(word, SRC1) : writes ? VP1(word, DST) : 31;
    return number < 31 ? number : 32;
}

static uint32_t moved_to(const struct vp1 *s, uint32_t first, uint32_t last)
{
    uint32_t word = s->word[VP1_S];
    bool there = VP1(word, RFILE) >= first && VP1(word, RFILE) <= last;
    return vp1_op_(s, VP1_S) == CPS_VP1_MOVTO && there ? VP1(word, DST) : 32;
}

static uint32_t vector_v(const struct vp1 *s)
{
    unsigned op = vp1_op_(s, VP1_V);
    bool writes = s->code[s->word[VP1_V] >> 24].kind == VP1_KIND_MAD
                      ? vp1_mad_writes_v_(op)
                      : op != CPS_VP1_VCMPAD && op != CPS_VP1_VNOP && op != CPS_VP1_VLRP4A &&
                            op != CPS_VP1_VLRPF;
    return writes ? VP1(s->word[VP1_V], VDST) : 32;
}

static uint32_t branch_l(const struct vp1 *s)
{
    switch (vp1_op_(s, VP1_B)) {
    case CPS_VP1_LSET:
        return VP1(s->word[VP1_B], LSET);
    case CPS_VP1_LBRA:
    case CPS_VP1_LBRAN:
    case CPS_VP1_LCALL:
    case CPS_VP1_LCALLN:
        return VP1(s->word[VP1_B], LOOPD);
    default:
        return 32;
    }
}

static bool same(uint32_t a, uint32_t b)
{
    return a < 32 && a == b;
}

static bool writes_twice(const struct vp1 *s)
{
    uint32_t word = s->word[VP1_A];
    unsigned op = vp1_op_(s, VP1_A);
    uint32_t load_v = loads_v(s, op, word);
    uint32_t mov_v = moved_to(s, 0, 3);
    mov_v = mov_v < 32 ? mov_v : moved_to(s, VP1_SEL_V2, VP1_SEL_V2);
    return ((op == CPS_VP1_LDAS || op == CPS_VP1_LDS) && same(VP1(word, DST), scalar_a(s))) ||
           same(load_v, mov_v) || same(vector_v(s), load_v) || same(vector_v(s), mov_v) ||
           same(writes_r(op, word), moved_to(s, VP1_SEL_R, VP1_SEL_R)) ||
           same(branch_l(s), moved_to(s, VP1_SEL_L, VP1_SEL_L));
}

/* Gives the number in a field of @p word another value; true if it had another. */
static bool force(uint32_t *word, unsigned low, uint32_t number)
{
    uint32_t before = *word;
    *word = (before & ~(31u << low)) | number << low;
    return *word != before;
}

/* Two units read a file through one port, with one number; true if they asked for two. */
static bool shares_port(struct vp1 *s)
{
    const uint32_t *scalar = &s->word[VP1_S];
    uint32_t *address = &s->word[VP1_A];
    unsigned op = vp1_op_(s, VP1_A);
    switch (vp1_op_(s, VP1_S)) {
    case CPS_VP1_MOVFROM:
        if (VP1(*scalar, RFILE) >= 4 || !reads_v(op))
            return false;
        return force(address, op == CPS_VP1_LDR && !(*address & 1) ? VP1_LOW_VSRC2 : VP1_LOW_VSRC1,
                     VP1(*scalar, SRC1));
    case CPS_VP1_MOVTO:
        /* Only what is moved; what goes to the vector unit is still of its own register. */
        s->moved = (uint8_t)VP1(stores_a(op) ? *address : *scalar, SRC1);
        return s->moved != VP1(*scalar, SRC1);
    case CPS_VP1_BVECMAD:
    case CPS_VP1_BVECMADSEL:
        return stores_a(op) && force(address, VP1_LOW_SRC1, vp1_third_source_(s, *scalar));
    default:
        return false;
    }
}

void vp1_clash_(struct nv *e)
{
    struct vp1 *s = vp1_of_(e);
    bool lost = vp1_op_(s, VP1_S) == CPS_VP1_MOVFROM && vp1_op_(s, VP1_B) == CPS_VP1_EXIT &&
                VP1(s->word[VP1_S], RFILE) == VP1_SEL_L;
    bool port = shares_port(s);
    if (port || lost || writes_twice(s))
        vp1_unknown_(e, CPS_UNKNOWN_VP1_CLASH, port ? 1 : lost ? 2 : 0);
}
