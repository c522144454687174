/* SPDX-License-Identifier: MIT
 * What the kernel's driver does with the processor: its ring, the first packets, submissions. */
#include "emu/afuc/core/machine.h"
#include "emu/afuc/origin/origin.h"

/* ---- the program around the engine ----
 *
 * Registers as a driver writes and reads them.
 */

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

/* LPAC has a ring of its own. */
static void set_rptr(struct cps_afuc *machine, uint64_t dword)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (machine->core[i].who != CPS_CPU_LPAC)
            machine->core[i].s.queue[LEVEL_RB].pos = (uint32_t)(dword % machine->ring_dwords);
    }
}

static struct cps_err *write_register(struct cps_afuc *machine, uint32_t offset, uint32_t value)
{
    if (offset == CP_RB_CNTL && (value & 63) > MAX_RING_BITS)
        return cps_err_new(CPS_ERR_INPUT,
                           "CP_RB_CNTL 0x%08x: a ring of 2^%u dwords, expected at most 2^%u", value,
                           (value & 63) + 1, MAX_RING_BITS + 1);
    machine_event_(machine, CPS_EV_REG, CPS_PATH_HOST, CPS_CPU_HOST, 0, offset, value);
    machine->engine.changes += bank_set_(machine, 0, offset, value);
    if (offset >= CP_RB_BASE && offset <= CP_RB_CNTL) {
        /* A ring that is put elsewhere is empty: the driver does so only after a reset. */
        const uint32_t *reg = machine->reg;
        machine->ring_iova = (uint64_t)reg[CP_RB_BASE_HI] << 32 | reg[CP_RB_BASE];
        if (machine->reg_flags[CP_RB_CNTL] & REG_WRITTEN)
            machine->ring_dwords = UINT32_C(2) << (reg[CP_RB_CNTL] & 63);
        machine->ring_wptr = 0;
        set_rptr(machine, 0);
    } else if (offset == CP_RB_RPTR)
        set_rptr(machine, value);
    else if (offset == CP_RB_WPTR)
        machine->ring_wptr = value % machine->ring_dwords;
    return NULL;
}

static struct cps_err *access_register(struct cps_afuc *machine, const struct cps_item *item)
{
    if (item->host.where != CPS_HOST_REG || item->host.addr >= GPU_REGS)
        return cps_err_new(CPS_ERR_INPUT, "afuc: an access to 0x%x, expected a register below 0x%x",
                           item->host.addr, GPU_REGS);
    if (item->kind == CPS_ITEM_WRITE && item->host.size != 4)
        return cps_err_new(CPS_ERR_INPUT, "afuc: a write of %u bytes, expected 4", item->host.size);
    if (item->kind == CPS_ITEM_WRITE)
        return write_register(machine, item->host.addr, item->host.value);
    uint32_t offset = item->host.addr;
    uint32_t value = machine->reg[offset];
    if (offset == CP_RB_RPTR)
        value = machine->core[0].s.queue[LEVEL_RB].pos;
    machine_event_(machine, CPS_EV_REGR, 0, CPS_CPU_HOST, 0, offset, value);
    machine->engine.answer = value;
    return NULL;
}

/* ---- submissions ---- */

static void set_ring(struct cps_afuc *machine, const struct cps_item *item)
{
    machine->ring_iova = item->ring.iova;
    machine->ring_dwords = item->ring.size >= 4 ? (uint32_t)(item->ring.size / 4) : RING_DWORDS;
    machine->ring_wptr = item->ring.wptr % machine->ring_dwords;
    set_rptr(machine, item->ring.rptr);
    if (machine->submission != ORIGIN_NO_SUBMISSION)
        return;
    machine->submission = 0; /* of the ring itself, whose packets count from here on */
    machine->submission_packets = 0;
}

static const uint32_t init_a6xx[] = {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, 0, 0, 0};
static const uint32_t init_a7xx[] = {0x70970001, 0x08000000, 0x70c80004, 0x4b, 3, 0x20000000, 2};
enum { THREADS = 2 }; /* words of CP_THREAD_CONTROL in front */

/* CP_ME_INIT as the kernel's drivers send it: contexts, error detection, default reset. a5xx has a
 * word of work-arounds, a7xx starts without concurrent binning and sends an operation mask; the
 * list of power-up registers is left out, because no capture holds it. */
