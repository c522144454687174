/* SPDX-License-Identifier: MIT
 * Control and SQE registers: the handlers that ctrl.def names. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include <string.h>

#define NO_NUMBER   0xffffu /* NA in the table */
#define SAME_NUMBER 0xfffeu /* AS */

#define control_read_STORED     NULL
#define control_write_STORED    NULL
#define control_read_MEMBER(m)  cps_reg_read_member_, .member = offsetof(struct afuc_core, s.m)
#define control_write_MEMBER(m) cps_reg_write_member_, .member = offsetof(struct afuc_core, s.m)
#define control_write_SAME      cps_reg_write_member_
#define control_write_COUNT(m)  cps_reg_count_member_, .member = offsetof(struct afuc_core, s.m)
/* A word of the selected draw-state group. */
#define control_read_GROUP  read_group
#define control_write_GROUP write_group
/* Another processor: which. */
#define control_write_BV_CNTL     control_write_START, .own = CPS_CPU_BV
#define control_write_LPAC_CNTL   control_write_START, .own = CPS_CPU_LPAC
#define control_write_DDE_BR_CNTL control_write_START, .own = CPS_CPU_DDE_BR
#define control_write_DDE_BV_CNTL control_write_START, .own = CPS_CPU_DDE_BV
#define control_write_WAKE_BV     control_write_WAKE, .own = CPS_CPU_BV
#define control_write_WAKE_LPAC   control_write_WAKE, .own = CPS_CPU_LPAC
#define control_write_IB1         control_write_IB, .own = LEVEL_IB1
#define control_write_IB2         control_write_IB, .own = LEVEL_IB2
#define control_write_IB3         control_write_IB, .own = LEVEL_IB3
#define control_write_GROUP_FIRST control_write_GROUP_WORD, .own = 1
#define control_write_GROUP_NEXT  control_write_GROUP_WORD
#define control_write_NEXT_A7     control_write_NEXT
#define control_read_COMPLETED    control_read_SHARED, .own = OWN_COMPLETED
#define control_write_COMPLETED   control_write_SHARED

static uint32_t control_read_RPTR(const struct cps_access *at)
{
    return core_of_(at)->s.queue[LEVEL_RB].pos;
}

/* There must be a word after the packet to look at, and room for what it calls: fewer than 6
 * fetches at the next level (H: the firmware counts up to 5 in $17 of two a6xx dumps). */
static uint32_t lookahead(const struct cps_access *at)
{
    enum { DEPTH = 6 };
    struct afuc_core *core = core_of_(at);
    if (!machine_looks_ahead_(core->machine) || core->s.level >= LEVEL_SDS)
        return 0;
    bool three = cps_gen_since(core->machine->engine.gen, CPS_A7XX);
    unsigned next = core->s.level == LEVEL_IB2 && !three ? LEVEL_SDS : core->s.level + 1;
    bool available = stream_has_(core, core->s.r[R_REM] + 1);
    return available && core->s.queue[next].count < DEPTH ? 3 : 0;
}

static uint32_t control_read_LOOKAHEAD(const struct cps_access *at)
{
    return core_of_(at)->s.interrupted ? saved_fetches_(core_of_(at)) : lookahead(at);
}

static uint32_t control_read_LOOKAHEAD_A7(const struct cps_access *at)
{
    return core_of_(at)->s.interrupted ? saved_fetches_a7xx_(core_of_(at)) : lookahead(at);
}

/* a530 PFP: base lo, hi, size and dwords left of what IB1 (0..3) and IB2 (4..7) read. */
static uint32_t control_read_IB_STATUS(const struct cps_access *at)
{
    const struct queue *queue = &core_of_(at)->s.queue[at->index < 4 ? LEVEL_IB1 : LEVEL_IB2];
    const struct fetch *fetch = &queue->fetch[queue->head];
    const uint32_t words[4] = {(uint32_t)fetch->iova, (uint32_t)(fetch->iova >> 32), fetch->dwords,
                               fetch->dwords - queue->pos};
    return words[at->index % 4];
}

static uint32_t assume_visible(const struct cps_access *at, uint32_t value)
{
    core_event_(core_of_(at), CPS_EV_ASSUME, CPS_WHAT_VISIBILITY, at->number, value);
    return value;
}

/* Every draw visible: the stream hands out 1, 2, 3, ...; none: it has ended. */
static uint32_t control_read_VSD_NEXT(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    if (!machine_all_visible_(core->machine))
        return assume_visible(at, 0);
    return assume_visible(at, ++core->s.visible_draw);
}

