/* SPDX-License-Identifier: MIT
 * What the kernel's msm driver writes into the ring around the streams of a submission, for the
 * policy `ring=msm` (D: a5xx_submit(), a6xx_submit(), a7xx_submit() and a6xx_set_pagetable() of
 * drivers/gpu/drm/msm/adreno, Linux 6.19).
 *
 * Left out: CP_WHERE_AM_I, which depends on the revision of the firmware. Preemption between rings
 * (policy `preempt`) is that of rings.c, without the postamble, which is about performance
 * counters.
 */
#include "emu/afuc/afuc.h"
#include "emu/afuc/control/control.h"
#include "isa/base/pm4.h"

enum {
    WAIT_TIMESTAMP = 0x14,
    THREAD_CONTROL = 0x17,
    YIELD_ENABLE = 0x1c,
    RESET_CONTEXT_STATE = 0x1f,
    WAIT_REG_MEM = 0x3c,
    MEM_WRITE = 0x3d,
    REG_TO_MEM = 0x3e,
    EVENT_WRITE = 0x46,
    SMMU_TABLE_UPDATE = 0x53,
    SET_PROTECTED_MODE = 0x5f,
    SET_MARKER = 0x65,
    PREEMPT_ENABLE_GLOBAL = 0x69,
    PREEMPT_ENABLE_LOCAL = 0x6a,
    CONTEXT_SWITCH_YIELD = 0x6b,
    SET_RENDER_MODE = 0x6c,
};
enum event {
    CACHE_FLUSH_TS = 4,
    CCU_INVALIDATE_DEPTH = 24,
    CCU_INVALIDATE_COLOR = 25,
    LRZ_FLUSH_INVALIDATE = 38,
    CACHE_INVALIDATE = 49,
    CACHE_CLEAN = 49,
};
#define EVENT_WRITES    (UINT32_C(1) << 27) /* from a7xx on: a time stamp follows */
#define EVENT_IRQ       (UINT32_C(1) << 31)
#define SYNC_THREADS    (UINT32_C(1) << 31)
#define TWO_REGS_64     (UINT32_C(2) << 18 | UINT32_C(1) << 30)
#define PAGE_TABLE_SIZE 0x1000u
enum { THREAD_BR = 1, THREAD_BV = 2, THREAD_BOTH = 3 };
enum { LIST_START = 0xd, LIST_END = 0xe, IFPC_ON = 0x100, IFPC_OFF = 0x101 };
enum { CONTEXT_SWITCH_SAVE_ADDR = 0x83e }; /* a5xx */
enum { CYCLES_START, CYCLES_END = 8, ALWAYS_ON_START = 16, ALWAYS_ON_END = 24 };

/* Registers by generation. */
struct layout {
    uint32_t cycles, always_on, scratch, sram_init, sram_status;
    uint32_t slice_sram_init; /* 0: there is none */
};

static const struct layout *layout_of(const struct cps_afuc *machine)
{
    static const struct layout a5xx = {.scratch = 0xb7a};
    static const struct layout a6xx = {0x400, 0x982, 0x885, 0x50e, 0x50f, 0};
    static const struct layout a7xx = {0x300, 0x982, 0x885, 0x50e, 0x50f, 0};
    static const struct layout a8xx = {0x1b0, 0x8e9, 0x82c, 0x449, 0x19f, 0x5e8};
    switch (machine->engine.gen) {
    case CPS_A5XX:
        return &a5xx;
    case CPS_A6XX:
        return &a6xx;
    case CPS_A7XX:
        return &a7xx;
    default:
        return &a8xx;
    }
}

/* Packets that go into the ring together. */
struct words {
    uint32_t word[160];
    uint32_t count, packets;
};

static void add_words(struct words *w, uint32_t header, const uint32_t *words, unsigned count)
{
    w->word[w->count++] = header;
    for (unsigned i = 0; i < count; i++)
        w->word[w->count++] = words[i];
    w->packets++;
}

#define COUNT_OF(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / 4)
#define ADD_PACKET(w, opcode, ...)                                                              \
    add_words(w, cps_pm4_type7(opcode, COUNT_OF(__VA_ARGS__)), (const uint32_t[]){__VA_ARGS__}, \
              COUNT_OF(__VA_ARGS__))
