/* SPDX-License-Identifier: MIT
 * NVIDIA's PFIFO among the instruction sets: it has none. */
#include "isa/sets/table.h"

const struct cps_isa cps_isa_pfifo = {
    .name = "pfifo",
    .unit = 4,
};
