/* SPDX-License-Identifier: MIT
 * Alignment of two sequences of keys. Private to trace/.
 *
 * Where both agree they go on together. Where they do not, the nearest place is looked for from
 * which they agree again for a few elements: the one with the fewest elements left out, within a
 * bound, so that sequences with nothing in common stay affordable. */
#ifndef CPS_ALIGN_H
#define CPS_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#define ALIGN_NONE SIZE_MAX

struct align {
    uint64_t (*key_a)(const void *context, size_t i);
    uint64_t (*key_b)(const void *context, size_t i);
    size_t a_count, b_count;
    /** Called in order for every pair (i, k) with equal keys, and with ALIGN_NONE for an element
     * that has no partner. */
    void (*match)(void *context, size_t i, size_t k);
    void *context;
};

void align_run_(const struct align *align);

#endif
