/* SPDX-License-Identifier: MIT
 * Control registers that are private to the firmware may have other numbers in the other revision:
 * one more variable moves all behind it. What corresponds is found from instructions that stand at
 * the same place of both; the new revision's numbers then become the old ones. */
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/ctrl.h"
#include "tools/prove/code.h"

enum {
    NEAR = 3,  /* registers behind the first of an array that must have moved as it has */
    SHARE = 2, /* of SHARE_OF votes about a register name its partner, on both sides */
    SHARE_OF = 3,
};

struct range {
    const char *id;
    uint16_t first[7]; /* by layout, as the columns of ctrl.def stand */
    uint16_t count;
};

/* Rows of ctrl.def; 0xffff: the layout lacks it, 0xfffe: as the column in front. */
static const struct range ranges[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence) \
    {#id, {pfp, me, g6, a660, g7, gen3, a8}, n},
#define NA 0xffff
#define AS 0xfffe
#include "emu/afuc/ctrl.def"
};

static unsigned column_of(enum cps_layout layout)
{
    switch (layout) {
    case CPS_LAYOUT_A5XX_PFP:
        return 0;
    case CPS_LAYOUT_A5XX_ME:
        return 1;
    case CPS_LAYOUT_A6XX:
        return 2;
    case CPS_LAYOUT_A660:
        return 3;
    case CPS_LAYOUT_A7XX:
        return 4;
    case CPS_LAYOUT_A7XX_GEN3:
        return 5;
    default:
        return 6;
    }
}

static bool is_scratch(enum cps_layout layout, uint32_t number)
{
    unsigned column = column_of(layout);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const struct range *r = &ranges[i];
        uint16_t first = r->first[column] == 0xfffe ? r->first[column - 1] : r->first[column];
        if (!strncmp(r->id, "SCRATCH", 7) && first != 0xffff && number >= first &&
            number < (uint32_t)first + r->count)
            return true;
    }
    return false;
}

uint32_t code_control(enum cps_layout layout, const char *id)
{
    unsigned column = column_of(layout);
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        const struct range *r = &ranges[i];
        uint16_t first = r->first[column] == 0xfffe ? r->first[column - 1] : r->first[column];
        if (!strcmp(r->id, id))
            return first;
    }
    return 0xffff;
}

static bool names_control(const struct afuc_uop *uop)
{
    unsigned op = code_row(uop->code)->op;
    return (op == CPS_AFUC_CWRITE || op == CPS_AFUC_CREAD) && !(uop->flags & U_PRE);
}

/* Votes for pairs of registers that are `apart` further on in the new revision. */
struct tally {
    const struct code *code;
    uint32_t *votes; /* by number of the old one, then of the new one */
    uint32_t of[2][CONTROL_COUNT];
};

static void vote(struct tally *t, uint32_t at)
{
    const struct code *code = t->code;
    uint32_t to = code->pairs.partner[0][at];
    if (to == CPS_FW_ALONE)
        return;
    const struct afuc_uop *a = &code->side[0].image->uop[at];
    const struct afuc_uop *b = &code->side[1].image->uop[to];
    enum cps_layout layout = code->side[0].fw->layout;
    if (a->code != b->code || a->s1 != b->s1 || !names_control(a) || !names_control(b) ||
        !is_scratch(layout, a->imm) || !is_scratch(layout, b->imm))
        return;
    t->votes[a->imm * CONTROL_COUNT + b->imm]++;
    t->of[0][a->imm]++;
    t->of[1][b->imm]++;
}

/* The register of the old revision that @p new is, or CONTROL_COUNT. */
static uint32_t partner_of(const struct tally *t, uint32_t new)
{
    uint32_t best = CONTROL_COUNT;
    for (uint32_t old = 0; old < CONTROL_COUNT; old++) {
        uint32_t votes = t->votes[old * CONTROL_COUNT + new];
        if (votes && votes * SHARE_OF >= t->of[1][new] * SHARE &&
            votes * SHARE_OF >= t->of[0][old] * SHARE)
            best = old;
    }
    return best;
}

/* A register that keeps its number must not be one that another has taken. */
static void drop_clashes(uint16_t *old_of)
{
    bool again = true;
    while (again) {
        uint16_t taken[CONTROL_COUNT];
        memset(taken, 0xff, sizeof(taken));
        again = false;
        for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
            uint32_t old = old_of[new];
            if (old >= CONTROL_COUNT)
                continue;
            if (taken[old] == 0xffff) {
                taken[old] = (uint16_t) new;
                continue;
            }
            uint32_t kept = taken[old];
            old_of[kept == old ? kept : new] = CONTROL_COUNT;
            again = true;
        }
    }
}

/* An array is where its neighbours are. */
static bool moves_as_one(const uint16_t *old_of, uint32_t new)
{
    for (uint32_t i = 1; i <= NEAR && new + i < CONTROL_COUNT; i++) {
        uint32_t old = old_of[new + i];
        if (old < CONTROL_COUNT && old != new + i &&old - i != old_of[new])
            return false;
    }
    return true;
}

static void renumber(struct code *code)
{
    struct code_side *side = &code->side[1];
    for (uint32_t at = 2; at < side->count; at++) {
        struct afuc_uop *uop = &side->image->uop[at];
        if (!names_control(uop) || uop->imm >= CONTROL_COUNT)
            continue;
        uint32_t old = code->scratch[uop->imm];
        if (old < CONTROL_COUNT && (!uop->s1 || moves_as_one(code->scratch, uop->imm)))
            uop->imm = old;
    }
}

struct cps_err *code_scratch(struct code *code)
{
    struct tally *t = calloc(1, sizeof(*t));
    code->scratch = calloc(CONTROL_COUNT, sizeof(*code->scratch));
    if (t)
        t->votes = calloc((size_t)CONTROL_COUNT * CONTROL_COUNT, sizeof(*t->votes));
    if (!t || !t->votes || !code->scratch) {
        free(t);
        return cps_err_nomem();
    }
    t->code = code;
    for (uint32_t at = 2; at < code->side[0].count; at++)
        vote(t, at);
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        uint32_t old = t->of[1][new] ? partner_of(t, new) : new;
        code->scratch[new] = (uint16_t)old;
    }
    drop_clashes(code->scratch);
    renumber(code);
    free(t->votes);
    free(t);
    return NULL;
}
