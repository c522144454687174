/* SPDX-License-Identifier: MIT
 * Pipe registers: the handlers that pipe.def names. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

static bool is_a7xx(const struct afuc_core *core)
{
    return cps_gen_since(core->machine->engine.gen, CPS_A7XX);
}

static void lower(uint32_t *counter)
{
    *counter -= *counter != 0;
}

static void write_WFI_DECR(const struct cps_access *at)
{
    lower(&core_of_(at)->s.pend_wfi);
}

static void write_QUERY_DECR(const struct cps_access *at)
{
    lower(&core_of_(at)->s.pend_query);
}

static void write_NRT_LO(const struct cps_access *at)
{
    core_of_(at)->s.nrt[0] = core_of_(at)->s.nrt_base[0] = at->value;
}

static void write_NRT_HI(const struct cps_access *at)
{
    core_of_(at)->s.nrt[1] = core_of_(at)->s.nrt_base[1] = at->value;
}

static void write_NRT_DATA(const struct cps_access *at)
{
    if (!saved_captures_nrt_(core_of_(at)))
        nrt_write_(core_of_(at), at->value);
}

static void write_EVENT_CMD(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    core->s.event_cmd = at->value;
    if (at->value >> (is_a7xx(core) ? 13 : 3) & 1)
        lower(&core->s.pend_cache);
    if (is_a7xx(core)) {
        /* D: INC_BR_COUNT and INC_BV_COUNT of CP_EVENT_WRITE7; the event is over at once. */
        struct cps_afuc *machine = core->machine;
        uint32_t which = at->value >> 11 & 3;
        for (unsigned i = 0; i < 2; i++) {
            machine->completed[i] += which >> i & 1;
            machine->engine.changes += which >> i & 1;
        }
    }
}

static void write_ONCHIP_WAIT(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    core->s.onchip[1] = at->value;
    if (!stamp_reached_(core))
        core->s.wait = WAIT_PIPE;
}

static void write_TS_DATA(const struct cps_access *at)
{
    stamp_(core_of_(at), at->value);
}

static void write_TS_DATA_HI(const struct cps_access *at)
{
    stamp_high_(core_of_(at), at->value);
}

/* a530 ME: a void register whose command is part of the address. */
static void write_A5_EVENT(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    if (at->value >> 11 & 1)
        lower(&core->s.pend_cache);
    if (at->value >> 13 & 1)
        lower(&core->machine->core[0].s.pend_cache);
}

/* A number per generation: each is a row. */
static const struct cps_reg_row rows[] = {
#define write_NOTHING   NULL
#define write_MEMBER(m) cps_reg_write_member_, .member = offsetof(struct afuc_core, s.m)
#define G5              CPS_GEN_BIT(A5XX)
#define G6              CPS_GEN_BIT(A6XX)
#define G7              (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))
#define ROW(bits, number, is_void, wr) \
    CPS_REG_ROW((number) ? (bits) : 0, number, 1, 1, .own = (is_void), .write = write_##wr)
#define PIPE_REG(id, g5, g6, g7, is_void, wr, evidence) \
    ROW(G5, g5, is_void, wr), ROW(G6, g6, is_void, wr), ROW(G7, g7, is_void, wr),
#include "emu/afuc/control/pipe.def"
};

struct cps_err *afuc_pipe_init_(struct cps_afuc *machine)
{
    static const struct cps_reg_table table = CPS_REG_TABLE(rows);
    return cps_reg_index_create_(&table, 1, cps_gen_bit(machine->engine.gen), &machine->pipe);
}

bool afuc_pipe_is_memory_(const struct afuc_core *core, uint32_t number)
{
    const struct cps_reg_row *row = cps_reg_find_(core->machine->pipe, number);
    return row && row->write == write_NRT_DATA;
}

static void act(struct afuc_core *core, const struct cps_reg_row *row, uint32_t value)
{
    if (row->write)
        row->write(
            &(struct cps_access){.device = core, .row = row, .number = row->first, .value = value});
}

void afuc_pipe_select_(struct afuc_core *core, uint32_t address)
{
    uint32_t number = address >> 24;
    const struct cps_reg_row *row = cps_reg_find_(core->machine->pipe, number);
    if (!row || !row->own)
        return;
    core_event_(core, CPS_EV_PIPE, 0, number, address & 0xffffff);
    act(core, row, address & 0xffffff);
}

void afuc_pipe_write_(struct afuc_core *core, uint32_t number, uint32_t value)
{
    const struct cps_reg_row *row = cps_reg_find_(core->machine->pipe, number);
    core_event_(core, CPS_EV_PIPE, 0, number, value);
    if (!row && cps_tap_once_(core->s.touched_pipe, number % 256))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_PIPE, number, 0);
    else if (row && !row->own) /* increment onto a void register does not trigger it (D) */
        act(core, row, value);
}

