/* SPDX-License-Identifier: MIT
 * GPU registers: storage, the few that behave (gpu.def), and CP_PROTECT. */
#include "emu/afuc/control/control.h"

#include <string.h>
#include "isa/target.def"

enum {
    PROTECT_CNTL_A5XX = 0x8a0,
    PROTECT_A5XX = 0x880,
    PROTECT_CNTL_A6XX = 0x84f,
    PROTECT_A6XX = 0x850,
    PROTECT_CNTL_A8XX = 0x84e,
    PROTECT_GLOBAL_A8XX = 0x850,
    PROTECT_PIPE_A8XX = 0x8a0,
    LPAC_SQE_INSTR_BASE = 0xb82,
    IRQ_CP_HW_ERROR = 9, /* bit of RBBM_INT_0 (D) */
};

/* ---- registers that other hardware has, and interrupts ---- */

/* A value that is another one than before is a change: who polls such a register does not spin. */
static bool host_read_register(struct cps_afuc *machine, uint32_t offset, uint32_t *ret)
{
    const struct cps_host *host = &machine->engine.host;
    if (!host->read_register || !host->read_register(host->context, offset, ret))
        return false;
    machine->engine.changes += machine->reg[offset] != *ret;
    machine_set_reg_(machine, offset, *ret);
    return true;
}

void machine_irq_(struct afuc_core *core, uint32_t number)
{
    const struct cps_host *host = &core->machine->engine.host;
    core_event_(core, CPS_EV_IRQ, 0, 0, number);
    if (host->interrupt)
        host->interrupt(host->context, number);
    stream_recheck_(core);
}

/* ---- registers that behave ---- */

static uint32_t assume(const struct cps_access *at, unsigned what, uint32_t value)
{
    core_event_(core_of_(at), CPS_EV_ASSUME, what, at->number, value);
    return value;
}

static uint32_t read_CLOCK(const struct cps_access *at)
{
    uint64_t clock = stamp_clock_(core_of_(at));
    return assume(at, CPS_WHAT_CLOCK, (uint32_t)(at->index & 1 ? clock >> 32 : clock));
}

/* A command whose bits fall when it is done: at once. */
static uint32_t read_DONE(const struct cps_access *at)
{
    return assume(at, CPS_WHAT_ACK, 0);
}

static uint32_t read_READY(const struct cps_access *at)
{
    return assume(at, CPS_WHAT_ACK, 1);
}

static uint32_t read_ACK_BELOW(const struct cps_access *at)
{
    return assume(at, CPS_WHAT_ACK, core_of_(at)->machine->reg[at->number - 1]);
}

/* Acknowledgements in bits 1:0: at once. */
static uint32_t read_ACK_SET(const struct cps_access *at)
{
    return assume(at, CPS_WHAT_ACK, at->stored | 3);
}

static uint32_t read_VSC_STATE(const struct cps_access *at)
{
    bool all = machine_all_visible_(core_of_(at)->machine);
    return assume(at, CPS_WHAT_VISIBILITY, all ? 0xffffffff : at->stored);
}

static uint32_t read_COUNT(const struct cps_access *at)
{
    return assume(at, CPS_WHAT_COUNTER, at->stored);
}

/* @p nrt  where the captured NRT write is */
static uint32_t sqe_stat(const struct cps_access *at, uint32_t nrt)
{
    const struct afuc_state *s = &core_of_(at)->s;
    uint32_t index = core_of_(at)->machine->reg[at->number - 1]++;
    machine_touch_(core_of_(at)->machine, at->number - 1);
    const uint32_t headers[3] = {s->header, s->history[0], s->history[1]};
    if (index == 0)
        return s->pc;
    if (index <= R_REM)
        return s->r[index];
    if (index >= 0x24 && index <= 0x26)
        return headers[index - 0x24];
    return saved_captured_(core_of_(at), index - nrt);
}

static uint32_t read_SQE_STAT(const struct cps_access *at)
{
    return sqe_stat(at, 0x2f);
}

static uint32_t read_SQE_STAT_A7(const struct cps_access *at)
{
    return sqe_stat(at, 0x36);
}

static void write_ME(const struct cps_access *at)
{
    if (core_of_(at)->layout == CPS_LAYOUT_A5XX_ME)
        me_reg_write_(core_of_(at), at->number, at->value);
}

