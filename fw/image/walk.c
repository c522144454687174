/* SPDX-License-Identifier: MIT
 * All code that the processor can come to from some places. */
#include "fw/image/walk.h"

#include <stdlib.h>

#include "fw/image/private.h"
#include "isa/base/list.h"

enum {
    LR = 0x1b, /* F: gen70900, `jump $lr` is how routines return that `bl` calls */
    FIRST_SLOTS = 1024,
    LEAST = 16, /* a constant that is smaller is no address: the header and the boot are there */
    TABLE_WORDS = 64, /* of jumps, after a constant that says where they begin */
    TABLE_BACK = 8,   /* words between that constant and the jump */
};

uint32_t cps_fw_code_end_(const struct cps_fw_part *part)
{
    return part->table < part->size ? part->table : part->size;
}

void cps_fw_walk_init_(const struct cps_fw *fw, const struct cps_fw_part *part, size_t most,
                       struct cps_fw_walk *ret)
{
    *ret = (struct cps_fw_walk){.fw = fw, .part = part, .most = most};
}

void cps_fw_walk_deinit_(struct cps_fw_walk *walk)
{
    free(walk->node);
    free(walk->slot);
    *walk = (struct cps_fw_walk){0};
}

static uint32_t *find(const struct cps_fw_walk *walk, uint32_t pc, uint32_t npc)
{
    uint32_t at = (pc * UINT32_C(2654435761) ^ npc * UINT32_C(2246822519)) >> 7;
    for (;; at++) {
        uint32_t *slot = &walk->slot[at % walk->slots];
        if (!*slot || (walk->node[*slot - 1].pc == pc && walk->node[*slot - 1].npc == npc))
            return slot;
    }
}

void cps_fw_walk_clear_(struct cps_fw_walk *walk)
{
    for (size_t i = 0; i < walk->slots; i++)
        walk->slot[i] = 0;
    free(walk->node);
    walk->node = NULL;
    walk->count = walk->done = 0;
}

/* So that half of them stay free. */
static struct cps_err *grow(struct cps_fw_walk *walk)
{
    if (2 * walk->count < walk->slots)
        return NULL;
    size_t slots = walk->slots ? 2 * walk->slots : FIRST_SLOTS;
    uint32_t *slot = calloc(slots, sizeof(*slot));
    if (!slot)
        return cps_err_nomem();
    free(walk->slot);
    walk->slot = slot;
    walk->slots = slots;
    for (size_t i = 0; i < walk->count; i++)
        *find(walk, walk->node[i].pc, walk->node[i].npc) = (uint32_t)i + 1;
    return NULL;
}

/* The node's number; it is added if it is new. */
static struct cps_err *intern(struct cps_fw_walk *walk, uint32_t pc, uint32_t npc, uint32_t *ret)
{
    *ret = pc;
    if (pc >= CPS_FW_AT_DISPATCH)
        return NULL;
    *ret = CPS_FW_AT_OUTSIDE;
    if (pc >= cps_fw_code_end_(walk->part))
        return NULL;
    CPS_TRY(grow(walk));
    uint32_t *slot = find(walk, pc, npc);
    *ret = *slot ? *slot - 1 : CPS_FW_AT_LIMIT;
    if (*slot || walk->count == walk->most)
        return NULL;
    if (!CPS_LIST_ROOM(walk->node, walk->count))
        return cps_err_nomem();
    walk->node[walk->count] = (struct cps_fw_node){.pc = pc, .npc = npc};
    *ret = (uint32_t)walk->count;
    *slot = (uint32_t)++walk->count;
    return NULL;
}

struct cps_err *cps_fw_walk_from_(struct cps_fw_walk *walk, uint32_t pc, uint32_t *ret)
{
    uint32_t node = 0;
    return intern(walk, pc, pc + 1, ret ? ret : &node);
}

static void report_edge(const struct cps_fw_walk *walk, uint32_t from, uint32_t to)
{
    if (walk->lead && to < cps_fw_code_end_(walk->part))
        walk->lead(walk->context, from, to);
}

static struct cps_err *lead(struct cps_fw_walk *walk, size_t at, uint32_t pc, uint32_t npc)
{
    uint32_t to = 0;
    CPS_TRY(intern(walk, pc, npc, &to));
    struct cps_fw_node *node = &walk->node[at];
    node->next[node->count++] = to;
    return NULL;
}

static uint32_t behind(uint32_t npc)
{
    return npc >= CPS_FW_AT_DISPATCH ? npc : npc + 1;
}

static struct cps_insn insn_at(const struct cps_fw_walk *walk, uint32_t at)
{
    return cps_fw_decode_(walk->fw, walk->fw->words[walk->part->start + at]);
}

/* The constant of an instruction, as it is shifted; negative: it has none. */
static int64_t constant(const struct cps_insn *insn)
{
    int64_t value = cps_fw_field_(insn, CPS_AFUC_F_IMM16);
    return value < 0 ? value : value << cps_insn_field(&cps_isa_afuc, insn, CPS_AFUC_F_SHIFT, 0);
}

static struct cps_err *guess(struct cps_fw_walk *walk, uint32_t from, uint32_t to)
{
    report_edge(walk, from, to);
    return cps_fw_walk_from_(walk, to, NULL);
}

