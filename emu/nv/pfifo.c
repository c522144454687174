/* SPDX-License-Identifier: MIT
 * NVIDIA's PFIFO of NV1, NV3 and NV3T: its registers (pfifo.def), and its turn to work.
 */
#include "emu/nv/pfifo.h"

#include <string.h>

#define PMC_PFIFO 0x100u              /* of PMC_ENABLE, and of PMC_INTR */
#define PMC_SOFT  (UINT32_C(1) << 31) /* of PMC_INTR: the driver's own */
#define PMC_BYTES 0x1000u
#define USER      0x800000u
#define NV3_RAMFC 0x1c00u
#define NV3_RAMRO 0x1e00u

/* ---- what registers show ---- */

static uint32_t show_runout(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    if (pfifo_runout_empty_(e))
        return EMPTY;
    return RANOUT | (pfifo_runout_next_(e) == pfifo_of_(e)->runout_get ? FULL : 0);
}

static uint32_t show_device(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    pfifo_unknown_(e, CPS_UNKNOWN_DEVICE_BITS, 0);
    return pfifo_of_(e)->graph_channel;
}

static uint32_t show_cache0(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    return pfifo_of_(e)->cache[0].put == pfifo_of_(e)->cache[0].get ? EMPTY : FULL;
}

static uint32_t show_cache1(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    const struct pfifo *p = pfifo_of_(e);
    return (p->latched ? RANOUT : 0) | (pfifo_is_empty_(e) ? EMPTY : 0) |
           (pfifo_is_full_(e) ? FULL : 0);
}

static uint32_t show_dma_ctrl(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    pfifo_unknown_(e, CPS_UNKNOWN_DMA_CTRL, 0);
    return pfifo_of_(e)->dma_ctrl;
}

/* PMC's inputs are lines: bit 8 is PFIFO's. */
static uint32_t show_pmc_intr(const struct cps_access *at)
{
    return at->stored | (pfifo_of_(nv_of_(at))->line ? PMC_PFIFO : 0);
}

/* 0 while the interrupt of the card is active. */
static uint32_t show_pmc_line(const struct cps_access *at)
{
    const struct pfifo *p = pfifo_of_(nv_of_(at));
    bool hardware = p->pmc_intr_enable & 1 && p->line;
    bool software = p->pmc_intr_enable & 2 && p->pmc_intr & PMC_SOFT;
    return !hardware && !software;
}

/* ---- what writes do beside storing ---- */

static void effect_wait_retry(const struct cps_access *at)
{
    if (at->value & 0xff)
        pfifo_unknown_(nv_of_(at), CPS_UNKNOWN_WAIT_RETRY, at->value);
}

static void effect_intr(const struct cps_access *at)
{
    struct pfifo *p = pfifo_of_(nv_of_(at));
    p->intr &= ~at->value;
    p->line = (p->intr & p->intr_enable) != 0;
}

static void effect_intr_enable(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    pfifo_tell_(e, pfifo_of_(e)->intr & at->stored);
}

static void effect_runout(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct pfifo *p = pfifo_of_(e);
    if (!p->latched || !pfifo_runout_empty_(e))
        return;
    pfifo_unknown_(e, CPS_UNKNOWN_RUNOUT_LATCH, at->value);
    p->latched = 0;
}

static void effect_chid(const struct cps_access *at)
{
    if (at->value & 0x100)
        pfifo_unknown_(nv_of_(at), CPS_UNKNOWN_CHID_BIT_8, at->value);
}

static void effect_pull_ctrl(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct pfifo *p = pfifo_of_(e);
    unsigned cache = at->number >= 0x3200;
    uint32_t *ctrl = &p->cache[cache].pull_ctrl;
    if (!(*ctrl & PULL_ACCESS) || !(*ctrl & (HASH_FAILED | DEVICE_SOFTWARE)))
        return;
    pfifo_unknown_(e, CPS_UNKNOWN_ERROR_CLEAR, *ctrl);
    *ctrl = PULL_ACCESS;
    p->cache_error &= ~(cache ? 0x10u : 0x1u);
}

static void effect_dma_target(const struct cps_access *at)
{
    if ((at->value & 3) != 2)
        pfifo_unknown_(nv_of_(at), CPS_UNKNOWN_DMA_TARGET, at->value);
}

static void effect_dma_tag(const struct cps_access *at)
{
    if (at->value & ~UINT32_C(0xfff000))
        pfifo_unknown_(nv_of_(at), CPS_UNKNOWN_DMA_TAG, at->value);
}

static void effect_pram_config(const struct cps_access *at)
{
    if ((at->value & 3) == 2)
        pfifo_unknown_(nv_of_(at), CPS_UNKNOWN_PRAM_OVERLAP, at->value);
}