/* CP_LPAC_SQE_CNTL: the start address is in CP_LPAC_SQE_INSTR_BASE. */
static void write_LPAC(const struct cps_access *at)
{
    const uint32_t *reg = core_of_(at)->machine->reg;
    if (at->value & 1)
        machine_start_core_(core_of_(at), CPS_CPU_LPAC,
                            (uint64_t)reg[LPAC_SQE_INSTR_BASE + 1] << 32 |
                                reg[LPAC_SQE_INSTR_BASE]);
}

/* ---- what starts work of other blocks ---- */

static void launch(const struct cps_access *at, unsigned kind)
{
    struct afuc_core *core = core_of_(at);
    core->machine->engine.launches[kind]++;
    core_event_(core, CPS_EV_LAUNCH, kind, at->number, at->value);
    if (CPS_UNLIKELY(core->machine->engine.work != NULL))
        work_call_(core, kind, at->number, at->value);
}

/* The row says which register has the source of the indices: 0 memory, 2 none, 3 the counter of
 * transform feedback (D: pc_di_src_sel). Bit 14 is set for a draw that a predicate switched off (F:
 * a650 on; before, firmware does not come here then). */
static void write_draw(const struct cps_access *at)
{
    enum { SKIPPED = 14 };
    static const uint8_t kinds[] = {CPS_WORK_INDEXED, CPS_WORK_INDEXED, CPS_WORK_DRAW,
                                    CPS_WORK_FEEDBACK};
    const struct afuc_core *core = core_of_(at);
    uint32_t control = at->row->own ? bank_get_(core->machine, core->pipe, at->row->own) : 0;
    if (!at->row->own)
        launch(at, CPS_WORK_DRAW);
    else
        launch(at, control >> SKIPPED & 1 ? (unsigned)CPS_WORK_SKIPPED : kinds[control >> 6 & 3]);
}

static void write_KERNEL(const struct cps_access *at)
{
    launch(at, CPS_WORK_DISPATCH);
}

/* The row says where the address of the sample counter is, if the event itself does not. 0 is none:
 * preemption also restores registers that were never set. From a7xx on, 0x28 and 0x29 are no 2D
 * operations, but invalidate caches of LRZ (D: vgt_event_type). */
static void write_event(const struct cps_access *at)
{
    enum {
        ZPASS_DONE = 0x15,
        BLIT = 0x1e,
        FILL_2D = 0x27,
        COPY_2D = 0x28,
        SCALE_2D = 0x2a,
        EVENT_MASK = 0x7f
    };
    struct cps_afuc *machine = core_of_(at)->machine;
    uint32_t event = at->value & EVENT_MASK;
    const uint32_t *base = &machine->reg[at->row->own];
    bool counts = at->row->own && (base[0] || base[1]);
    if (event == BLIT)
        launch(at, CPS_WORK_RESOLVE);
    else if (event == FILL_2D || event == SCALE_2D ||
             (event == COPY_2D && !cps_gen_since(machine->engine.gen, CPS_A7XX)))
        launch(at, CPS_WORK_BLIT);
    else if (event == ZPASS_DONE && counts)
        stamp_samples_(core_of_(at), (uint64_t)base[1] << 32 | base[0]);
}

