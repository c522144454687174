/* SPDX-License-Identifier: MIT
 * Control registers by which processors start and lock each other, and those that they share. */
#include "emu/afuc/cores.h"
#include "emu/afuc/start.h"

/* Its address stands in the two registers in front of this one. */
static void start_core(const struct cps_access *at, enum cps_processor who)
{
    const uint32_t *words = core_of_(at)->s.control + at->number - 2;
    if (at->value & 1)
        machine_start_core_(core_of_(at), who, (uint64_t)words[1] << 32 | words[0]);
}

void cores_start_bv_(const struct cps_access *at)
{
    start_core(at, CPS_CPU_BV);
}

void cores_start_lpac_(const struct cps_access *at)
{
    start_core(at, CPS_CPU_LPAC);
}

void cores_start_dde_br_(const struct cps_access *at)
{
    start_core(at, CPS_CPU_DDE_BR);
}

void cores_start_dde_bv_(const struct cps_access *at)
{
    start_core(at, CPS_CPU_DDE_BV);
}

/* A lock that another core owns stays its own; asking again is the firmware's loop. */
void cores_lock_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    uint32_t taken = 0;
    for (unsigned i = 0; i < machine->engine.cores; i++)
        taken |= &machine->core[i] == core_of_(at) ? 0 : machine->core[i].s.lock;
    core_of_(at)->s.lock = at->value & ~taken;
}

uint32_t cores_read_completed_(const struct cps_access *at)
{
    return core_of_(at)->machine->completed[at->index];
}

void cores_write_completed_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    machine->engine.changes += machine->completed[at->index] != at->value;
    machine->completed[at->index] = at->value;
}

uint32_t cores_read_shared_(const struct cps_access *at)
{
    return core_of_(at)->machine->shared[at->index];
}

void cores_write_shared_(const struct cps_access *at)
{
    struct cps_afuc *machine = core_of_(at)->machine;
    machine->engine.changes += machine->shared[at->index] != at->value;
    machine->shared[at->index] = at->value;
}