static uint32_t control_read_VSD_COUNT(const struct cps_access *at)
{
    bool all = machine_all_visible_(core_of_(at)->machine);
    return assume_visible(at, all ? 0x3fffffff : 0x7fffffff);
}

/* One of the six registers that show the group which DRAW_STATE_SEL selects. */
static uint32_t *group_word(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    uint32_t selected = afuc_control_get_(core, CTL_DRAW_STATE_SEL) % GROUP_COUNT;
    return &core->s.group[selected].sds_base[0] + at->index;
}

static uint32_t read_group(const struct cps_access *at)
{
    return *group_word(at);
}

static uint32_t control_read_SDS_MASK(const struct cps_access *at)
{
    const struct afuc_state *s = &core_of_(at)->s;
    return draw_queued_mask_(core_of_(at)) | (s->interrupted ? s->preempt.groups : 0);
}

static uint32_t control_read_MARKER(const struct cps_access *at)
{
    return bank_get_(core_of_(at)->machine, core_of_(at)->pipe, 0x9880);
}

/* Evaluation is instant, so bit 0 is always set. */
static uint32_t control_read_SDS_STATUS(const struct cps_access *at)
{
    return core_of_(at)->s.queue[LEVEL_SDS].count ? 1 : 3;
}

/* The two registers before the size; bit 31 of the upper half is a right (F: 740 15ae, 1dc3). */
static uint64_t base_in_front(const struct cps_access *at)
{
    const uint32_t *control = core_of_(at)->s.control;
    return (uint64_t)(control[at->number - 1] & 0x7fffffff) << 32 | control[at->number - 2];
}

static void control_write_IB(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    enum level level = (enum level)(at->row->own);
    uint64_t iova = base_in_front(at);
    uint32_t dwords = at->value & 0xfffff;
    if (core->s.interrupted && at->value >> 24 & 3)
        saved_restore_fetch_(core, level, iova, at->value);
    else if (dwords && !stream_queue_(core, level, (struct fetch){iova, dwords, 0}))
        afuc_fault_(core, FAULT_QUEUE, at->number);
}

static void control_write_MEM_READ(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    uint64_t iova = base_in_front(at);
    draw_assume_size_(core, iova);
    if (core->dde && afuc_control_get_(core, CTL_DDE_MEM_READ) >> 1 & 1)
        core = core->dde;
    bool part = core->s.interrupted && at->value >> 24 & 3;
    fifo_request_(core, &core->s.memdata, iova, part ? saved_restore_read_(at->value) : at->value);
}

static void store(struct afuc_core *core, uint32_t number, uint32_t value, const uint32_t *extra)
{
    const struct cps_reg_row *row = cps_reg_find_(core->control, number);
    core->s.control[number] = value;
    if (row && row->write)
        row->write(&(struct cps_access){.device = core,
                                        .row = row,
                                        .number = number,
                                        .index = number - row->first,
                                        .value = value,
                                        .extra = extra});
}

/* The upper half of the address two registers before; bits 31:30 are rights. */
static void control_write_HI_PRIVILEGED(const struct cps_access *at)
{
    store(core_of_(at), at->number - 2, at->value & 0x3fffffff, NULL);
}

static void control_write_LOAD_STORE_HI(const struct cps_access *at)
{
    afuc_control_set_(core_of_(at), CTL_LOAD_STORE_HI, at->value);
}

static void control_write_REG_ADDR(const struct cps_access *at)
{
    core_of_(at)->s.reg_writes = 0;
}

/* Reports a register without a row, once. */
static void report_unmodelled(struct afuc_core *core, uint32_t number, unsigned place)
{
    struct afuc_state *s = &core->s;
    if (cps_tap_once_(place == CPS_PLACE_SQE ? s->touched_sqe : s->touched, number))
        core_event_(core, CPS_EV_UNMODELLED, place, number, 0);
}

/* a8xx: with bit 31 the aperture shows control registers of the pipe's processor (F: gen80000 0217
 * gives BV the three values that 0011..003a writes to BR's own; its kernel leaves that bit alone).
 * NULL: it does not. */
static struct afuc_core *behind_aperture(struct afuc_core *core)
{
    uint32_t aperture = core->s.aperture;
    struct cps_afuc *machine = core->machine;
    for (unsigned i = 0;
         core->layout == CPS_LAYOUT_A8XX && aperture >> 31 && i < machine->engine.cores; i++) {
        if (bank_pipe_(machine->core[i].who) == bank_aperture_(core))
            return &machine->core[i];
    }
    return NULL;
}

