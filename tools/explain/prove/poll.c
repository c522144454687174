/* SPDX-License-Identifier: MIT
 * Loops that only wait: they read one control register again and again, and do nothing else.
 * However often one turns, the code after it knows only the value that ended it. */
#include <string.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/prove.h"

#define MOST_WORDS 8u /* of such a loop, with its delay slot */

static bool is_plain_register(unsigned number)
{
    return number > 0 && number < R_REM;
}

/* A read of a register whose number is in the instruction. */
static bool reads_control(const struct afuc_uop *uop)
{
    return afuc_row_(uop->code)->act == ACT_CONTROL_READ && uop->s1 == 0 &&
           is_plain_register(uop->dst) && !(uop->flags & (U_PRE | U_REP)) && !uop->xmov;
}

/* Nothing but registers of the processor. */
static bool is_silent(const struct afuc_uop *uop)
{
    const struct afuc_row *row = afuc_row_(uop->code);
    if (row->act == ACT_NOTHING)
        return !(uop->flags & U_REP);
    return row->act == ACT_EXPRESSION && is_plain_register(uop->dst) && uop->s1 <= R_REM &&
           (uop->s2 == S2_IMM || uop->s2 <= R_REM) && !(uop->flags & (U_REP | U_POPS | U_PEEK)) &&
           !uop->xmov;
}

/* Words from the read to the delay slot of the branch back; 0: it is no such loop. */
static uint32_t loop_size(const struct code_side *side, uint32_t at)
{
    for (uint32_t i = 1; i + 1 < MOST_WORDS && at + i + 1 < side->count; i++) {
        const struct afuc_uop *uop = &side->image->uop[at + i];
        if (afuc_row_(uop->code)->act == ACT_CONDITION)
            return uop->target == at && uop->s1 <= R_REM && is_silent(uop + 1) ? i + 2 : 0;
        if (!is_silent(uop))
            return 0;
    }
    return 0;
}

/* What a turn reads of what there was before the loop.
 * @param all  gets what a turn writes */
static uint64_t turn_reads(const struct code_side *side, uint32_t at, uint32_t size, uint64_t *all)
{
    uint64_t reads, writes;
    uint64_t ret = 0;
    *all = 0;
    for (uint32_t i = 0; i < size; i++) {
        code_uses(side, at + i, &reads, &writes);
        ret |= reads & ~*all;
        *all |= writes;
    }
    return ret;
}

/* Whether a turn depends on the one before, or on more registers than an effect can name. */
static bool is_carried(const struct code_side *side, uint32_t at, uint32_t size, uint64_t *reads)
{
    uint64_t all = 0;
    *reads = turn_reads(side, at, size, &all);
    return (*reads & all) || *reads >> 32 || __builtin_popcountll(*reads) > (int)POLL_READS;
}

static bool same_loop(const struct poll *poll, const struct code_side *side, uint32_t at,
                      uint32_t size)
{
    const struct afuc_uop *a = &poll->side->image->uop[poll->at];
    const struct afuc_uop *b = &side->image->uop[at];
    bool same = poll->size == size;
    for (uint32_t i = 0; i < size && same; i++)
        same = code_same(&a[i], &b[i]) && a[i].imm == b[i].imm;
    return same;
}

/* Loops of the same instructions have the same number, in both revisions. */
static void note_poll(struct code *code, struct code_side *side, uint32_t at, uint32_t size,
                      uint64_t reads)
{
    size_t id = 0;
    while (id < code->poll_count && !same_loop(&code->poll[id], side, at, size))
        id++;
    if (id == MOST_POLLS)
        return; /* followed turn by turn, as other loops are */
    if (id == code->poll_count) {
        TOOL_ROOM(code->poll, code->poll_count);
        code->poll[code->poll_count++] = (struct poll){side, at, size, reads};
    }
    side->poll[at] = (uint16_t)(id + 1);
}

/* A branch to itself that reads again in its delay slot: the code before it has read once. */
static bool branches_on_the_spot(const struct code_side *side, uint32_t at)
{
    const struct afuc_uop *uop = &side->image->uop[at];
    return at + 1 < side->count && afuc_row_(uop->code)->act == ACT_CONDITION &&
           uop->target == at && reads_control(uop + 1) && uop[1].dst == uop->s1;
}

/* Whether the branch that ends a loop looks at what the loop reads. */
static bool hangs_on_read(const struct code_side *side, uint32_t at, uint32_t size)
{
    const struct afuc_uop *uop = &side->image->uop[at];
    uint64_t heard = UINT64_C(1) << uop->dst;
    uint64_t reads, writes;
    for (uint32_t i = 1; i + 2 < size; i++) {
        code_uses(side, at + i, &reads, &writes);
        heard = reads & heard ? heard | writes : heard & ~writes;
    }
    return heard >> uop[size - 2].s1 & 1;
}

/* Whether to read a control register changes what is read next: such reads are counted. */
static bool takes_something(const struct code_side *side, uint32_t number)
{
    static const char *const taking[] = {"VSD_NEXT", "COPROCESSOR_LOCK"};
    for (unsigned i = 0; i < sizeof(taking) / sizeof(taking[0]); i++) {
        if (number == code_control(side->fw->layout, taking[i]))
            return true;
    }
    return false;
}

static uint32_t poll_size(const struct code_side *side, uint32_t at, uint64_t *reads)
{
    *reads = 0;
    const struct afuc_uop *uop = &side->image->uop[at];
    if (branches_on_the_spot(side, at)) {
        *reads = UINT64_C(1) << uop->s1; /* the value before the first turn */
        return takes_something(side, uop[1].imm) ? 0 : 2;
    }
    uint32_t size =
        reads_control(uop) && !takes_something(side, uop->imm) ? loop_size(side, at) : 0;
    return size && !is_carried(side, at, size, reads) && hangs_on_read(side, at, size) ? size : 0;
}

void code_polls(struct code *code)
{
    for (unsigned i = 0; i < 2; i++) {
        struct code_side *side = &code->side[i];
        side->poll = tool_alloc((size_t)side->count + 1, sizeof(*side->poll));
        for (uint32_t at = 2; at < side->count; at++) {
            uint64_t reads = 0;
            uint32_t size = poll_size(side, at, &reads);
            if (size)
                note_poll(code, side, at, size, reads);
        }
    }
}
