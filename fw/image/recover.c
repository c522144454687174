/* SPDX-License-Identifier: MIT
 * The image that a dump's processor ran, recovered with a near revision (the donor). Two revisions
 * differ by pieces that were put in or taken out, so that the distance between the places of equal
 * code is constant in between: the path of distances that explains most words is looked for, from
 * the begin of the image to its end (dynamic programming, as for aligning sequences). */
#include "fw/image/icache.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/private.h"
#include "isa/base/list.h"
#include "isa/base/le.h"

enum {
    REACH = 1024, /* the largest distance; between 0x176 and 0x201 of 6ee it is 319 */
    STATES = 2 * REACH + 1,
    SLACK = 16, /* words after the last one that is named */
    HEADER = 2,
};
/* What agrees or not, in points: a change of distance must be worth a few words. */
enum { EQUAL = 2, RARE = 3, OTHER = -1, ENTRY = 8, TARGET = 4, CHANGE = -6, RARELY = 3 };

struct align {
    struct cps_fw_icache *cache;
    const struct cps_fw *donor;
    const struct cps_fw_part *part;
    uint32_t *masked;  /* words of the donor, without where branches go */
    uint32_t size;     /* of them: up to the packet table */
    uint32_t length;   /* addresses of the dump that are looked at */
    int32_t *anchor;   /* by address of the dump: the same place of the donor, or -1 */
    int8_t *weight;    /* points for it */
    uint16_t *from;    /* the state from which all changed, by address */
    uint8_t *changed;  /* a bit per state, by address */
    int32_t *distance; /* the result: donor's place less the dump's */
};

static uint32_t donor_word(const struct align *a, uint32_t at)
{
    return a->donor->words[a->part->start + at];
}

static void add_anchor(struct align *a, uint32_t dump, uint32_t donor, int weight)
{
    if (dump >= a->length || donor >= a->size || a->weight[dump] >= weight)
        return;
    a->anchor[dump] = (int32_t)donor;
    a->weight[dump] = (int8_t)weight;
}

/* Images begin with two words of data, then with the boot. Handlers of the same packet are the same
 * place, if both have one. */
static void add_entries(struct align *a)
{
    for (uint32_t i = 0; i <= HEADER; i++)
        add_anchor(a, i, i, ENTRY);
    uint32_t theirs[CPS_FW_TABLE_SIZE];
    cps_fw_table_of_(a->donor, a->part, theirs);
    uint32_t none[2] = {cps_fw_default_handler_(a->cache->table), cps_fw_default_handler_(theirs)};
    add_anchor(a, none[0], none[1], ENTRY);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (a->cache->table[id] != none[0] && theirs[id] != none[1])
            add_anchor(a, a->cache->table[id], theirs[id], ENTRY);
    }
}

static bool target_of(const struct align *a, uint32_t word, uint32_t pc, uint32_t *ret)
{
    const struct cps_insn insn = cps_fw_decode_(a->donor, word);
    return cps_insn_target(&cps_isa_afuc, &insn, pc, ret);
}

static bool is_rare(const struct align *a, uint32_t word)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < a->size && count <= RARELY; i++)
        count += a->masked[i] == word;
    return count <= RARELY;
}

static uint32_t best_of(const int32_t *points)
{
    uint32_t best = REACH; /* of equal ones, no distance */
    for (uint32_t state = 0; state < STATES; state++) {
        if (points[state] > points[best])
            best = state;
    }
    return best;
}

static void find_path(struct align *a, int32_t *points)
{
    enum { BYTES = STATES / 8 + 1 };
    memset(points, 0, STATES * sizeof(*points));
    memset(a->changed, 0, (size_t)a->length * BYTES);
    for (uint32_t at = 0; at < a->length; at++) {
        uint32_t best = best_of(points);
        int32_t least = points[best] + CHANGE;
        a->from[at] = (uint16_t)best;
        for (uint32_t state = 0; state < STATES; state++) {
            if (points[state] >= least)
                continue;
            points[state] = least;
            a->changed[(size_t)at * BYTES + state / 8] |= (uint8_t)(1u << state % 8);
        }
        /* Points for each distance at one address. */
        bool known = at < a->cache->count && a->cache->mark[at] == CPS_FW_HARDWARE;
        uint32_t word = known ? cps_fw_untargeted_(a->donor, a->cache->word[at]) : 0;
        int32_t equal = known ? is_rare(a, word) ? RARE : EQUAL : 0;
        for (int32_t state = 0; state < STATES; state++) {
            int64_t place = (int64_t)at + state - REACH;
            bool inside = place >= 0 && place < a->size;
            if (known)
                points[state] += inside && a->masked[place] == word ? equal : OTHER;
            if (a->weight[at] && place == a->anchor[at])
                points[state] += a->weight[at];
        }
    }
    uint32_t state = best_of(points);
    for (uint32_t at = a->length; at-- > 0;) {
        a->distance[at] = (int32_t)state - REACH;
        if (a->changed[(size_t)at * BYTES + state / 8] >> state % 8 & 1)
            state = a->from[at];
    }
}

