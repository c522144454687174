/* SPDX-License-Identifier: MIT
 * How the interpreter takes each instruction: by the shape of its operands, and by what the table
 * of control registers says of the one that it names. */
#include "emu/afuc/load.h"

/* The first of an operation's ways, by the first of its codes. */
static const uint16_t first_take[UOP_COUNT] = {
#define OP(id, text, kind, ...) FIRST_##kind(id)
#define FIRST_ALU(id)                                                   \
    [UOP_##id##_RR] = TAKE_##id##_RR, [UOP_##id##_RI] = TAKE_##id##_RI, \
    [UOP_##id##_ANY] = TAKE_##id##_ANY,
#define FIRST_IF(id)  [UOP_##id] = TAKE_##id,
#define FIRST_OWN(id) [UOP_##id] = TAKE_##id,
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
#define OP(id, text, kind, ...) IS_##kind(id)
#define IS_ALU(id)              [UOP_##id##_ANY] = true,
#define IS_IF(id)
#define IS_OWN(id)
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
