/* SPDX-License-Identifier: MIT
 * What events write when they complete: values, the clock, registers, on-chip words. */
#include "emu/afuc/gpu.h"
#include "emu/afuc/host.h"
#include "emu/afuc/nrt.h"
#include "emu/afuc/stamp.h"

static uint64_t event_iova(const struct afuc_core *core)
{
    return (uint64_t)core->s.event_addr[1] << 32 | core->s.event_addr[0];
}

static void store_clock(struct afuc_core *core)
{
    uint64_t clock = afuc_clock_(core);
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_CLOCK, event_iova(core), (uint32_t)clock);
    core_mem_write_(core, event_iova(core), (uint32_t)clock, CPS_VIA_EVENT);
    core_mem_write_(core, event_iova(core) + 4, (uint32_t)(clock >> 32), CPS_VIA_EVENT);
}

/* Number of CACHE_FLUSH_TS in RBBM_INT_0, which the kernel driver waits for. */
#define IRQ_CACHE_FLUSH_TS 20

static void interrupt(struct afuc_core *core)
{
    uint32_t ctrl = core->s.event_ctrl;
    bool a7xx = cps_gen_since(core->machine->engine.gen, CPS_A7XX);
    if (ctrl >> (a7xx ? 6 : 2) & 1)
        machine_irq_(core, a7xx ? ctrl >> 7 & 31 : IRQ_CACHE_FLUSH_TS);
}

/* Up to a6xx: a value, or the clock. */
static void stamp_a6xx(struct afuc_core *core, uint32_t value)
{
    if (core->s.event_ctrl >> 1 & 1)
        store_clock(core);
    else
        core_mem_write_(core, event_iova(core), value, CPS_VIA_EVENT);
    interrupt(core);
}

/* What EVENT_TS_CTRL says from a7xx on (F: a740 02d1..032f; D: CP_EVENT_WRITE7). Spaces 3 and 4
 * clear a resource; of space 5, sample counts, nothing is here to count. */
enum { SPACE_ON_CHIP = 2, SPACE_CLEAR = 3, SPACE_CLEAR_2 = 4, SPACE_SAMPLES = 5 };
enum { KIND_32 = 1, KIND_64 = 2, KIND_CLOCK = 3, KIND_CLOCK_2 = 4, KIND_REGISTERS = 5 };

static unsigned space_of(const struct afuc_core *core)
{
    return core->s.event_ctrl & 7;
}

static unsigned kind_of(const struct afuc_core *core)
{
    return core->s.event_ctrl >> 3 & 7;
}

static void put_on_chip(struct afuc_core *core, uint32_t index, uint32_t value)
{
    struct cps_afuc *machine = core->machine;
    core_event_(core, CPS_EV_CTRL, 0, SHARED_CONTROL + index % SHARED_COUNT, value);
    machine->engine.changes += machine->shared[index % SHARED_COUNT] != value;
    machine->shared[index % SHARED_COUNT] = value;
}

/* The write of an event that completes: here, where everything is in order, at once. */
void stamp_(struct afuc_core *core, uint32_t value)
{
    if (!cps_gen_since(core->machine->engine.gen, CPS_A7XX)) {
        stamp_a6xx(core, value);
        return;
    }
    core->s.event_value = value;
    unsigned space = space_of(core);
    if (space == SPACE_ON_CHIP)
        put_on_chip(core, core->s.event_addr[0] / 4, value);
    else if (space == SPACE_SAMPLES)
        core_event_(core, CPS_EV_ASSUME, CPS_WHAT_COUNTER, event_iova(core), 0);
    else if (space == SPACE_CLEAR || space == SPACE_CLEAR_2)
        return;
    else if (kind_of(core) == KIND_CLOCK || kind_of(core) == KIND_CLOCK_2)
        store_clock(core);
    else if (kind_of(core) != KIND_REGISTERS)
        core_mem_write_(core, event_iova(core), value, CPS_VIA_EVENT);
    interrupt(core);
}

/* What came as the lower half is the first register, what comes now how many. */
static void store_registers(struct afuc_core *core, uint32_t count)
{
    uint32_t first = core->s.event_value & 0x3ffff;
    if (count > STAMP_REGISTERS || count > GPU_REGS - first) {
        afuc_fault_(core, FAULT_EVENT, count);
        return;
    }
    for (uint32_t i = 0; i < count && !core->s.wait; i++)
        core_mem_write_(core, event_iova(core) + 4 * (uint64_t)i, gpu_read_(core, first + i),
                        CPS_VIA_EVENT);
}

void stamp_high_(struct afuc_core *core, uint32_t value)
{
    bool memory = space_of(core) <= 1;
    if (memory && kind_of(core) == KIND_64)
        core_mem_write_(core, event_iova(core) + 4, value, CPS_VIA_EVENT);
    else if (memory && kind_of(core) == KIND_REGISTERS)
        store_registers(core, value);
}

/* Signed, so that counters may wrap, as the same wait for memory has it (F: a740 0c42). */
bool stamp_reached_(const struct afuc_core *core)
{
    const uint32_t *wanted = core->s.onchip;
    return !((core->machine->shared[wanted[0] % SHARED_COUNT] - wanted[1]) >> 31);
}
