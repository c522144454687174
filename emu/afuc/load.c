/* SPDX-License-Identifier: MIT
 * Words to micro-operations, once per image: encodings, immediates, branch targets and operand
 * shapes are resolved here so that the interpreter never looks at a machine word. */
#include "emu/afuc/load.h"
#include "isa/sets/decoder.h"

/* The first code of each operation's shapes, by enum cps_afuc_op. */
static const uint16_t first_code[CPS_AFUC_OP_COUNT] = {
    [CPS_AFUC_NONE] = UOP_ILLEGAL,
#define OP(id, text, kind, ...) [CPS_AFUC_##id] = FIRST_##kind(id),
#define FIRST_ALU(id)           UOP_##id##_RR
#define FIRST_IF(id)            UOP_##id
#define FIRST_OWN(id)           UOP_##id
#include "isa/afuc.def"
};

static const bool is_alu[CPS_AFUC_OP_COUNT] = {
#define OP(id, text, kind, ...) [CPS_AFUC_##id] = IS_##kind,
#define IS_ALU                  true
#define IS_IF                   false
#define IS_OWN                  false
#include "isa/afuc.def"
};

/* Whether it goes anywhere else than on. */
static const bool goes[CPS_AFUC_OP_COUNT] = {
#define OP(id, text, kind, flow, ...) [CPS_AFUC_##id] = CPS_FLOW_##flow != CPS_FLOW_NEXT,
#include "isa/afuc.def"
};

/* Fields of the table that matter here. */
/* clang-format off */
#define FIELDS(F)                                                                   \
    F(REP) F(PEEK) F(BANG) F(XMOV) F(SDS) F(DST) F(SRC1) F(SRC2) F(REG) F(IMM16)    \
    F(IMM12) F(IMM5) F(SHIFT) F(NBIT) F(LO) F(HI) F(BASE)
/* clang-format on */
enum field {
#define NAME_OF(id) id,
    FIELDS(NAME_OF) FIELD_COUNT,
};
static const uint8_t field_id[FIELD_COUNT] = {
#define ID_OF(id) [id] = CPS_AFUC_F_##id,
    FIELDS(ID_OF)};

struct loader {
    struct cps_decoder decoder;
    struct cps_insn insn;
    uint32_t pc;
    uint32_t count;
    bool known[CPS_AFUC_ROWS]; /* rows whose positions have been looked up */
    int8_t position[CPS_AFUC_ROWS][FIELD_COUNT];
    const int8_t *at; /* of the instruction's row */
};

/* Looks the fields of the instruction's row up, once. */
static void learn(struct loader *l)
{
    for (unsigned i = 0; i < FIELD_COUNT; i++)
        l->position[l->insn.row][i] =
            (int8_t)cps_insn_position(l->decoder.isa, &l->insn, field_id[i]);
    l->known[l->insn.row] = true;
}

static int64_t field(const struct loader *l, enum field which, int64_t fallback)
{
    int at = l->at[which];
    return at < 0 ? fallback : l->insn.operand[at];
}

/* The immediate that replaces the second source of an ALU operation; false if there is none. */
static bool alu_immediate(const struct loader *l, uint32_t *ret)
{
    int64_t imm16 = field(l, IMM16, -1);
    int64_t imm12 = field(l, IMM12, -1);
    int64_t bit = field(l, NBIT, -1);
    int64_t lo = field(l, LO, -1);
    if (imm16 >= 0)
        *ret = (uint32_t)imm16 << field(l, SHIFT, 0);
    else if (imm12 >= 0)
        *ret = (uint32_t)imm12;
    else if (bit >= 0)
        *ret = (uint32_t)bit;
    else if (lo >= 0)
        *ret = (uint32_t)(field(l, HI, 0) << 5 | lo);
    else
        return false;
    return true;
}

static void load_alu(const struct loader *l, struct afuc_uop *uop)
{
    bool immediate = alu_immediate(l, &uop->imm);
    uop->dst = (uint8_t)field(l, DST, 0);
    uop->s1 = (uint8_t)field(l, SRC1, 0);
    uop->s2 = immediate ? S2_IMM : (uint8_t)field(l, SRC2, 0);
    bool plain = afuc_is_general_(uop->dst) && afuc_is_general_(uop->s1) &&
                 (immediate || afuc_is_general_(uop->s2)) && !uop->flags && !uop->xmov;
    uop->code = (uint16_t)(uop->code + (plain ? immediate : 2));
    if (uop->dst == 0)
        uop->dst = R_TRASH;
}

