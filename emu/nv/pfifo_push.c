/* SPDX-License-Identifier: MIT
 * PFIFO's pusher: what becomes of a write to USER (the PUSH rows of pfifo.def), channel switches,
 * and the RAMRO where rejected writes go. */
#include "emu/nv/pfifo.h"

#define METHOD_MASK  0x1ffcu
#define ROW_MASK     0x1ff0u
#define ROW_FREE     0x10u
#define ROW_PASSWORD 0x20u
#define TYPE_READ    (UINT32_C(1) << 23)
#define NV1_KEPT     UINT32_C(0x017fffff) /* of a context in RAMFC and CTX */
#define NV3_KEPT     UINT32_C(0x00ffffff)

/* A write, and what its fate depends on. */
struct write {
    uint32_t offset; /* in USER, of the first byte */
    uint32_t chid, data;
    bool whole, low, high; /* bytes: all, the low half, the high half */
    bool password, free_row, reserved;
    bool access, owner, of_cache0, latched, full;
    bool free; /* another channel may take CACHE1 over */
    bool lie;
};

enum result { ACCEPT, SILENT, REJECT, SWITCH, PUSH };

struct verdict {
    enum result result;
    unsigned reason;
};

bool pfifo_runout_empty_(const struct nv *e)
{
    return pfifo_of_(e)->runout_put == pfifo_of_(e)->runout_get;
}

uint32_t pfifo_runout_next_(const struct nv *e)
{
    return (pfifo_of_(e)->runout_put + 8) & (pfifo_ramro_(e).size - 1);
}

static bool cache1_lies(const struct pfifo *p)
{
    return p->cache[1].ctx[p->cache[1].pull_state & STATE_SUBCHANNEL] & CTX_FREE_LIE;
}

static struct write look_at(const struct nv *e, uint32_t offset, unsigned lanes, uint32_t data)
{
    const struct pfifo *p = pfifo_of_(e);
    const struct pfifo_cache *c = &p->cache[1];
    uint32_t chid = offset >> 16 & 0x7f;
    uint32_t method = offset & METHOD_MASK;
    struct write w = {.offset = offset, .chid = chid, .data = data};
    w.whole = lanes == CPS_LANES_ALL;
    w.low = lanes == 3;
    w.high = lanes == 12;
    w.password = (method & ROW_MASK) == ROW_PASSWORD;
    w.free_row = (method & ROW_MASK) == ROW_FREE;
    w.reserved = method && method < 0x100;
    w.access = c->push;
    w.owner = chid == (c->chid & 0x7f);
    w.of_cache0 = chid == p->cache[0].chid && p->cache[0].push;
    w.latched = p->latched;
    w.full = pfifo_is_full_(e);
    w.free =
        p->chsw_enable && pfifo_runout_empty_(e) && pfifo_is_empty_(e) && !pfifo_dma_active_(e);
    w.lie = cache1_lies(p);
    while (!(lanes & 1) && lanes) {
        w.offset++;
        lanes >>= 1;
    }
    return w;
}

static struct verdict decide(const struct write *w)
{
#define PFIFO_PUSH(line, result, reason, condition, meaning) \
    if (condition)                                           \
        return (struct verdict){result, reason};
#include "emu/nv/pfifo.def"
}

/* ---- RAMRO ---- */

/* @p type  TYPE_READ or 0 */
static void store_runout(struct nv *e, const struct write *w, uint32_t type, unsigned reason)
{
    struct pfifo_area ring = pfifo_ramro_(e);
    uint32_t at = ring.start + (pfifo_of_(e)->runout_put & (ring.size - 1));
    if (!w->whole && pfifo_chip_(e) != CPS_NV1)
        pfifo_unknown_(e, CPS_UNKNOWN_RAMRO_LANES, w->offset);
    pfifo_ramin_write_(e, at, (w->offset & 0x7fffff) | type | (uint32_t)reason << 28);
    pfifo_ramin_write_(e, at + 4, w->data);
}

/* @p silent  the password area: nothing is stored and nobody is told */
static void run_out(struct nv *e, const struct write *w, uint32_t type, unsigned reason,
                    bool silent)
{
    struct pfifo *p = pfifo_of_(e);
    uint32_t next = pfifo_runout_next_(e);
    p->latched |= w->owner;
    p->runouts++;
    if (!silent)
        pfifo_raise_(e, INTR_RUNOUT);
    if (next == p->runout_get) {
        p->lost++;
        if (!silent)
            pfifo_raise_(e, INTR_OVERFLOW);
        return;
    }
    if (!silent)
        store_runout(e, w, type, reason);
    p->runout_put = next;
}

/* ---- channel switch ---- */

static uint32_t saved_context(const struct nv *e, const struct pfifo_cache *c, unsigned i)
{
    if (pfifo_chip_(e) != CPS_NV1)
        return c->ctx[i] & NV3_KEPT;
    return (c->ctx[i] & NV1_KEPT) | (c->pull_state & STATE_SUBCHANNEL) << 28 |
           (c->pull_state & STATE_OBJECT ? UINT32_C(1) << 31 : 0);
}

