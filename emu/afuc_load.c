/* SPDX-License-Identifier: MIT
 * Words to micro-operations, once per image: encodings, immediates, branch targets and operand
 * shapes are resolved here so that the interpreter never looks at a machine word. */
#include "afuc.h"

/* The first code of each operation's shapes, by enum cps_afuc_op. */
static const uint16_t first_code[CPS_AFUC_OP_COUNT] = {
    [CPS_AFUC_NONE] = UOP_ILLEGAL,
#define OP(id, text, kind, ...) [CPS_AFUC_##id] = FIRST_##kind(id),
#define FIRST_ALU(id)           UOP_##id##_RR
#define FIRST_OWN(id)           UOP_##id
#include "../isa/afuc.def"
};

static const bool is_alu[CPS_AFUC_OP_COUNT] = {
#define OP(id, text, kind, ...) [CPS_AFUC_##id] = IS_##kind,
#define IS_ALU                  true
#define IS_OWN                  false
#include "../isa/afuc.def"
};

struct loader {
    const struct cps_isa *isa;
    const struct cps_insn *insn;
    uint32_t pc;
    uint32_t count;
};

static int64_t field(const struct loader *l, const char *name, int64_t fallback)
{
    return cps_insn_field(l->isa, l->insn, name, fallback);
}

/* The immediate that replaces the second source of an ALU operation; false if there is none. */
static bool alu_immediate(const struct loader *l, uint32_t *ret)
{
    int64_t imm16 = field(l, "imm16", -1);
    int64_t imm12 = field(l, "imm12", -1);
    int64_t bit = field(l, "bit", -1);
    int64_t lo = field(l, "lo", -1);
    if (imm16 >= 0)
        *ret = (uint32_t)imm16 << field(l, "shift", 0);
    else if (imm12 >= 0)
        *ret = (uint32_t)imm12;
    else if (bit >= 0)
        *ret = (uint32_t)bit;
    else if (lo >= 0)
        *ret = (uint32_t)(field(l, "hi", 0) << 5 | lo);
    else
        return false;
    return true;
}

/* Whether an operand needs no more than the register array. */
static bool is_plain(unsigned number)
{
    return number <= R_REM;
}

static void load_alu(const struct loader *l, struct afuc_uop *uop)
{
    bool immediate = alu_immediate(l, &uop->imm);
    uop->dst = (uint8_t)field(l, "dst", 0);
    uop->s1 = (uint8_t)field(l, "src1", 0);
    uop->s2 = immediate ? S2_IMM : (uint8_t)field(l, "src2", 0);
    bool plain = is_plain(uop->dst) && is_plain(uop->s1) && (immediate || is_plain(uop->s2)) &&
                 !uop->flags && !uop->xmov;
    uop->code = (uint16_t)(uop->code + (plain ? immediate : 2));
    if (uop->dst == 0)
        uop->dst = R_TRASH;
}

/* Branch targets outside the image lead to the ILLEGAL operation behind it. */
static uint32_t resolve(const struct loader *l, int64_t target)
{
    return target < 0 || target >= l->count ? l->count : (uint32_t)target;
}

static bool is_relative(unsigned op)
{
    return op == CPS_AFUC_BRNEI || op == CPS_AFUC_BREQI || op == CPS_AFUC_BRNEB ||
           op == CPS_AFUC_BREQB || op == CPS_AFUC_SETSECURE;
}

/* Control flow, memory and control access: data register in s2 or dst, offset register in s1. */
static void load_own(const struct loader *l, struct afuc_uop *uop)
{
    int64_t target = field(l, "target", 0);
    uop->dst = (uint8_t)field(l, "dst", 0);
    uop->s1 = (uint8_t)field(l, "src1", field(l, "reg", 0));
    uop->s2 = (uint8_t)field(l, "src2", 0);
    uop->imm = (uint32_t)field(l, "base", field(l, "imm5", field(l, "bit", 0)));
    uop->target = resolve(l, is_relative(l->insn->op) ? l->pc + target : target);
}

static void load_word(struct loader *l, struct afuc_uop *uop)
{
    *uop = (struct afuc_uop){.code = first_code[l->insn->op]};
    if (!l->insn->enc)
        return;
    uop->flags = (uint8_t)((field(l, "rep", 0) ? U_REP : 0) | (field(l, "peek", 0) ? U_PEEK : 0) |
                           (field(l, "!", 0) ? U_PRE : 0));
    uop->xmov = (uint8_t)field(l, "xmov", field(l, "sds", 0));
    if (is_alu[l->insn->op])
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
}

void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen)
{
    struct cps_insn insn;
    struct loader l = {cps_isa_afuc(), &insn, pc, image->count};
    cps_decode(l.isa, gen, word, &insn);
    load_word(&l, &image->uop[pc]);
}

struct cps_err *afuc_load_(const uint32_t *words, uint32_t count, enum cps_gen gen,
                           struct afuc_image **ret)
{
    struct afuc_image *image =
        calloc(1, sizeof(*image) + ((size_t)count + 1) * sizeof(*image->uop));
    if (!image)
        return cps_err_nomem();
    image->refs = 1;
    image->count = count;
    for (uint32_t pc = 0; pc < count; pc++)
        afuc_patch_(image, pc, words[pc], gen);
    image->uop[count] = (struct afuc_uop){.code = UOP_ILLEGAL};
    *ret = image;
    return NULL;
}

void afuc_image_unref_(struct afuc_image *image)
{
    if (!image || --image->refs)
        return;
    free(image->native);
    free(image->loop);
    free(image);
}