static const struct cps_reg_row rows[] = {
#define write_EVENT_2D   write_event
#define write_EVENT_A5   write_event, .own = 0xe267
#define write_EVENT_A5_1 write_event, .own = 0xea67
#define write_EVENT_A6   write_event, .own = 0x8927
#define write_DRAW_A5    write_draw
#define write_DRAW_A6    write_draw, .own = 0x9e0b
#define write_DRAW_A8    write_draw, .own = 0x9e00
#define read_STORED      NULL
#define write_STORED     NULL
#define read_RING        rings_read_base_
#define read_POINTER     rings_read_pointer_
#define read_MRB         saved_read_mrb_
#define write_RING       rings_write_base_
#define write_RPTR       rings_write_rptr_
#define write_WPTR       rings_write_wptr_
#define write_TABLE      rings_write_table_
#define GPU_REG(id, bits, low, high, rd, wr, evidence) \
    CPS_REG_ROW(bits, low, (high) - (low) + 1, 1, .read = read_##rd, .write = write_##wr),
#include "emu/afuc/control/gpu.def"
};

/* Registers with a bank per context: bit 11 or bit 10 of the offset says which (F: a530 ME ORs $17
 * or $16 in). Events carry the register's own offset, and the bank in bit 32. From a7xx on there is
 * the pipe instead, in bits 38:36, where it is another one than the core feeds. */
static uint64_t event_offset(const struct afuc_core *core, uint32_t offset, unsigned pipe)
{
    if (core->machine->engine.gen != CPS_A5XX) {
        uint32_t at = 0;
        bool other = pipe != core->pipe && core->machine->bank[bank_fed_(CPS_CPU_BV)] &&
                     bank_of_(core->machine, bank_fed_(CPS_CPU_BV), offset, &at);
        return offset | (uint64_t)(other ? pipe : 0) << 36; /* as trace/form/forms.h has it */
    }
    if (offset >= 0xe000 && offset <= 0xefff)
        return (offset & ~0x800u) | (uint64_t)(offset >> 11 & 1) << 32;
    if (offset >= 0x2000 && offset <= 0x27ff)
        return (offset & ~0x400u) | (uint64_t)(offset >> 10 & 1) << 32;
    return offset;
}

enum { PROTECT_ENABLE = 1, PROTECT_LAST_IS_OPEN = 8 };

/* What an entry says, in the form of its generation. */
struct span {
    uint32_t first, last;
    bool read, write; /* forbidden */
};

/* a6xx on: 17:0 first register, 30:18 how many after it, 31 reads forbidden too. */
static struct span decode_entry(uint32_t entry)
{
    uint32_t first = entry & 0x3ffff;
    return (struct span){first, first + (entry >> 18 & 0x1fff), entry >> 31, entry != 0};
}

/* a5xx: 19:2 first register, 28:24 log2 of how many, 29 writes, 30 reads forbidden. */
static struct span decode_a5xx(uint32_t entry)
{
    uint32_t first = entry >> 2 & 0x3ffff;
    uint32_t count = 1u << (entry >> 24 & 31);
    return (struct span){first, first + count - 1, entry >> 30 & 1, entry >> 29 & 1};
}

/* Where the entries and their switch are (D: register database). a8xx has entries for all pipes and
 * more for each, and a switch for each; only among the latter the last one may be open-ended (D:
 * the kernel's a8xx_set_cp_protect()). */
static const struct protect_regs {
    uint32_t control, first, last;
    uint32_t own_first, own_last; /* of the pipe; 0: there are none */
    struct span (*decode)(uint32_t entry);
} protect_a5xx = {PROTECT_CNTL_A5XX, PROTECT_A5XX, PROTECT_A5XX + 31, 0, 0, decode_a5xx},
  protect_32 = {PROTECT_CNTL_A6XX, PROTECT_A6XX, PROTECT_A6XX + 31, 0, 0, decode_entry},
  protect_48 = {PROTECT_CNTL_A6XX, PROTECT_A6XX, PROTECT_A6XX + 47, 0, 0, decode_entry},
  protect_a8xx = {PROTECT_CNTL_A8XX, PROTECT_GLOBAL_A8XX,    PROTECT_GLOBAL_A8XX + 63,
                  PROTECT_PIPE_A8XX, PROTECT_PIPE_A8XX + 15, decode_entry};

/* Early a6xx have 32 entries, later chips 48 (D: the kernel's tables); the driver always fills the
 * last one, so that says which chip this is. */
static const struct protect_regs *protect_of(const struct cps_afuc *machine)
{
    if (machine->engine.gen == CPS_A5XX)
        return &protect_a5xx;
    if (machine->engine.gen == CPS_A8XX)
        return &protect_a8xx;
    return machine->reg[protect_48.last] ? &protect_48 : &protect_32;
}

static void mark_behaving(struct cps_afuc *machine, uint32_t offset)
{
    machine->reg_flags[offset] |= REG_BEHAVES;
    machine->behaves[offset / REG_BLOCK] = 1;
}

void gpu_watch_(struct cps_engine *engine, uint32_t offset)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    if (offset >= GPU_REGS)
        return;
    machine_touch_(machine, offset);
    mark_behaving(machine, offset);
    machine->reg_flags[offset] |= REG_WATCHED;
}

struct cps_err *gpu_init_(struct cps_afuc *machine)
{
    static const struct cps_reg_table table = CPS_REG_TABLE(rows);
    uint32_t bit = cps_gen_bit(machine->engine.gen);
    for (size_t i = 0; i < table.count; i++) {
        for (uint32_t n = 0; rows[i].gens & bit && n < rows[i].count; n++)
            mark_behaving(machine, rows[i].first + n);
    }
    bool hosted = machine->engine.host.read_register || machine->engine.host.write_register;
    for (uint32_t r = 0; hosted && r < GPU_REGS; r++)
        mark_behaving(machine, r);
    mark_behaving(machine, protect_of(machine)->control); /* what follows it asks again */
    for (unsigned i = 0; i < machine->engine.cores; i++)
        machine->core[i].protect = protect_of(machine)->control;
    return cps_reg_index_create_(&table, 1, bit, &machine->gpu);
}

