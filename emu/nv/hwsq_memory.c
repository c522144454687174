/* SPDX-License-Identifier: MIT
 * Registers of the chips with HWSQ that lead to memory: PRAMIN, and NV41's PEEPHOLE. While memory
 * is paused the accesses wait (envytools, docs/hw/bus/hwsq and docs/hw/memory/peephole). */
#include "emu/nv/hwsq.h"

#define PRAMIN     0x700000u
#define PRAMIN_END 0x800000u
#define PEEPHOLE   0x155cu
#define ADDR_MASK  0x1ffffffcu /* VRAM in words, NV30:G80 */
/* Of W_CTRL. */
enum { ADDR_VALID = 1, DATA_VALID = 2, FREEFORM = 0x100 };
/* Registers of PEEPHOLE from W_CTRL on. */
enum { W_CTRL, W_ADDR, W_DATA, RW_ADDR = 5, RW_DATA };

static uint32_t read_memory(const struct cps_access *at, enum cps_bus_memory memory, uint32_t addr)
{
    bool known = false;
    uint32_t value = cps_bus_peek(nv_of_(at), memory, addr, &known);
    if (!known)
        cps_bus_put(nv_of_(at), CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, at->by, addr, 0);
    return value;
}

/* The first MiB of RAMIN. */
uint32_t hwsq_read_pramin_(const struct cps_access *at)
{
    return read_memory(at, CPS_MEMORY_RAMIN, at->number - PRAMIN);
}

void hwsq_write_pramin_(const struct cps_access *at)
{
    cps_bus_poke(nv_of_(at), CPS_MEMORY_RAMIN, at->number - PRAMIN, at->value);
}

/* Any access to the data of the second port goes on by a word. */
static uint32_t step(const struct cps_access *at)
{
    struct hwsq *h = hwsq_of_(nv_of_(at));
    uint32_t addr = h->peep_rw;
    if (!nv_of_(at)->engine.tap.quiet)
        h->peep_rw = (addr + 4) & ADDR_MASK;
    return addr;
}

uint32_t hwsq_read_peephole_(const struct cps_access *at)
{
    const struct hwsq *h = hwsq_of_(nv_of_(at));
    switch (at->index) {
    case W_CTRL:
        return h->peep_ctrl;
    case W_ADDR:
        return h->peep_addr;
    case W_DATA:
        return h->peep_data;
    case RW_ADDR:
        return h->peep_rw;
    case RW_DATA:
        return read_memory(at, CPS_MEMORY_VRAM, step(at));
    default:
        return cps_bus_read_plain_(at);
    }
}

/* In paired mode, the second of address and data writes. Two of one kind are an error, whose
 * interrupt is not here. */
static bool completes(const struct hwsq *h, uint32_t index)
{
    return h->peep_ctrl & (index == W_ADDR ? DATA_VALID : ADDR_VALID);
}

static void write_half(struct nv *e, uint32_t index)
{
    struct hwsq *h = hwsq_of_(e);
    bool freeform = h->peep_ctrl & FREEFORM;
    if (freeform ? index == W_DATA : completes(h, index)) {
        cps_bus_poke(e, CPS_MEMORY_VRAM, h->peep_addr, h->peep_data);
        h->peep_ctrl &= FREEFORM;
    } else if (!freeform) {
        h->peep_ctrl |= index == W_ADDR ? ADDR_VALID : DATA_VALID;
    }
}

void hwsq_write_peephole_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct hwsq *h = hwsq_of_(e);
    switch (at->index) {
    case W_CTRL:
        h->peep_ctrl = (h->peep_ctrl & ~(uint32_t)FREEFORM) | (at->value & FREEFORM);
        break;
    case W_ADDR:
        h->peep_addr = at->value & ADDR_MASK;
        write_half(e, W_ADDR);
        break;
    case W_DATA:
        h->peep_data = at->value;
        write_half(e, W_DATA);
        break;
    case RW_ADDR:
        h->peep_rw = at->value & ADDR_MASK;
        break;
    case RW_DATA:
        cps_bus_poke(e, CPS_MEMORY_VRAM, step(at), at->value);
        break;
    default:
        cps_bus_write_plain_(at);
    }
}

bool hwsq_is_memory_(const struct nv *e, uint32_t addr, bool write)
{
    const struct hwsq *h = hwsq_of_(e);
    uint32_t index = ((addr & ~3u) - PEEPHOLE) / 4;
    if (addr >= PRAMIN && addr < PRAMIN_END)
        return true;
    if (e->engine.gen != CPS_NV41 || (addr & ~3u) < PEEPHOLE)
        return false;
    if (index == RW_DATA)
        return true;
    if (!write || (index != W_ADDR && index != W_DATA))
        return false;
    return h->peep_ctrl & FREEFORM ? index == W_DATA : completes(h, index);
}
