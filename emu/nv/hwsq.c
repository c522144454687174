/* SPDX-License-Identifier: MIT
 * NVIDIA's HWSQ: one or two slots that play the bytes of a code RAM. */
#include "isa/base/le.h"
#include "emu/nv/hwsq.h"

#include <inttypes.h>

uint32_t cps_hwsq_ram(enum cps_gen gen)
{
    switch (gen) {
    case CPS_NV17:
        return 0x40;
    case CPS_NV41:
        return 0x80;
    case CPS_G80:
        return 0x100;
    default:
        return RAM_MAX;
    }
}

static uint32_t ram_size(const struct nv *e)
{
    return cps_hwsq_ram(hwsq_chip_(e));
}

/* ---- registers ---- */

static void note_rewrite(struct nv *e, uint32_t addr, const struct cps_by *by)
{
    if (hwsq_of_(e)->slot[0].running || hwsq_of_(e)->slot[1].running)
        cps_bus_unknown(e, CPS_UNKNOWN_REWRITTEN, by, addr);
}

/* Bits 7:0 of the four entries, and in another register their bit 8. */
static bool is_high(const struct cps_access *at)
{
    return at->number == 0x1318;
}

static uint32_t read_entry(const struct cps_access *at)
{
    const struct hwsq *h = hwsq_of_(nv_of_(at));
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (is_high(at) ? h->entry[i] >> 8 : h->entry[i] & 0xffu) << 8 * i;
    return value;
}

static void write_entry(const struct cps_access *at)
{
    struct hwsq *h = hwsq_of_(nv_of_(at));
    note_rewrite(nv_of_(at), at->number, at->by);
    for (unsigned i = 0; i < 4; i++) {
        uint32_t byte = at->value >> 8 * i;
        h->entry[i] = (uint16_t)(is_high(at) ? (h->entry[i] & 0xff) | (byte & 1) << 8
                                             : (h->entry[i] & 0x100) | (byte & 0xff));
    }
}

#define read_entry_high  read_entry
#define write_entry_high write_entry
static uint32_t slot_status(const struct nv *e, const struct hwsq_slot *s)
{
    uint32_t high = hwsq_chip_(e) == CPS_G92 ? (uint32_t)(s->ip >> 8 & 1) << 10 : 0;
    return (s->ip & 0xff) | (uint32_t)s->running << 8 | (uint32_t)s->illegal << 9 | high;
}

static uint32_t read_status(const struct cps_access *at)
{
    const struct nv *e = nv_of_(at);
    return slot_status(e, &hwsq_of_(e)->slot[0]) | slot_status(e, &hwsq_of_(e)->slot[1]) << 16;
}

/* The byte of code that a register of either window begins with; false past the RAM. */
static bool find_code(const struct cps_access *at, uint32_t *ret)
{
    struct nv *e = nv_of_(at);
    *ret = 4 * at->index;
    if (*ret >= ram_size(e))
        cps_bus_unknown(e, CPS_UNKNOWN_CODE_BEYOND, at->by, *ret);
    return *ret < ram_size(e);
}

static uint32_t read_code(const struct cps_access *at)
{
    uint32_t first;
    return find_code(at, &first) ? cps_le32(hwsq_of_(nv_of_(at))->code + first) : 0;
}

static void write_code(const struct cps_access *at)
{
    uint32_t first;
    if (!find_code(at, &first))
        return;
    note_rewrite(nv_of_(at), first, at->by);
    cps_put_le32(hwsq_of_(nv_of_(at))->code + first, at->value);
}

static void start(struct nv *e, struct hwsq_slot *s, unsigned entry, const struct cps_by *by)
{
    if (s->running)
        cps_bus_unknown(e, CPS_UNKNOWN_START_RUNNING, by, entry);
    *s = (struct hwsq_slot){
        .addr = s->addr, .data = s->data, .ip = hwsq_of_(e)->entry[entry], .running = 1};
    s->order = ++hwsq_of_(e)->starts;
    e->engine.packets++;
    if (hwsq_of_(e)->slot[0].running && hwsq_of_(e)->slot[1].running)
        cps_bus_unknown(e, CPS_UNKNOWN_ARBITRATION, by, entry);
}

