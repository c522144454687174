/* SPDX-License-Identifier: MIT
 * The instruction set afuc, and what is asked of all of them. */
#define TABLE             "isa/afuc.def"
#define OP_ID(id)         CPS_AFUC_##id
#define MEANING(act, ...) #__VA_ARGS__
#include "isa/sets/expand.h"

/* The four queue registers have one name when read and another when written. */
static const char *const afuc_source_names[32] = {
    [0x1c] = "rem",
    [0x1d] = "memdata",
    [0x1e] = "regdata",
    [0x1f] = "data",
};
static const char *const afuc_target_names[32] = {
    [0x1c] = "rem",
    [0x1d] = "addr",
    [0x1e] = "usraddr",
    [0x1f] = "data",
};

static const char *const afuc_style_names[CPS_STYLE_COUNT][32] = {
#define STYLE(id, word, width, sp, lr) [CPS_STYLE_##id] = {[0x1a] = (sp), [0x1b] = (lr)},
#include "isa/style.def"
};

_Static_assert(sizeof(encs) / sizeof(encs[0]) <= CPS_AFUC_ROWS, "rows of " TABLE);

const struct cps_isa cps_isa_afuc = {
    .name = "afuc",
    .unit = 4,
    .one_unit = true,
    .delay_slots = true,
    .bracket_flags = true,
    EXPANDED,
    .source_names = afuc_source_names,
    .target_names = afuc_target_names,
    .style_names = afuc_style_names,
};

const char *cps_isa_name(const struct cps_isa *isa)
{
    return isa->name;
}

bool cps_isa_is_regular(const struct cps_isa *isa)
{
    return isa->one_unit;
}

unsigned cps_isa_unit(const struct cps_isa *isa)
{
    return isa->unit;
}

bool cps_isa_has_code(const struct cps_isa *isa)
{
    return isa->enc_count > 0;
}

const char *cps_op_name(const struct cps_isa *isa, unsigned op)
{
    return op < isa->op_count ? isa->ops[op].text : "";
}

enum cps_flow cps_op_flow(const struct cps_isa *isa, unsigned op)
{
    return op < isa->op_count ? (enum cps_flow)isa->ops[op].flow : CPS_FLOW_NEXT;
}

enum cps_flow cps_insn_flow(const struct cps_isa *isa, const struct cps_insn *insn)
{
    return cps_op_flow(isa, insn->op);
}

bool cps_insn_has_slot(const struct cps_isa *isa, const struct cps_insn *insn)
{
    switch (cps_insn_flow(isa, insn)) {
    case CPS_FLOW_NEXT:
    case CPS_FLOW_SKIP:
    case CPS_FLOW_END:
        return false;
    default:
        return isa->delay_slots;
    }
}

unsigned cps_insn_unit(const struct cps_isa *isa, uint32_t word)
{
    unsigned unit = 0;
    while (unit < isa->unit_count &&
           (word >> 24 < isa->units[unit].first || word >> 24 > isa->units[unit].last))
        unit++;
    return unit;
}

bool cps_insn_joins(const struct cps_isa *isa, uint32_t pc, uint32_t before, uint32_t word)
{
    return isa->unit_count && pc % 4 && cps_insn_unit(isa, word) > cps_insn_unit(isa, before);
}
