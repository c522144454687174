/* SPDX-License-Identifier: MIT
 * Places of code where only private control registers have other numbers: one more variable moves
 * all after it. Both images are aligned, and an access at the same place of both proposes a
 * partner. It counts if the map is one to one over every access of both images. */
#include <stdlib.h>
#include <string.h>

#include "fw/image/pairs.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/diff/diffcause.h"

enum {
    CONTROLS = 0x1000,
    NONE = CONTROLS,
    CONFLICT,
    ARRAY = 32, /* draw-state groups: the most that an index of firmware counts */
};

/* What one revision's code of a processor accesses. */
struct side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    uint16_t partner[CONTROLS]; /* number in the other revision, NONE or CONFLICT */
    bool alone[CONTROLS];       /* an access without a partner names it */
    bool indexed[CONTROLS];     /* an array begins there */
};

struct access {
    bool is, indexed;
    uint32_t number, rest; /* of the word */
};

static struct access access_of(const struct side *s, uint32_t at)
{
    struct cps_insn insn;
    uint32_t word = s->fw->words[s->part->start + at];
    cps_decode(&cps_isa_afuc, s->fw->gen, word, &insn);
    bool is = insn.op == CPS_AFUC_CWRITE || insn.op == CPS_AFUC_CREAD;
    bool indexed = is && (cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_SRC1, 0) ||
                          cps_insn_field(&cps_isa_afuc, &insn, CPS_AFUC_F_BANG, 0));
    return (struct access){is, indexed, word % CONTROLS, word - word % CONTROLS};
}

/* Rows of ctrl.def that are the firmware's own, by layout. */
static bool is_private(enum cps_layout layout, uint32_t number)
{
    static const struct {
        const char *id;
        uint16_t first[7], count;
    } rows[] = {
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, count, ...) \
    {#id, {pfp, me, g6, a660, g7, gen3, a8}, count},
#include "emu/afuc/control/ctrl.def"
    };
    static const uint8_t columns[] = {
        [CPS_LAYOUT_A5XX_PFP] = 0, [CPS_LAYOUT_A5XX_ME] = 1, [CPS_LAYOUT_A6XX] = 2,
        [CPS_LAYOUT_A660] = 3,     [CPS_LAYOUT_A7XX] = 4,    [CPS_LAYOUT_A7XX_GEN3] = 5,
        [CPS_LAYOUT_A8XX] = 6};
    bool found = false;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned column = columns[layout];
        while (rows[i].first[column] == 0xfffe)
            column--;
        found |= !strncmp(rows[i].id, "SCRATCH", 7) && rows[i].first[column] != 0xffff &&
                 number - rows[i].first[column] < rows[i].count;
    }
    return found;
}

static void propose(uint16_t *partner, uint32_t number, uint32_t other)
{
    bool agrees = partner[number] == NONE || partner[number] == other;
    partner[number] = agrees ? (uint16_t)other : CONFLICT;
}

static void note(struct side *s, struct side *other, uint32_t at, uint32_t to)
{
    struct access here = access_of(s, at);
    if (!here.is)
        return;
    s->indexed[here.number] |= here.indexed;
    struct access there = to == CPS_FW_ALONE ? (struct access){.is = false} : access_of(other, to);
    if (there.is && there.rest == here.rest)
        propose(s->partner, here.number, there.number);
    else
        s->alone[here.number] = true;
}

/* An array reaches a register from a number less than ARRAY below: it has moved as the register
 * has. */
static bool moves_with_arrays(const struct side *s, uint32_t number, uint32_t other)
{
    bool good = true;
    for (uint32_t i = 0; i < ARRAY && i <= number; i++) {
        uint32_t first = number - i;
        if (s->indexed[first] && is_private(s->fw->layout, first))
            good = good && s->partner[first] < NONE && other - number == s->partner[first] - first;
    }
    return good;
}

/* Whether @p a of the old revision is nothing but @p b of the new one: both are private, each is
 * the other's only partner, and no access is left that means the old number. */
static bool is_renamed(const struct side *s, uint32_t a, uint32_t b)
{
    bool left =
        (s[1].alone[a] && s[1].partner[a] >= NONE) || (s[0].alone[b] && s[0].partner[b] >= NONE);
    return is_private(s[0].fw->layout, a) && is_private(s[1].fw->layout, b) && !left &&
           s[0].partner[a] == b && s[1].partner[b] == a && moves_with_arrays(&s[0], a, b) &&
           moves_with_arrays(&s[1], b, a);
}

static bool only_renames(const struct side *s, const struct cps_fw_pairs *pairs,
                         const struct cps_fw_change *change)
{
    bool good = !change->moved && change->a_count == change->b_count;
    for (uint32_t i = 0; good && i < change->a_count; i++) {
        uint32_t at = change->a + i;
        uint32_t to = change->b + i;
        struct access a = access_of(&s[0], at);
        struct access b = access_of(&s[1], to);
        good = at < pairs->count[0] && pairs->partner[0][at] == to && a.is && b.is &&
               a.rest == b.rest && is_renamed(s, a.number, b.number);
    }
    return good;
}

static struct cps_err *look_part(struct side *s, unsigned part, const struct cps_fw_change *change,
                                 size_t count, bool *ret)
{
    struct cps_fw_pairs pairs = {0};
    struct cps_err *err = cps_fw_pairs_(s[0].fw, s[1].fw, part, &pairs);
    for (unsigned side = 0; !err && side < 2; side++) {
        s[side].part = &s[side].fw->part[part];
        for (uint32_t i = 0; i < CONTROLS; i++)
            s[side].partner[i] = NONE;
    }
    for (unsigned side = 0; !err && side < 2; side++) {
        for (uint32_t at = 0; at < pairs.count[side]; at++)
            note(&s[side], &s[!side], at, pairs.partner[side][at]);
    }
    for (size_t i = 0; !err && i < count; i++) {
        if (change[i].role == s[0].part->role)
            ret[i] = only_renames(s, &pairs, &change[i]);
    }
    cps_fw_pairs_deinit_(&pairs);
    return err;
}

struct cps_err *renumber_only(const struct cps_fw *a, const struct cps_fw *b,
                              const struct cps_fw_change *change, size_t count, bool *ret)
{
    struct cps_err *err = NULL;
    memset(ret, 0, count * sizeof(*ret));
    for (unsigned i = 0; !err && i < a->part_count && i < b->part_count; i++) {
        struct side *s = tool_alloc(2, sizeof(*s));
        s[0].fw = a;
        s[1].fw = b;
        if (a->part[i].role == b->part[i].role)
            err = look_part(s, i, change, count, ret);
        free(s);
    }
    return err;
}
