/* SPDX-License-Identifier: MIT
 * The instruction set of NVIDIA's VP1. */
#define TABLE     "isa/nv/vp1.def"
#define OP_ID(id) CPS_VP1_##id

enum {
#define REGFILE(id, ...) FILE_##id,
#include TABLE
};

#include "isa/sets/expand.h"

static const struct cps_regfile files[] = {
#define REGFILE(id, measured, measured_first, envytools, envytools_first, also, also_first) \
    {{{measured, measured_first}, {envytools, envytools_first}, {also, also_first}}},
#include TABLE
};

static const struct cps_unit units[] = {
#define UNIT(id, first, last) {first, last},
#include TABLE
};

const struct cps_isa cps_isa_vp1 = {
    .name = "vp1",
    .unit = 4,
    .one_unit = true,
    .delay_slots = true,
    EXPANDED,
    .files = files,
    .file_count = sizeof(files) / sizeof(files[0]),
    .units = units,
    .unit_count = sizeof(units) / sizeof(units[0]),
};