/* To a register that behaves; it has no row if only the host may have it. */
static struct cps_access access_to(struct afuc_core *core, uint32_t offset, uint32_t value)
{
    const struct cps_reg_row *row = cps_reg_find_(core->machine->gpu, offset);
    return (struct cps_access){.device = core,
                               .row = row,
                               .number = offset,
                               .index = row ? offset - row->first : 0,
                               .value = value,
                               .stored = core->machine->reg[offset]};
}

/* What the host or the row answers; false if neither does. */
static bool behave(struct afuc_core *core, uint32_t offset, uint32_t *value)
{
    bool hosted = host_read_register(core->machine, offset, value);
    stream_recheck_(core); /* the host may have changed memory */
    if (hosted)
        return true;
    const struct cps_access at = access_to(core, offset, 0);
    if (at.row)
        *value = at.row->read ? at.row->read(&at) : at.stored;
    return at.row != NULL;
}

static void act(struct afuc_core *core, uint32_t offset, uint32_t value)
{
    const struct cps_host *host = &core->machine->engine.host;
    bool hosted = host->write_register && host->write_register(host->context, offset, value);
    stream_recheck_(core);
    if (hosted)
        return;
    const struct cps_access at = access_to(core, offset, value);
    if (at.row && at.row->write)
        at.row->write(&at);
    if (core->machine->reg_flags[offset] & REG_WATCHED && core->machine->engine.work)
        work_call_(core, CPS_WORK_REGISTER, offset, value);
}

static void report_unmodelled(struct afuc_core *core, uint32_t offset)
{
    uint8_t *flags = &core->machine->reg_flags[offset];
    if (*flags & REG_REPORTED)
        return;
    machine_touch_(core->machine, offset);
    *flags |= REG_REPORTED;
    core_event_(core, CPS_EV_UNMODELLED, CPS_PLACE_GPU, offset, 0);
}

/* a8xx has room for 16 pipes in the aperture, of which there are 8 (D: enum adreno_pipe). What the
 * others reach is not known: here all. */
static unsigned pipe_shown(struct afuc_core *core, uint32_t offset)
{
    unsigned pipe = bank_aperture_(core);
    if (pipe < PIPE_COUNT)
        return pipe;
    report_unmodelled(core, offset);
    return 0;
}

uint32_t gpu_read_(struct afuc_core *core, uint32_t offset)
{
    struct cps_afuc *machine = core->machine;
    unsigned pipe = pipe_shown(core, offset);
    uint32_t value = bank_get_(machine, pipe, offset);
    poll_gpu_(core, offset);
    bool answered = (machine->reg_flags[offset] & REG_BEHAVES) && behave(core, offset, &value);
    if (!answered && !bank_written_(machine, pipe, offset))
        report_unmodelled(core, offset);
    core_event_(core, CPS_EV_REGR, 0, event_offset(core, offset, pipe), value);
    return value;
}

struct wanted {
    const struct protect_regs *regs;
    uint32_t first, last;
    bool write;
};

/* Whether an entry from register @p r to @p end forbids the access; the last may be open-ended. */
static bool any_forbids(const struct afuc_core *core, const struct wanted *at, uint32_t r,
                        uint32_t end, bool open)
{
    for (; r <= end; r++) {
        struct span span = at->regs->decode(bank_get_(core->machine, core->pipe, r));
        if (open && r == end && span.write)
            span.last = GPU_REGS - 1;
        if ((at->write ? span.write : span.read) && at->first <= span.last &&
            at->last >= span.first)
            return true;
    }
    return false;
}

bool gpu_protected_(const struct afuc_core *core, uint32_t offset, uint32_t count, bool write)
{
    const struct protect_regs *regs = protect_of(core->machine);
    uint32_t control = bank_get_(core->machine, core->pipe, regs->control);
    if (CPS_LIKELY(!(control & PROTECT_ENABLE)) || !gpu_mode_protects_(core))
        return false;
    const struct wanted at = {regs, offset, count ? offset + count - 1 : offset, write};
    bool open = control & PROTECT_LAST_IS_OPEN;
    return any_forbids(core, &at, regs->first, regs->last, open && !regs->own_first) ||
           (regs->own_first && any_forbids(core, &at, regs->own_first, regs->own_last, open));
}

/* A poll of two words sets it anew each time (F: a530 ME 06be..06c9): searches for loops compare
 * its registers as state. */
