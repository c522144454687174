/* SPDX-License-Identifier: MIT
 * The state of PFIFO. Host writes are pushed into CACHE1 or run out to
 * RAMRO (pfifo_push.c), the puller hands commands to PGRAPH (pfifo_pull.c), and on NV3 a second
 * pusher reads them from memory (pfifo_dma.c). Private to emu/. */
#ifndef CPS_PFIFO_H
#define CPS_PFIFO_H

#include "emu/nv/nv.h"

#define PFIFO_SUBCHANNELS 8u
#define PFIFO_ENTRIES     64u /* of NV3T; the others have 32 */
#define PFIFO_OBJECTS     256u

/* Bits of INTR. */
enum {
    INTR_PULLER = 0,
    INTR_RUNOUT = 4,
    INTR_OVERFLOW = 8,
    INTR_DMA_PUSHER = 12,
    INTR_DMA_PTE = 16
};
/* Of STATUS registers. */
enum { RANOUT = 0x1, EMPTY = 0x10, FULL = 0x100 };
/* Of PULL_CTRL. */
enum { PULL_ACCESS = 0x1, HASH_FAILED = 0x10, DEVICE_SOFTWARE = 0x100 };
/* Of PULL_STATE; of NV3 the host sees only dirty. */
enum {
    STATE_SUBCHANNEL = 0x7,
    STATE_NO_SUBCHANNEL = 0x8,
    STATE_DIRTY = 0x10,
    STATE_OBJECT = 0x100
};
/* Of a context. */
#define CTX_ENGINE   (UINT32_C(1) << 23) /* PGRAPH, else software */
#define CTX_FREE_LIE (UINT32_C(1) << 24) /* of NV1 */

struct pfifo_cache {
    uint32_t push, chid, put, get, pull_ctrl, pull_state;
    uint32_t ctx[PFIFO_SUBCHANNELS];
    uint32_t addr[PFIFO_ENTRIES], data[PFIFO_ENTRIES]; /* by the raw Gray code */
};

struct pfifo_object {
    uint32_t handle, channel, context;
};

struct pfifo {
    struct pfifo_cache cache[2];
    uint32_t pmc_enable, pmc_intr, pmc_intr_enable;
    uint32_t wait_retry, cache_error, intr, intr_enable, config;
    uint32_t ramht, ramfc, ramro;
    uint32_t runout_put, runout_get, chsw_enable, pram_config;
    uint32_t dma_state, dma_ctrl, dma_count, dma_get, dma_target, dma_tag, dma_pte, dma_pt;
    uint32_t nothing;       /* of registers without contents; 0 */
    uint32_t graph_channel; /* that PGRAPH is on */
    uint32_t place;         /* of the host access at hand */
    uint8_t latched;        /* a write of CACHE1's channel ran out */
    uint8_t line;           /* to PMC: an enabled interrupt is pending */
    uint8_t touched;        /* the host was here */
    uint8_t held;           /* what there is to do waits for PGRAPH */
    uint32_t runouts, lost, methods;
    struct pfifo_object pending, object[PFIFO_OBJECTS]; /* NV1: what its RAMHT finds */
    uint32_t object_count;
};

static inline struct pfifo *pfifo_of_(const struct nv *e)
{
    return e->state;
}
static inline enum cps_gen pfifo_chip_(const struct nv *e)
{
    return cps_bus_gen(e->bus);
}
/** PFIFO itself, because of the host access at hand. */
static inline struct cps_by pfifo_by_(const struct nv *e)
{
    return (struct cps_by){CPS_CPU_PFIFO, 0, pfifo_of_(e)->place};
}

static inline void pfifo_unknown_(const struct nv *e, enum cps_unknown what, uint32_t detail)
{
    const struct cps_by by = pfifo_by_(e);
    cps_bus_unknown(e->bus, what, &by, detail);
}

#endif
