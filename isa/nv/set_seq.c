/* SPDX-License-Identifier: MIT
 * The instruction set of NVIDIA's SEQ. */
#define TABLE     "isa/nv/seq.def"
#define OP_ID(id) CPS_SEQ_##id
#include "isa/sets/expand.h"

const struct cps_isa cps_isa_seq = {
    .name = "seq",
    .unit = 4,
    .length_low = 16,
    .length_width = 16,
    EXPANDED,
};