#define ADD_REGISTERS(w, first, ...)                                                           \
    add_words(w, cps_pm4_type4(first, COUNT_OF(__VA_ARGS__)), (const uint32_t[]){__VA_ARGS__}, \
              COUNT_OF(__VA_ARGS__))
#define LOW_HIGH(iova) (uint32_t)(iova), (uint32_t)((iova) >> 32)

/* Memory of the ring at hand. */
static uint64_t kernel_of(const struct cps_afuc *machine)
{
    return CPS_AFUC_KERNEL + (uint64_t)CPS_AFUC_KERNEL_STEP * machine->rings.fed;
}

uint64_t msm_table_(uint32_t context)
{
    return ((uint64_t)context * PAGE_TABLE_SIZE) | (uint64_t)context << 48;
}

static void add_stamp(const struct cps_afuc *machine, struct words *w, uint32_t reg, uint32_t seqno,
                      unsigned which)
{
    uint64_t iova = kernel_of(machine) + CPS_AFUC_KERNEL_STATS + which +
                    (uint64_t)CPS_AFUC_KERNEL_STATS_SIZE * (seqno % CPS_AFUC_KERNEL_STATS_COUNT);
    ADD_PACKET(w, REG_TO_MEM, reg | TWO_REGS_64, LOW_HIGH(iova));
}

/* The rest of the GPU is idle for the switch, and BR alone makes it. */
static void add_switch_begin(const struct cps_afuc *machine, struct words *w)
{
    const uint64_t fence = kernel_of(machine) + CPS_AFUC_KERNEL_FENCE;
    ADD_PACKET(w, WAIT_TIMESTAMP, 0, LOW_HIGH(fence), machine->msm.ring[machine->rings.fed].seqno);
    ADD_PACKET(w, THREAD_CONTROL, SYNC_THREADS | THREAD_BOTH);
    ADD_PACKET(w, RESET_CONTEXT_STATE, 0xf);
    ADD_PACKET(w, THREAD_CONTROL, SYNC_THREADS | THREAD_BOTH);
    ADD_PACKET(w, EVENT_WRITE, LRZ_FLUSH_INVALIDATE);
    ADD_PACKET(w, THREAD_CONTROL, SYNC_THREADS | THREAD_BR);
}

static void add_switch(struct cps_afuc *machine, struct words *w, uint32_t context)
{
    const struct layout *layout = layout_of(machine);
    const uint64_t stored = kernel_of(machine) + CPS_AFUC_KERNEL_TTBR0;
    const uint64_t with_asid = msm_table_(context);
    const uint64_t table = (uint64_t)context * PAGE_TABLE_SIZE;
    bool threads = cps_gen_since(machine->engine.gen, CPS_A7XX);
    if (threads)
        add_switch_begin(machine, w);
    else
        ADD_PACKET(w, SET_PROTECTED_MODE, 0);
    ADD_REGISTERS(w, layout->sram_init, 1);
    if (layout->slice_sram_init)
        ADD_REGISTERS(w, layout->slice_sram_init, 1);
    ADD_PACKET(w, SMMU_TABLE_UPDATE, LOW_HIGH(with_asid), 0, 0);
    ADD_PACKET(w, MEM_WRITE, LOW_HIGH(stored), LOW_HIGH(table), context);
    if (threads)
        ADD_PACKET(w, THREAD_CONTROL, SYNC_THREADS | THREAD_BR);
    ADD_PACKET(w, EVENT_WRITE, CACHE_INVALIDATE);
    ADD_PACKET(w, WAIT_REG_MEM, 3, layout->sram_status, 0, 1, 1, 0);
    if (!threads)
        ADD_PACKET(w, SET_PROTECTED_MODE, 1);
}

static void begin_a5xx(struct words *w)
{
    ADD_PACKET(w, PREEMPT_ENABLE_GLOBAL, 2);
    ADD_PACKET(w, SET_PROTECTED_MODE, 0);
    ADD_REGISTERS(w, CONTEXT_SWITCH_SAVE_ADDR, 0, 0);
    ADD_PACKET(w, SET_PROTECTED_MODE, 1);
    ADD_PACKET(w, PREEMPT_ENABLE_LOCAL, 1);
    ADD_PACKET(w, YIELD_ENABLE, 2);
}