/* Whether both have the same there: a word, or a place that is named in both. */
static bool agrees(const struct align *a, uint32_t at)
{
    uint32_t place = at + (uint32_t)a->distance[at];
    if (a->weight[at] && (uint32_t)a->anchor[at] == place)
        return true;
    return at < a->cache->count && a->cache->mark[at] == CPS_FW_HARDWARE && place < a->size &&
           a->masked[place] == cps_fw_untargeted_(a->donor, a->cache->word[at]);
}

/* Between @p last and @p next, which agree at different distances. */
static struct cps_err *add_hole(struct align *a, uint32_t last, uint32_t next)
{
    struct cps_fw_icache *cache = a->cache;
    int32_t less = a->distance[last] - a->distance[next];
    struct cps_fw_hole hole = {
        .first = last + 1, .end = next, .gap = less > 0 ? (uint32_t)less : 0};
    uint32_t count = next - last - 1;
    if (hole.gap > count)
        hole.gap = count;
    hole.split = next - hole.gap;
    if (!count)
        return NULL;
    if (!CPS_LIST_ROOM(cache->hole, cache->holes))
        return cps_err_nomem();
    hole.before = calloc(count, sizeof(*hole.before));
    hole.after = calloc(count, sizeof(*hole.after));
    cache->hole[cache->holes++] = hole;
    return hole.before && hole.after ? NULL : cps_err_nomem();
}

static struct cps_err *set_marks(struct align *a, uint8_t *mark)
{
    uint32_t last = 0; /* where both agreed last */
    for (uint32_t at = 0; at < a->length; at++) {
        if (at >= a->cache->count || a->cache->mark[at] != CPS_FW_HARDWARE)
            mark[at] = CPS_FW_DONOR;
        if (!agrees(a, at))
            continue;
        if (a->distance[last] != a->distance[at])
            CPS_TRY(add_hole(a, last, at));
        for (uint32_t i = last + 1; i < at && a->distance[last] != a->distance[at]; i++)
            mark[i] = mark[i] == CPS_FW_HARDWARE ? CPS_FW_HARDWARE : CPS_FW_UNKNOWN;
        last = at;
    }
    return NULL;
}

/* Where a place of the donor went: the address whose distance leads there, the nearest else. */
static uint32_t moved(const struct align *a, uint32_t place)
{
    uint32_t best = place;
    uint32_t error = UINT32_MAX;
    uint32_t first = place > REACH ? place - REACH : 0;
    for (uint32_t at = first; at < a->length && at <= place + REACH; at++) {
        int64_t off = (int64_t)at + a->distance[at] - place;
        uint32_t size = (uint32_t)(off < 0 ? -off : off);
        if (size >= error)
            continue;
        error = size;
        best = at - (uint32_t)off;
    }
    return best;
}

/* A word of the donor at its new address: a branch still goes to the same code. */
static uint32_t moved_word(const struct align *a, uint32_t at, uint32_t place)
{
    uint32_t word = donor_word(a, place);
    uint32_t bits = word ^ cps_fw_untargeted_(a->donor, word);
    uint32_t to = 0;
    const struct cps_insn insn = cps_fw_decode_(a->donor, word);
    bits |= (uint32_t)cps_insn_target_bits(&cps_isa_afuc, &insn);
    if (!bits || !target_of(a, word, place, &to))
        return word;
    bool relative = ((to - place) & bits) == (word & bits);
    uint32_t now = moved(a, to);
    return (word & ~bits) | ((relative ? now - at : now) & bits);
}

