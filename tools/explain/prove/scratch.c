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
#include "tools/explain/prove/prove.h"

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
    const struct afuc_row *row = afuc_row_(uop->code);
    return (row->reads | row->writes) & AFUC_CONTROL && !(uop->flags & U_PRE);
}

/* The map while it is made, and the votes for it. */
#define NOBODY UINT16_MAX /* a register without a partner yet */
struct map {
    const struct code *code;
    enum cps_layout layout;
    uint32_t votes[CONTROL_COUNT][CONTROL_COUNT]; /* by number of the old one, of the new one */
    uint32_t of[2][CONTROL_COUNT];
    uint16_t *old_of;
    bool taken[CONTROL_COUNT]; /* by number in the old revision */
};

static void vote(struct map *map, uint32_t at)
{
    const struct code *code = map->code;
    uint32_t to = code->pairs.partner[0][at];
    if (to == CPS_FW_ALONE)
        return;
    const struct afuc_uop *a = &code->side[0].image->uop[at];
    const struct afuc_uop *b = &code->side[1].image->uop[to];
    if (a->code != b->code || a->s1 != b->s1 || !names_control(a) || !names_control(b) ||
        !is_scratch(map->layout, a->imm) || !is_scratch(map->layout, b->imm))
        return;
    map->votes[a->imm][b->imm]++;
    map->of[0][a->imm]++;
    map->of[1][b->imm]++;
}

/* The register of the old revision that @p new is, or CONTROL_COUNT. */
static uint32_t partner_of(const struct map *map, uint32_t new)
{
    uint32_t best = CONTROL_COUNT;
    for (uint32_t old = 0; old < CONTROL_COUNT; old++) {
        uint32_t votes = map->votes[old][new];
        if (votes && votes * SHARE_OF >= map->of[1][new] * SHARE &&
            votes * SHARE_OF >= map->of[0][old] * SHARE)
            best = old;
    }
    return best;
}

/* Makes a pair of registers that have no partners; in arrays, which no instruction names, of
 * elements that are behind pairs. */
static void pair(struct map *map, uint32_t new, uint32_t old)
{
    if (map->old_of[new] != NOBODY || old >= CONTROL_COUNT || map->taken[old])
        return;
    map->old_of[new] = (uint16_t)old;
    map->taken[old] = true;
}

static void pair_neighbours(struct map *map)
{
    for (uint32_t new = 1; new < CONTROL_COUNT; new ++) {
        uint32_t old = map->old_of[new - 1] + 1u;
        if (!map->of[1][new] && map->old_of[new - 1] != NOBODY && old < CONTROL_COUNT &&
            is_scratch(map->layout, old) && !map->of[0][old])
            pair(map, new, old);
    }
}

static void pair_rest(struct map *map)
{
    uint32_t old = 0;
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++)
        pair(map, new, new);
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        while (old < CONTROL_COUNT && map->taken[old])
            old++;
        pair(map, new, old);
    }
}

void code_scratch(struct code *code)
{
    struct map *map = tool_alloc(1, sizeof(*map));
    map->code = code;
    map->layout = code->side[0].fw->layout;
    map->old_of = code->scratch = tool_alloc(CONTROL_COUNT, sizeof(*code->scratch));
    code->voted = tool_alloc(CONTROL_COUNT, sizeof(*code->voted));
    memset(map->old_of, 0xff, CONTROL_COUNT * sizeof(*map->old_of));
    for (uint32_t at = 2; at < code->side[0].count; at++)
        vote(map, at);
    /* What instructions at the same places say; what is not private keeps its number. */
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++) {
        pair(map, new, is_scratch(map->layout, new) ? partner_of(map, new) : new);
        code->voted[new] = map->old_of[new] != NOBODY;
    }
    pair_neighbours(map);
    pair_rest(map);
    for (uint32_t new = 0; new < CONTROL_COUNT; new ++)
        code->renumbered = code->renumbered || code->scratch[new] != new;
    free(map);
}