/* Words that rings.c makes, as one packet. */
static void add_made(struct words *w, const uint32_t *words, unsigned count)
{
    add_words(w, words[0], words + 1, count - 1);
}

static void add_save(const struct cps_afuc *machine, struct words *w)
{
    uint32_t words[RINGS_BEGIN_WORDS];
    rings_save_words_(machine, words);
    add_made(w, words, RINGS_BEGIN_WORDS);
}

static void begin_a6xx(struct cps_afuc *machine, struct words *w, uint32_t seqno)
{
    const struct layout *layout = layout_of(machine);
    bool threads = cps_gen_since(machine->engine.gen, CPS_A7XX);
    bool preempts = cps_afuc_has_rings(machine);
    if (preempts)
        add_save(machine, w);
    add_stamp(machine, w, layout->cycles, seqno, CYCLES_START);
    add_stamp(machine, w, layout->always_on, seqno, ALWAYS_ON_START);
    if (threads) {
        ADD_PACKET(w, THREAD_CONTROL, THREAD_BOTH);
        ADD_PACKET(w, SET_MARKER, IFPC_OFF);
    } else {
        ADD_PACKET(w, EVENT_WRITE, CCU_INVALIDATE_DEPTH);
        ADD_PACKET(w, EVENT_WRITE, CCU_INVALIDATE_COLOR);
    }
    if (preempts)
        ADD_PACKET(w, SET_MARKER, LIST_START);
}

static void add_end_stamps(struct cps_afuc *machine, struct words *w, uint32_t seqno)
{
    const struct layout *layout = layout_of(machine);
    add_stamp(machine, w, layout->cycles, seqno, CYCLES_END);
    add_stamp(machine, w, layout->always_on, seqno, ALWAYS_ON_END);
}

static void end_a5xx(struct words *w, uint64_t fence, uint32_t seqno, uint32_t scratch)
{
    ADD_PACKET(w, SET_RENDER_MODE, 0, 0, 0, 0, 0);
    ADD_PACKET(w, YIELD_ENABLE, 1);
    ADD_REGISTERS(w, scratch, seqno);
    ADD_PACKET(w, EVENT_WRITE, CACHE_FLUSH_TS | EVENT_IRQ, LOW_HIGH(fence), seqno);
    ADD_PACKET(w, CONTEXT_SWITCH_YIELD, 0, 0, 1, 1);
}

static void end_a6xx(struct words *w, uint64_t fence, uint32_t seqno, uint32_t scratch)
{
    ADD_REGISTERS(w, scratch, seqno);
    ADD_PACKET(w, EVENT_WRITE, CACHE_FLUSH_TS | EVENT_IRQ, LOW_HIGH(fence), seqno);
}

/* BV's fence comes before BR's: BR waits for it. */
static void end_a7xx(struct words *w, uint64_t fence, uint32_t seqno, uint32_t scratch)
{
    const uint64_t bv_fence = fence - CPS_AFUC_KERNEL_FENCE + CPS_AFUC_KERNEL_BV_FENCE;
    ADD_REGISTERS(w, scratch, seqno);
    ADD_PACKET(w, THREAD_CONTROL, THREAD_BR);
    ADD_PACKET(w, EVENT_WRITE, CCU_INVALIDATE_DEPTH);
    ADD_PACKET(w, EVENT_WRITE, CCU_INVALIDATE_COLOR);
    ADD_PACKET(w, THREAD_CONTROL, THREAD_BV);
    ADD_PACKET(w, EVENT_WRITE, CACHE_CLEAN | EVENT_WRITES, LOW_HIGH(bv_fence), seqno);
    ADD_PACKET(w, THREAD_CONTROL, THREAD_BR);
    ADD_PACKET(w, WAIT_TIMESTAMP, 0, LOW_HIGH(bv_fence), seqno);
    ADD_PACKET(w, EVENT_WRITE, CACHE_CLEAN | EVENT_IRQ | EVENT_WRITES, LOW_HIGH(fence), seqno);
    ADD_PACKET(w, THREAD_CONTROL, THREAD_BOTH);
    ADD_PACKET(w, SET_MARKER, IFPC_ON);
}