static void me_init(struct cps_afuc *machine)
{
    const uint32_t a5xx[] = {0x70c80008, 0x2f, 3, 0x20000000, 0, 0, machine->workarounds, 0, 0};
    if (machine->core[0].who == CPS_CPU_AQE)
        return;
    machine->submission = ORIGIN_NO_SUBMISSION;
    switch (machine->engine.gen) {
    case CPS_A5XX:
        machine_ring_(machine, a5xx, sizeof(a5xx) / sizeof(a5xx[0]));
        break;
    case CPS_A6XX:
        machine_ring_(machine, init_a6xx, sizeof(init_a6xx) / sizeof(init_a6xx[0]));
        break;
    default:
        machine_ring_(machine, init_a7xx, sizeof(init_a7xx) / sizeof(init_a7xx[0]));
    }
}

/* CP_THREAD_CONTROL as the kernel's a7xx_submit() sends it before the IBs: BR alone after both
 * have met, then both. Without it BV would not follow into the IBs and no stream could synchronise
 * with it. */
static const uint32_t threads_a7xx[] = {0x70970001, 0x80000001, 0x70970001, 0x00000003};

/* LPAC's ring begins with the same CP_ME_INIT (I: its handler takes the same words, 740 LPAC 0056;
 * how a driver begins there no public source shows). */
static void submit_lpac(struct cps_afuc *machine, const uint32_t call[4])
{
    if (!machine->lpac_wptr && machine->engine.gen == CPS_A6XX)
        machine_ring_lpac_(machine, init_a6xx, sizeof(init_a6xx) / sizeof(init_a6xx[0]));
    else if (!machine->lpac_wptr)
        machine_ring_lpac_(machine, init_a7xx + THREADS,
                           sizeof(init_a7xx) / sizeof(init_a7xx[0]) - THREADS);
    machine_ring_lpac_(machine, call, 4);
}

/* The ring's part of a submission: the call, and what the driver writes before it. */
static struct cps_err *submit_ring(struct cps_afuc *machine, const struct cps_item *item,
                                   const uint32_t call[4])
{
    bool threads = cps_gen_since(machine->engine.gen, CPS_A7XX);
    bool msm = machine_rings_as_msm_(machine);
    uint32_t before = 0;
    if (msm)
        CPS_TRY(msm_begin_(machine, item->stream.context, &before));
    if (msm)
        CPS_TRY(msm_room_(machine, 4));
    /* 0 is what follows these; CP_THREAD_CONTROL counts also where it came earlier. */
    machine->submission_packets -= before + rings_begin_(machine);
    if (threads && msm)
        machine->submission_packets += sizeof(threads_a7xx) / sizeof(threads_a7xx[0]) / 2;
    else if (threads)
        machine_ring_(machine, threads_a7xx, sizeof(threads_a7xx) / sizeof(threads_a7xx[0]));
    machine_ring_(machine, call, 4);
    rings_end_(machine);
    return NULL;
}

/* The ring that the driver writes next. */
static struct cps_err *choose_ring(struct cps_afuc *machine, uint32_t ring)
{
    if (ring >= CPS_AFUC_RINGS || (ring && !cps_afuc_has_rings(machine)))
        return cps_err_new(CPS_ERR_INPUT, "a stream for ring %u, expected ring 0", ring);
    machine->rings.fed = cps_afuc_has_rings(machine) ? ring : machine->rings.current;
    return NULL;
}

/* A SUBMIT event has no address of its own for the index: the stream's dwords, which an IB limits
 * to 20 bits, take the place of the program counter. */
static struct cps_err *submit(struct cps_afuc *machine, const struct cps_item *item)
{
    uint64_t iova = item->stream.iova;
    uint32_t dwords = item->stream.dwords;
    const uint32_t call[] = {0x70bf8003, (uint32_t)iova, (uint32_t)(iova >> 32), dwords & 0xfffff};
    bool known = false;
    cps_mem_read(machine->engine.mem, iova, &known);
    machine_event_(machine, CPS_EV_SUBMIT, 0, CPS_CPU_NONE, dwords & 0xfffff, iova,
                   item->stream.index);
    if (machine->rings.fed == machine->rings.current) {
        machine->submission = item->stream.index;
        machine->submission_packets = 0;
    }
    if (!known && dwords) {
        machine_event_(machine, CPS_EV_UNMODELLED, CPS_PLACE_STREAM, CPS_CPU_NONE, 0, iova, 0);
        return NULL;
    }
    if (item->stream.lpac) {
        submit_lpac(machine, call);
        return NULL;
    }
    return submit_ring(machine, item, call);
}