/* Ports of one processor in the aperture of another would lead on, and round in circles: what the
 * hardware makes of that is not known. */
static void write_behind(struct afuc_core *other, uint32_t number, uint32_t value)
{
    if (number == afuc_control_number_(other, CTL_REG_WRITE) ||
        number == afuc_control_number_(other, CTL_REG_READ_ADDR))
        report_unmodelled(other, number, CPS_PLACE_CONTROL);
    else
        afuc_control_write_(other, number, value, NULL);
}

static void control_write_REG_WRITE(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    struct afuc_core *other = behind_aperture(core);
    uint32_t address = afuc_control_get_(core, CTL_REG_WRITE_ADDR);
    uint32_t wrap = address >> 20 & 7;
    if (saved_unit_(core))
        saved_unit_write_(core, address, at->value);
    else if (other)
        write_behind(other, address & 0xfff, at->value);
    else
        gpu_write_(core, address & 0x3ffff, at->value, CPS_PATH_CTRL);
    uint32_t next = address + 1;
    if (wrap && ++core->s.reg_writes == wrap) {
        core->s.reg_writes = 0;
        next = address + 1 - wrap;
    }
    afuc_control_set_(core, CTL_REG_WRITE_ADDR, (address & 0xffff0000) | (next & 0xffff));
}

static void control_write_REG_READ(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    uint32_t count = afuc_control_get_(core, CTL_REG_READ_DWORDS) & ~0x10000u;
    afuc_control_set_(core, CTL_REG_READ_DWORDS, 1);
    core->s.read_dwords = 1;
    struct afuc_core *other = behind_aperture(core);
    bool room = true;
    uint32_t wrap = at->value >> 20 & 7;
    for (uint32_t i = 0; i < (count ? count : 1) && room; i++) {
        uint32_t offset = (at->value + (wrap ? i % wrap : i)) & 0x3ffff;
        uint32_t value = saved_unit_(core) ? saved_unit_read_(offset)
                         : other           ? afuc_control_read_(other, offset)
                                           : gpu_read_(core, offset);
        room = fifo_put_register_(core, value, at->number);
    }
}

static void control_write_VSD(const struct cps_access *at)
{
    core_of_(at)->s.visible_draw = 0;
}

static void write_group(const struct cps_access *at)
{
    *group_word(at) = at->value;
}

static void control_write_SET_HDR(const struct cps_access *at)
{
    draw_set_group_(core_of_(at), at->value, at->extra);
}

static void control_write_EXECUTE(const struct cps_access *at)
{
    draw_execute_group_(core_of_(at), at->value);
}

/* Queues by their number. */
static enum level level_at(const struct afuc_core *core, uint32_t number)
{
    static const uint8_t a6xx[] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_SDS};
    static const uint8_t a7xx[8] = {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_IB3, LEVEL_SDS};
    return cps_gen_since(core->machine->engine.gen, CPS_A7XX) ? a7xx[number % 8] : a6xx[number % 4];
}

/* Firmware keeps flags above the level in the same register; hardware takes the low bits. */
static void control_write_LEVEL(const struct cps_access *at)
{
    enum level level = level_at(core_of_(at), at->value);
    bool is_meq = is_dde_(core_of_(at)) && !(at->value & 7);
    stream_select_(core_of_(at), is_meq ? LEVEL_MEQ : level);
}

static void control_write_PEEK(const struct cps_access *at)
{
    core_of_(at)->s.peeking = at->value != 0;
    core_of_(at)->window_left = 0;
}

/* Clearing the hint takes back all words since it was set, end marks too: a look-ahead takes the
 * words after the packet, whatever they are. */
static void control_write_HINT(const struct cps_access *at)
{
    struct afuc_state *s = &core_of_(at)->s;
    bool looks = at->value != 0;
    if (looks != s->looking_ahead && s->level < LEVEL_COUNT)
        looks ? queue_mark_(core_of_(at)) : queue_rewind_(core_of_(at));
    s->looking_ahead = looks;
}

static void control_write_TABLE(const struct cps_access *at)
{
    core_of_(at)->s.table[core_of_(at)->s.table_at++ % 128] = at->value;
}

static void control_write_FATAL(const struct cps_access *at)
{
    if (!core_of_(at)->s.error_code)
        core_of_(at)->s.error_code = at->value;
}

