/* SPDX-License-Identifier: MIT
 * Control and SQE registers: the handlers that afuc_ctrl.def names. */
#include "emu/afuc/machine.h"

#include <string.h>

#define NO_NUMBER 0xffffu /* NA in the table */

enum ctrl_row {
#define CTRL(id, ...) ROW_##id,
#include "emu/afuc/ctrl.def"
    ROW_COUNT,
};

/* What a handler gets: the core, the register's number, and its index within the row. */
struct access {
    struct afuc_core *core;
    uint32_t number;
    uint32_t index;
    uint32_t value;
    const uint32_t *extra; /* (sdsN) words */
};

static uint32_t stored(const struct access *at)
{
    return at->core->s.control[at->number];
}

static uint32_t read_STORED(const struct access *at)
{
    return stored(at);
}

static uint32_t read_RPTR(const struct access *at)
{
    return at->core->s.queue[LEVEL_RB].pos;
}

static uint32_t read_LOOKAHEAD(const struct access *at)
{
    /* There must be a word behind the packet to look at. */
    bool available = stream_has_(at->core, at->core->s.r[R_REM] + 1);
    return at->core->machine->engine.policy.prefetch && available ? 3 : 0;
}

/* a530 PFP: base lo, hi, size and dwords left of what IB1 (0..3) and IB2 (4..7) read. */
static uint32_t read_IB_STATUS(const struct access *at)
{
    const struct queue *queue = &at->core->s.queue[at->index < 4 ? LEVEL_IB1 : LEVEL_IB2];
    const struct fetch *fetch = &queue->fetch[queue->head];
    const uint32_t words[4] = {(uint32_t)fetch->iova, (uint32_t)(fetch->iova >> 32), fetch->dwords,
                               fetch->dwords - queue->pos};
    return words[at->index % 4];
}

static uint32_t assume_visible(struct afuc_core *core, const struct access *at, uint32_t value)
{
    core_event_(core, CPS_EV_ASSUME, CPS_WHAT_VISIBILITY, at->number, value);
    return value;
}

/* Every draw visible: the stream hands out 1, 2, 3, ...; none: it has ended. */
static uint32_t read_VSD_NEXT(const struct access *at)
{
    struct afuc_core *core = at->core;
    if (core->machine->engine.policy.visibility != CPS_VISIBILITY_ALL)
        return assume_visible(core, at, 0);
    return assume_visible(core, at, ++core->s.visible_draw);
}

static uint32_t read_VSD_COUNT(const struct access *at)
{
    bool all = at->core->machine->engine.policy.visibility == CPS_VISIBILITY_ALL;
    return assume_visible(at->core, at, all ? 0x3fffffff : 0x7fffffff);
}

static uint32_t read_PEND_WFI(const struct access *at)
{
    return at->core->s.pend_wfi;
}

static uint32_t read_PEND_QUERY(const struct access *at)
{
    return at->core->s.pend_query;
}

static uint32_t read_PEND_CACHE(const struct access *at)
{
    return at->core->s.pend_cache;
}

/* The six registers of the selected draw-state group, in the order of their numbers. */
static uint32_t *group_word(const struct access *at)
{
    uint32_t selected = afuc_control_get_(at->core, CTL_DRAW_STATE_SEL) % GROUP_COUNT;
    struct group *group = &at->core->s.group[selected];
    uint32_t *const words[6] = {&group->sds_base[0], &group->sds_base[1], &group->sds_dwords,
                                &group->base[0],     &group->base[1],     &group->hdr};
    return words[at->index];
}

static uint32_t read_GROUP(const struct access *at)
{
    return *group_word(at);
}

static uint32_t read_LOADED(const struct access *at)
{
    return at->core->s.groups_loaded;
}

static uint32_t read_ACTIVE(const struct access *at)
{
    return at->core->s.group_active;
}

static uint32_t read_SDS_MASK(const struct access *at)
{
    return draw_queued_mask_(at->core);
}

static uint32_t read_MARKER(const struct access *at)
{
    return at->core->machine->reg[0x9880];
}

/* Evaluation is instant, so bit 0 is always set. */
static uint32_t read_SDS_STATUS(const struct access *at)
{
    return at->core->s.queue[LEVEL_SDS].count ? 1 : 3;
}

static uint32_t read_PACKET_ID(const struct access *at)
{
    return at->core->s.id;
}

static uint32_t read_LOCK(const struct access *at)
{
    return at->core->s.lock;
}