static bool is_nv1(const struct nv *e)
{
    return pfifo_chip_(e) == CPS_NV1;
}

/* Interrupts, pointers, contexts and what is queued survive. */
static void effect_pmc_enable(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    struct pfifo *p = pfifo_of_(e);
    if (at->value & PMC_PFIFO)
        return;
    p->wait_retry = p->intr_enable = p->chsw_enable = p->dma_ctrl = 0;
    p->line = 0;
    for (unsigned i = 0; i < 2; i++) {
        p->cache[i].push = 0;
        p->cache[i].pull_ctrl &= ~(uint32_t)PULL_ACCESS;
    }
    if (is_nv1(e))
        return;
    p->ramht = 0;
    p->ramfc = NV3_RAMFC;
    p->ramro = NV3_RAMRO;
    p->cache[1].pull_state = 0;
}

/* ---- registers ---- */

static const struct cps_reg_row registers[] = {
#define show_STORED NULL
#define effect_NONE NULL
#define PFIFO_REG(bits, low, n, step, name, field, can_write, can_read, rd, effect, evidence)     \
    CPS_REG_ROW(bits, low, n, step, .member = offsetof(struct pfifo, field), .mask = (can_write), \
                .seen = (can_read), .read = show_##rd, .write = effect_##effect),
#include "emu/nv/pfifo.def"
};
static const struct cps_reg_table inner = CPS_REG_TABLE(registers);

/* The same access by the row of pfifo.def; false if there is none. */
static bool find(const struct cps_access *at, struct cps_access *ret)
{
    struct nv *e = nv_of_(at);
    *ret = *at;
    ret->row = cps_reg_find_(e->inner, at->number);
    if (!ret->row)
        return false;
    ret->index = (at->number - ret->row->first) / ret->row->stride;
    ret->stored = *cps_reg_member_(e->state, ret->row, ret->index);
    return true;
}

/* Who is there, and what is said of that. */
static void arrive(struct nv *e, const struct cps_by *by)
{
    struct pfifo *p = pfifo_of_(e);
    if (e->engine.tap.quiet)
        return;
    p->place = by->pc;
    if (!p->touched)
        pfifo_unknown_(e, CPS_UNKNOWN_PFIFO_INITIAL, 0);
    p->touched = 1;
    if (!(p->pmc_enable & PMC_PFIFO))
        pfifo_unknown_(e, CPS_UNKNOWN_PFIFO_OFF, p->pmc_enable);
}

/* One command or word; false if nothing moved. */
static bool work(struct nv *e)
{
    return !e->bus.stopped && (pfifo_pull_(e) || pfifo_dma_(e));
}

static void leave(struct nv *e)
{
    switch ((enum cps_policy_pull)e->engine.policy.pull) {
    case CPS_PULL_PUSH:
        while (work(e))
            ;
        break;
    case CPS_PULL_RUN:
        break;
    }
}

static uint32_t read_reg(const struct cps_access *by_bus)
{
    struct cps_access at;
    if (!find(by_bus, &at))
        return cps_bus_read_plain_(by_bus);
    if (at.number >= PMC_BYTES)
        arrive(nv_of_(&at), at.by);
    return (at.row->read ? at.row->read(&at) : at.stored) & at.row->seen;
}

static void write_reg(const struct cps_access *by_bus)
{
    struct nv *e = nv_of_(by_bus);
    struct cps_access at;
    if (!find(by_bus, &at)) {
        cps_bus_write_plain_(by_bus);
        return;
    }
    if (at.number >= PMC_BYTES)
        arrive(e, at.by);
    if (at.lanes != CPS_LANES_ALL) {
        pfifo_unknown_(e, CPS_UNKNOWN_PFIFO_PART, at.number);
        at.value = cps_reg_lanes_(&at, at.row->mask ? at.stored : 0);
    }
    *cps_reg_member_(e->state, at.row, at.index) =
        (at.stored & ~at.row->mask) | (at.value & at.row->mask);
    if (at.row->write)
        at.row->write(&at);
    leave(e);
}

/* ---- USER and RAMIN ---- */

static uint32_t read_user(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    arrive(e, at->by);
    return pfifo_user_read_(e, at->number - USER);
}

static void write_user(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    arrive(e, at->by);
    pfifo_user_write_(e, at->number - USER, at->lanes, at->value);
    leave(e);
}

static struct pfifo_area ramin(const struct nv *e)
{
    (void)e;
    return (struct pfifo_area){0, 0x100000};
}

/* NV1's ways into RAMIN: as large as their structures ever get, they wrap in them. */
static const struct window {
    uint32_t first;
    struct pfifo_area (*area)(const struct nv *e);
} windows[] = {
    {0x700000, ramin},
    {0x650000, pfifo_ramro_},
    {0x648000, pfifo_ramfc_},
    {0x640000, pfifo_ramht_},
};

static uint32_t behind_window(const struct nv *e, uint32_t addr)
{
    const struct window *w = windows;
    while (addr < w->first)
        w++;
    struct pfifo_area area = w->area(e);
    return area.start + ((addr - w->first) & (area.size - 1));
}

static uint32_t read_window(const struct cps_access *at)
{
    return pfifo_ramin_read_(nv_of_(at), behind_window(nv_of_(at), at->number));
}

static void write_window(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    uint32_t addr = behind_window(e, at->number);
    cps_bus_poke(e, CPS_MEMORY_RAMIN, addr, cps_reg_lanes_(at, pfifo_ramin_read_(e, addr)));
}

/* ---- what is not hardware ---- */

static void write_object(const struct cps_access *at)
{
    struct pfifo *p = pfifo_of_(nv_of_(at));
    if (at->index)
        p->pending.channel = at->value;
    else
        p->pending.handle = at->value;
}

/* More than there is room for are not there: fw/ accepts no run file with so many. */
static void write_context(const struct cps_access *at)
{
    struct pfifo *p = pfifo_of_(nv_of_(at));
    p->pending.context = at->value;
    if (p->object_count < PFIFO_OBJECTS)
        p->object[p->object_count++] = p->pending;
}

static uint32_t read_graph(const struct cps_access *at)
{
    return pfifo_of_(nv_of_(at))->graph_channel;
}

static void write_graph(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    pfifo_of_(e)->graph_channel = at->value & 0x7f;
    pfifo_of_(e)->held = 0;
    pfifo_of_(e)->place = at->by->pc;
    leave(e);
}

static const struct cps_reg_row rows[] = {
#define NV_REG_PFIFO(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

/* ---- the engine ---- */

static void *next(struct nv *e)
{
    return pfifo_has_command_(e) || pfifo_has_word_(e) ? e->state : NULL;
}

static bool waits(const struct nv *e, const void *who)
{
    (void)who;
    return pfifo_of_(e)->held;
}

static bool goes_on(struct nv *e, const void *who)
{
    return !waits(e, who);
}

/* The timeline may switch PGRAPH, as the host can. */
static enum cps_stop wait(struct nv *e, void *who)
{
    return nv_await_(e, goes_on, who, UINT64_MAX) == CPS_AWAIT_MET ? CPS_STOP_IDLE : nv_held_(e);
}

/* An error leaves nothing to do; what is still there then waits for PGRAPH. */
static enum cps_stop execute(struct nv *e, void *who)
{
    (void)who;
    pfifo_of_(e)->held = !work(e);
    return CPS_STOP_IDLE;
}

/* The host may have done something about it. */
static void begin(struct nv *e)
{
    pfifo_of_(e)->held = 0;
}

static void reset(struct nv *e)
{
    struct pfifo *p = pfifo_of_(e);
    p->pmc_enable = PMC_PFIFO;
    if (!is_nv1(e)) {
        p->ramfc = NV3_RAMFC;
        p->ramro = NV3_RAMRO;
    }
}

#define VALUE(name, member) NV_VALUE(struct pfifo, name, member)
static const struct cps_reg regs[] = {
    VALUE("intr", intr),
    VALUE("intr_enable", intr_enable),
    VALUE("line", line),
    VALUE("cache_error", cache_error),
    VALUE("cache0.put", cache[0].put),
    VALUE("cache0.get", cache[0].get),
    VALUE("cache0.pull_ctrl", cache[0].pull_ctrl),
    VALUE("cache1.push_access", cache[1].push),
    VALUE("cache1.chid", cache[1].chid),
    VALUE("cache1.put", cache[1].put),
    VALUE("cache1.get", cache[1].get),
    VALUE("cache1.pull_ctrl", cache[1].pull_ctrl),
    VALUE("cache1.pull_state", cache[1].pull_state),
    VALUE("runout.put", runout_put),
    VALUE("runout.get", runout_get),
    VALUE("latched", latched),
    VALUE("graph_channel", graph_channel),
    VALUE("runouts", runouts),
    VALUE("lost", lost),
    VALUE("methods", methods),
};
static const struct cps_file files[] = {
    NV_FILE_VALUES,
    NV_FILE_REGISTERS,
    {CPS_FILE_RAMIN, 32, 4, "ramin", UINT64_C(1) << 32},
    {CPS_FILE_MEMORY, 32, 4, "memory", UINT64_C(1) << 32},
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct pfifo),
    .rows = CPS_REG_TABLE(rows),
    .inner = &inner,
    .loop = {next, waits, wait, execute},
    .who = {CPS_CPU_PFIFO},
    .reset = reset,
    .begin = begin,
};

NV_ENGINE(pfifo);
