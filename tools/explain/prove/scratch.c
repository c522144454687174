/* SPDX-License-Identifier: MIT
 * Control registers that are private to the firmware may have other numbers in the other revision:
 * one more variable moves all after it. Instructions at the same place of both say which number
 * became which. The map is a bijection of all control registers which moves private ones only, and
 * it is applied to the number of every access, however the access comes to it (side.c). So a wrong
 * partner makes handlers differ, and never makes different ones equal. */
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/control.h"
#include "tools/explain/prove/code.h"

enum {
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
    enum act act = code_row(uop->code)->act;
    return (act == ACT_CONTROL_WRITE || act == ACT_CONTROL_READ) && !(uop->flags & U_PRE);
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

/* The map while it is made: NOBODY where a register has no partner yet. */
#define NOBODY UINT16_MAX
struct map {
    const struct tally *tally;
    enum cps_layout layout;
    uint16_t old_of[CONTROL_COUNT];
    bool taken[CONTROL_COUNT]; /* by number in the old revision */
};

static void pair(struct map *map, uint32_t new, uint32_t old)
{
    map->old_of[new] = (uint16_t)old;
    map->taken[old] = true;
}

/* What instructions at the same places say; what is not private keeps its number. */
static void pair_voted(struct map *map)
{
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        uint32_t old = is_scratch(map->layout, new) ? partner_of(map->tally, new) : new;
        map->old_of[new] = NOBODY;
        if (old < CONTROL_COUNT && !map->taken[old])
            pair(map, new, old);
    }
}

/* Elements of arrays, which no instruction names, are behind the one in front of them. */
static void pair_neighbours(struct map *map)
{
    for (uint32_t new = 1; new < CONTROL_COUNT; new ++) {
        uint32_t old = map->old_of[new - 1] + 1u;
        if (map->old_of[new] == NOBODY && !map->tally->of[1][new] &&
            map->old_of[new - 1] != NOBODY && old < CONTROL_COUNT && is_scratch(map->layout, old) &&
            !map->taken[old] && !map->tally->of[0][old])
            pair(map, new, old);
    }
}

static void pair_rest(struct map *map)
{
    uint32_t old = 0;
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        if (map->old_of[new] == NOBODY && !map->taken[new])
            pair(map, new, new);
    }
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        while (old < CONTROL_COUNT && map->taken[old])
            old++;
        if (map->old_of[new] == NOBODY)
            pair(map, new, old);
    }
}

struct cps_err *code_scratch(struct code *code)
{
    struct tally *t = calloc(1, sizeof(*t));
    struct map *map = calloc(1, sizeof(*map));
    code->scratch = calloc(CONTROL_COUNT, sizeof(*code->scratch));
    code->voted = calloc(CONTROL_COUNT, sizeof(*code->voted));
    if (t)
        t->votes = calloc((size_t)CONTROL_COUNT * CONTROL_COUNT, sizeof(*t->votes));
    struct cps_err *err =
        t && t->votes && map && code->scratch && code->voted ? NULL : cps_err_nomem();
    if (!err) {
        *map = (struct map){.tally = t, .layout = code->side[0].fw->layout};
        t->code = code;
        for (uint32_t at = 2; at < code->side[0].count; at++)
            vote(t, at);
        pair_voted(map);
        for (uint32_t new = 0; new < CONTROL_COUNT; new ++)
            code->voted[new] = map->old_of[new] != NOBODY;
        pair_neighbours(map);
        pair_rest(map);
        for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
            code->scratch[new] = map->old_of[new];
            code->renumbered = code->renumbered || map->old_of[new] != new;
        }
    }
    if (t)
        free(t->votes);
    free(t);
    free(map);
    return err;
}
