/* SPDX-License-Identifier: MIT
 * A naive model of VP1: its registers, and what one bundle does to them. */
#ifndef TESTS_VP1_MODEL_H
#define TESTS_VP1_MODEL_H

#include <stdint.h>

/* Registers under the names of the measurements: $a scalar, $r address. */
struct vp1_model_regs {
    uint32_t a[32], r[32], c[4], l[4], x[64], d[8], y[16], sr[128], vc[4];
    uint8_t v[32][16], vx[16];
    int32_t va[16]; /* 28 bits, with their sign */
};

struct vp1_model {
    struct vp1_model_regs was, is; /* in front of the bundle at hand, and behind it */
    uint8_t ds[16][512];           /* the data store: bank, cell */
    int is_g80;
    int mov_clears; /* `mov` with other files clears the scalar flags, as envytools' tester saw */
};

/* What two units of one bundle want at once. */
enum {
    VP1_MODEL_SAME_REGISTER = 1, /* both write it */
    VP1_MODEL_SAME_PORT = 2,     /* both read through it, and not the same register */
};

/* Where control goes behind the bundle, and what of it clashes. */
struct vp1_model_end {
    int branches, calls;
    uint32_t target;
    int clashes;
};

/* Executes words of the address, scalar, vector and branch unit at program counter @p pc, as method
 * code does. Not for: DMA, `ret`, `exit`, and opcodes without a meaning in the address or branch
 * unit. */
struct vp1_model_end vp1_model_bundle(struct vp1_model *model, const uint32_t words[4],
                                      uint32_t pc);

#endif
