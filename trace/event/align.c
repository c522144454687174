/* SPDX-License-Identifier: MIT
 * Alignment of two sequences of keys. */
#include "trace/event/align.h"

#include <stdbool.h>

#define REACH  192u /* elements left out at most, on both sides together */
#define ENOUGH 4u   /* so many in a row are no accident */

/* Whether both sequences agree from here for long enough, or to their ends. */
static bool agree(const struct align *align, size_t i, size_t k)
{
    size_t run = 0;
    while (run < ENOUGH && i + run < align->a_count && k + run < align->b_count) {
        if (align->key_a(align->context, i + run) != align->key_b(align->context, k + run))
            return false;
        run++;
    }
    bool at_ends = i + run == align->a_count && k + run == align->b_count;
    return run == ENOUGH || at_ends;
}

/* Elements to leave out of each, the fewest in sum. */
static bool find(const struct align *align, size_t i, size_t k, size_t *skip_a, size_t *skip_b)
{
    for (size_t sum = 1; sum <= REACH; sum++) {
        for (size_t a = 0; a <= sum; a++) {
            if (i + a > align->a_count || k + (sum - a) > align->b_count ||
                !agree(align, i + a, k + (sum - a)))
                continue;
            *skip_a = a;
            *skip_b = sum - a;
            return true;
        }
    }
    return false;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void align_run_(const struct align *align)
{
    size_t i = 0;
    size_t k = 0;
    while (i < align->a_count || k < align->b_count) {
        size_t skip_a = 0;
        size_t skip_b = 0;
        if (i < align->a_count && k < align->b_count &&
            align->key_a(align->context, i) == align->key_b(align->context, k)) {
            align->match(align->context, i++, k++);
            continue;
        }
        if (!find(align, i, k, &skip_a, &skip_b)) {
            skip_a = least(REACH / 2, align->a_count - i);
            skip_b = least(REACH / 2, align->b_count - k);
        }
        for (size_t n = 0; n < skip_a; n++)
            align->match(align->context, i++, ALIGN_NONE);
        for (size_t n = 0; n < skip_b; n++)
            align->match(align->context, ALIGN_NONE, k++);
    }
}
