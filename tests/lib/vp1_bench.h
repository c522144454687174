/* SPDX-License-Identifier: MIT
 * VP1 as its measurements used it: registers set by the host, bundles injected or run from memory.
 */
#ifndef TESTS_VP1_BENCH_H
#define TESTS_VP1_BENCH_H

#include "tests/lib/engine_bench.h"

/* The host's view of a register: base + 4 * index. */
enum {
    VIEW_V = 0xf000, /* component 0; the others 0x80 behind each other */
    VIEW_SR = 0xf400,
    VIEW_L = 0xf580,
    VIEW_R = 0xf600,
    VIEW_C = 0xf680,
    VIEW_A = 0xf780,
    VIEW_X = 0xfa00,
    VIEW_D = 0xfb00,
};

static inline void vp1_set(struct bench *b, uint32_t view, unsigned index, uint32_t value)
{
    bench_write(b, view + 4 * index, value);
}
static inline uint32_t vp1_get(struct bench *b, uint32_t view, unsigned index)
{
    return bench_read(b, view + 4 * index);
}

/* A bundle of any of the four words, 0: none; each goes to its own unit. */
static inline enum cps_stop vp1_bundle(struct bench *b, uint32_t w0, uint32_t w1, uint32_t w2,
                                       uint32_t w3)
{
    uint32_t slot[4] = {0xdfffffff, 0x4fffffff, 0xbfffffff, 0xefffffff};
    const uint32_t words[4] = {w0, w1, w2, w3};
    for (unsigned i = 0; i < 4; i++) {
        if (words[i])
            slot[cps_insn_unit(&cps_isa_vp1, words[i])] = words[i];
    }
    bench_write(b, 0xf448, slot[0]);
    bench_write(b, 0xf44c, slot[1]);
    bench_write(b, 0xf450, slot[2]);
    bench_write(b, 0xf454, slot[3]);
    bench_write(b, 0xf458, 1);
    return bench_run(b);
}
static inline enum cps_stop vp1_inject(struct bench *b, uint32_t word)
{
    return vp1_bundle(b, word, 0, 0, 0);
}

/* A program at word 0 of memory, started as the measurements did. */
static inline void vp1_program(struct bench *b, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        cps_bus_poke(b->bus, CPS_MEMORY_PROGRAM, 4 * (uint32_t)i, words[i]);
    bench_write(b, 0xf474, 0x111);
    bench_write(b, 0xfc90, 1);
    bench_write(b, 0xfc94, 0xc0000000);
}

#endif