/* Bits of the mask by queue; 1 and 2 (740: 2 and 3) are IB levels (F: each use pairs with that
 * queue). */
static void control_write_RESET(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    unsigned queues = cps_gen_since(core->machine->engine.gen, CPS_A7XX) ? 5 : 4;
    for (unsigned i = 1; i < queues; i++) {
        if (at->value >> i & 1)
            queue_clear_(core, level_at(core, i));
    }
}

static void control_write_GROUP_WORD(const struct cps_access *at)
{
    draw_group_word_(core_of_(at), at->value, at->row->own);
}

static void control_write_SDS_START(const struct cps_access *at)
{
    if (at->value == 4 || at->value == 0xc)
        draw_start_(core_of_(at), afuc_control_get_(core_of_(at), CTL_MODE_BITMASK),
                    at->value >> 3 & 1);
    else if (at->value == 3)
        queue_clear_(core_of_(at), LEVEL_SDS);
    else if (at->value == 6 && core_of_(at)->s.interrupted)
        saved_resume_groups_(core_of_(at));
}

static void control_write_TO_DDE(const struct cps_access *at)
{
    struct afuc_core *core = core_of_(at);
    if (core->dde && !meq_room_(core->dde, 1))
        afuc_fault_(core, FAULT_QUEUE, at->number); /* a write that did not wait for room */
    else if (core->dde)
        meq_push_(core, core->dde, at->value);
    else
        core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, at->number, at->value);
}

/* Requests are served at once. */
static void control_write_ACK(const struct cps_access *at)
{
    core_of_(at)->s.control[at->number] = at->value & ~0xcu;
}

static void control_write_SIDE(const struct cps_access *at)
{
    uint64_t iova = base_in_front(at);
    if (at->value && !queue_push_(&core_of_(at)->me->s.queue[LEVEL_SIDE], iova, at->value, 0))
        afuc_fault_(core_of_(at), FAULT_QUEUE, at->number);
}

static void control_write_SOURCE(const struct cps_access *at)
{
    core_of_(at)->s.side_packets = at->value == 1;
    stream_select_(core_of_(at), at->value ? LEVEL_SIDE : LEVEL_MEQ);
}

/* Status of parts that are not here. */
static uint32_t control_read_IDLE(const struct cps_access *at)
{
    uint32_t value = core_of_(at)->s.control[at->number];
    core_event_(core_of_(at), CPS_EV_ASSUME, CPS_WHAT_ACK, at->number, value);
    return value;
}

/* What storage.def says of use. */
#define control_read_WRITTEN NULL
#define control_read_KEPT    NULL

/* AS in a column: the number of the layout before it. */
#define AS_OR(base, own) ((own) == SAME_NUMBER ? (base) : (own))

