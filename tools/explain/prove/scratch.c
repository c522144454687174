/* SPDX-License-Identifier: MIT
 * Control registers that are private to the firmware may have other numbers in the other revision:
 * one more variable moves all after it. Instructions at the same place of both say which number
 * became which. The map is a bijection of all control registers which moves private ones only, and
 * it is applied to the number of every access, however the access comes to it (side.c). So a wrong
 * partner makes handlers differ, and never makes different ones equal. */
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/control/control.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/prove/code.h"

enum {
    SHARE = 2, /* of SHARE_OF votes about a register name its partner, on both sides */
    SHARE_OF = 3,
};

struct range {
    const char *id;
    uint16_t first[CPS_LAYOUT_A8XX + 1];
    uint16_t count;
};

enum { LACKS = 0xffff, AS_BEFORE = 0xfffe };
static const struct range ranges[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence) \
    {#id,                                                              \
     {[CPS_LAYOUT_A5XX_PFP] = pfp,                                     \
      [CPS_LAYOUT_A5XX_ME] = me,                                       \
      [CPS_LAYOUT_A6XX] = g6,                                          \
      [CPS_LAYOUT_A660] = a660,                                        \
      [CPS_LAYOUT_A7XX] = g7,                                          \
      [CPS_LAYOUT_A7XX_GEN3] = gen3,                                   \
      [CPS_LAYOUT_A8XX] = a8},                                         \
     n},
#include "emu/afuc/control/ctrl.def"
};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint32_t first_of(const struct range *range, enum cps_layout layout)
{
    return range->first[range->first[layout] == AS_BEFORE ? layout - 1 : layout];
}

static bool is_scratch(enum cps_layout layout, uint32_t number)
{
    bool found = false;
    for (size_t i = 0; i < COUNT(ranges) && !found; i++) {
        uint32_t first = first_of(&ranges[i], layout);
        found = !strncmp(ranges[i].id, "SCRATCH", 7) && first != LACKS && number >= first &&
                number - first < ranges[i].count;
    }
    return found;
}

uint32_t code_control(enum cps_layout layout, const char *id)
{
    size_t i = 0;
    while (i < COUNT(ranges) && strcmp(ranges[i].id, id) != 0)
        i++;
    return i < COUNT(ranges) ? first_of(&ranges[i], layout) : LACKS;
}

static bool names_control(const struct afuc_uop *uop)
{
    enum afuc_act act = afuc_row_(uop->code)->act;
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

void code_scratch(struct code *code)
{
    struct tally *t = tool_alloc(1, sizeof(*t));
    struct map *map = tool_alloc(1, sizeof(*map));
    code->scratch = tool_alloc(CONTROL_COUNT, sizeof(*code->scratch));
    code->voted = tool_alloc(CONTROL_COUNT, sizeof(*code->voted));
    t->votes = tool_alloc((size_t)CONTROL_COUNT * CONTROL_COUNT, sizeof(*t->votes));
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
    free(t->votes);
    free(t);
    free(map);
}