/* A word that a constant of this instruction may be the address of. */
static struct cps_err *guess_constant(struct cps_fw_walk *walk, const struct cps_insn *insn)
{
    int64_t value = constant(insn);
    if (insn->op != CPS_AFUC_MOVI || value < LEAST || value > UINT32_MAX)
        return NULL;
    return guess(walk, CPS_FW_NONE, (uint32_t)value);
}

/* A jump to where a register says: the nearest constant before it may begin a table. */
static struct cps_err *guess_table(struct cps_fw_walk *walk, uint32_t at)
{
    for (uint32_t back = 1; back <= TABLE_BACK && back < at; back++) {
        const struct cps_insn insn = insn_at(walk, at - back);
        int64_t value = cps_fw_field_(&insn, CPS_AFUC_F_IMM16);
        if ((insn.op != CPS_AFUC_MOVI && insn.op != CPS_AFUC_ADD) || value < LEAST)
            continue;
        for (uint32_t i = 0; i < TABLE_WORDS; i++)
            CPS_TRY(guess(walk, at, (uint32_t)value + i));
        return NULL;
    }
    return NULL;
}

/* Where an instruction goes after its delay slot. */
static uint32_t target_of(const struct cps_fw_walk *walk, const struct cps_insn *insn, uint32_t pc)
{
    uint32_t target = CPS_FW_AT_REGISTER;
    enum cps_flow flow = cps_insn_flow(&cps_isa_afuc, insn);
    if (cps_insn_target(&cps_isa_afuc, insn, pc, &target))
        return target < cps_fw_code_end_(walk->part) ? target : CPS_FW_AT_OUTSIDE;
    if (flow == CPS_FLOW_RETURN || flow == CPS_FLOW_DISPATCH)
        return flow == CPS_FLOW_RETURN ? CPS_FW_AT_RETURN : CPS_FW_AT_DISPATCH;
    return cps_fw_field_(insn, CPS_AFUC_F_REG) == LR ? CPS_FW_AT_LINK : CPS_FW_AT_REGISTER;
}

/* Words, as people see them: a branch leads after its slot, though the slot is in between, and
 * what leads to a branch's target is the branch, not its slot. */
static void tell_all(const struct cps_fw_walk *walk, const struct cps_fw_node *node,
                     const struct cps_insn *insn, uint32_t target)
{
    enum cps_flow flow = cps_insn_flow(&cps_isa_afuc, insn);
    uint32_t pc = node->pc;
    bool in_order = node->npc == pc + 1;
    report_edge(walk, pc, target);
    if (in_order || flow == CPS_FLOW_SKIP)
        report_edge(walk, pc, pc + 1);
    if ((in_order && flow == CPS_FLOW_BRANCH) || flow == CPS_FLOW_CALL)
        report_edge(walk, pc, pc + 2);
    if (flow == CPS_FLOW_SKIP)
        report_edge(walk, pc, pc + 3);
}

static struct cps_err *follow(struct cps_fw_walk *walk, size_t at, const struct cps_insn *insn)
{
    uint32_t pc = walk->node[at].pc;
    uint32_t npc = walk->node[at].npc;
    uint32_t target = target_of(walk, insn, pc);
    tell_all(walk, &walk->node[at], insn, target);
    switch (insn->enc ? (int)cps_insn_flow(&cps_isa_afuc, insn) : -1) {
    case CPS_FLOW_NEXT:
        return lead(walk, at, npc, behind(npc));
    case CPS_FLOW_BRANCH:
        CPS_TRY(lead(walk, at, npc, target));
        return lead(walk, at, npc, behind(npc));
    case CPS_FLOW_JUMP:
    case CPS_FLOW_RETURN:
    case CPS_FLOW_DISPATCH:
        return lead(walk, at, npc, target);
    case CPS_FLOW_CALL:
        walk->node[at].call = true;
        CPS_TRY(lead(walk, at, pc + 2, pc + 3));
        return lead(walk, at, npc, target);
    case CPS_FLOW_SKIP:
        CPS_TRY(lead(walk, at, pc + 1, pc + 2));
        return lead(walk, at, pc + 3, pc + 4);
    default:
        return lead(walk, at, CPS_FW_AT_ILLEGAL, CPS_FW_AT_ILLEGAL);
    }
}

static struct cps_err *follow_guesses(struct cps_fw_walk *walk, size_t at,
                                      const struct cps_insn *insn)
{
    uint32_t pc = walk->node[at].pc;
    CPS_TRY(guess_constant(walk, insn));
    bool jump = cps_insn_flow(&cps_isa_afuc, insn) == CPS_FLOW_JUMP;
    uint32_t target = jump ? target_of(walk, insn, pc) : 0;
    if (target == CPS_FW_AT_REGISTER || target == CPS_FW_AT_LINK)
        return guess_table(walk, pc);
    return NULL;
}

struct cps_err *cps_fw_walk_(struct cps_fw_walk *walk)
{
    for (; walk->done < walk->count; walk->done++) {
        const struct cps_insn insn = insn_at(walk, walk->node[walk->done].pc);
        if (walk->guess)
            CPS_TRY(follow_guesses(walk, walk->done, &insn));
        CPS_TRY(follow(walk, walk->done, &insn));
    }
    return NULL;
}
