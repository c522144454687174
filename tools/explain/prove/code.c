/* SPDX-License-Identifier: MIT
 * Decodes and aligns the code of two revisions. Where an instruction of the new one differs from
 * its partner by a constant only because code has moved, it gets the old constant: a run keeps
 * addresses as those of the old revision, and goes where its own revision has them. */
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/prove.h"

bool code_slot_branches(const struct code_side *side, uint32_t at)
{
    if (!code_has_slot(afuc_row_(side->image->uop[at].code)) || at + 1 >= side->count)
        return false;
    const struct afuc_row *row = afuc_row_(side->image->uop[at].code);
    const struct afuc_row *slot = afuc_row_(side->image->uop[at + 1].code);
    bool plain = row->act == ACT_CONDITION && slot->act == ACT_CONDITION;
    return slot->flow != CPS_FLOW_NEXT && !plain;
}

uint32_t code_to_new(const struct code *code, uint32_t pc)
{
    if (pc >= PC_LAST)
        return pc;
    if (pc & PC_ALONE)
        return pc & ~(uint32_t)PC_ALONE;
    return pc < code->pairs.count[0] ? code->pairs.partner[0][pc] : CPS_FW_ALONE;
}

uint32_t code_to_old(const struct code *code, uint32_t pc)
{
    if (pc >= PC_LAST)
        return pc;
    uint32_t old = pc < code->pairs.count[1] ? code->pairs.partner[1][pc] : CPS_FW_ALONE;
    return old == CPS_FW_ALONE ? pc | PC_ALONE : old;
}

/* Strictly: code inserted before a place is another place, and runs. */
static bool leads_there(const struct code *code, uint32_t old, uint32_t new)
{
    if (old >= code->side[0].count || new >= code->side[1].count)
        return old - code->side[0].count == new - code->side[1].count;
    return code->side[0].partner[old] == new;
}

/* Whether code goes to a place by a branch, from the packet table, or into a table of jumps that is
 * there. Other numbers that happen to be places are numbers. */
static bool is_entry(const struct code_side *side, uint32_t at)
{
    const struct afuc_row *row = afuc_row_(side->image->uop[at].code);
    bool entry = code_names_target(row) && row->flow == CPS_FLOW_JUMP;
    for (uint32_t i = 2; i < side->count && !entry; i++) {
        const struct afuc_uop *uop = &side->image->uop[i];
        entry = code_names_target(afuc_row_(uop->code)) && uop->target == at;
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && !entry; id++)
        entry = side->table[id] == at;
    return entry;
}

/* Whether two constants are the same address: of a word of code, in dwords or in bytes, or of
 * what follows the code, where the packet table and the other processors' images are. */
static bool is_address(const struct code *code, uint32_t old, uint32_t new)
{
    const struct cps_fw_part *a = code->side[0].part;
    const struct cps_fw_part *b = code->side[1].part;
    if (old < 16 || new < 16)
        return false;
    if (old < code->side[0].count && new < code->side[1].count && leads_there(code, old, new) &&
        is_entry(&code->side[0], old))
        return true;
    if ((old | new) & 3)
        return false;
    if (old / 4 < code->side[0].count)
        return new / 4 < code->side[1].count &&leads_there(code, old / 4, new / 4);
    return (old / 4 == a->table && new / 4 == b->table) ||
           (old / 4 == a->size && new / 4 == b->size);
}

/* Offsets of other parts of the image that constants in this one's code are. */
static bool is_part(const struct code *code, uint32_t old, uint32_t new)
{
    const struct cps_fw *a = code->side[0].fw;
    const struct cps_fw *b = code->side[1].fw;
    for (unsigned i = 1; i < a->part_count && i < b->part_count; i++) {
        if (old == 4 * a->part[i].start && new == 4 * b->part[i].start)
            return true;
        if (old == 4 * (a->part[i].start - a->part[i - 1].start) &&
            new == 4 * (b->part[i].start - b->part[i - 1].start))
            return true;
    }
    return false;
}

/* Whether two accesses are of the same control register. An access by an index is not, unless all
 * registers have their old numbers: then runs decide. */
static bool same_control(const struct code *code, const struct afuc_uop *a,
                         const struct afuc_uop *b)
{
    if (!code->renumbered)
        return a->imm == b->imm;
    return !a->s1 && a->imm < CONTROL_COUNT && b->imm < CONTROL_COUNT &&
           code->scratch[b->imm] == a->imm;
}

static void note_constant(struct code *code, uint32_t old, uint32_t new)
{
    TOOL_ROOM(code->constant, code->constants);
    code->constant[code->constants++] = (struct constant){{old, new}};
}

/* Notes constants of instructions that the other revision lacks, or that differ there. */
static void note_lone_constants(struct code *code)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct code_side *side = &code->side[i];
        for (uint32_t at = 2; at < side->count; at++) {
            uint32_t other = side->partner[at];
            const struct afuc_uop *uop = &side->image->uop[at];
            if (code_may_address(uop) &&
                (other == CPS_FW_ALONE || !code_same(uop, &code->side[!i].image->uop[other])))
                note_constant(code, i ? CPS_FW_ALONE : uop->imm, i ? uop->imm : CPS_FW_ALONE);
        }
    }
}