/* Where a channel's words are; the structure may be too small for all of them. */
static uint32_t frame_of(const struct nv *e, uint32_t chid)
{
    struct pfifo_area area = pfifo_ramfc_(e);
    return area.start + (chid * 32 & (area.size - 1));
}

static void save(struct nv *e, const struct pfifo_cache *c)
{
    uint32_t at = frame_of(e, c->chid & 0x7f);
    unsigned count = c->pull_state & STATE_DIRTY ? PFIFO_SUBCHANNELS : 1;
    for (unsigned i = 0; i < count; i++)
        pfifo_ramin_write_(e, at + 4 * i, saved_context(e, c, i));
}

static void load(struct nv *e, struct pfifo_cache *c, uint32_t chid)
{
    const struct cps_by by = pfifo_by_(e);
    uint32_t at = frame_of(e, chid);
    uint32_t first = pfifo_ramin_read_(e, at);
    bool nv1 = pfifo_chip_(e) == CPS_NV1;
    for (unsigned i = 0; i < PFIFO_SUBCHANNELS; i++) {
        uint32_t word = pfifo_ramin_read_(e, at + 4 * i);
        cps_bus_put(e, CPS_EV_MEMR, CPS_VIA_RAMIN, &by, at + 4 * i, word);
        c->ctx[i] = word & (nv1 ? NV1_KEPT : NV3_KEPT);
    }
    c->chid = chid;
    /* Of NV3 nobody knows the last subchannel then: the next method sends its object again. */
    c->pull_state = nv1 ? (first >> 28 & STATE_SUBCHANNEL) | (first >> 31 ? STATE_OBJECT : 0)
                        : STATE_NO_SUBCHANNEL;
}

static void switch_channel(struct nv *e, uint32_t chid)
{
    struct pfifo_cache *c = &pfifo_of_(e)->cache[1];
    if (pfifo_chip_(e) != CPS_NV1)
        pfifo_unknown_(e, CPS_UNKNOWN_RAMFC_NV3, chid);
    save(e, c);
    load(e, c, chid);
}

/* ---- USER ---- */

void pfifo_enqueue_(struct nv *e, uint32_t addr, uint32_t data)
{
    struct pfifo_cache *c = &pfifo_of_(e)->cache[1];
    uint32_t entry = pfifo_entry_(e, c->put);
    if (pfifo_chip_(e) == CPS_NV3T)
        pfifo_unknown_(e, CPS_UNKNOWN_NV3T_POINTER, c->put);
    c->addr[entry] = addr & 0xfffc;
    c->data[entry] = data;
    c->put = pfifo_next_(e, c->put);
    e->engine.packets++;
}

void pfifo_user_write_(struct nv *e, uint32_t offset, unsigned lanes, uint32_t value)
{
    const struct write w = look_at(e, offset, lanes, value);
    const struct verdict v = decide(&w);
    switch (v.result) {
    case ACCEPT:
        pfifo_unknown_(e, CPS_UNKNOWN_PASSWORD, offset);
        break;
    case SILENT:
    case REJECT:
        run_out(e, &w, 0, v.reason, v.result == SILENT);
        break;
    case SWITCH:
        switch_channel(e, w.chid);
        pfifo_enqueue_(e, w.offset, w.data);
        break;
    case PUSH:
        pfifo_enqueue_(e, w.offset, w.data);
        break;
    }
}

uint32_t pfifo_free_(const struct nv *e, uint32_t chid)
{
    static const uint32_t lies[4] = {0, 0xfc, 0x1fc, 0x3fc};
    const struct pfifo *p = pfifo_of_(e);
    const struct pfifo_cache *c = &p->cache[1];
    if (p->latched)
        return 0;
    if (chid != (c->chid & 0x7f) || !c->push)
        return pfifo_runout_empty_(e) ? 0x7c : 0;
    if (pfifo_chip_(e) == CPS_NV1 && cache1_lies(p) && p->config)
        return lies[p->config];
    return pfifo_room_(e);
}

/* Whoever only looks runs nothing out. */
uint32_t pfifo_user_read_(struct nv *e, uint32_t offset)
{
    const struct write w = look_at(e, offset, CPS_LANES_ALL, 0);
    if ((offset & METHOD_MASK) == ROW_FREE) {
        if (pfifo_chip_(e) != CPS_NV1)
            pfifo_unknown_(e, CPS_UNKNOWN_FREE_NV3, offset);
        return pfifo_free_(e, w.chid);
    }
    if (!e->engine.tap.quiet) {
        pfifo_unknown_(e, CPS_UNKNOWN_USER_READ, offset);
        run_out(e, &w, TYPE_READ, 0, false);
    }
    return 0;
}

/* ---- NV3's second pusher ----
 *
 * It reads commands from the host's memory through a page table. All of it is an emulator's model:
 * no document or test of the hardware describes the stream. */

#define ACCESS       1u
#define PRESENT      1u
#define HEADER_KNOWN UINT32_C(0x1ffcfffc)
#define STATE_ERROR  (UINT32_C(1) << 30)
#define COUNT_ONE    (UINT32_C(1) << 18)
#define COUNT_MASK   (UINT32_C(0x7ff) << 18)
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
