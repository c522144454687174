/* SPDX-License-Identifier: MIT
 * Bits of arrays of words. Private to emu/. */
#ifndef CPS_BITS_H
#define CPS_BITS_H

#include <stdbool.h>
#include <stdint.h>

static inline bool test_bit(const uint32_t *mask, uint32_t index)
{
    return mask[index / 32] >> (index % 32) & 1;
}

static inline void set_bit(uint32_t *mask, uint32_t index)
{
    mask[index / 32] |= 1u << (index % 32);
}

static inline void set_bits(uint32_t *mask, uint32_t from, uint32_t count)
{
    for (uint32_t at = from, end = from + count; at < end;) {
        uint32_t first = at % 32;
        uint32_t some = 32 - first < end - at ? 32 - first : end - at;
        mask[at / 32] |= (some == 32 ? ~0u : (1u << some) - 1) << first;
        at += some;
    }
}

#endif
