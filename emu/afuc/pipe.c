/* SPDX-License-Identifier: MIT
 * Pipe registers: the handlers that afuc_pipe.def names. */
#include "emu/afuc/machine.h"

static bool is_a7xx(const struct afuc_core *core)
{
    return cps_gen_since(cps_layout_gen(core->layout), CPS_A7XX);
}

static void lower(uint32_t *counter)
{
    *counter -= *counter != 0;
}

static void pipe_NOTHING(struct afuc_core *core, uint32_t value)
{
    (void)core;
    (void)value;
}

static void pipe_WFI_DECR(struct afuc_core *core, uint32_t value)
{
    (void)value;
    lower(&core->s.pend_wfi);
}

static void pipe_QUERY_DECR(struct afuc_core *core, uint32_t value)
{
    (void)value;
    lower(&core->s.pend_query);
}

static void pipe_NRT_LO(struct afuc_core *core, uint32_t value)
{
    core->s.nrt[0] = core->s.nrt_base[0] = value;
}

static void pipe_NRT_HI(struct afuc_core *core, uint32_t value)
{
    core->s.nrt[1] = core->s.nrt_base[1] = value;
}

static void pipe_NRT_DATA(struct afuc_core *core, uint32_t value)
{
    nrt_write_(core, value);
}

static void pipe_EVENT_CMD(struct afuc_core *core, uint32_t value)
{
    core->s.event_cmd = value;
    if (value >> (is_a7xx(core) ? 13 : 3) & 1)
        lower(&core->s.pend_cache);
}

static void pipe_TS_LO(struct afuc_core *core, uint32_t value)
{
    core->s.event_addr[0] = value;
}

static void pipe_TS_HI(struct afuc_core *core, uint32_t value)
{
    core->s.event_addr[1] = value;
}

static void pipe_TS_CTRL(struct afuc_core *core, uint32_t value)
{
    core->s.event_ctrl = value;
}

static void pipe_TS_DATA(struct afuc_core *core, uint32_t value)
{
    event_stamp_(core, value);
}

static void pipe_TS_DATA_HI(struct afuc_core *core, uint32_t value)
{
    event_stamp_high_(core, value);
}

/* a530 ME: a void register whose command is part of the address. */
static void pipe_A5_EVENT(struct afuc_core *core, uint32_t value)
{
    if (value >> 11 & 1)
        lower(&core->s.pend_cache);
    if (value >> 13 & 1)
        lower(&core->machine->core[0].s.pend_cache);
}

static void pipe_READ_COUNT(struct afuc_core *core, uint32_t value)
{
    core->s.read_count = value;
}

static const struct row {
    uint8_t number[3]; /* a5xx, a6xx, a7xx */
    bool is_void;
    void (*write)(struct afuc_core *core, uint32_t value);
} rows[] = {
#define PIPE_REG(id, g5, g6, g7, is_void, write, evidence) {{g5, g6, g7}, is_void, pipe_##write},
#include "emu/afuc/pipe.def"
};

static const struct row *find_row(const struct afuc_core *core, uint32_t number)
{
    unsigned gen = is_a7xx(core) ? 2 : cps_layout_gen(core->layout) == CPS_A6XX;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].number[gen] == number)
            return &rows[i];
    }
    return NULL;
}

bool afuc_pipe_is_memory_(const struct afuc_core *core, uint32_t number)
{
    const struct row *row = find_row(core, number);
    return row && row->write == pipe_NRT_DATA;
}

static void report_unmodelled(struct afuc_core *core, uint32_t number)
{
    uint32_t *touched = &core->s.touched_pipe[number / 32 % 8];
    if (!(*touched >> number % 32 & 1))
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_PIPE, number, 0);
    *touched |= 1u << number % 32;
}

void afuc_pipe_select_(struct afuc_core *core, uint32_t address)
{
    uint32_t number = address >> 24;
    const struct row *row = find_row(core, number);
    if (!row || !row->is_void)
        return;
    core_event_(core, CPS_EV_PIPE, 0, number, address & 0xffffff);
    row->write(core, address & 0xffffff);
}

void afuc_pipe_write_(struct afuc_core *core, uint32_t number, uint32_t value)
{
    const struct row *row = find_row(core, number);
    core_event_(core, CPS_EV_PIPE, 0, number, value);
    if (!row)
        report_unmodelled(core, number);
    else if (!row->is_void) /* increment onto a void register does not trigger it (D) */
        row->write(core, value);
}
