/* SPDX-License-Identifier: MIT
 * Memory as cores reach it, with events: reads, NRT writes, time stamps. */
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
}

/* The low two bits of the address are a flag, not part of it: 1 keeps the address (packet 0x5a),
 * CP_MEM_WRITE clears them (F). */
void nrt_write_(struct afuc_core *core, uint32_t value)
{
    uint32_t *nrt = core->s.nrt;
    core_mem_write_(core, (uint64_t)nrt[1] << 32 | nrt[0], value, CPS_VIA_NRT);
    if ((nrt[0] & 3) == 1)
        return;
    nrt[0] += 4;
    nrt[1] += nrt[0] < 4;
}

static uint64_t event_iova(const struct afuc_core *core)
{
    return (uint64_t)core->s.event_addr[1] << 32 | core->s.event_addr[0];
}

static void store_clock(struct afuc_core *core)
{
    uint64_t clock = core->machine->engine.clock;
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_CLOCK, event_iova(core), (uint32_t)clock);
    core_mem_write_(core, event_iova(core), (uint32_t)clock, CPS_VIA_EVENT);
    core_mem_write_(core, event_iova(core) + 4, (uint32_t)(clock >> 32), CPS_VIA_EVENT);
}

/* Number of CACHE_FLUSH_TS in RBBM_INT_0, which the kernel driver waits for. */
#define IRQ_CACHE_FLUSH_TS 20

/* The write of an event that completes: here, where everything is in order, at once. */
void event_stamp_(struct afuc_core *core, uint32_t value)
{
    uint32_t ctrl = core->s.event_ctrl;
    bool a7xx = cps_gen_since(core->machine->engine.gen, CPS_A7XX);
    bool clock = a7xx ? (ctrl >> 3 & 7) == 3 : ctrl >> 1 & 1;
    if (clock)
        store_clock(core);
    else
        core_mem_write_(core, event_iova(core), value, CPS_VIA_EVENT);
    if (ctrl >> (a7xx ? 6 : 2) & 1)
        machine_irq_(core, a7xx ? ctrl >> 7 & 31 : IRQ_CACHE_FLUSH_TS);
}

/* a7xx: the upper half of a 64-bit value (value kind 1). */
void event_stamp_high_(struct afuc_core *core, uint32_t value)
{
    if ((core->s.event_ctrl >> 3 & 7) == 1)
        core_mem_write_(core, event_iova(core) + 4, value, CPS_VIA_EVENT);
}