/* True if the abort shows as one more bad opcode instead of an end. */
static bool abort_hangs(struct nv *e, struct hwsq_slot *s, const struct cps_by *by)
{
    if (s->wait == WAIT_NONE || s->illegal || !hwsq_can_hang_(e))
        return false;
    cps_bus_unknown(e, CPS_UNKNOWN_ABORT_IN_WAIT, by, s->ip);
    switch ((enum cps_policy_abort_in_wait)e->engine.policy.abort_in_wait) {
    case CPS_ABORT_IN_WAIT_CLEAN:
        return false;
    case CPS_ABORT_IN_WAIT_ILLEGAL:
        return true;
    case CPS_ABORT_IN_WAIT_STOP:
        cps_bus_unknown_stop_(e, CPS_UNKNOWN_ABORT_IN_WAIT, by);
        return false;
    }
    return false;
}

void hwsq_stop_(struct nv *e, struct hwsq_slot *s, unsigned how)
{
    const struct cps_by by = hwsq_by_(e, s, 0);
    s->running = s->illegal = 0;
    s->wait = WAIT_NONE;
    cps_bus_put(e, CPS_EV_EXIT, how, &by, 0, s->ip);
}

static void abort_slot(struct nv *e, struct hwsq_slot *s, const struct cps_by *by)
{
    if (!s->running)
        return;
    if (abort_hangs(e, s, by)) {
        s->illegal = 1;
        s->wait = WAIT_NONE;
    } else {
        hwsq_stop_(e, s, CPS_EXIT_ABORT);
    }
}

static void write_trigger(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    bool a = at->value & 2 || hwsq_chip_(e) == CPS_G92;
    if (at->value & 1)
        start(e, &hwsq_of_(e)->slot[!a], at->value >> 2 & 3, at->by);
    else
        abort_slot(e, &hwsq_of_(e)->slot[!a], at->by);
}

