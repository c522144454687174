/* SPDX-License-Identifier: MIT
 * PFIFO's rings and memory structures: pointers into CACHE1, RAMHT, RAMRO and RAMFC in RAMIN. */
#include "emu/nv/pfifo.h"

#define RAMIN_MASK     0xfffffu
#define FREE_MOST      0x7cu
#define HT_CHANNEL(w1) ((w1) >> 24 & 0x7f)

/* ---- pointers ---- */

static bool is_nv3t(const struct nv *e)
{
    return pfifo_chip_(e) == CPS_NV3T;
}

/* Bits of the Gray code, and entries. */
static unsigned pointer_bits(const struct nv *e)
{
    if (!is_nv3t(e))
        return 5;
    switch ((enum cps_policy_nv3t_pointer)e->engine.policy.nv3t_pointer) {
    case CPS_NV3T_POINTER_SEVEN:
        return 7;
    case CPS_NV3T_POINTER_SIX:
        return 6;
    }
    return 0;
}

static uint32_t entries(const struct nv *e)
{
    return is_nv3t(e) ? 64 : 32;
}

static uint32_t to_gray(uint32_t number)
{
    return number ^ number >> 1;
}

uint32_t pfifo_binary_(uint32_t gray)
{
    for (unsigned shift = 1; shift < 32; shift *= 2)
        gray ^= gray >> shift;
    return gray;
}

/* The place of a pointer in the walk. */
static uint32_t position(const struct nv *e, uint32_t pointer)
{
    return pfifo_binary_(pointer >> 2 & ((1u << pointer_bits(e)) - 1));
}

uint32_t pfifo_next_(const struct nv *e, uint32_t pointer)
{
    return to_gray((position(e, pointer) + 1) & ((1u << pointer_bits(e)) - 1)) << 2;
}

uint32_t pfifo_entry_(const struct nv *e, uint32_t pointer)
{
    return to_gray(position(e, pointer) & (entries(e) - 1));
}

static uint32_t queued(const struct nv *e)
{
    const struct pfifo_cache *c = &pfifo_of_(e)->cache[1];
    return (position(e, c->put) - position(e, c->get)) & ((1u << pointer_bits(e)) - 1);
}

/* A pointer with a bit more than the ring has tells full from empty. */
static uint32_t usable(const struct nv *e)
{
    return pointer_bits(e) == 7 ? entries(e) : entries(e) - 1;
}

bool pfifo_is_empty_(const struct nv *e)
{
    return !queued(e);
}

bool pfifo_is_full_(const struct nv *e)
{
    return queued(e) >= usable(e);
}

uint32_t pfifo_room_(const struct nv *e)
{
    uint32_t used = queued(e);
    uint32_t bytes = used < usable(e) ? (usable(e) - used) * 4 : 0;
    return bytes < FREE_MOST ? bytes : FREE_MOST;
}

/* ---- structures ---- */

/* NV1, by PRAM CONFIG: RAMHT, RAMRO, RAMFC. */
static const struct pfifo_area nv1_areas[4][3] = {
    {{0x0000, 0x1000}, {0x1000, 0x0800}, {0x1800, 0x0800}},
    {{0x0000, 0x2000}, {0x2000, 0x1000}, {0x3000, 0x1000}},
    {{0x0000, 0x4000}, {0x2000, 0x2000}, {0x6000, 0x2000}},
    {{0x0000, 0x8000}, {0x8000, 0x4000}, {0xc000, 0x4000}},
};

static bool is_nv1(const struct nv *e)
{
    return pfifo_chip_(e) == CPS_NV1;
}

struct pfifo_area pfifo_ramht_(const struct nv *e)
{
    const struct pfifo *p = pfifo_of_(e);
    if (is_nv1(e))
        return nv1_areas[p->pram_config][0];
    return (struct pfifo_area){p->ramht & 0xf000, 0x1000u << (p->ramht >> 16 & 3)};
}