/* ---- what events write when they complete: values, the clock, registers, on-chip words ---- */

static uint64_t event_iova(const struct afuc_core *core)
{
    return (uint64_t)core->s.event_addr[1] << 32 | core->s.event_addr[0];
}

uint64_t cps_afuc_clock(const struct cps_afuc *machine)
{
    const struct cps_engine *engine = &machine->engine;
    const struct afuc_core *core = &machine->core[0];
    switch ((enum cps_policy_clock)engine->policy.clock) {
    case CPS_CLOCK_PACKETS:
        return engine->policy.clock_start + core->packets + core->clock_reads;
    case CPS_CLOCK_INSTRUCTIONS:
        return engine->policy.clock_start + engine->clock;
    case CPS_CLOCK_HOST:
        return engine->host.clock ? engine->host.clock(engine->host.context) : 0;
    }
    return 0;
}

/* What a processor has begun does not depend on how many instructions its firmware takes, nor on
 * how far another processor is. */
uint64_t stamp_clock_(struct afuc_core *core)
{
    const struct cps_engine *engine = &core->machine->engine;
    uint64_t start = engine->policy.clock_start;
    switch ((enum cps_policy_clock)engine->policy.clock) {
    case CPS_CLOCK_PACKETS:
        return start + core->packets + ++core->clock_reads;
    case CPS_CLOCK_INSTRUCTIONS:
        return start + afuc_clock_(core);
    case CPS_CLOCK_HOST:
        return engine->host.clock ? engine->host.clock(engine->host.context) : start;
    }
    return start;
}

static void store_clock(struct afuc_core *core)
{
    uint64_t clock = stamp_clock_(core);
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_CLOCK, event_iova(core), (uint32_t)clock);
    core_mem_write_(core, event_iova(core), (uint32_t)clock, CPS_VIA_EVENT);
    core_mem_write_(core, event_iova(core) + 4, (uint32_t)(clock >> 32), CPS_VIA_EVENT);
}

/* Number of CACHE_FLUSH_TS in RBBM_INT_0, which the kernel driver waits for. */
#define IRQ_CACHE_FLUSH_TS 20

static void interrupt(struct afuc_core *core)
{
    uint32_t ctrl = core->s.event_ctrl;
    bool a7xx = cps_gen_since(core->machine->engine.gen, CPS_A7XX);
    if (ctrl >> (a7xx ? 6 : 2) & 1)
        machine_irq_(core, a7xx ? ctrl >> 7 & 31 : IRQ_CACHE_FLUSH_TS);
}

/* What EVENT_TS_CTRL says from a7xx on (F: a740 02d1..032f; D: CP_EVENT_WRITE7). Spaces 3 and 4
 * clear a resource; 5 stores the sample count, 6 as that of an end, and with kind 6 it adds the
 * difference (F: a740 0343..0359 for WRITE_SAMPLE_COUNT, SAMPLE_COUNT_END_OFFSET and
 * WRITE_ACCUM_SAMPLE_COUNT_DIFF). */
enum {
    SPACE_ON_CHIP = 2,
    SPACE_CLEAR = 3,
    SPACE_CLEAR_2 = 4,
    SPACE_SAMPLES = 5,
    SPACE_SAMPLES_END = 6
};
enum {
    KIND_32 = 1,
    KIND_64 = 2,
    KIND_CLOCK = 3,
    KIND_CLOCK_2 = 4,
    KIND_REGISTERS = 5,
    KIND_DIFFERENCE = 6
};

static unsigned space_of(const struct afuc_core *core)
{
    return core->s.event_ctrl & 7;
}

static unsigned kind_of(const struct afuc_core *core)
{
    return core->s.event_ctrl >> 3 & 7;
}