/* The kernel's memory is zero at first, and lasts from submission to submission. */
static bool prepare_memory(struct cps_afuc *machine)
{
    bool stored = true;
    if (machine->msm.prepared)
        return true;
    cps_mem_keep(machine->engine.mem, true);
    uint32_t rings = machine->rings.prepared ? CPS_AFUC_RINGS : 1;
    for (uint32_t at = 0; at < rings * CPS_AFUC_KERNEL_STEP; at += 4)
        stored = cps_mem_write(machine->engine.mem, CPS_AFUC_KERNEL + at, 0) && stored;
    cps_mem_keep(machine->engine.mem, false);
    machine->msm.prepared = stored;
    return stored;
}

struct cps_err *msm_room_(struct cps_afuc *machine, uint32_t words)
{
    if (words <= machine_ring_room_(machine))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "the ring has no room for %u dwords, expected a run after each stream",
                       words);
}

static struct cps_err *write_ring(struct cps_afuc *machine, const struct words *w)
{
    CPS_TRY(msm_room_(machine, w->count));
    return machine_ring_(machine, w->word, w->count) ? NULL : cps_err_nomem();
}

struct cps_err *msm_begin_(struct cps_afuc *machine, uint32_t context, uint32_t *packets)
{
    uint32_t ring = machine->rings.fed;
    struct words w = {.count = 0};
    *packets = 0;
    if (machine->msm.ring[ring].open)
        return NULL;
    if (!prepare_memory(machine))
        return cps_err_nomem();
    bool known = context && context != machine->msm.ring[ring].context;
    if (cps_gen_since(machine->engine.gen, CPS_A7XX))
        ADD_PACKET(&w, THREAD_CONTROL, SYNC_THREADS | THREAD_BR);
    if (known && machine->engine.gen != CPS_A5XX)
        add_switch(machine, &w, context);
    if (machine->engine.gen == CPS_A5XX)
        begin_a5xx(&w);
    else
        begin_a6xx(machine, &w, machine->msm.ring[ring].seqno + 1);
    CPS_TRY(write_ring(machine, &w));
    machine->msm.ring[ring].context = context ? context : machine->msm.ring[ring].context;
    machine->msm.ring[ring].open = 1;
    *packets = w.packets;
    return NULL;
}

struct cps_err *msm_end_(struct cps_afuc *machine, uint32_t seqno)
{
    const uint64_t fence = kernel_of(machine) + CPS_AFUC_KERNEL_FENCE;
    const uint32_t scratch = layout_of(machine)->scratch;
    uint32_t ring = machine->rings.fed;
    uint32_t yield[RINGS_YIELD_WORDS];
    struct words w = {.count = 0};
    if (machine->engine.gen == CPS_A5XX) {
        end_a5xx(&w, fence, seqno, scratch);
    } else {
        if (cps_afuc_has_rings(machine))
            ADD_PACKET(&w, SET_MARKER, LIST_END);
        add_end_stamps(machine, &w, machine->msm.ring[ring].seqno + 1);
        if (machine->engine.gen == CPS_A6XX)
            end_a6xx(&w, fence, seqno, scratch);
        else
            end_a7xx(&w, fence, seqno, scratch);
    }
    rings_yield_words_(yield);
    if (cps_afuc_has_rings(machine))
        add_made(&w, yield, RINGS_YIELD_WORDS);
    CPS_TRY(write_ring(machine, &w));
    machine->msm.ring[ring].seqno = seqno;
    machine->msm.ring[ring].open = 0;
    return NULL;
}

uint32_t cps_afuc_fence(const struct cps_afuc *machine, unsigned ring)
{
    uint64_t iova = CPS_AFUC_KERNEL + (uint64_t)CPS_AFUC_KERNEL_STEP * ring;
    return cps_mem_read(machine->engine.mem, iova + CPS_AFUC_KERNEL_FENCE, NULL);
}
