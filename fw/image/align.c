/* SPDX-License-Identifier: MIT
 * Alignment of two lists of words. Runs that both lists have exactly once are the anchors (patience
 * diff): what is between two of them is short, and aligned by its longest common subsequence.
 */
#include "fw/image/pairs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RUN = 3 };          /* words of an anchor; shorter where nothing else is left */
enum { CELLS = 1u << 24 }; /* of the table between two anchors: larger gaps stay unaligned */

/* A stretch of both lists, and what comes after it. */
struct gap {
    uint32_t a, a_end, b, b_end;
};

struct align {
    const uint64_t *a, *b;
    uint32_t *partner;
};

/* The run at a place, as one number, and where it is. */
struct run {
    uint64_t key;
    uint32_t at;
};

static uint64_t key_of(const uint64_t *words, uint32_t length)
{
    uint64_t key = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < length; i++)
        key = (key ^ words[i]) * UINT64_C(0x100000001b3) + (key >> 29);
    return key;
}

static int by_key(const void *x, const void *y)
{
    const struct run *a = x;
    const struct run *b = y;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* The runs of a stretch, sorted by key. */
static struct run *list_runs(const uint64_t *words, uint32_t from, uint32_t end, uint32_t length)
{
    struct run *run = calloc(end - from, sizeof(*run));
    for (uint32_t at = from; run && at < end - length + 1; at++)
        run[at - from] = (struct run){key_of(words + at, length), at};
    if (run)
        qsort(run, end - from - length + 1, sizeof(*run), by_key);
    return run;
}

static bool is_once(const struct run *run, uint32_t count, uint32_t i)
{
    return (i == 0 || run[i - 1].key != run[i].key) &&
           (i + 1 == count || run[i + 1].key != run[i].key);
}

static int by_place(const void *x, const void *y)
{
    const struct gap *a = x;
    const struct gap *b = y;
    return a->a < b->a ? -1 : a->a > b->a;
}

/* Runs of @p length words that both stretches have once, as pairs of places in the order of `a`. */
static uint32_t pair_runs(const struct align *w, uint32_t length, const struct run *a,
                          uint32_t a_count, const struct run *b, uint32_t b_count, struct gap *pair)
{
    uint32_t count = 0;
    for (uint32_t i = 0, k = 0; i < a_count && k < b_count;) {
        if (a[i].key != b[k].key) {
            *(a[i].key < b[k].key ? &i : &k) += 1;
            continue;
        }
        if (is_once(a, a_count, i) && is_once(b, b_count, k) &&
            !memcmp(w->a + a[i].at, w->b + b[k].at, length * sizeof(*w->a)))
            pair[count++] = (struct gap){.a = a[i].at, .b = b[k].at};
        uint64_t key = a[i].key;
        while (i < a_count && a[i].key == key)
            i++;
        while (k < b_count && b[k].key == key)
            k++;
    }
    qsort(pair, count, sizeof(*pair), by_place);
    return count;
}

/* The longest sequence of pairs that increases in both: patience sorting. `a_end` and `b_end` of
 * the pairs serve as links and piles. @return how many remain, in front */
static uint32_t keep_increasing(struct gap *pair, uint32_t count)
{
    uint32_t piles = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = 0;
        uint32_t high = piles;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (pair[pair[middle].b_end].b < pair[i].b)
                low = middle + 1;
            else
                high = middle;
        }
        pair[i].a_end = low ? pair[low - 1].b_end : CPS_FW_ALONE;
        pair[low].b_end = i; /* the pile's top */
        piles = low == piles ? piles + 1 : piles;
    }
    uint32_t at = piles ? pair[piles - 1].b_end : 0;
    for (uint32_t i = piles; i-- > 0;) {
        pair[i].b_end = at; /* the sequence, in order */
        at = pair[at].a_end;
    }
    for (uint32_t i = 0; i < piles; i++) {
        struct gap from = pair[pair[i].b_end];
        pair[i].a = from.a;
        pair[i].b = from.b;
    }
    return piles;
}

static struct cps_err *align_gap(const struct align *w, struct gap gap, uint32_t length);