static void put_on_chip(struct afuc_core *core, uint32_t index, uint32_t value)
{
    struct cps_afuc *machine = core->machine;
    core_event_(core, CPS_EV_CTRL, 0, SHARED_CONTROL + index % SHARED_COUNT, value);
    machine->engine.changes += machine->shared[index % SHARED_COUNT] != value;
    machine->shared[index % SHARED_COUNT] = value;
}

/* Nothing is drawn, so there are no samples but those that the policy names, which pass between
 * two counts. */
static void store_pair(struct afuc_core *core, uint64_t iova, uint64_t value)
{
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_COUNTER, iova, (uint32_t)value);
    core_mem_write_(core, iova, (uint32_t)value, CPS_VIA_EVENT);
    core_mem_write_(core, iova + 4, (uint32_t)(value >> 32), CPS_VIA_EVENT);
}

void stamp_samples_(struct afuc_core *core, uint64_t iova)
{
    core->machine->samples += core->machine->engine.policy.samples;
    store_pair(core, iova, core->machine->samples);
}

static uint64_t load_pair(struct afuc_core *core, uint64_t iova)
{
    uint32_t low = core_mem_read_(core, iova, CPS_VIA_EVENT);
    return (uint64_t)core_mem_read_(core, iova + 4, CPS_VIA_EVENT) << 32 | low;
}

/* D: turnip's slots of occlusion queries: begin, sum of differences, end. */
static void stamp_end(struct afuc_core *core)
{
    enum { SUM = 8, END = 16 };
    uint64_t begin = event_iova(core);
    stamp_samples_(core, begin + END);
    if (kind_of(core) != KIND_DIFFERENCE)
        return;
    uint64_t first = load_pair(core, begin);
    uint64_t sum = load_pair(core, begin + SUM);
    store_pair(core, begin + SUM, sum + core->machine->samples - first);
}

/* The write of an event that completes: here, where everything is in order, at once. */
void stamp_(struct afuc_core *core, uint32_t value)
{
    if (!cps_gen_since(core->machine->engine.gen, CPS_A7XX)) {
        /* Up to a6xx: a value, or the clock. */
        if (core->s.event_ctrl >> 1 & 1)
            store_clock(core);
        else
            core_mem_write_(core, event_iova(core), value, CPS_VIA_EVENT);
        interrupt(core);
        return;
    }
    core->s.event_value = value;
    unsigned space = space_of(core);
    if (space == SPACE_ON_CHIP)
        put_on_chip(core, core->s.event_addr[0] / 4, value);
    else if (space == SPACE_SAMPLES)
        stamp_samples_(core, event_iova(core));
    else if (space == SPACE_SAMPLES_END)
        stamp_end(core);
    else if (space == SPACE_CLEAR || space == SPACE_CLEAR_2)
        return;
    else if (kind_of(core) == KIND_CLOCK || kind_of(core) == KIND_CLOCK_2)
        store_clock(core);
    else if (kind_of(core) != KIND_REGISTERS)
        core_mem_write_(core, event_iova(core), value, CPS_VIA_EVENT);
    interrupt(core);
}

/* What came as the lower half is the first register, what comes now how many. */
static void store_registers(struct afuc_core *core, uint32_t count)
{
    uint32_t first = core->s.event_value & 0x3ffff;
    if (count > STAMP_REGISTERS || count > GPU_REGS - first) {
        afuc_fault_(core, FAULT_EVENT, count);
        return;
    }
    for (uint32_t i = 0; i < count && !core->s.wait; i++)
        core_mem_write_(core, event_iova(core) + 4 * (uint64_t)i, gpu_read_(core, first + i),
                        CPS_VIA_EVENT);
}

void stamp_high_(struct afuc_core *core, uint32_t value)
{
    bool memory = space_of(core) <= 1;
    if (memory && kind_of(core) == KIND_64)
        core_mem_write_(core, event_iova(core) + 4, value, CPS_VIA_EVENT);
    else if (memory && kind_of(core) == KIND_REGISTERS)
        store_registers(core, value);
}

/* Signed, so that counters may wrap, as the same wait for memory has it (F: a740 0c42). */
bool stamp_reached_(const struct afuc_core *core)
{
    const uint32_t *wanted = core->s.onchip;
    return !((core->machine->shared[wanted[0] % SHARED_COUNT] - wanted[1]) >> 31);
}
