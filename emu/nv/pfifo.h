/* SPDX-License-Identifier: MIT
 * The state of PFIFO. Host writes are pushed into CACHE1 or run out to
 * RAMRO (pfifo_push.c), the puller hands commands to PGRAPH (pfifo_pull.c), and on NV3 a second
 * pusher reads them from memory (pfifo_push.c, too). Private to emu/. */
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
    return e->engine.gen;
}
/** PFIFO itself, because of the host access at hand. */
static inline struct cps_by pfifo_by_(const struct nv *e)
{
    return (struct cps_by){CPS_CPU_PFIFO, 0, pfifo_of_(e)->place};
}

static inline void pfifo_unknown_(struct nv *e, enum cps_unknown what, uint32_t detail)
{
    const struct cps_by by = pfifo_by_(e);
    cps_bus_unknown(e, what, &by, detail);
}

/* ---- interrupts: pfifo_ram.c ---- */

/** Makes an interrupt pending. @p bit  INTR_* */
void pfifo_raise_(struct nv *e, unsigned bit);
/** Tells of what has become pending and enabled since @p before. */
void pfifo_tell_(struct nv *e, uint32_t before);

/* ---- pointers into CACHE1, and the structures in RAMIN: pfifo_ram.c ---- */

/** Reflected binary to binary, of any width. */
uint32_t pfifo_binary_(uint32_t gray);
/** The pointer after @p pointer. */
uint32_t pfifo_next_(const struct nv *e, uint32_t pointer);
/** The raw index of the entry that a pointer means. */
uint32_t pfifo_entry_(const struct nv *e, uint32_t pointer);
/** By place in the walk: a pointer may have a bit more than its code. */
bool pfifo_is_empty_(const struct nv *e);
bool pfifo_is_full_(const struct nv *e);
/** Bytes that FREE promises while nothing else limits them. */
uint32_t pfifo_room_(const struct nv *e);

struct pfifo_area {
    uint32_t start, size; /* bytes */
};
struct pfifo_area pfifo_ramht_(const struct nv *e);
struct pfifo_area pfifo_ramro_(const struct nv *e);
struct pfifo_area pfifo_ramfc_(const struct nv *e);
uint32_t pfifo_ramin_read_(const struct nv *e, uint32_t at);
void pfifo_ramin_write_(struct nv *e, uint32_t at, uint32_t value);
/** The context of an object; false if RAMHT has none. NV1 without objects from the run file stops.
 */
bool pfifo_lookup_(struct nv *e, uint32_t handle, uint32_t channel, uint32_t *ret);
/** Byte offset of the handle's bucket in a RAMHT of NV3 of @p size bytes. */
uint32_t pfifo_hash_(uint32_t handle, uint32_t channel, uint32_t size);

/* ---- the puller: pfifo_pull.c ---- */

/** Whether there is a command that may be taken. */
bool pfifo_has_command_(const struct nv *e);
/** Takes one; false if none was: PGRAPH is on another channel, or it led to an error. */
bool pfifo_pull_(struct nv *e);

/* ---- the pusher of the host's writes, and NV3's, which reads memory: pfifo_push.c
 * ---- */

bool pfifo_runout_empty_(const struct nv *e);
uint32_t pfifo_runout_next_(const struct nv *e);
/** A write of the host's to USER; @p offset in it, @p lanes the bytes of the word. */
void pfifo_user_write_(struct nv *e, uint32_t offset, unsigned lanes, uint32_t value);
uint32_t pfifo_user_read_(struct nv *e, uint32_t offset);
/** What FREE of a channel reads. */
uint32_t pfifo_free_(const struct nv *e, uint32_t chid);
/** Appends to CACHE1, which is not full. */
void pfifo_enqueue_(struct nv *e, uint32_t addr, uint32_t data);
/** Whether there is a word that may be taken. */
bool pfifo_has_word_(const struct nv *e);
/** Takes one; false if none was: it led to an error. */
bool pfifo_dma_(struct nv *e);
/** Whether a batch is under way. */
bool pfifo_dma_active_(const struct nv *e);

#endif
