/* SPDX-License-Identifier: MIT
 * NV3's second pusher, which reads commands from the host's memory through a page table. All of it
 * is an emulator's model: no document or test of the hardware describes the stream. */
#include "emu/nv/pfifo.h"

#define ACCESS       1u
#define PRESENT      1u
#define HEADER_KNOWN UINT32_C(0x1ffcfffc)
#define STATE_ERROR  (UINT32_C(1) << 30)
#define COUNT_ONE    (UINT32_C(1) << 18)
#define COUNT_MASK   (UINT32_C(0x7ff) << 18)
#define METHOD_MASK  0x1ffcu
#define PAGE_MASK    UINT32_C(0xfffff000)

bool pfifo_dma_active_(const struct nv *e)
{
    const struct pfifo *p = pfifo_of_(e);
    return p->dma_ctrl & ACCESS && p->dma_count >= 4 && p->cache[1].push;
}

static bool is_data(const struct pfifo *p)
{
    return p->dma_state & COUNT_MASK;
}

bool pfifo_has_word_(const struct nv *e)
{
    return pfifo_dma_active_(e) && !(is_data(pfifo_of_(e)) && pfifo_is_full_(e));
}

/* The page of DMA_GET is in DMA_TLB; false if it is not there. */
static bool find_page(struct nv *e)
{
    struct pfifo *p = pfifo_of_(e);
    uint32_t page = p->dma_get & PAGE_MASK;
    if (p->dma_tag != page) {
        p->dma_pte =
            pfifo_ramin_read_(e, p->dma_pt + (p->dma_get >> 12) * 4) & (PAGE_MASK | PRESENT);
        p->dma_tag = page;
    }
    if (p->dma_pte & PRESENT)
        return true;
    p->dma_ctrl = 0;
    pfifo_raise_(e, INTR_DMA_PTE);
    return false;
}

static uint32_t read_word(struct nv *e)
{
    const struct cps_by by = pfifo_by_(e);
    const struct pfifo *p = pfifo_of_(e);
    uint32_t at = (p->dma_pte & PAGE_MASK) | (p->dma_get & ~PAGE_MASK);
    bool known = false;
    uint32_t word = cps_bus_peek(e, CPS_MEMORY_HOST, at, &known);
    if (!known)
        cps_bus_put(e, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, &by, at, 0);
    cps_bus_put(e, CPS_EV_MEMR, CPS_VIA_DMA, &by, at, word);
    return word;
}

/* A malformed header ends the batch as a page that is not there does: the driver has to help. */
static void take_header(struct nv *e, uint32_t word)
{
    struct pfifo *p = pfifo_of_(e);
    p->dma_state = word & HEADER_KNOWN;
    if (!(word & ~HEADER_KNOWN))
        return;
    pfifo_unknown_(e, CPS_UNKNOWN_DMA_HEADER, word);
    switch ((enum cps_policy_dma_header)e->engine.policy.dma_header) {
    case CPS_DMA_HEADER_ERROR:
        p->dma_state = (p->dma_state & ~COUNT_MASK) | STATE_ERROR;
        p->dma_ctrl = 0;
        pfifo_raise_(e, INTR_DMA_PUSHER);
        break;
    case CPS_DMA_HEADER_DROP:
        break;
    }
}

static void take_data(struct nv *e, uint32_t word)
{
    uint32_t *state = &pfifo_of_(e)->dma_state;
    pfifo_enqueue_(e, *state & 0xfffc, word);
    *state = (*state & ~METHOD_MASK) | ((*state + 4) & METHOD_MASK);
    *state -= COUNT_ONE;
}

bool pfifo_dma_(struct nv *e)
{
    struct pfifo *p = pfifo_of_(e);
    if (!pfifo_has_word_(e))
        return false;
    pfifo_unknown_(e, CPS_UNKNOWN_DMA_MODEL, p->dma_get);
    if (!find_page(e))
        return false;
    uint32_t word = read_word(e);
    p->dma_get = (p->dma_get + 4) & 0xfffffc;
    p->dma_count -= 4;
    if (is_data(p))
        take_data(e, word);
    else
        take_header(e, word);
    if (p->dma_count < 4)
        pfifo_unknown_(e, CPS_UNKNOWN_DMA_END, p->dma_get);
    return true;
}