#define read_pramin    hwsq_read_pramin_
#define write_pramin   hwsq_write_pramin_
#define read_peephole  hwsq_read_peephole_
#define write_peephole hwsq_write_peephole_
static const struct cps_reg_row rows[] = {
#define NV_REG_HWSQ(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

/* ---- the loop ---- */

static void show(const struct nv *e, const struct hwsq_slot *s, uint32_t ret[CPS_STEP_REGS])
{
    struct cps_flags f = e->bus.flags;
    ret[0] = s->addr;
    ret[1] = s->data;
    ret[2] = f.value;
    ret[3] = f.enable;
}

static enum cps_stop fall_off(struct nv *e, const struct hwsq_slot *s)
{
    const struct cps_by by = hwsq_by_(e, s, 0);
    cps_bus_unknown_stop_(e, CPS_UNKNOWN_FELL_OFF, &by);
    return CPS_STOP_FAULT;
}

static enum cps_stop execute(struct nv *e, void *who)
{
    struct hwsq_slot *s = who;
    uint32_t before[CPS_STEP_REGS], after[CPS_STEP_REGS];
    struct cps_insn insn;
    uint32_t pc = s->ip;
    s->pc = s->ip;
    if (pc >= ram_size(e))
        return fall_off(e, s);
    cps_decode_bytes(&cps_isa_hwsq, hwsq_chip_(e), hwsq_of_(e)->code + pc, ram_size(e) - pc, &insn);
    if (insn.misfit)
        return fall_off(e, s);
    show(e, s, before);
    s->ip = (uint16_t)(pc + insn.length); /* past the RAM the next fetch fails */
    e->engine.instructions++;
    hwsq_perform_(e, s, &insn);
    show(e, s, after);
    nv_step_(e, s == hwsq_of_(e)->slot ? CPS_CPU_HWSQ : CPS_CPU_HWSQ_B, pc, before, after,
             CPS_STEP_REGS);
    cps_bus_advance(e, e->bus.clock + e->engine.policy.cost);
    return CPS_STOP_IDLE;
}

/* A wait for time has only its deadline. */
static bool holds(struct nv *e, const void *who)
{
    const struct hwsq_slot *s = who;
    switch ((enum hwsq_wait)s->wait) {
    case WAIT_EVENT:
        return hwsq_event_is_(e, s);
    case WAIT_POKE:
        return hwsq_may_poke_(e, s);
    default:
        return false;
    }
}

static bool waits(const struct nv *e, const void *who)
{
    const struct hwsq_slot *s = who;
    (void)e;
    return s->wait || s->illegal;
}

/* The display's events come from parts that are not there. That memory is paused comes from one
 * that is. */
static bool stand_in(struct nv *e, const struct hwsq_slot *s)
{
    const struct cps_by by = hwsq_by_(e, s, 0);
    if (s->wait != WAIT_EVENT || s->event == 0 || e->bus.until != NEVER)
        return false;
    switch ((enum cps_policy_waits)e->engine.policy.waits) {
    case CPS_WAITS_SATISFY:
    case CPS_WAITS_REGISTERS: /* an event is no memory */
        cps_bus_assume_event_(e, s->event, s->value, &by);
        return true;
    case CPS_WAITS_STOP:
        return false;
    }
    return false;
}

static enum cps_stop finish_wait(struct nv *e, void *who)
{
    struct hwsq_slot *s = who;
    uint64_t deadline = s->wait == WAIT_TIME ? s->wake : NEVER;
    bool held = s->illegal || nv_await_(e, holds, s, deadline) == CPS_AWAIT_HELD;
    if (held && !stand_in(e, s))
        return nv_held_(e);
    if (s->wait == WAIT_POKE)
        hwsq_poke_(e, s);
    s->wait = WAIT_NONE;
    return CPS_STOP_IDLE;
}

/* The slot that was started first and can still go on; else one that hangs, or NULL. */
static void *next_slot(struct nv *e)
{
    struct hwsq_slot *best = NULL;
    for (unsigned i = 0; i < SLOTS; i++) {
        struct hwsq_slot *s = &hwsq_of_(e)->slot[i];
        if (!s->running)
            continue;
        if (!best || best->illegal > s->illegal ||
            (best->illegal == s->illegal && s->order < best->order))
            best = s;
    }
    return best;
}

/* ---- for people and the host ---- */

/* G92 and later have one slot. */
static unsigned core_count(enum cps_gen gen)
{
    return gen == CPS_G92 ? 1 : SLOTS;
}

static struct cps_where where(const struct nv *e, unsigned core)
{
    const struct hwsq_slot *s = &hwsq_of_(e)->slot[core];
    struct cps_insn insn = {.length = 1};
    if (s->ip < ram_size(e))
        cps_decode_bytes(&cps_isa_hwsq, hwsq_chip_(e), hwsq_of_(e)->code + s->ip,
                         ram_size(e) - s->ip, &insn);
    return (struct cps_where){.pc = s->ip, .npc = s->ip + insn.length, .started = s->running};
}

static bool set_pc(struct nv *e, unsigned core, bool next, uint32_t pc)
{
    if (next || pc >= ram_size(e))
        return false;
    hwsq_of_(e)->slot[core].ip = (uint16_t)pc;
    return true;
}

static bool get_code(struct nv *e, uint64_t at, uint64_t *ret)
{
    *ret = at < ram_size(e) ? hwsq_of_(e)->code[at] : 0;
    return at < ram_size(e);
}

static bool put_code(struct nv *e, uint64_t at, uint64_t value)
{
    if (at >= ram_size(e) || value > UINT8_MAX)
        return false;
    hwsq_of_(e)->code[at] = (uint8_t)value;
    return true;
}

/* To the code RAM, by the window that the chip has. */
static struct cps_err *load(struct nv *e, const struct cps_item *item)
{
    uint32_t base = hwsq_chip_(e) == CPS_G92 ? NEW_CODE : CODE;
    uint32_t ram = ram_size(e);
    if (item->code.at % 4)
        return cps_err_new(CPS_ERR_INPUT, "upload to byte %" PRIu32 ", expected a multiple of 4",
                           item->code.at);
    if (item->code.at > ram || item->code.size > ram - item->code.at)
        return cps_err_new(CPS_ERR_INPUT,
                           "offset 0x%" PRIx32 ": %zu bytes for byte %" PRIu32
                           " of the code RAM on, expected to end in the %" PRIu32 " bytes of %s",
                           ram, item->code.size, item->code.at, ram, cps_gen_name(hwsq_chip_(e)));
    for (size_t at = 0; at < item->code.size; at += 4)
        cps_bus_load(e, base + item->code.at + (uint32_t)at, nv_word_(item, at));
    return NULL;
}

/* A slot that an abort left as on a bad opcode has a good one there. */
static void explain_illegal(const struct nv *e, const struct hwsq_slot *s, struct cps_buf *out)
{
    struct cps_insn insn;
    cps_decode_bytes(&cps_isa_hwsq, hwsq_chip_(e), hwsq_of_(e)->code + s->pc, ram_size(e) - s->pc,
                     &insn);
    if (insn.enc)
        cps_buf_printf(out, ", the abort of its wait at 0x%04x shows as an illegal opcode", s->pc);
    else
        cps_buf_printf(out, ", 0x%02x at 0x%04x is an illegal opcode", hwsq_of_(e)->code[s->pc],
                       s->pc);
}

static void hangs(const struct nv *e, unsigned core, struct cps_buf *out)
{
    const struct hwsq_slot *s = &hwsq_of_(e)->slot[core];
    bool enabled = cps_bus_stored_(e, DEBUG_6) & ENABLE;
    if (s->illegal)
        explain_illegal(e, s, out);
    else if (s->running && s->wait == WAIT_EVENT)
        cps_buf_printf(out, ", it waits for event %u to be %u", s->event, s->value);
    else if (s->running && s->wait == WAIT_POKE)
        cps_buf_printf(out, ", its write of 0x%06" PRIx32 " waits for %s", s->addr,
                       enabled ? "the end of the memory's pause" : "HWSQ_ENABLE");
}

/* What a slot has to see, by the letter of its name. */
#define SLOT_VALUES(letter, index)                                     \
    NV_VALUE(struct hwsq, letter ".ip", slot[index].ip),               \
        NV_VALUE(struct hwsq, letter ".running", slot[index].running), \
        NV_VALUE(struct hwsq, letter ".illegal", slot[index].illegal), \
        NV_VALUE(struct hwsq, letter ".addr", slot[index].addr),       \
        NV_VALUE(struct hwsq, letter ".data", slot[index].data)
static const struct cps_reg regs[] = {SLOT_VALUES("a", 0), SLOT_VALUES("b", 1)};
static const struct cps_file files[] = {
    NV_FILE_VALUES,
    {CPS_FILE_PC, 16, 1, "pc", 2},
    {CPS_FILE_CODE, 8, 1, "code", RAM_MAX},
    NV_FILE_REGISTERS,
};

static const struct nv_kind kind = {
    .state_size = sizeof(struct hwsq),
    .rows = CPS_REG_TABLE(rows),
    .loop = {next_slot, waits, finish_wait, execute},
    .who = {CPS_CPU_HWSQ, CPS_CPU_HWSQ_B},
    .cores = core_count,
    .load = load,
    .memory = hwsq_is_memory_,
    .hangs = hangs,
    .where = where,
    .set_pc = set_pc,
    .code = get_code,
    .set_code = put_code,
};

NV_ENGINE(hwsq);
