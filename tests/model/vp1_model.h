/* SPDX-License-Identifier: MIT
 * A naive model of VP1's scalar unit: its state, and one word. */
#ifndef TESTS_VP1_MODEL_H
#define TESTS_VP1_MODEL_H

#include <stdint.h>

struct vp1_model {
    uint32_t a[32], v[32][4], sr[128], l[4], r[32], c[4], x[64], d[8], y[16];
};

/* Executes a scalar word, opcode 0x00 to 0x7f, as a G80 does in method code. */
void vp1_model_scalar(struct vp1_model *model, uint32_t word);

#endif
