/* SPDX-License-Identifier: MIT
 * The instruction set of NVIDIA's HWSQ. */
#define TABLE     "isa/nv/hwsq.def"
#define OP_ID(id) CPS_HWSQ_##id
#include "isa/sets/expand.h"

const struct cps_isa cps_isa_hwsq = {
    .name = "hwsq",
    .unit = 1,
    EXPANDED,
};