/* Sets partners of the words that are equal at both ends, and makes the gap smaller. */
static void trim(const struct align *w, struct gap *gap)
{
    while (gap->a < gap->a_end && gap->b < gap->b_end && w->a[gap->a] == w->b[gap->b])
        w->partner[gap->a++] = gap->b++;
    while (gap->a < gap->a_end && gap->b < gap->b_end &&
           w->a[gap->a_end - 1] == w->b[gap->b_end - 1])
        w->partner[--gap->a_end] = --gap->b_end;
}

/* The longest common subsequence; of equal ones the first. */
static struct cps_err *align_short(const struct align *w, struct gap gap)
{
    size_t rows = gap.a_end - gap.a + 1;
    size_t columns = gap.b_end - gap.b + 1;
    if (rows * columns > CELLS)
        return NULL;
    CPS_FREE uint16_t *length = calloc(rows * columns, sizeof(*length));
    if (!length)
        return cps_err_nomem();
    for (size_t i = rows - 1; i-- > 0;) {
        for (size_t k = columns - 1; k-- > 0;) {
            uint16_t down = length[(i + 1) * columns + k];
            uint16_t right = length[i * columns + k + 1];
            bool same = w->a[gap.a + i] == w->b[gap.b + k];
            length[i * columns + k] = same ? (uint16_t)(length[(i + 1) * columns + k + 1] + 1)
                                      : down > right ? down
                                                     : right;
        }
    }
    for (size_t i = 0, k = 0; i + 1 < rows && k + 1 < columns;) {
        if (w->a[gap.a + i] == w->b[gap.b + k])
            w->partner[gap.a + i++] = gap.b + (uint32_t)k++;
        else if (length[(i + 1) * columns + k] >= length[i * columns + k + 1])
            i++;
        else
            k++;
    }
    return NULL;
}

/* Goes on between the anchors; without any, with shorter ones, at last without. */
static struct cps_err *align_between(const struct align *w, struct gap gap, const struct gap *pair,
                                     uint32_t count, uint32_t length)
{
    struct gap rest = gap;
    for (uint32_t i = 0; i < count; i++) {
        if (pair[i].a < rest.a || pair[i].b < rest.b)
            continue; /* inside of what the anchor before has taken */
        struct gap before = {rest.a, pair[i].a, rest.b, pair[i].b};
        CPS_TRY(align_gap(w, before, length));
        rest.a = pair[i].a;
        rest.b = pair[i].b;
        while (rest.a < gap.a_end && rest.b < gap.b_end && w->a[rest.a] == w->b[rest.b])
            w->partner[rest.a++] = rest.b++;
    }
    return align_gap(w, rest, count ? length : length > 1 ? 1 : 0);
}

static struct cps_err *align_gap(const struct align *w, struct gap gap, uint32_t length)
{
    trim(w, &gap);
    uint32_t a_count = gap.a_end - gap.a;
    uint32_t b_count = gap.b_end - gap.b;
    if (!a_count || !b_count)
        return NULL;
    if (!length)
        return align_short(w, gap);
    if (a_count < length || b_count < length)
        return align_gap(w, gap, 1);
    CPS_FREE struct run *a = list_runs(w->a, gap.a, gap.a_end, length);
    CPS_FREE struct run *b = list_runs(w->b, gap.b, gap.b_end, length);
    CPS_FREE struct gap *pair = calloc(a_count < b_count ? a_count : b_count, sizeof(*pair));
    if (!a || !b || !pair)
        return cps_err_nomem();
    uint32_t count = pair_runs(w, length, a, a_count - length + 1, b, b_count - length + 1, pair);
    return align_between(w, gap, pair, keep_increasing(pair, count), length);
}

struct cps_err *cps_align_(const uint64_t *a, uint32_t a_count, const uint64_t *b, uint32_t b_count,
                           uint32_t *partner)
{
    const struct align w = {a, b, partner};
    memset(partner, 0xff, a_count * sizeof(*partner));
    return align_gap(&w, (struct gap){0, a_count, 0, b_count}, RUN);
}

struct cps_err *cps_align_exact_(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                                 uint32_t b_count, uint32_t *partner)
{
    const struct align w = {a, b, partner};
    memset(partner, 0xff, a_count * sizeof(*partner));
    return align_short(&w, (struct gap){0, a_count, 0, b_count});
}
