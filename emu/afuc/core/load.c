/* SPDX-License-Identifier: MIT
 * Words to micro-operations, once per image: encodings, immediates, branch targets and operand
 * shapes are resolved here so that the interpreter never looks at a machine word. */
#include "emu/afuc/core/machine.h"
#include "isa/sets/decoder.h"

/* Of each operation: the first code of its shapes, and whether it goes anywhere else than on. */
static const struct op {
    uint16_t first;
    bool is_alu, goes;
} ops[CPS_AFUC_OP_COUNT] = {
    [CPS_AFUC_NONE] = {UOP_ILLEGAL, false, false},
#define OP(id, text, kind, flow, ...) \
    [CPS_AFUC_##id] = {FIRST_##kind(id), CPS_FLOW_##flow != CPS_FLOW_NEXT},
#define FIRST_ALU(id) UOP_##id##_RR, true
#define FIRST_IF(id)  UOP_##id, false
#define FIRST_OWN(id) UOP_##id, false
#include "isa/afuc.def"
};

/* Fields of the table that matter here. */
#define F(id) CPS_AFUC_F_##id
static const uint8_t fields[] = {F(REP),   F(PEEK), F(BANG), F(XMOV),  F(SDS),   F(DST),
                                 F(SRC1),  F(SRC2), F(REG),  F(IMM16), F(IMM12), F(IMM5),
                                 F(SHIFT), F(NBIT), F(LO),   F(HI),    F(BASE)};

struct loader {
    struct cps_decoder decoder;
    struct cps_insn insn;
    uint32_t pc;
    uint32_t count;
    bool known[CPS_AFUC_ROWS]; /* rows whose positions have been looked up */
    int8_t position[CPS_AFUC_ROWS][CPS_AFUC_F_COUNT];
};

static int64_t find_field(const struct loader *l, unsigned which, int64_t fallback)
{
    int at = l->position[l->insn.row][which];
    return at < 0 ? fallback : l->insn.operand[at];
}
#define FIELD(id, fallback) find_field(l, F(id), fallback)

/* The immediate that replaces the second source of an ALU operation; false if there is none. */
static bool alu_immediate(const struct loader *l, uint32_t *ret)
{
    int64_t value = FIELD(IMM16, -1);
    int64_t low = FIELD(LO, -1);
    if (value >= 0)
        value = (uint32_t)value << FIELD(SHIFT, 0);
    else if (low >= 0)
        value = FIELD(HI, 0) << 5 | low;
    value = FIELD(NBIT, value);
    value = FIELD(IMM12, value);
    *ret = value < 0 ? 0 : (uint32_t)value;
    return value >= 0;
}

static void load_alu(const struct loader *l, struct afuc_uop *uop)
{
    bool immediate = alu_immediate(l, &uop->imm);
    uop->dst = (uint8_t)FIELD(DST, 0);
    uop->s1 = (uint8_t)FIELD(SRC1, 0);
    uop->s2 = immediate ? S2_IMM : (uint8_t)FIELD(SRC2, 0);
    bool plain = afuc_is_general_(uop->dst) && afuc_is_general_(uop->s1) &&
                 (immediate || afuc_is_general_(uop->s2)) && !uop->flags && !uop->xmov;
    uop->code = (uint16_t)(uop->code + (plain ? immediate : 2));
    if (uop->dst == 0)
        uop->dst = R_TRASH;
}

/* Control flow, memory and control access: data register in s2 or dst, offset register in s1.
 * Branch targets outside the image lead to the ILLEGAL operation after it. */
static void load_own(const struct loader *l, struct afuc_uop *uop)
{
    uop->dst = (uint8_t)FIELD(DST, 0);
    uop->s1 = (uint8_t)FIELD(SRC1, FIELD(REG, 0));
    uop->s2 = (uint8_t)FIELD(SRC2, 0);
    uop->imm = (uint32_t)FIELD(BASE, FIELD(IMM5, FIELD(NBIT, 0)));
    if (ops[l->insn.op].goes)
        cps_insn_target(l->decoder.isa, &l->insn, l->pc, &uop->target);
    if (uop->target > l->count)
        uop->target = l->count;
}

/* Whether it waits for no queue. */
static bool is_free(const struct afuc_uop *uop)
{
    bool reads = !afuc_is_general_(uop->s1) || !(uop->s2 == S2_IMM || afuc_is_general_(uop->s2));
    return !reads && !uop->xmov && uop->dst != R_DATA;
}

static void load_word(struct loader *l, uint32_t pc, uint32_t word, struct afuc_uop *uop)
{
    l->pc = pc;
    cps_decoder_decode(&l->decoder, word, &l->insn);
    *uop = (struct afuc_uop){.code = ops[l->insn.op].first};
    if (!l->insn.enc)
        return;
    for (unsigned i = 0; !l->known[l->insn.row] && i < sizeof(fields); i++)
        l->position[l->insn.row][fields[i]] =
            (int8_t)cps_insn_position(l->decoder.isa, &l->insn, fields[i]);
    l->known[l->insn.row] = true;
    uop->flags = (uint8_t)((FIELD(REP, 0) ? U_REP : 0) | (FIELD(PEEK, 0) ? U_PEEK : 0) |
                           (FIELD(BANG, 0) ? U_PRE : 0));
    uop->xmov = (uint8_t)FIELD(XMOV, FIELD(SDS, 0));
    if (ops[l->insn.op].is_alu)
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

/* ---- how the interpreter takes each instruction ---- */

/* The instructions that take type 4 in one piece, the same in all images: the offset out of the
 * header, all words to consecutive registers, the next packet, whose header the delay slot takes.
 */
static bool writes_registers(const struct afuc_image *image, uint32_t pc)
{
    const struct afuc_uop *uop = &image->uop[pc];
    if (image->count - pc <= 3 || uop[0].code != UOP_USHR_ANY || uop[1].code != UOP_BULK ||
        uop[2].code != UOP_WAITIN || uop[3].code != UOP_OR_ANY)
        return false;
    bool offset = uop[0].flags == U_FREE && uop[0].dst == R_USRADDR && uop[0].s1 < R_REM &&
                  uop[0].s2 == S2_IMM;
    bool header = uop[3].flags == U_POPS && !uop[3].xmov && uop[3].dst == uop[0].s1 && !uop[3].s1 &&
                  uop[3].s2 == R_DATA;
    return offset && uop[1].dst == R_DATA && header;
}

/* A register bunch of a7xx: `(rep)(xmov3)or $usraddr, $data, $02`. */
static bool is_pairs(const struct afuc_uop *uop)
{
    return uop->code == UOP_OR_ANY && uop->flags == (U_REP | U_POPS) && uop->xmov % 2 &&
           uop->dst == R_USRADDR && uop->s1 == R_DATA && uop->s2 < R_REM;
}

static void link_image(struct afuc_image *image, uint32_t first, uint32_t last)
{
    for (uint32_t pc = first; pc <= last; pc++) {
        struct afuc_uop *uop = &image->uop[pc];
        uop->take = is_pairs(uop)                 ? (uint16_t)UOP_BULK
                    : writes_registers(image, pc) ? (uint16_t)UOP_TYPE4
                                                  : uop->code;
    }
}

void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen)
{
    struct loader l = {.count = image->count};
    cps_decoder_init(&l.decoder, &cps_isa_afuc, gen);
    load_word(&l, pc, word, &image->uop[pc]);
    link_image(image, pc < 3 ? 0 : pc - 3, pc);
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
    struct loader l = {.count = count};
    cps_decoder_init(&l.decoder, &cps_isa_afuc, gen);
    for (uint32_t pc = 0; pc < count; pc++)
        load_word(&l, pc, words[pc], &image->uop[pc]);
    image->uop[count] = (struct afuc_uop){.code = UOP_ILLEGAL};
    link_image(image, 0, count);
    *ret = image;
    return NULL;
}

void afuc_image_unref_(struct afuc_image *image)
{
    if (image && --image->refs == 0)
        free(image);
}

/* ---- where the images of cores lie, and how a core gets its own ---- */

#define NO_CONTROL 0xffffu /* NA in ctrl.def */

/* The ME's image of a5xx is a file of its own. */
uint64_t cps_afuc_image_iova(const struct cps_afuc *machine, unsigned core)
{
    const struct afuc_core *c = &machine->core[core];
    return machine->instr_iova + (c->who == CPS_CPU_ME ? 0x1000000 : 4 * (uint64_t)c->start);
}

struct cps_err *machine_load_core_(struct afuc_core *core, const uint32_t *words, uint32_t count,
                                   uint32_t start)
{
    struct afuc_image **image = &core->machine->image[core - core->machine->core];
    afuc_image_unref_(*image);
    *image = NULL;
    CPS_TRY(afuc_load_(words + start, count - start, core->machine->engine.gen, image));
    core->uops = (*image)->uop;
    core->uop_count = count - start;
    core->start = start;
    if (core->cover && core->cover_count <= core->uop_count)
        core->cover = NULL;
    core->s.started = 1;
    return NULL;
}

/* Restarting a core that runs is not known to happen; it goes on. */
void machine_start_core_(struct afuc_core *by, enum cps_processor who, uint64_t iova)
{
    struct cps_afuc *machine = by->machine;
    uint64_t start = (iova - machine->instr_iova) / 4;
    struct afuc_core *core = machine_find_core_(machine, who);
    if (!core || start >= machine->word_count) {
        core_event_(by, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
        return;
    }
    if (core->s.started)
        return;
    if (core->base != NO_CONTROL) {
        core->s.control[core->base] = (uint32_t)iova;
        core->s.control[core->base + 1] = (uint32_t)(iova >> 32);
    }
    struct cps_err *err =
        machine_load_core_(core, machine->words, machine->word_count, (uint32_t)start);
    if (err)
        afuc_fault_(by, FAULT_MEMORY, (uint32_t)iova);
    cps_err_free(err);
}