static uint32_t read_SHARED(const struct access *at)
{
    return at->core->machine->shared[at->index];
}

static void write_STORED(const struct access *at)
{
    (void)at;
}

/* Base low and high stand in the two registers before the size. */
static void queue_ib(const struct access *at, enum level level)
{
    const uint32_t *control = at->core->s.control;
    uint64_t iova = (uint64_t)control[at->number - 1] << 32 | control[at->number - 2];
    uint32_t dwords = at->value & 0xfffff;
    if (dwords && !stream_queue_(at->core, level, (struct fetch){iova, dwords, 0}))
        afuc_fault_(at->core, FAULT_QUEUE, at->number);
}

static void write_IB1(const struct access *at)
{
    queue_ib(at, LEVEL_IB1);
}

static void write_IB2(const struct access *at)
{
    queue_ib(at, LEVEL_IB2);
}

static void write_IB3(const struct access *at)
{
    queue_ib(at, LEVEL_IB3);
}

static void write_MEM_READ(const struct access *at)
{
    const uint32_t *control = at->core->s.control;
    uint64_t iova = (uint64_t)control[at->number - 1] << 32 | control[at->number - 2];
    fifo_request_(at->core, &at->core->s.memdata, iova, at->value);
}

static void write_REG_ADDR(const struct access *at)
{
    at->core->s.reg_writes = 0;
}

static void write_REG_WRITE(const struct access *at)
{
    struct afuc_core *core = at->core;
    uint32_t address = afuc_control_get_(core, CTL_REG_WRITE_ADDR);
    uint32_t wrap = address >> 20 & 7;
    gpu_write_(core, address & 0x3ffff, at->value, CPS_PATH_CTRL);
    uint32_t next = address + 1;
    if (wrap && ++core->s.reg_writes == wrap) {
        core->s.reg_writes = 0;
        next = address + 1 - wrap;
    }
    afuc_control_set_(core, CTL_REG_WRITE_ADDR, (address & 0xffff0000) | (next & 0xffff));
}

static void write_REG_READ(const struct access *at)
{
    struct afuc_core *core = at->core;
    uint32_t count = afuc_control_get_(core, CTL_REG_READ_DWORDS);
    afuc_control_set_(core, CTL_REG_READ_DWORDS, 1);
    for (uint32_t i = 0; i < (count ? count : 1); i++) {
        if (!fifo_put_(&core->s.regdata, gpu_read_(core, (at->value + i) & 0x3ffff)))
            afuc_fault_(core, FAULT_QUEUE, at->number);
    }
}

static void write_VSD(const struct access *at)
{
    at->core->s.visible_draw = 0;
}

static void write_WFI_INCR(const struct access *at)
{
    at->core->s.pend_wfi++;
}

static void write_QUERY_INCR(const struct access *at)
{
    at->core->s.pend_query++;
}

static void write_CACHE_INCR(const struct access *at)
{
    at->core->s.pend_cache++;
}

static void write_GROUP(const struct access *at)
{
    *group_word(at) = at->value;
}

static void write_LOADED(const struct access *at)
{
    at->core->s.groups_loaded = at->value;
}

static void write_ACTIVE(const struct access *at)
{
    at->core->s.group_active = at->value;
}

static void write_SET_HDR(const struct access *at)
{
    draw_set_group_(at->core, at->value, at->extra);
}

static void write_EXECUTE(const struct access *at)
{
    draw_execute_group_(at->core, at->value);
}

static void write_LEVEL(const struct access *at)
{
    static const uint8_t a6xx[] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_SDS};
    static const uint8_t a7xx[] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_IB3, LEVEL_SDS};
    bool ib3 = cps_gen_since(cps_layout_gen(at->core->layout), CPS_A7XX);
    /* Firmware keeps flags above the level in the same register; hardware takes the low bits. */
    uint32_t level = at->value & (ib3 ? 7 : 3);
    stream_select_(at->core, ib3 ? (level < sizeof(a7xx) ? a7xx[level] : LEVEL_RB) : a6xx[level]);
}

static void write_PEEK(const struct access *at)
{
    at->core->s.peeking = at->value != 0;
}

/* Clearing the hint takes back the packet that was read ahead: 6ee 01c6 then drops that packet's
 * words itself, header included. */
static void write_HINT(const struct access *at)
{
    struct afuc_state *s = &at->core->s;
    if (!at->value && s->looking_ahead) {
        s->queue[s->level].pos = s->header_pos;
        at->core->window_left = 0;
    }
    s->looking_ahead = at->value != 0;
}