/* The submission is complete. One whose streams are all in other rings, or that has none, has its
 * beginning here. */
static struct cps_err *end_submission(struct cps_afuc *machine, const struct cps_item *item)
{
    uint32_t before = 0;
    if (!machine_rings_as_msm_(machine) || machine->core[0].who == CPS_CPU_AQE)
        return NULL;
    CPS_TRY(msm_begin_(machine, item->fence.context, &before));
    return msm_end_(machine, item->fence.seqno);
}

/* What the driver wrote for this GPU before it started the processor. */
static void take_chip(struct cps_afuc *machine, const struct cps_item *item)
{
    enum { THRESHOLDS_1 = 0x8c1, THRESHOLDS_2 = 0x8c2 };
    uint64_t gpu = item->chip.gpu_id ? item->chip.gpu_id : item->chip.chip_id & UINT32_MAX;
    uint32_t thresholds[2];
    machine->workarounds = cps_gpu_workarounds(item->chip.gpu_id);
    if (machine->engine.gen != CPS_A6XX || !cps_gpu_roq_thresholds(gpu, thresholds))
        return;
    machine_set_reg_(machine, THRESHOLDS_1, thresholds[0]);
    machine_set_reg_(machine, THRESHOLDS_2, thresholds[1]);
}

static struct cps_err *recover(struct cps_afuc *machine, const struct cps_item *item)
{
    machine_event_(machine, CPS_EV_RECOVER, item->recover.reason, CPS_CPU_NONE, 0,
                   machine->engine.instructions, (uint32_t)machine->engine.packets);
    CPS_TRY(machine_recover_(machine));
    if (machine->chip.kind == CPS_ITEM_CHIP)
        take_chip(machine, &machine->chip);
    return NULL;
}

struct cps_err *machine_feed_(struct cps_engine *engine, const struct cps_item *item)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    machine->rings.fed = machine->rings.current;
    if (machine->origin)
        origin_item_(machine->origin, item);
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        machine->chip = *item;
        take_chip(machine, item);
        return NULL;
    case CPS_ITEM_RECOVER:
        return recover(machine, item);
    case CPS_ITEM_RESET:
        cps_mem_forget(engine->mem);
        return NULL;
    case CPS_ITEM_DATA:
        return cps_mem_load(engine->mem, item->buffer.iova, item->buffer.data, item->buffer.size);
    case CPS_ITEM_INIT:
        me_init(machine);
        rings_prepare_(machine);
        return NULL;
    case CPS_ITEM_SUBMIT:
        if (machine->core[0].who == CPS_CPU_AQE)
            return cps_err_new(CPS_ERR_INPUT, "an AQE executes no command streams, expected none: "
                                              "it boots and waits for its SQE");
        if (item->stream.lpac && !machine_find_core_(machine, CPS_CPU_LPAC))
            return cps_err_new(CPS_ERR_INPUT, "a stream for LPAC, which this firmware lacks");
        CPS_TRY(choose_ring(machine, item->stream.ring));
        return submit(machine, item);
    case CPS_ITEM_FENCE:
        CPS_TRY(choose_ring(machine, item->fence.ring));
        return end_submission(machine, item);
    case CPS_ITEM_RING:
        set_ring(machine, item);
        return NULL;
    case CPS_ITEM_PACKETS:
        return machine_ring_(machine, item->block.words, (unsigned)item->block.count)
                   ? NULL
                   : cps_err_nomem();
    case CPS_ITEM_WRITE:
    case CPS_ITEM_READ:
        return access_register(machine, item);
    case CPS_ITEM_REGISTER:
        if (item->reg.offset < GPU_REGS)
            machine_set_reg_(machine, item->reg.offset, item->reg.value);
        return NULL;
    default:
        if (item->kind == CPS_ITEM_END || item->kind == CPS_ITEM_RUN || !cps_item_acts(item))
            return NULL;
        return cps_err_new(CPS_ERR_INPUT, "afuc runs firmware: expected command streams, found "
                                          "what the host of a script does");
    }
}