bool code_may_jump(const struct code *code, uint32_t old)
{
    const struct code_side *side = &code->side[0];
    enum { TABLE = 64 };
    uint32_t nearest = 0;
    bool good = true;
    if (old & PC_ALONE || old < 2 || old >= side->count || side->partner[old] == CPS_FW_ALONE)
        return true; /* runner_jump() knows */
    uint32_t apart = side->partner[old] - old;
    for (size_t i = 0; i < code->constants; i++) {
        uint32_t value = code->constant[i].value[0];
        uint32_t other = code->constant[i].value[1];
        bool is_new = value == CPS_FW_ALONE && other == old; /* read as an address of the old one */
        if (is_new && apart)
            return false;
        if (value == CPS_FW_ALONE || value > old || old - value >= TABLE || value < nearest)
            continue;
        bool fits = other != CPS_FW_ALONE ? other - value == apart : value == old || !apart;
        good = value == nearest ? good && fits : fits;
        nearest = value;
    }
    return nearest ? good : afuc_row_(side->image->uop[old - 2].code)->act == ACT_LINK_CALL;
}

/* Whether the immediates of two instructions, which are the same but for those, are the same. One
 * that is an address gets the old revision's value. */
static void match_immediate(struct code *code, uint32_t old, uint32_t new, bool *ret)
{
    const struct afuc_uop *a = &code->side[0].image->uop[old];
    struct afuc_uop *b = &code->side[1].image->uop[new];
    const struct afuc_row *row = afuc_row_(a->code);
    *ret = a->imm == b->imm;
    if (code_may_address(a))
        note_constant(code, a->imm, b->imm);
    if ((row->reads | row->writes) & AFUC_CONTROL) {
        *ret = same_control(code, a, b);
    } else if (!*ret && code_may_address(a) &&
               (is_address(code, a->imm, b->imm) || is_part(code, a->imm, b->imm))) {
        TOOL_ROOM(code->moved, code->moved_count);
        code->moved[code->moved_count++] = (struct moved){{old, new}, {a->imm, b->imm}};
        b->imm = a->imm;
        *ret = true;
    }
}

/* The header's words are no code. */
static void match(struct code *code, uint32_t old)
{
    uint32_t new = code->pairs.partner[0][old];
    if (new == CPS_FW_ALONE || old < 2)
        return;
    const struct afuc_uop *a = &code->side[0].image->uop[old];
    const struct afuc_uop *b = &code->side[1].image->uop[new];
    bool same = false;
    if (!code_same(a, b) || afuc_row_(a->code)->act == ACT_ILLEGAL)
        return;
    match_immediate(code, old, new, &same);
    code->same[old] =
        same && (!code_names_target(afuc_row_(a->code)) || leads_there(code, a->target, b->target));
}

static struct cps_err *decode(struct code_side *side, const struct cps_fw *fw, unsigned part)
{
    side->fw = fw;
    side->part = &fw->part[part];
    side->selected = code_control(fw->layout, "SELECTED");
    side->peek_switch = code_control(fw->layout, "PEEK_SWITCH");
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        side->table[id] = cps_fw_handler(fw, side->part, id);
    side->cut = tool_alloc((size_t)side->count + 1, sizeof(*side->cut));
    return afuc_load_(fw->words + side->part->start, side->count, fw->gen, &side->image);
}

/* Runs may be compared at branch targets, where calls return to, and where code is the same again
 * after code that is not. */
static void find_cuts(struct code *code)
{
    struct code_side *a = &code->side[0];
    struct code_side *b = &code->side[1];
    for (uint32_t at = 2; at < a->count; at++) {
        const struct afuc_uop *uop = &a->image->uop[at];
        const struct afuc_row *row = afuc_row_(uop->code);
        bool goes = code_names_target(row);
        if (goes && uop->target < a->count)
            a->cut[uop->target] = true;
        if (goes && at + 2 < a->count)
            a->cut[at + 2] = true;
        if (code->same[at] && !code->same[at - 1])
            a->cut[at] = true;
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (a->table[id] < a->count)
            a->cut[a->table[id]] = true;
    }
    for (uint32_t at = 0; at < a->count; at++) {
        a->cut[at] = a->cut[at] && a->partner[at] != CPS_FW_ALONE;
        if (a->cut[at])
            b->cut[a->partner[at]] = true;
    }
}

struct cps_err *code_init(const struct cps_fw *old, const struct cps_fw *new, unsigned part,
                          struct code *ret)
{
    *ret = (struct code){0};
    CPS_TRY(cps_fw_pairs_(old, new, part, &ret->pairs));
    for (unsigned i = 0; i < 2; i++) {
        ret->side[i].count = ret->pairs.count[i];
        ret->side[i].partner = ret->pairs.partner[i];
        CPS_TRY(decode(&ret->side[i], i ? new : old, part));
        code_live(&ret->side[i]); /* while constants are the revision's own */
    }
    code_scratch(ret);
    ret->same = tool_alloc((size_t)ret->side[0].count + 1, sizeof(*ret->same));
    for (uint32_t at = 0; at < ret->side[0].count; at++)
        match(ret, at);
    note_lone_constants(ret);
    code_data(ret);
    find_cuts(ret);
    code_polls(ret);
    return NULL;
}

void code_deinit(struct code *code)
{
    for (unsigned i = 0; i < 2; i++) {
        afuc_image_unref_(code->side[i].image);
        free(code->side[i].cut);
        free(code->side[i].is_code);
        free(code->side[i].names_base);
        free(code->side[i].live);
        free(code->side[i].poll);
    }
    cps_fw_pairs_deinit_(&code->pairs);
    free(code->same);
    free(code->moved);
    free(code->constant);
    free(code->poll);
    free(code->scratch);
    free(code->voted);
    free(code->data.word);
    *code = (struct code){0};
}
