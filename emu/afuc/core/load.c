/* SPDX-License-Identifier: MIT
 * Words to micro-operations, once per image: encodings, immediates, branch targets and operand
 * shapes are resolved here so that the interpreter never looks at a machine word. */
#include "emu/afuc/core/machine.h"
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

/* ---- where the images of cores lie, and how a core gets its own ---- */

/* The ME's image of a5xx, a file of its own. */
#define ME_IMAGE_OFFSET UINT64_C(0x1000000)

#define NO_CONTROL 0xffffu /* NA in ctrl.def */

uint64_t machine_image_iova_(const struct cps_afuc *machine, unsigned core)
{
    const struct afuc_core *c = &machine->core[core];
    if (c->who == CPS_CPU_ME)
        return machine->instr_iova + ME_IMAGE_OFFSET;
    return machine->instr_iova + 4 * (uint64_t)c->start;
}

struct cps_err *machine_load_core_(struct afuc_core *core, const uint32_t *words, uint32_t count,
                                   uint32_t start)
{
    struct cps_afuc *machine = core->machine;
    unsigned index = (unsigned)(core - machine->core);
    afuc_image_unref_(machine->image[index]);
    machine->image[index] = NULL;
    CPS_TRY(afuc_load_(words + start, count - start, core->machine->engine.gen, machine->go,
                       core->control, &machine->image[index]));
    core->uops = machine->image[index]->uop;
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

/* ---- how the interpreter takes each instruction ----
 *
 * By the shape of its operands, and by what the table of control registers says of the one that it
 * names. */

/* The first of an operation's ways, by the first of its codes. */
static const uint16_t first_take[UOP_COUNT] = {
#define OP(id, text, kind, ...) WAY_##kind(id)
#define WAY_ALU(id)                                                     \
    [UOP_##id##_RR] = TAKE_##id##_RR, [UOP_##id##_RI] = TAKE_##id##_RI, \
    [UOP_##id##_ANY] = TAKE_##id##_ANY,
#define WAY_IF(id)  [UOP_##id] = TAKE_##id,
#define WAY_OWN(id) [UOP_##id] = TAKE_##id,
#include "isa/afuc.def"
    [UOP_ILLEGAL] = TAKE_ILLEGAL,
    [UOP_BULK] = TAKE_BULK,
};

/* From the last way of an ALU operation, which takes anything, back to the others. */
enum { BACK_TO_RD = TAKE_ADD_ANY - TAKE_ADD_RD, BACK_TO_DI = TAKE_ADD_ANY - TAKE_ADD_DI };
enum { BACK_TO_OUT = TAKE_ADD_ANY - TAKE_ADD_OUT };

static bool is_general_alu(const struct afuc_uop *uop)
{
    static const bool is[UOP_COUNT] = {
#define OP(id, text, kind, ...) GENERAL_##kind(id)
#define GENERAL_ALU(id)         [UOP_##id##_ANY] = true,
#define GENERAL_IF(id)
#define GENERAL_OWN(id)
#include "isa/afuc.def"
    };
    return is[uop->code];
}

/* A register bunch of a7xx: `(rep)(xmov3)or $usraddr, $data, $02`. */
static bool is_pairs(const struct afuc_uop *uop)
{
    return uop->code == UOP_OR_ANY && uop->flags == (U_REP | U_POPS) && uop->xmov % 2 &&
           uop->dst == R_USRADDR && uop->s1 == R_DATA && uop->s2 < R_REM;
}

static uint16_t take_alu(const struct afuc_uop *uop)
{
    uint16_t any = first_take[uop->code];
    bool prefixed = uop->flags & (U_REP | U_PEEK | U_PRE) || uop->xmov;
    bool to_register = afuc_is_general_(uop->dst) || uop->dst == R_TRASH;
    bool immediate = uop->s2 == S2_IMM;
    if (is_pairs(uop))
        return TAKE_BULK;
    if (prefixed)
        return any;
    if (to_register && afuc_is_general_(uop->s1) && uop->s2 == R_DATA)
        return (uint16_t)(any - BACK_TO_RD);
    if (to_register && uop->s1 == R_DATA && immediate)
        return (uint16_t)(any - BACK_TO_DI);
    if (!to_register && afuc_is_general_(uop->s1) && (immediate || afuc_is_general_(uop->s2)))
        return (uint16_t)(any - BACK_TO_OUT);
    return any;
}

static uint16_t take_read(const struct cps_reg_row *row)
{
    if (!row->read)
        return TAKE_CREAD_HELD;
    if (row->read == cps_reg_read_member_)
        return TAKE_CREAD_MEMBER;
    return row->own == CONTROL_GROUP ? TAKE_CREAD_GROUP : TAKE_CREAD_ROW;
}

static uint16_t take_write(const struct cps_reg_row *row)
{
    if (!row->write)
        return TAKE_CWRITE_HELD;
    if (row->write == cps_reg_write_member_)
        return TAKE_CWRITE_MEMBER;
    if (row->write == cps_reg_count_member_)
        return TAKE_CWRITE_COUNT;
    return row->own == CONTROL_GROUP ? TAKE_CWRITE_GROUP : TAKE_CWRITE_ROW;
}

/* Of an access to one control register, whose number the instruction has. */
static uint16_t take_control(const struct afuc_image *image, struct afuc_uop *uop)
{
    bool is_read = uop->code == UOP_CREAD;
    unsigned data = is_read ? uop->dst : uop->s2;
    const struct cps_reg_row *row =
        image->control ? cps_reg_find_(image->control, uop->imm % CONTROL_COUNT) : NULL;
    if (!row || uop->s1 || uop->flags & ~U_FREE || uop->xmov || !afuc_is_general_(data) ||
        (is_read && !uop->dst))
        return first_take[uop->code];
    uint32_t index = uop->imm % CONTROL_COUNT - row->first;
    uop->target = row->own == CONTROL_GROUP ? index : row->member + 4 * index;
    return is_read ? take_read(row) : take_write(row);
}

static uint16_t take_of(const struct afuc_image *image, struct afuc_uop *uop)
{
    if (is_general_alu(uop))
        return take_alu(uop);
    if (uop->code == UOP_CREAD || uop->code == UOP_CWRITE)
        return take_control(image, uop);
    return first_take[uop->code];
}

/* Every handler ends with waitin and, in its delay slot, the move that takes the header. */
static bool takes_header(const struct afuc_uop *uop)
{
    return uop[0].code == UOP_WAITIN && uop[1].take == TAKE_OR_RD && !uop[1].s1;
}

/* The handler of type 4, the same in all images: the offset out of the header, all words to
 * consecutive registers, the next packet. */
static bool writes_registers(const struct afuc_image *image, uint32_t pc)
{
    const struct afuc_uop *uop = &image->uop[pc];
    return image->count - pc > 3 && uop[0].take == TAKE_USHR_OUT && uop[0].dst == R_USRADDR &&
           uop[0].s2 == S2_IMM && uop[1].take == TAKE_BULK && uop[1].dst == R_DATA &&
           uop[2].take == TAKE_WAITIN_POP && uop[3].dst == uop[0].s1 && uop[0].s1 < R_REM;
}

/* The instructions behind it are linked. */
static void link(struct afuc_image *image, uint32_t pc)
{
    struct afuc_uop *uop = &image->uop[pc];
    uop->take = take_of(image, uop);
    if (pc < image->count && takes_header(uop))
        uop->take = TAKE_WAITIN_POP;
    else if (writes_registers(image, pc))
        uop->take = TAKE_TYPE4;
    uop->go = image->go[uop->take];
}

void afuc_link_(struct afuc_image *image, uint32_t first, uint32_t last)
{
    for (uint32_t pc = last + 1; pc-- > first;)
        link(image, pc);
}