struct pfifo_area pfifo_ramro_(const struct nv *e)
{
    const struct pfifo *p = pfifo_of_(e);
    if (is_nv1(e))
        return nv1_areas[p->pram_config][1];
    return (struct pfifo_area){p->ramro & 0xfe00, p->ramro & 0x10000 ? 0x2000 : 0x200};
}

struct pfifo_area pfifo_ramfc_(const struct nv *e)
{
    const struct pfifo *p = pfifo_of_(e);
    if (is_nv1(e))
        return nv1_areas[p->pram_config][2];
    return (struct pfifo_area){p->ramfc & 0xfe00, 0x1000};
}

uint32_t pfifo_ramin_read_(const struct nv *e, uint32_t at)
{
    return cps_bus_peek(e, CPS_MEMORY_RAMIN, at & RAMIN_MASK, NULL);
}

void pfifo_ramin_write_(struct nv *e, uint32_t at, uint32_t value)
{
    const struct cps_by by = pfifo_by_(e);
    cps_bus_put(e, CPS_EV_MEMW, CPS_VIA_RAMIN, &by, at & RAMIN_MASK, value);
    cps_bus_poke(e, CPS_MEMORY_RAMIN, at & RAMIN_MASK, value);
}

/* ---- objects ---- */

uint32_t pfifo_hash_(uint32_t handle, uint32_t channel, uint32_t size)
{
    uint32_t hash = (handle ^ handle >> 8 ^ handle >> 16 ^ handle >> 24 ^ channel) & 0xff;
    return (hash * (size / 0x800) * 8) % size;
}

static bool lookup_nv3(const struct nv *e, uint32_t handle, uint32_t channel, uint32_t *ret)
{
    struct pfifo_area table = pfifo_ramht_(e);
    uint32_t at = table.start + pfifo_hash_(handle, channel, table.size);
    for (uint32_t end = at + table.size / 0x800 * 8; at < end; at += 8) {
        uint32_t context = pfifo_ramin_read_(e, at + 4);
        if (pfifo_ramin_read_(e, at) != handle || HT_CHANNEL(context) != channel)
            continue;
        *ret = context & 0xffffff;
        return true;
    }
    return false;
}

/* The last one that was named wins, so that a run file can replace an object. */
static bool lookup_nv1(struct nv *e, uint32_t handle, uint32_t channel, uint32_t *ret)
{
    const struct pfifo *p = pfifo_of_(e);
    for (uint32_t i = p->object_count; i--;) {
        if (p->object[i].handle != handle || p->object[i].channel != channel)
            continue;
        *ret = p->object[i].context;
        return true;
    }
    if (!p->object_count) {
        const struct cps_by by = pfifo_by_(e);
        cps_bus_unknown_stop_(e, CPS_UNKNOWN_NV1_RAMHT, &by);
    }
    return false;
}

bool pfifo_lookup_(struct nv *e, uint32_t handle, uint32_t channel, uint32_t *ret)
{
    return is_nv1(e) ? lookup_nv1(e, handle, channel, ret) : lookup_nv3(e, handle, channel, ret);
}

/* ---- interrupts ---- */

void pfifo_tell_(struct nv *e, uint32_t before)
{
    struct pfifo *p = pfifo_of_(e);
    const struct cps_by by = pfifo_by_(e);
    uint32_t now = p->intr & p->intr_enable;
    for (unsigned bit = 0; bit <= INTR_DMA_PTE; bit += 4) {
        if ((now & ~before) >> bit & 1)
            cps_bus_put(e, CPS_EV_IRQ, 0, &by, 0, bit);
    }
    p->line = now != 0;
}

void pfifo_raise_(struct nv *e, unsigned bit)
{
    struct pfifo *p = pfifo_of_(e);
    uint32_t before = p->intr & p->intr_enable;
    p->intr |= UINT32_C(1) << bit;
    pfifo_tell_(e, before);
}
