/* SPDX-License-Identifier: MIT
 * Words of the images that are data: tables that firmware loads, lists that it runs as a stream. A
 * run does not see them, so a handler that may read the image it belongs to depends on all of them.
 *
 * Firmware finds its own image only through the registers that hold the image's base (F: all
 * images; no other register holds half of such an address after a boot but LOAD_STORE_HI, the upper
 * half). So a handler may read the image if code that it can reach names one of these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/walk.h"
#include "isa/base/buf.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/cachedir.h"
#include "tools/explain/prove/prove.h"

#define MOST_NODES 262144u
#define REACH      4u /* registers that a read of several gets, or an index finds */

/* ---- Registers that hold an image's base ---- */

/* @param reach  how many numbers an access may reach from there on */
static bool is_base(const struct cps_names *names, enum cps_space space, uint32_t number,
                    uint32_t reach)
{
    for (uint32_t i = 0; i < reach; i++) {
        const char *name = cps_name(names, space, number + i, NULL);
        if (name && strstr(name, "INSTR_BASE"))
            return true;
    }
    return false;
}

/* A constant that may be the number of such a GPU register, or an access of such a control
 * register. */
static bool names_base(const struct cps_names *names, const struct afuc_uop *uop)
{
    const struct afuc_row *row = afuc_row_(uop->code);
    if (row->reads & AFUC_CONTROL)
        return is_base(names, CPS_SPACE_CONTROL, uop->imm, uop->s1 ? REACH : 1);
    return uop->s2 == S2_IMM && uop->imm < GPU_REGS &&
           is_base(names, CPS_SPACE_GPU, uop->imm, REACH);
}

/* Whether code that @p pc leads to names a base, or is too long to be looked at.
 * @param open  gets whether a register says where some of the code goes on */
static bool leads_to_base(const struct code_side *side, uint32_t pc, bool guess, bool *open)
{
    struct cps_fw_walk walk;
    cps_fw_walk_init_(side->fw, side->part, MOST_NODES, &walk);
    walk.guess = guess;
    tool_must(cps_fw_walk_from_(&walk, pc, NULL));
    tool_must(cps_fw_walk_(&walk));
    bool found = walk.count >= MOST_NODES;
    *open = false;
    for (size_t i = 0; i < walk.count; i++) {
        const struct cps_fw_node *node = &walk.node[i];
        found = found || side->names_base[node->pc];
        for (unsigned k = 0; k < node->count; k++)
            *open = *open || node->next[k] == CPS_FW_AT_REGISTER;
    }
    cps_fw_walk_deinit_(&walk);
    return found;
}

bool code_reads_image(const struct code_side *side, uint32_t pc)
{
    bool open = false;
    return leads_to_base(side, pc, false, &open) || /* then constants may be where it goes */
           (open && leads_to_base(side, pc, true, &open));
}

/* ---- Words that differ ---- */

void code_reach(const struct code_side *side, const uint32_t *pc, unsigned count, bool *ret)
{
    struct cps_fw_walk walk;
    cps_fw_walk_init_(side->fw, side->part, MOST_NODES, &walk);
    for (unsigned i = 0; i < count; i++) {
        if (pc[i] < side->count)
            tool_must(cps_fw_walk_from_(&walk, pc[i], NULL));
    }
    tool_must(cps_fw_walk_(&walk));
    for (size_t i = 0; i < walk.count; i++)
        ret[walk.node[i].pc] = true;
    cps_fw_walk_deinit_(&walk);
}

/* What a handler, or the boot, reaches: without constants, which may be addresses of data; and
 * words that name a base. */
static void mark_words(struct code_side *side)
{
    struct cps_names *names = NULL;
    uint32_t pc[CPS_FW_TABLE_SIZE + 1] = {2};
    memcpy(pc + 1, side->table, sizeof(side->table));
    side->is_code = tool_alloc((size_t)side->count + 1, sizeof(*side->is_code));
    side->names_base = tool_alloc((size_t)side->count + 1, sizeof(*side->names_base));
    code_reach(side, pc, CPS_FW_TABLE_SIZE + 1, side->is_code);
    tool_must(cps_names_create(side->fw->layout, NULL, &names));
    for (uint32_t at = 2; at < side->count; at++)
        side->names_base[at] = names_base(names, &side->image->uop[at]);
    cps_names_destroy(names);
}

static uint32_t word_at(const struct code_side *side, uint32_t at)
{
    return side->fw->words[side->part->start + at];
}

static bool is_code(const struct code_side *side, uint32_t at)
{
    return at < 2 || at >= side->count || side->is_code[at];
}

/* A nop that only fills up: it is among such, between code and code. */
static bool is_filler(const struct code_side *side, uint32_t at)
{
    const uint32_t nop = 0x01000000;
    uint32_t first = at, end = at;
    while (!is_code(side, first) && word_at(side, first) == nop)
        first--;
    while (!is_code(side, end) && word_at(side, end) == nop)
        end++;
    return is_code(side, first) && is_code(side, end);
}

static void note_word(struct code *code, uint32_t at, uint32_t old, uint32_t new,
                      struct cps_buf *values)
{
    TOOL_ROOM(code->data.word, code->data.words);
    code->data.word[code->data.words++] = at;
    cps_buf_printf(values, "%x %x %x ", at, old, new);
}

/* Whether a word is the same instruction as its partner, which leads to the same code: code that
 * only a register leads to. */
static bool is_moved_code(const struct code *code, uint32_t old)
{
    const struct afuc_uop *uop = &code->side[0].image->uop[old];
    return code->same[old] && (code_names_target(afuc_row_(uop->code)) || code_may_address(uop));
}

/* Words before the packet table. The first two are the image's version and where its table
 * lies, which only the boot reads. */
static void compare_words(struct code *code, struct cps_buf *values)
{
    const struct code_side *a = &code->side[0];
    const struct code_side *b = &code->side[1];
    for (uint32_t at = 2; at < a->count; at++) {
        uint32_t to = a->partner[at];
        if (to == CPS_FW_ALONE) {
            if (!a->is_code[at] && !is_filler(a, at))
                note_word(code, at, word_at(a, at), 0, values);
        } else if (!(a->is_code[at] && b->is_code[to]) && word_at(a, at) != word_at(b, to) &&
                   !is_moved_code(code, at)) {
            note_word(code, at, word_at(a, at), word_at(b, to), values);
        }
    }
    for (uint32_t at = 2; at < b->count; at++) {
        if (b->partner[at] == CPS_FW_ALONE && !b->is_code[at] && !is_filler(b, at))
            note_word(code, at | PC_ALONE, 0, word_at(b, at), values);
    }
}

void code_data(struct code *code)
{
    CPS_BUF values = {0};
    mark_words(&code->side[0]);
    mark_words(&code->side[1]);
    compare_words(code, &values);
    /* The packet table beside the addresses of handlers, and what follows it. */
    const struct code_side *a = &code->side[0];
    const struct code_side *b = &code->side[1];
    for (uint32_t i = 0; a->count + i < a->part->size || b->count + i < b->part->size; i++) {
        bool has[2] = {a->count + i < a->part->size, b->count + i < b->part->size};
        uint32_t old = has[0] ? word_at(a, a->count + i) : 0;
        uint32_t new = has[1] ? word_at(b, b->count + i) : 0;
        if (i < CPS_FW_TABLE_SIZE) {
            old ^= a->table[i];
            new ^= b->table[i];
        }
        if (has[0] != has[1] || old != new)
            note_word(code, a->count + i, old, new, &values);
    }
    cache_hash(tool_text(&values), values.size, code->data.digest);
}
