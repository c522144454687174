/* SPDX-License-Identifier: MIT
 * Numbers that look random and follow from a seed (SplitMix64): the same on every machine. */
#ifndef CPS_FUZZ_RANDOM_H
#define CPS_FUZZ_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t rng_mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/** The next 64 bits. */
static inline uint64_t rng_next(struct rng *rng)
{
    rng->state += UINT64_C(0x9e3779b97f4a7c15);
    return rng_mix(rng->state);
}

static inline uint32_t rng_word(struct rng *rng)
{
    return (uint32_t)rng_next(rng);
}

/** A number below @p count, which is at least 1 and at most 2^32. */
static inline uint32_t rng_below(struct rng *rng, uint64_t count)
{
    return (uint32_t)((rng_next(rng) >> 32) * count >> 32);
}

/** True in @p of 100 cases. */
static inline bool rng_chance(struct rng *rng, unsigned of)
{
    return rng_below(rng, 100) < of;
}

#endif