/* A register has a number in each layout that has it: a row each. */
static const struct cps_reg_row rows[][CTL_COUNT] = {
#define ROW(layout, id, number, n, rd, wr)                                \
    [CPS_LAYOUT_##layout][CTL_##id] =                                     \
        CPS_REG_ROW((number) != NO_NUMBER ? UINT64_MAX : 0, number, n, 1, \
                    .read = control_read_##rd, .write = control_write_##wr),
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence) \
    ROW(A5XX_PFP, id, pfp, n, rd, wr)                                  \
    ROW(A5XX_ME, id, me, n, rd, wr)                                    \
    ROW(A6XX, id, g6, n, rd, wr)                                       \
    ROW(A660, id, AS_OR(g6, a660), n, rd, wr)                          \
    ROW(A7XX, id, g7, n, rd, wr)                                       \
    ROW(A7XX_GEN3, id, gen3, n, rd, wr)                                \
    ROW(A8XX, id, AS_OR(gen3, a8), n, rd, wr)
#include "emu/afuc/control/ctrl.def"
};

/* Rows of storage.def have no names: all layouts' are in one list. */
static const struct cps_reg_row storage[] = {
#define STORAGE_ROW(layout, number, n, use)                                                   \
    CPS_REG_ROW((number) != NO_NUMBER ? UINT64_C(1) << CPS_LAYOUT_##layout : 0, number, n, 1, \
                .read = control_read_##use),
#define STORAGE(g6, a660, g7, gen3, a8, n, use, evidence) \
    STORAGE_ROW(A6XX, g6, n, use)                         \
    STORAGE_ROW(A660, AS_OR(g6, a660), n, use)            \
    STORAGE_ROW(A7XX, g7, n, use)                         \
    STORAGE_ROW(A7XX_GEN3, gen3, n, use)                  \
    STORAGE_ROW(A8XX, AS_OR(gen3, a8), n, use)
#include "emu/afuc/control/storage.def"
};

/* Which bit of the protected mode puts the ring, and which other levels, under CP_PROTECT. The PFP
 * has no such register: what it writes is always checked. */
static void init_protected_mode(struct afuc_core *core)
{
    enum { CHECKED = 1u << 29, RING_CHECKED = 1u << 30 };
    bool one_bit = core->layout == CPS_LAYOUT_A5XX_ME || core->layout == CPS_LAYOUT_A6XX;
    if (afuc_control_number_(core, CTL_PROTECTED_MODE) == NO_NUMBER)
        return;
    core->protected_bit[0] = one_bit ? CHECKED : RING_CHECKED;
    core->protected_bit[1] = CHECKED;
    /* Until firmware sets it everything is checked: what it holds then is not known. */
    afuc_control_set_(core, CTL_PROTECTED_MODE, core->protected_bit[0] | core->protected_bit[1]);
}

struct cps_err *afuc_control_init_(struct afuc_core *core)
{
    const struct cps_reg_table tables[] = {CPS_REG_TABLE(rows[core->layout]),
                                           CPS_REG_TABLE(storage)};
    core->privilege[0] = afuc_control_number_(core, CTL_LEVEL_PRIVILEGE) % CONTROL_COUNT;
    core->privilege[1] = afuc_control_number_(core, CTL_PROTECTED_MODE) % CONTROL_COUNT;
    init_protected_mode(core);
    core->level_bits = cps_gen_since(core->machine->engine.gen, CPS_A7XX) ? 7 : 0;
    return cps_reg_index_create_(tables, 2, UINT64_C(1) << core->layout, &core->control);
}

uint32_t afuc_control_number_(const struct afuc_core *core, enum ctl which)
{
    return rows[core->layout][which].first;
}

uint32_t afuc_control_get_(const struct afuc_core *core, enum ctl which)
{
    uint32_t number = afuc_control_number_(core, which);
    return number == NO_NUMBER ? 0 : core->s.control[number];
}

void afuc_control_set_(struct afuc_core *core, enum ctl which, uint32_t value)
{
    uint32_t number = afuc_control_number_(core, which);
    if (number != NO_NUMBER)
        core->s.control[number] = value;
}

uint32_t afuc_control_read_(struct afuc_core *core, uint32_t number)
{
    number %= CONTROL_COUNT;
    poll_control_(core, number);
    const struct cps_reg_row *row = cps_reg_find_(core->control, number);
    if (!row)
        report_unmodelled(core, number, CPS_PLACE_CONTROL);
    if (!row || !row->read)
        return core->s.control[number];
    return row->read(&(struct cps_access){
        .device = core, .row = row, .number = number, .index = number - row->first});
}

void afuc_control_write_(struct afuc_core *core, uint32_t number, uint32_t value,
                         const uint32_t *extra)
{
    number %= CONTROL_COUNT;
    const struct cps_reg_row *row = cps_reg_find_(core->control, number);
    core_event_(core, CPS_EV_CTRL, 0, number, value);
    if (!row)
        report_unmodelled(core, number, CPS_PLACE_CONTROL);
    store(core, number, value, extra);
}

void afuc_sqe_write_(struct afuc_core *core, uint32_t number, uint32_t value)
{
    number %= SQE_COUNT;
    bool known = (number >= SQE_RESUME && number <= SQE_SP) ||
                 (number >= SQE_STACK && number < SQE_STACK + STACK_DEPTH);
    if (!known)
        report_unmodelled(core, number, CPS_PLACE_SQE);
    core->s.sqe[number] = number == SQE_SP ? value & 15 : value; /* 6ee 157b writes more bits */
    core_event_(core, CPS_EV_SQE, 0, number, core->s.sqe[number]);
}

bool afuc_dde_takes_(const struct afuc_core *by, uint32_t number)
{
    const struct afuc_state *dde = &by->dde->s;
    if (number == afuc_control_number_(by, CTL_TO_DDE))
        return meq_room_(by->dde, 1);
    if (number == afuc_control_number_(by, CTL_SDS_START))
        return QUEUE_DEPTH - dde->queue[LEVEL_SDS].count >= GROUP_COUNT;
    return number != afuc_control_number_(by, CTL_MEM_READ_DWORDS) ||
           dde->memdata.request_count < FIFO_REQUESTS;
}