static bool is_read_port(const struct afuc_core *core, uint32_t offset)
{
    return core->machine->engine.gen == CPS_A5XX && offset - ME_READ_PORT < ME_READ_PORT_REGS;
}

void gpu_write_(struct afuc_core *core, uint32_t offset, uint32_t value, unsigned path)
{
    struct cps_afuc *machine = core->machine;
    uint8_t *flags = &machine->reg_flags[offset];
    unsigned pipe = path == CPS_PATH_CTRL ? pipe_shown(core, offset) : core->pipe;
    if (path == CPS_PATH_USER && CPS_UNLIKELY(gpu_protected_(core, offset, 1, true))) {
        /* The hardware drops the write and raises REGISTER_PROTECTION; the firmware is not told. */
        core_event_(core, CPS_EV_PROT, 0, event_offset(core, offset, core->pipe), value);
        machine_irq_(core, IRQ_CP_HW_ERROR);
        return;
    }
    core_event_(core, CPS_EV_REG, path, event_offset(core, offset, pipe), value);
    machine->engine.changes +=
        bank_set_(machine, pipe, offset, value) && !is_read_port(core, offset);
    if (CPS_UNLIKELY(*flags & REG_BEHAVES))
        act(core, offset, value);
}

/* ---- banks of pipes, and which pipe is whose ---- */

unsigned bank_pipe_(enum cps_processor who)
{
    static const uint8_t pipes[CPS_CPU_COUNT] = {
#define PROCESSOR(id, name, pipe, meaning) [CPS_CPU_##id] = (pipe),
#include "isa/target.def"
    };
    return pipes[who];
}

/* A DDE draws into the pipe that it works for (F: gen80000, DDE 037f..0382, makes its aperture of
 * that number). */
unsigned bank_fed_(enum cps_processor who)
{
    if (who == CPS_CPU_DDE_BR)
        return bank_pipe_(CPS_CPU_SQE);
    return bank_pipe_(who == CPS_CPU_DDE_BV ? CPS_CPU_BV : who);
}

struct cps_err *bank_init_(struct cps_afuc *machine)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        struct afuc_core *core = &machine->core[i];
        unsigned pipe = bank_fed_(core->who);
        core->pipe = pipe;
        core->plain = machine->engine.gen != CPS_A5XX && (pipe || machine->engine.gen == CPS_A6XX);
        if (!cps_gen_since(machine->engine.gen, CPS_A7XX) || pipe <= PIPE_BR || machine->bank[pipe])
            continue;
        machine->bank[pipe] = calloc(1, sizeof(**machine->bank));
        if (!machine->bank[pipe])
            return cps_err_nomem();
    }
    return NULL;
}

struct cps_err *bank_clone_(struct cps_afuc *copy)
{
    struct reg_bank *from[PIPE_COUNT];
    memcpy(from, copy->bank, sizeof(from));
    memset(copy->bank, 0, sizeof(copy->bank));
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        if (!from[pipe])
            continue;
        copy->bank[pipe] = malloc(sizeof(**copy->bank));
        if (!copy->bank[pipe])
            return cps_err_nomem();
        memcpy(copy->bank[pipe], from[pipe], sizeof(**copy->bank));
        copy->bank[pipe]->touched = false;
    }
    return NULL;
}

void bank_restore_(struct cps_afuc *machine, const struct cps_afuc *from)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        if (machine->bank[pipe] && machine->bank[pipe]->touched)
            memcpy(machine->bank[pipe], from->bank[pipe], sizeof(**machine->bank));
        if (machine->bank[pipe])
            machine->bank[pipe]->touched = false;
    }
}

void bank_deinit_(struct cps_afuc *machine)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++)
        free(machine->bank[pipe]);
}

void bank_forget_(struct cps_afuc *machine, uint32_t offset)
{
    for (unsigned pipe = 0; pipe < PIPE_COUNT; pipe++) {
        uint32_t at = 0;
        struct reg_bank *bank = bank_of_(machine, pipe, offset, &at);
        if (bank) {
            bank->touched = true;
            bank->written[at] = 0;
        }
    }
}

/* 13:12 on a7xx, 15:12 on a8xx (D: CP_APERTURE_CNTL_HOST). */
unsigned bank_aperture_(const struct afuc_core *core)
{
    uint32_t bits = core->layout == CPS_LAYOUT_A8XX ? 15 : 3;
    const struct afuc_state *s = &core->s;
    return (s->preempt.aperture ? s->preempt.aperture : s->aperture) >> 12 & bits;
}