static void write_LEVEL_HINT(const struct access *at)
{
    struct afuc_state *s = &at->core->s;
    if (at->value && !s->looking_ahead)
        s->hint_pos = s->queue[s->level].pos;
    if (!at->value && s->looking_ahead) {
        s->queue[s->level].pos = s->hint_pos;
        at->core->window_left = 0;
    }
    s->looking_ahead = at->value != 0;
}

static void write_TABLE_ADDR(const struct access *at)
{
    at->core->s.table_at = at->value;
}

static void write_TABLE(const struct access *at)
{
    at->core->s.table[at->core->s.table_at++ % 128] = at->value;
}

static void write_FATAL(const struct access *at)
{
    if (!at->core->s.error_code)
        at->core->s.error_code = at->value;
}

/* Bits of the mask by queue; 1 and 2 (740: 2 and 3) are IB levels (F: each use pairs with that
 * queue). */
static void write_RESET(const struct access *at)
{
    static const uint8_t a6xx[] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_SDS};
    static const uint8_t a7xx[] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_IB3, LEVEL_SDS};
    bool ib3 = cps_gen_since(cps_layout_gen(at->core->layout), CPS_A7XX);
    struct afuc_core *core = at->core;
    for (unsigned i = 1; i < (ib3 ? sizeof(a7xx) : sizeof(a6xx)); i++) {
        if (at->value >> i & 1)
            queue_clear_(core, ib3 ? a7xx[i] : a6xx[i]);
    }
}

static void write_GROUP_FIRST(const struct access *at)
{
    draw_group_word_(at->core, at->value, true);
}

static void write_GROUP_NEXT(const struct access *at)
{
    draw_group_word_(at->core, at->value, false);
}

static void write_SDS_START(const struct access *at)
{
    if (at->value == 4)
        draw_start_(at->core);
    else if (at->value == 3)
        queue_clear_(at->core, LEVEL_SDS);
}

/* A lock that another core owns stays its own; asking again is the firmware's loop. */
static void write_LOCK(const struct access *at)
{
    struct cps_afuc *machine = at->core->machine;
    uint32_t taken = 0;
    for (unsigned i = 0; i < machine->engine.cores; i++)
        taken |= &machine->core[i] == at->core ? 0 : machine->core[i].s.lock;
    at->core->s.lock = at->value & ~taken;
}

static void start_core(const struct access *at, enum cps_processor who, enum ctl base)
{
    const uint32_t *words = at->core->s.control + afuc_control_number_(at->core, base);
    if (at->value & 1)
        machine_start_core_(at->core, who, (uint64_t)words[1] << 32 | words[0]);
}

static void write_BV_CNTL(const struct access *at)
{
    start_core(at, CPS_CPU_BV, CTL_BV_INSTR_BASE);
}

static void write_LPAC_CNTL(const struct access *at)
{
    start_core(at, CPS_CPU_LPAC, CTL_LPAC_INSTR_BASE);
}

/* Base low and high stand in the two registers before the size. */
static void write_SIDE(const struct access *at)
{
    const uint32_t *control = at->core->s.control;
    uint64_t iova = (uint64_t)control[at->number - 1] << 32 | control[at->number - 2];
    if (at->value && !queue_push_(&at->core->me->s.queue[LEVEL_SIDE], iova, at->value, 0))
        afuc_fault_(at->core, FAULT_QUEUE, at->number);
}

static void write_SIDE_TAKE(const struct access *at)
{
    at->core->s.side_left = at->value;
}

static void write_SOURCE(const struct access *at)
{
    at->core->s.side_packets = at->value == 1;
    stream_select_(at->core, at->value ? LEVEL_SIDE : LEVEL_MEQ);
}

static void write_SHARED(const struct access *at)
{
    struct cps_afuc *machine = at->core->machine;
    machine->engine.changes += machine->shared[at->index] != at->value;
    machine->shared[at->index] = at->value;
}

