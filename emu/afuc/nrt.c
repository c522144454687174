/* SPDX-License-Identifier: MIT
 * Memory as cores reach it, with events: reads and NRT writes. */
#include "emu/afuc/host.h"
#include "emu/afuc/nrt.h"

uint32_t core_mem_read_(struct afuc_core *core, uint64_t iova, unsigned via)
{
    bool known = false;
    struct cps_mem *mem = core->machine->engine.mem;
    uint32_t value = cps_mem_read(mem, iova, &known);
    iova &= ~UINT64_C(3);
    core->polled = (struct polled){CPS_PLACE_MEMORY, iova};
    if (!known && cps_mem_report(mem, iova))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, iova, 0);
    core_event_(core, CPS_EV_MEMR, via, iova, value);
    return value;
}

void core_mem_write_(struct afuc_core *core, uint64_t iova, uint32_t value, unsigned via)
{
    iova &= ~UINT64_C(3);
    core_event_(core, CPS_EV_MEMW, via, iova, value);
    if (!cps_mem_write(core->machine->engine.mem, iova, value))
        afuc_fault_(core, FAULT_MEMORY, (uint32_t)iova);
    stream_recheck_(core);
}

/* The low two bits of the address are a flag, not part of it: 1 keeps the address (packet 0x5a),
 * CP_MEM_WRITE clears them (F). Bit 31 of the upper
 * half is a right, as in LOAD_STORE_HI, from which preemption takes it (F: 740 1964). */
void nrt_write_(struct afuc_core *core, uint32_t value)
{
    uint32_t *nrt = core->s.nrt;
    core_mem_write_(core, (uint64_t)(nrt[1] & 0x7fffffff) << 32 | nrt[0], value, CPS_VIA_NRT);
    if ((nrt[0] & 3) == 1)
        return;
    nrt[0] += 4;
    nrt[1] += nrt[0] < 4;
}
