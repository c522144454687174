/* SPDX-License-Identifier: MIT
 * Counts what random programs of afuc have executed, so that none of it is forgotten. */
#include "tests/model/afuc_seen.h"

#include <inttypes.h>
#include <stdio.h>

/* ISA 2, counted by hand: nop, mov, setsecure; immediates 16, since a7xx 13 and 4 shifts; set and
 * clear a bit, since a7xx two fields; registers 17, a6xx 18, a7xx 19, a8xx 20; accesses 4, since
 * a6xx 6, since a7xx 8; branches 4; ret, call, waitin; bl, jumpa and sret on a5xx, jumpd on a6xx,
 * all and jump on a7xx. */
static const unsigned forms[AFUC_KINDS] = {52, 52, 53, 63, 63, 64};

static const char *const prefix_name[AFUC_PREFIXES] = {
    "(rep)",  "(rep) of nothing", "(xmov1)", "(xmov2)", "(xmov3)",
    "(sds1)", "(sds2)",           "(sds3)",  "(peek)",  "!"};

/* What leaves the straight line: 1 to 13. Conditional ones twice, taken and not. */
static const char *const leave_name[AFUC_LEAVES] = {"",
                                                    "brne",
                                                    "brne not taken",
                                                    "breq",
                                                    "breq not taken",
                                                    "brne b",
                                                    "brne b not taken",
                                                    "breq b",
                                                    "breq b not taken",
                                                    "ret",
                                                    "call",
                                                    "jump $",
                                                    "bl",
                                                    "jumpa"};
/* What stands in a slot: one of those, or one of these. */
enum { PLAIN = AFUC_LEAVES - 1, REPEATED, MOVES, ACCESS, REPEATED_ACCESS, POPS };
static const char *const plain_name[] = {"an instruction", "(rep)",        "(xmov)",
                                         "access",         "(rep) access", "$data"};

static uint32_t word_of(const struct afuc_model *m)
{
    return m->image[m->pc];
}

/* A number for each instruction that has a name; aliases share one. */
static unsigned form_of(const struct afuc_model *m, uint32_t word)
{
    unsigned gen = afuc_generation(m->kind), top = word >> 27;
    if (top == 19)
        return 64 + word % 32;
    if (top == 18 && (gen < 7 || (word >> 12) % 16 == 6))
        return 96 + word % 2;
    if (top == 18)
        return 98 + (word >> 12) % 16;
    if (word >> 26 == 0x37 && gen == 7 + (gen == 8))
        return (word >> 20) % 64 == 0x37 ? 150 : (word >> 20) % 64 == 0x36 ? 151 : 152;
    if (top >= 24)
        return 128 + (word >> 26) % 16;
    return top >= 20 ? 2 * top + (word >> 15) % 2 : top;
}

/* Which branch it is, 0: none of those. */
static unsigned leave_of(const struct afuc_model *m, const struct afuc_model *to, uint32_t word)
{
    bool straight = to->npc == m->npc + 1;
    switch (word >> 26) {
    case 0x30:
    case 0x31:
    case 0x32:
    case 0x33:
        return 1 + 2 * ((word >> 26) % 4) + straight;
    case 0x34:
    case 0x35:
        return 9 + (word >> 26) % 2;
    case 0x37:
    case 0x38:
    case 0x39:
        return 11 + (word >> 26) - 0x37;
    default:
        return 0;
    }
}

static unsigned slot_of(const struct afuc_model *m, uint32_t word, unsigned leave)
{
    unsigned top = word >> 27;
    bool rep = top < 24 && word >> 26 & 1 && m->r[28];
    if (leave)
        return leave - 1;
    if (top >= 20 && top < 24)
        return rep ? REPEATED_ACCESS : ACCESS;
    if (top == 19 && word >> 9 & 3)
        return MOVES;
    if (rep)
        return REPEATED;
    return top == 19 && (word >> 16) % 32 == 31 ? POPS : PLAIN;
}

static void count_prefixes(struct afuc_seen *seen, const struct afuc_model *m, uint32_t word)
{
    uint64_t *count = seen->prefix[m->kind];
    unsigned top = word >> 27;
    if (top < 24 && word >> 26 & 1)
        count[m->r[28] ? 0 : 1]++;
    if (top == 19 && word >> 9 & 3)
        count[1 + (word >> 9 & 3)]++;
    if (top == 21 && word >> 12 & 3)
        count[4 + (word >> 12 & 3)]++;
    if (top == 19 && word >> 8 & 1 && (word >> 16) % 32 == 31)
        count[8]++;
    if (top >= 20 && top < 24 && word >> 14 & 1)
        count[9]++;
}

void afuc_seen_tick(struct afuc_seen *seen, const struct afuc_model *from,
                    const struct afuc_model *to)
{
    uint32_t word = word_of(from);
    unsigned leave = leave_of(from, to, word);
    seen->form[from->kind][form_of(from, word)]++;
    count_prefixes(seen, from, word);
    if (seen->left)
        seen->slot[seen->left][slot_of(from, word, leave)]++;
    seen->left = leave;
}

static bool all_forms(const struct afuc_seen *seen)
{
    bool all = true;
    for (unsigned kind = 0; kind < AFUC_KINDS; kind++) {
        unsigned count = 0;
        for (unsigned form = 0; form < AFUC_FORMS; form++)
            count += seen->form[kind][form] != 0;
        printf("# %s: %u of %u instructions", afuc_kind_name(kind), count, forms[kind]);
        for (unsigned i = 0; i < AFUC_PREFIXES; i++) {
            printf(", %s %" PRIu64, prefix_name[i], seen->prefix[kind][i]);
            all = all && (seen->prefix[kind][i] || (i == 8 && afuc_generation(kind) < 7));
        }
        printf("\n");
        all = all && count == forms[kind];
    }
    return all;
}

bool afuc_seen_all(const struct afuc_seen *seen)
{
    bool all = all_forms(seen);
    uint64_t least = UINT64_MAX;
    for (unsigned leave = 1; leave < AFUC_LEAVES; leave++) {
        for (unsigned slot = 0; slot < AFUC_SLOTS; slot++) {
            uint64_t count = seen->slot[leave][slot];
            if (!count)
                printf("# never: %s in the delay slot of %s\n",
                       slot < PLAIN ? leave_name[slot + 1] : plain_name[slot - PLAIN],
                       leave_name[leave]);
            least = count < least ? count : least;
        }
    }
    printf("# %u kinds of delay slots, the least common %" PRIu64 " times\n",
           (AFUC_LEAVES - 1) * AFUC_SLOTS, least);
    return all && least;
}