/* The boot composes scratch 0x100 of the versions of the image and of its preemption routine, 31:20
 * and 19:8, which are the low bits of the words that they begin with (F: 6ee 001d..0039). */
static void set_versions(const struct align *a, uint32_t end)
{
    enum { IN_PREEMPT = 0x0f, VERSION = 0xfff };
    uint32_t entry = a->cache->table[IN_PREEMPT];
    uint32_t *word = a->cache->word;
    if (!a->cache->version)
        return;
    word[0] = (word[0] & ~(uint32_t)VERSION) | a->cache->version >> 20;
    if (entry && entry < end && a->cache->mark[entry] != CPS_FW_HARDWARE)
        word[entry] = (word[entry] & ~(uint32_t)VERSION) | (a->cache->version >> 8 & VERSION);
}

uint32_t cps_fw_hole_word_(const struct cps_fw_hole *hole, enum cps_gen gen, uint32_t at,
                           uint32_t split)
{
    if (at < split)
        return hole->before[at - hole->first];
    return at < split + hole->gap ? cps_fw_nop_(gen) : hole->after[at - hole->first];
}

static uint32_t word_or_nop(const struct align *a, uint32_t at, int32_t distance)
{
    uint32_t place = at + (uint32_t)distance;
    return place < a->size ? moved_word(a, at, place) : cps_fw_nop_(a->donor->gen);
}

static void fill_hole(const struct align *a, struct cps_fw_hole *hole, const uint8_t *mark,
                      uint32_t *word)
{
    for (uint32_t at = hole->first; at < hole->end; at++) {
        uint32_t i = at - hole->first;
        hole->before[i] = word_or_nop(a, at, a->distance[hole->first - 1]);
        hole->after[i] = word_or_nop(a, at, a->distance[hole->end]);
        if (mark[at] == CPS_FW_UNKNOWN)
            word[at] = cps_fw_hole_word_(hole, a->donor->gen, at, hole->split);
    }
}

static struct cps_err *build(const struct align *a, uint32_t end, struct cps_fw **ret)
{
    size_t size =
        4 * ((size_t)1 + end + CPS_FW_TABLE_SIZE); /* with the word that the kernel drops */
    CPS_FREE uint8_t *image = calloc(1, size);
    if (!image)
        return cps_err_nomem();
    for (uint32_t i = 0; i < end; i++)
        cps_put_le32(image + 4 + 4 * (size_t)i, a->cache->word[i]);
    for (uint32_t i = 0; i < CPS_FW_TABLE_SIZE; i++)
        cps_put_le32(image + 4 + 4 * (size_t)(end + i), a->cache->table[i]);
    cps_put_le32(image + 8, cps_fw_offset_word_(a->donor->gen, end));
    return cps_fw_parse(a->donor->name, image, size, a->donor->gen, ret);
}

/* The dump's addresses that the donor's code fills; the packet table comes after them. */
static uint32_t end_of(const struct align *a)
{
    uint32_t end = a->length;
    while (end > 1 && end - 1 + (uint32_t)a->distance[end - 1] >= a->size)
        end--;
    return end;
}

static struct cps_err *fill(struct align *a, struct cps_fw **ret)
{
    struct cps_fw_icache *cache = a->cache;
    uint32_t end = end_of(a);
    CPS_FREE uint32_t *word = calloc(end, sizeof(*word));
    CPS_FREE uint8_t *mark = calloc(a->length, sizeof(*mark));
    if (!word || !mark)
        return cps_err_nomem();
    memcpy(mark, cache->mark, cache->count < a->length ? cache->count : a->length);
    CPS_TRY(set_marks(a, mark));
    for (uint32_t at = 0; at < end; at++)
        word[at] =
            mark[at] == CPS_FW_HARDWARE ? a->cache->word[at] : word_or_nop(a, at, a->distance[at]);
    for (size_t i = 0; i < a->cache->holes; i++) {
        if (a->cache->hole[i].end < end)
            fill_hole(a, &a->cache->hole[i], mark, word);
    }
    free(cache->word);
    free(cache->mark);
    cache->word = CPS_TAKE(word);
    cache->mark = CPS_TAKE(mark);
    cache->count = end;
    set_versions(a, end);
    return build(a, end, ret);
}