static const struct row {
    uint16_t number[CPS_LAYOUT_COUNT]; /* by layout */
    uint16_t count;
    uint32_t (*read)(const struct access *at);
    void (*write)(const struct access *at);
} rows[] = {
#define CTRL(id, pfp, me, g6, g7, gen3, n, rd, wr, evidence) \
    [ROW_##id] = {{pfp, me, g6, g7, gen3, gen3}, n, read_##rd, write_##wr},
#include "emu/afuc/ctrl.def"
};

/* Rows of the registers that handlers of other rows need, by enum ctl. */
static const uint8_t row_of[] = {
    [CTL_DRAW_STATE_SEL] = ROW_DRAW_STATE_SEL,
    [CTL_LOAD_STORE_HI] = ROW_LOAD_STORE_HI,
    [CTL_REG_READ_DWORDS] = ROW_REG_READ_DWORDS,
    [CTL_REG_READ_TEST_RESULT] = ROW_REG_READ_TEST_RESULT,
    [CTL_REG_WRITE_ADDR] = ROW_REG_WRITE_ADDR,
    [CTL_CHIP_ID] = ROW_CHIP_ID,
    [CTL_CHIP_VARIANT] = ROW_CHIP_VARIANT,
    [CTL_SECURE_MODE] = ROW_SECURE_MODE,
    [CTL_CONTEXT_SWITCH_CNTL] = ROW_CONTEXT_SWITCH_CNTL,
    [CTL_IB_LEVEL] = ROW_IB_LEVEL,
    [CTL_LEVEL_PRIVILEGE] = ROW_LEVEL_PRIVILEGE,
    [CTL_MODE_BITMASK] = ROW_MODE_BITMASK,
    [CTL_BV_INSTR_BASE] = ROW_BV_INSTR_BASE,
    [CTL_LPAC_INSTR_BASE] = ROW_LPAC_INSTR_BASE,
};

void afuc_control_init_(struct afuc_core *core)
{
    memset(core->control_row, 0xff, sizeof(core->control_row));
    for (unsigned row = 0; row < ROW_COUNT; row++) {
        uint32_t first = rows[row].number[core->layout];
        for (uint32_t i = 0; first != NO_NUMBER && i < rows[row].count; i++)
            core->control_row[first + i] = (uint8_t)row;
    }
}

uint32_t afuc_control_number_(const struct afuc_core *core, enum ctl which)
{
    return rows[row_of[which]].number[core->layout];
}

uint32_t afuc_control_get_(const struct afuc_core *core, enum ctl which)
{
    uint32_t number = afuc_control_number_(core, which);
    return number == NO_NUMBER ? 0 : core->s.control[number];
}

void afuc_control_set_(struct afuc_core *core, enum ctl which, uint32_t value)
{
    uint32_t number = rows[row_of[which]].number[core->layout];
    if (number != NO_NUMBER)
        core->s.control[number] = value;
}

/* Reports a register without a row, once. */
static void report_unmodelled(struct afuc_core *core, uint32_t number, unsigned place)
{
    uint32_t *touched = place == CPS_PLACE_SQE ? core->s.touched_sqe : core->s.touched;
    uint32_t bit = 1u << number % 32;
    if (touched[number / 32] & bit)
        return;
    touched[number / 32] |= bit;
    core_event_(core, CPS_EV_UNMODELLED, place, number, 0);
}

uint32_t afuc_control_read_(struct afuc_core *core, uint32_t number)
{
    number %= CONTROL_COUNT;
    core->polled = (struct polled){CPS_PLACE_CONTROL, number};
    unsigned row = core->control_row[number];
    if (row == 0xff) {
        report_unmodelled(core, number, CPS_PLACE_CONTROL);
        return core->s.control[number];
    }
    struct access at = {core, number, number - rows[row].number[core->layout], 0, NULL};
    return rows[row].read(&at);
}

void afuc_control_write_(struct afuc_core *core, uint32_t number, uint32_t value,
                         const uint32_t *extra)
{
    number %= CONTROL_COUNT;
    unsigned row = core->control_row[number];
    core_event_(core, CPS_EV_CTRL, 0, number, value);
    if (row == 0xff)
        report_unmodelled(core, number, CPS_PLACE_CONTROL);
    core->s.control[number] = value;
    if (row == 0xff)
        return;
    struct access at = {core, number, number - rows[row].number[core->layout], value, extra};
    rows[row].write(&at);
}

uint32_t afuc_sqe_read_(struct afuc_core *core, uint32_t number)
{
    number %= SQE_COUNT;
    return core->s.sqe[number];
}

void afuc_sqe_write_(struct afuc_core *core, uint32_t number, uint32_t value)
{
    number %= SQE_COUNT;
    bool known = number == SQE_PREEMPT || number == SQE_SP ||
                 (number >= SQE_STACK && number < SQE_STACK + STACK_DEPTH);
    if (!known)
        report_unmodelled(core, number, CPS_PLACE_SQE);
    core->s.sqe[number] = value;
}