/* Branch targets outside the image lead to the ILLEGAL operation behind it. */
static uint32_t resolve(const struct loader *l)
{
    uint32_t target = 0;
    if (goes[l->insn.op])
        cps_insn_target(l->decoder.isa, &l->insn, l->pc, &target);
    return target < l->count ? target : l->count;
}

/* Control flow, memory and control access: data register in s2 or dst, offset register in s1. */
static void load_own(const struct loader *l, struct afuc_uop *uop)
{
    uop->dst = (uint8_t)field(l, DST, 0);
    uop->s1 = (uint8_t)field(l, SRC1, field(l, REG, 0));
    uop->s2 = (uint8_t)field(l, SRC2, 0);
    uop->imm = (uint32_t)field(l, BASE, field(l, IMM5, field(l, NBIT, 0)));
    uop->target = resolve(l);
}

/* Whether it waits for no queue. */
static bool is_free(const struct afuc_uop *uop)
{
    bool reads = !afuc_is_general_(uop->s1) || !(uop->s2 == S2_IMM || afuc_is_general_(uop->s2));
    return !reads && !uop->xmov && uop->dst != R_DATA;
}

static void load_word(struct loader *l, struct afuc_uop *uop)
{
    *uop = (struct afuc_uop){.code = first_code[l->insn.op]};
    if (!l->insn.enc)
        return;
    if (!l->known[l->insn.row])
        learn(l);
    l->at = l->position[l->insn.row];
    uop->flags = (uint8_t)((field(l, REP, 0) ? U_REP : 0) | (field(l, PEEK, 0) ? U_PEEK : 0) |
                           (field(l, BANG, 0) ? U_PRE : 0));
    uop->xmov = (uint8_t)field(l, XMOV, field(l, SDS, 0));
    if (is_alu[l->insn.op])
        load_alu(l, uop);
    else
        load_own(l, uop);
    bool pops = uop->s1 == R_DATA || uop->s2 == R_DATA;
    if (pops && !(uop->flags & U_PEEK))
        uop->flags |= U_POPS;
    bool to_port = uop->dst == R_DATA || uop->dst == R_USRADDR || uop->dst == R_TRASH;
    if (uop->code == UOP_OR_ANY && uop->flags == (U_REP | U_POPS) && to_port && !uop->s1 &&
        uop->s2 == R_DATA)
        uop->code = UOP_BULK;
    if (is_free(uop))
        uop->flags |= U_FREE;
}

static void load_at(struct loader *l, struct afuc_image *image, uint32_t pc, uint32_t word)
{
    l->pc = pc;
    cps_decoder_decode(&l->decoder, word, &l->insn);
    load_word(l, &image->uop[pc]);
}

void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen)
{
    struct loader l = {.count = image->count};
    cps_decoder_init(&l.decoder, &cps_isa_afuc, gen);
    load_at(&l, image, pc, word);
    afuc_link_(image, pc < AFUC_LINK_REACH ? 0 : pc - AFUC_LINK_REACH, pc);
}

struct cps_err *afuc_load_(const uint32_t *words, uint32_t count, enum cps_gen gen,
                           const void *const *go, const struct cps_reg_index *control,
                           struct afuc_image **ret)
{
    struct afuc_image *image =
        calloc(1, sizeof(*image) + ((size_t)count + 1) * sizeof(*image->uop));
    if (!image)
        return cps_err_nomem();
    image->refs = 1;
    image->count = count;
    image->go = go;
    image->control = control;
    struct loader l = {.count = count};
    cps_decoder_init(&l.decoder, &cps_isa_afuc, gen);
    for (uint32_t pc = 0; pc < count; pc++)
        load_at(&l, image, pc, words[pc]);
    image->uop[count] = (struct afuc_uop){.code = UOP_ILLEGAL};
    afuc_link_(image, 0, count);
    *ret = image;
    return NULL;
}

void afuc_image_unref_(struct afuc_image *image)
{
    if (!image || --image->refs)
        return;
    free(image);
}
