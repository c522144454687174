/* SPDX-License-Identifier: MIT
 * The instruction set of the test engine. */
#include "tests/house/engine/counter.h"

#define TABLE     "tests/house/engine/counter.def"
#define OP_ID(id) COUNTER_##id
#include "isa/sets/expand.h"

extern const struct cps_isa cps_isa_counter;
const struct cps_isa cps_isa_counter = {
    .name = "counter",
    .unit = 4,
    .one_unit = true,
    .delay_slots = true,
    EXPANDED,
};
