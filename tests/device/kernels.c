/* SPDX-License-Identifier: MIT
 * Kernels for the plugin host_compute: what the shaders of launched.c would do. */
#include "examples/host_compute.h"

#include "isa/base/cleanup.h"

CPS_PUBLIC host_kernel scale, wild, broken;

static uint64_t address_of(const uint32_t *words)
{
    return (uint64_t)words[1] << 32 | words[0];
}

/* c0 has the addresses of source and result, c1.x the factor. The result grows by factor * source +
 * number, so that it is another one if memory from before the dispatch is. */
const char *scale(const struct host_group *group)
{
    const uint32_t width = group->count[0] * group->size[0];
    const uint32_t all = width * group->count[1] * group->size[1];
    const uint32_t *from = group->memory(group, address_of(group->constants), 4 * all);
    uint32_t *to = group->memory(group, address_of(group->constants + 2), 0);
    to = to ? to : group->memory(group, address_of(group->constants + 2), 4 * all);
    if (!from || !to)
        return "memory that is not mapped";
    for (uint32_t y = 0; y < group->size[1]; y++) {
        for (uint32_t x = 0; x < group->size[0]; x++) {
            uint32_t at =
                (group->id[1] * group->size[1] + y) * width + group->id[0] * group->size[0] + x;
            to[at] += group->constants[4] * from[at] + at;
        }
    }
    return 0;
}

/* Memory that is nowhere, and a range across another one. */
const char *wild(const struct host_group *group)
{
    return group->memory(group, UINT64_C(0xffff00000000), 4096) ? "memory that nobody mapped" : 0;
}

const char *broken(const struct host_group *group)
{
    return group->count[0] ? "this kernel is broken" : 0;
}