/* Packets that both handle, and how many of these handlers are at the same place of both. */
static uint32_t same_handlers(const struct align *a, uint32_t *ret)
{
    uint32_t theirs[CPS_FW_TABLE_SIZE];
    bool own[2][CPS_FW_TABLE_SIZE];
    uint32_t both = 0;
    cps_fw_table_of_(a->donor, a->part, theirs);
    cps_fw_own_handlers_(a->cache->table, own[0]);
    cps_fw_own_handlers_(theirs, own[1]);
    *ret = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t at = a->cache->table[id];
        both += own[0][id] && own[1][id];
        *ret += own[0][id] && own[1][id] && at < a->length &&
                at + (uint32_t)a->distance[at] == theirs[id];
    }
    return both;
}

/* Near revisions have nearly all words, and all handlers in the same order (176, 187, 190, 201 and
 * 207 of 6ee, each with each: 98 % of the words or more, every handler); other families have 68 %
 * of the words at most, and 93 % of the handlers, and would fill the holes with other code. */
static struct cps_err *check(const struct align *a)
{
    uint32_t known = 0;
    uint32_t equal = 0;
    uint32_t placed = 0;
    uint32_t handlers = same_handlers(a, &placed);
    for (uint32_t at = 0; at < a->cache->count; at++) {
        bool here = a->cache->mark[at] == CPS_FW_HARDWARE;
        known += here;
        equal += here && agrees(a, at);
    }
    if (equal * 20 >= known * 19 && placed * 20 >= handlers * 19)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: too different from the dump's firmware: %" PRIu32 " of %" PRIu32
                       " words and %" PRIu32 " of %" PRIu32
                       " handlers match, expected 95 %% of each",
                       a->donor->name, equal, known, placed, handlers);
}

static struct cps_err *align(struct align *a, int32_t *points, struct cps_fw **ret)
{
    for (uint32_t i = 0; i < a->size; i++)
        a->masked[i] = cps_fw_untargeted_(a->donor, donor_word(a, i));
    add_entries(a);
    find_path(a, points);
    /* Where equal instructions of both branch to is the same place, too. */
    for (uint32_t at = 0; at < a->cache->count; at++) {
        uint32_t to[2] = {0, 0};
        uint32_t place = at + (uint32_t)a->distance[at];
        if (a->cache->mark[at] != CPS_FW_HARDWARE || place >= a->size ||
            a->masked[place] != cps_fw_untargeted_(a->donor, a->cache->word[at]))
            continue;
        if (target_of(a, a->cache->word[at], at, &to[0]) &&
            target_of(a, donor_word(a, place), place, &to[1]))
            add_anchor(a, to[0], to[1], TARGET);
    }
    find_path(a, points);
    CPS_TRY(check(a));
    return fill(a, ret);
}

struct cps_err *cps_fw_recover_(struct cps_fw_icache *cache, const struct cps_fw *donor,
                                struct cps_fw **ret)
{
    const struct cps_fw_part *part = &donor->part[0];
    struct align a = {.cache = cache, .donor = donor, .part = part};
    a.size = part->table < part->size ? part->table : part->size;
    if (a.size > CPS_FW_ICACHE_WORDS)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: %" PRIu32
                           " dwords of code, expected at most %u of an image of a6xx",
                           donor->name, a.size, CPS_FW_ICACHE_WORDS);
    /* The dump's image may be longer than the donor's, by as much as code can have moved. */
    uint32_t length = a.size + REACH;
    a.length = cache->count + SLACK > length ? cache->count + SLACK : length;
    CPS_FREE uint32_t *masked = a.masked = calloc(a.size, sizeof(*masked));
    CPS_FREE int32_t *anchor = a.anchor = calloc(a.length, sizeof(*anchor));
    CPS_FREE int8_t *weight = a.weight = calloc(a.length, sizeof(*weight));
    CPS_FREE uint16_t *from = a.from = calloc(a.length, sizeof(*from));
    CPS_FREE uint8_t *changed = a.changed = calloc(a.length, STATES / 8 + 1);
    CPS_FREE int32_t *distance = a.distance = calloc(a.length, sizeof(*distance));
    CPS_FREE int32_t *points = calloc(STATES, sizeof(*points));
    bool room = masked && anchor && weight && from && changed && distance && points;
    return room ? align(&a, points, ret) : cps_err_nomem();
}
