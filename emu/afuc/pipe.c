/* SPDX-License-Identifier: MIT
 * Pipe registers: the handlers that pipe.def names. */
#include "emu/afuc/machine.h"
#include "emu/afuc/nrt.h"
#include "emu/afuc/pipe.h"
#include "emu/afuc/saved.h"
#include "emu/afuc/stamp.h"

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

/* D: INC_BR_COUNT and INC_BV_COUNT of CP_EVENT_WRITE7; the event is over at once. */
static void count_completed(struct cps_afuc *machine, uint32_t which)
{
    for (unsigned i = 0; i < 2; i++) {
        machine->completed[i] += which >> i & 1;
        machine->engine.changes += which >> i & 1;
    }
}

static void write_EVENT_CMD(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    core->s.event_cmd = at->value;
    if (at->value >> (is_a7xx(core) ? 13 : 3) & 1)
        lower(&core->s.pend_cache);
    if (is_a7xx(core))
        count_completed(core->machine, at->value >> 11 & 3);
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
#include "emu/afuc/pipe.def"
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

static void report_unmodelled(struct afuc_core *core, uint32_t number)
{
    uint32_t *touched = &core->s.touched_pipe[number / 32 % 8];
    if (!(*touched >> number % 32 & 1))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_PIPE, number, 0);
    *touched |= 1u << number % 32;
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
    if (!row)
        report_unmodelled(core, number);
    else if (!row->own) /* increment onto a void register does not trigger it (D) */
        act(core, row, value);
}
