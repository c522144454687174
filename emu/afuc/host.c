/* SPDX-License-Identifier: MIT
 * The program around the engine: registers as a driver writes and reads them, registers that other
 * hardware has, and interrupts. */
#include "emu/afuc/host.h"

#include "emu/afuc/bank.h"

/* The ring's registers (D: register database, the same from a5xx to a7xx; how they are used: the
 * kernel's a6xx_hw_init() and a6xx_flush()). */
enum {
    CP_RB_BASE = 0x800,
    CP_RB_BASE_HI = 0x801,
    CP_RB_CNTL = 0x802,
    CP_RB_RPTR = 0x806,
    CP_RB_WPTR = 0x807,
};
#define MAX_RING_BITS 26u /* log2 of its 8 bytes */

void machine_set_rptr_(struct cps_afuc *machine, uint64_t dword)
{
    for (unsigned i = 0; i < machine->engine.cores; i++)
        machine->core[i].s.queue[LEVEL_RB].pos = (uint32_t)(dword % machine->ring_dwords);
}

/* A ring that is put elsewhere is empty: the driver does so only behind a reset. */
static void set_ring(struct cps_afuc *machine)
{
    const uint32_t *reg = machine->reg;
    machine->ring_iova = (uint64_t)reg[CP_RB_BASE_HI] << 32 | reg[CP_RB_BASE];
    if (machine->reg_flags[CP_RB_CNTL] & REG_WRITTEN)
        machine->ring_dwords = UINT32_C(2) << (reg[CP_RB_CNTL] & 63);
    machine->ring_wptr = 0;
    machine_set_rptr_(machine, 0);
}

static struct cps_err *write_register(struct cps_afuc *machine, uint32_t offset, uint32_t value)
{
    if (offset == CP_RB_CNTL && (value & 63) > MAX_RING_BITS)
        return cps_err_new(CPS_ERR_INPUT,
                           "CP_RB_CNTL 0x%08x: a ring of 2^%u dwords, expected at most 2^%u", value,
                           (value & 63) + 1, MAX_RING_BITS + 1);
    machine_event_(machine, CPS_EV_REG, CPS_PATH_HOST, CPS_CPU_HOST, 0, offset, value);
    machine->engine.changes += bank_set_(machine, 0, offset, value);
    if (offset >= CP_RB_BASE && offset <= CP_RB_CNTL)
        set_ring(machine);
    else if (offset == CP_RB_RPTR)
        machine_set_rptr_(machine, value);
    else if (offset == CP_RB_WPTR)
        machine->ring_wptr = value % machine->ring_dwords;
    return NULL;
}

static void read_register(struct cps_afuc *machine, uint32_t offset)
{
    uint32_t value = machine->reg[offset];
    if (offset == CP_RB_RPTR)
        value = machine->core[0].s.queue[LEVEL_RB].pos;
    machine_event_(machine, CPS_EV_REGR, 0, CPS_CPU_HOST, 0, offset, value);
    machine->engine.answer = value;
}

struct cps_err *machine_host_(struct cps_afuc *machine, const struct cps_item *item)
{
    if (item->host.where != CPS_HOST_REG || item->host.addr >= GPU_REGS)
        return cps_err_new(CPS_ERR_INPUT, "afuc: an access to 0x%x, expected a register below 0x%x",
                           item->host.addr, GPU_REGS);
    if (item->kind == CPS_ITEM_WRITE && item->host.size != 4)
        return cps_err_new(CPS_ERR_INPUT, "afuc: a write of %u bytes, expected 4", item->host.size);
    if (item->kind == CPS_ITEM_WRITE)
        return write_register(machine, item->host.addr, item->host.value);
    read_register(machine, item->host.addr);
    return NULL;
}

/* A value that is another one than before is a change: who polls such a register does not spin. */
bool host_read_register_(struct cps_afuc *machine, uint32_t offset, uint32_t *ret)
{
    const struct cps_host *host = &machine->engine.host;
    if (!host->read_register || !host->read_register(host->context, offset, ret))
        return false;
    machine->engine.changes += machine->reg[offset] != *ret;
    machine_set_reg_(machine, offset, *ret);
    return true;
}

bool host_write_register_(struct cps_afuc *machine, uint32_t offset, uint32_t value)
{
    const struct cps_host *host = &machine->engine.host;
    return host->write_register && host->write_register(host->context, offset, value);
}

void machine_irq_(struct afuc_core *core, uint32_t number)
{
    const struct cps_host *host = &core->machine->engine.host;
    core_event_(core, CPS_EV_IRQ, 0, 0, number);
    if (host->interrupt)
        host->interrupt(host->context, number);
    stream_recheck_(core);
}
