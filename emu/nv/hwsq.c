/* SPDX-License-Identifier: MIT
 * NVIDIA's HWSQ: one or two slots that play the bytes of a code RAM. */
#include <string.h>

#include "emu/engine.h"

#define RAM_MAX 0x200u
#define SLOTS   2u
#define NEVER   UINT64_MAX
#define ENABLE  8u /* of DEBUG_6 */
#define DEBUG_6 0x1098u
/* Where the windows to the code RAM begin. */
#define CODE     0x1400u
#define NEW_CODE 0x80000u
/** Events from here on have no known source. */
#define EVENTS_KNOWN 5u

/* What a slot stands at. */
enum wait { WAIT_NONE, WAIT_TIME, WAIT_EVENT, WAIT_POKE };

struct slot {
    uint32_t addr, data;
    uint32_t addr_known, data_known; /* bits that this run has written */
    uint16_t ip;
    uint16_t pc; /* of the instruction at hand: where events come from */
    uint8_t running, illegal;
    uint8_t wait; /* enum wait */
    uint8_t event, value;
    uint64_t wake;  /* tick */
    uint64_t order; /* of starts */
};

struct hwsq {
    struct slot slot[SLOTS];
    uint16_t entry[4];
    uint64_t starts;
    uint8_t code[RAM_MAX];
};

static struct hwsq *of(const struct cps_engine *e)
{
    return e->state;
}

static enum cps_gen chip(const struct cps_engine *e)
{
    return cps_bus_gen(e->bus);
}

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

static uint32_t ram_size(const struct cps_engine *e)
{
    return cps_hwsq_ram(chip(e));
}

/* Chips whose bad opcodes hang. */
static bool can_hang(const struct cps_engine *e)
{
    return chip(e) == CPS_NV41 || chip(e) == CPS_G80;
}

static struct cps_access access_of(const struct cps_engine *e, const struct slot *s, unsigned path)
{
    return (struct cps_access){s == of(e)->slot ? CPS_CPU_HWSQ : CPS_CPU_HWSQ_B, path, s->pc};
}

static void unknown(struct cps_engine *e, const struct slot *s, enum cps_unknown what,
                    uint32_t detail)
{
    const struct cps_access by = access_of(e, s, 0);
    cps_bus_unknown(e->bus, what, &by, detail);
}

static bool any_running(const struct cps_engine *e)
{
    return of(e)->slot[0].running || of(e)->slot[1].running;
}

/* ---- registers ---- */

static void note_rewrite(struct cps_engine *e, uint32_t addr, const struct cps_access *by)
{
    if (any_running(e))
        cps_bus_unknown(e->bus, CPS_UNKNOWN_REWRITTEN, by, addr);
}

static uint32_t read_entry(struct cps_bus *bus, void *device, uint32_t addr,
                           const struct cps_access *by)
{
    const struct cps_engine *e = device;
    uint32_t value = 0;
    (void)bus;
    (void)addr;
    (void)by;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)(of(e)->entry[i] & 0xff) << 8 * i;
    return value;
}

static void write_entry(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                        const struct cps_access *by)
{
    struct cps_engine *e = device;
    (void)bus;
    note_rewrite(e, addr, by);
    for (unsigned i = 0; i < 4; i++)
        of(e)->entry[i] = (uint16_t)((of(e)->entry[i] & 0x100) | (value >> 8 * i & 0xff));
}

static uint32_t read_entry_high(struct cps_bus *bus, void *device, uint32_t addr,
                                const struct cps_access *by)
{
    const struct cps_engine *e = device;
    uint32_t value = 0;
    (void)bus;
    (void)addr;
    (void)by;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)(of(e)->entry[i] >> 8) << 8 * i;
    return value;
}

static void write_entry_high(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                             const struct cps_access *by)
{
    struct cps_engine *e = device;
    (void)bus;
    note_rewrite(e, addr, by);
    for (unsigned i = 0; i < 4; i++)
        of(e)->entry[i] = (uint16_t)((of(e)->entry[i] & 0xff) | (value >> 8 * i & 1) << 8);
}

static uint32_t slot_status(const struct cps_engine *e, const struct slot *s)
{
    uint32_t high = chip(e) == CPS_G92 ? (uint32_t)(s->ip >> 8 & 1) << 10 : 0;
    return (s->ip & 0xff) | (uint32_t)s->running << 8 | (uint32_t)s->illegal << 9 | high;
}

static uint32_t read_status(struct cps_bus *bus, void *device, uint32_t addr,
                            const struct cps_access *by)
{
    const struct cps_engine *e = device;
    (void)bus;
    (void)addr;
    (void)by;
    return slot_status(e, &of(e)->slot[0]) | slot_status(e, &of(e)->slot[1]) << 16;
}

/* The word of code at byte @p at, 0 behind the RAM. */
static uint32_t code_word(struct cps_engine *e, uint32_t at, const struct cps_access *by)
{
    uint32_t value = 0;
    if (at >= ram_size(e)) {
        cps_bus_unknown(e->bus, CPS_UNKNOWN_CODE_BEYOND, by, at);
        return 0;
    }
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)of(e)->code[at + i] << 8 * i;
    return value;
}

static void set_code_word(struct cps_engine *e, uint32_t at, uint32_t value,
                          const struct cps_access *by)
{
    if (at >= ram_size(e)) {
        cps_bus_unknown(e->bus, CPS_UNKNOWN_CODE_BEYOND, by, at);
        return;
    }
    note_rewrite(e, at, by);
    for (unsigned i = 0; i < 4; i++)
        of(e)->code[at + i] = (uint8_t)(value >> 8 * i);
}

/* The byte of code that a register of either window begins with. */
static uint32_t code_at(uint32_t addr)
{
    return addr - (addr >= NEW_CODE ? NEW_CODE : CODE);
}

static uint32_t read_code(struct cps_bus *bus, void *device, uint32_t addr,
                          const struct cps_access *by)
{
    (void)bus;
    return code_word(device, code_at(addr), by);
}

static void write_code(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                       const struct cps_access *by)
{
    (void)bus;
    set_code_word(device, code_at(addr), value, by);
}

static void start(struct cps_engine *e, struct slot *s, unsigned entry, const struct cps_access *by)
{
    struct cps_bus *bus = e->bus;
    if (s->running)
        cps_bus_unknown(bus, CPS_UNKNOWN_START_RUNNING, by, entry);
    *s = (struct slot){.addr = s->addr, .data = s->data, .ip = of(e)->entry[entry], .running = 1};
    s->order = ++of(e)->starts;
    e->starts++;
    if (of(e)->slot[0].running && of(e)->slot[1].running)
        cps_bus_unknown(bus, CPS_UNKNOWN_ARBITRATION, by, entry);
}

/* True if the abort shows as one more bad opcode instead of an end. */
static bool abort_hangs(struct cps_engine *e, struct slot *s, const struct cps_access *by)
{
    uint64_t policy = cps_bus_policy(e->bus)->abort_in_wait;
    if (s->wait == WAIT_NONE || s->illegal || !can_hang(e))
        return false;
    cps_bus_unknown(e->bus, CPS_UNKNOWN_ABORT_IN_WAIT, by, s->ip);
    if (policy == 2)
        cps_bus_unknown_stop_(e->bus, CPS_UNKNOWN_ABORT_IN_WAIT, by);
    return policy == 1;
}

static void stop_slot(struct cps_engine *e, struct slot *s, unsigned how)
{
    const struct cps_access by = access_of(e, s, 0);
    s->running = s->illegal = 0;
    s->wait = WAIT_NONE;
    cps_bus_put(e->bus, CPS_EV_EXIT, how, &by, 0, s->ip);
}

static void abort_slot(struct cps_engine *e, struct slot *s, const struct cps_access *by)
{
    if (!s->running)
        return;
    if (abort_hangs(e, s, by)) {
        s->illegal = 1;
        s->wait = WAIT_NONE;
    } else {
        stop_slot(e, s, CPS_EXIT_ABORT);
    }
}

static void write_trigger(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                          const struct cps_access *by)
{
    struct cps_engine *e = device;
    bool a = value & 2 || chip(e) == CPS_G92;
    (void)bus;
    (void)addr;
    if (value & 1)
        start(e, &of(e)->slot[!a], value >> 2 & 3, by);
    else
        abort_slot(e, &of(e)->slot[!a], by);
}

static const struct cps_bus_row rows[] = {
#define NV_REG_HWSQ(gens, first, last, read, write, evidence) \
    {gens, first, last, read_##read, write_##write},
#include "emu/nv/reg.def"
};

/* ---- instructions ---- */

static void op_WAIT(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    uint64_t ticks = ((uint64_t)insn->operand[0] << 2 * insn->operand[1]) * 0x20;
    if (!ticks)
        return;
    s->wait = WAIT_TIME;
    s->wake = cps_bus_clock(e->bus) + ticks;
}

static void poke(struct cps_engine *e, struct slot *s)
{
    const struct cps_access by = access_of(e, s, CPS_PATH_POKE);
    if (~s->data_known)
        unknown(e, s, CPS_UNKNOWN_UNDEFINED, s->data);
    s->wait = WAIT_NONE;
    cps_bus_write(e->bus, s->addr, s->data, &by);
}

/* Without HWSQ_ENABLE the write is held back. */
static void begin_poke(struct cps_engine *e, struct slot *s)
{
    if (cps_bus_stored_(e->bus, DEBUG_6) & ENABLE) {
        poke(e, s);
        return;
    }
    unknown(e, s, CPS_UNKNOWN_POKE_IP, s->ip);
    s->wait = WAIT_POKE;
}

static void op_ADDR(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    s->addr = (uint32_t)insn->operand[0];
    s->addr_known = UINT32_MAX;
    begin_poke(e, s);
}

static void op_ADDRLO(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    s->addr = (s->addr & 0xffff0000) | (uint32_t)insn->operand[0];
    s->addr_known |= 0xffff;
    if (~s->addr_known)
        unknown(e, s, CPS_UNKNOWN_UNDEFINED, s->addr);
    begin_poke(e, s);
}

static void op_DATA(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    (void)e;
    s->data = (uint32_t)insn->operand[0];
    s->data_known = UINT32_MAX;
}

static void op_DATALO(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    s->data = (s->data & 0xffff0000) | (uint32_t)insn->operand[0];
    s->data_known |= 0xffff;
    if (~s->data_known)
        unknown(e, s, CPS_UNKNOWN_UNDEFINED, s->data);
}

static bool event_is(const struct cps_engine *e, const struct slot *s)
{
    return (cps_bus_events(e->bus) >> s->event & 1) == s->value;
}

static void op_EWAIT(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    s->event = (uint8_t)insn->operand[0];
    s->value = (uint8_t)insn->operand[1];
    if (insn->unclaimed)
        unknown(e, s, CPS_UNKNOWN_EWAIT_BITS, (uint32_t)(insn->unclaimed >> 8));
    if (s->event >= EVENTS_KNOWN)
        unknown(e, s, CPS_UNKNOWN_EVENT_SOURCE, s->event);
    if (!event_is(e, s))
        s->wait = WAIT_EVENT;
}

static void op_EXIT(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    s->ip = (uint16_t)(s->ip - insn->length);
    stop_slot(e, s, CPS_EXIT_END);
}

static void set_flag(struct cps_engine *e, struct slot *s, unsigned number, bool enable, bool value)
{
    struct cps_bus *bus = e->bus;
    struct cps_access by = access_of(e, s, CPS_PATH_FLAG);
    struct cps_flags f = cps_bus_flags_(bus);
    uint32_t bit = UINT32_C(1) << number;
    f.enable = enable ? f.enable | bit : f.enable & ~bit;
    f.value = value ? f.value | bit : f.value & ~bit;
    unsigned low = number & 16;
    if (!cps_bus_flag_known_(bus, number))
        unknown(e, s, CPS_UNKNOWN_FLAG_TARGET, number);
    cps_bus_put(bus, CPS_EV_REG, CPS_PATH_FLAG, &by, low ? 0x1314 : 0x1310,
                (f.value >> low & 0xffff) | (f.enable >> low & 0xffff) << 16);
    cps_bus_set_flags_(bus, f, &by);
}

static void op_SET1(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    set_flag(e, s, (unsigned)insn->operand[0], true, true);
}

static void op_SET0(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    set_flag(e, s, (unsigned)insn->operand[0], true, false);
}

static void op_UNSET(struct cps_engine *e, struct slot *s, const struct cps_insn *insn)
{
    unsigned number = (unsigned)insn->operand[0];
    bool was = cps_bus_flags_(e->bus).value >> number & 1;
    if (was)
        unknown(e, s, CPS_UNKNOWN_UNSET_VALUE, number);
    set_flag(e, s, number, false, was && !cps_bus_policy(e->bus)->unset_clears);
}

static void bad_opcode(struct cps_engine *e, struct slot *s)
{
    if (!can_hang(e))
        return; /* as long as a nop, and as effective */
    unknown(e, s, CPS_UNKNOWN_BAD_IP, s->ip);
    s->illegal = 1;
    if (cps_bus_policy(e->bus)->bad_ip_at)
        s->ip--;
}

static void (*const handlers[])(struct cps_engine *e, struct slot *s,
                                const struct cps_insn *insn) = {
    NULL,
#define OP(id, ...) op_##id,
#include "isa/hwsq.def"
};

/* ---- the loop ---- */

static void show(const struct cps_engine *e, const struct slot *s, uint32_t ret[CPS_STEP_REGS])
{
    struct cps_flags f = cps_bus_flags_(e->bus);
    ret[0] = s->addr;
    ret[1] = s->data;
    ret[2] = f.value;
    ret[3] = f.enable;
}

static enum cps_stop fall_off(struct cps_engine *e, const struct slot *s)
{
    const struct cps_access by = access_of(e, s, 0);
    cps_bus_unknown_stop_(e->bus, CPS_UNKNOWN_FELL_OFF, &by);
    return CPS_STOP_FAULT;
}

static enum cps_stop execute(struct cps_engine *e, void *who)
{
    struct slot *s = who;
    struct cps_bus *bus = e->bus;
    uint32_t before[CPS_STEP_REGS], after[CPS_STEP_REGS];
    struct cps_insn insn;
    uint32_t pc = s->ip;
    s->pc = s->ip;
    if (pc >= ram_size(e))
        return fall_off(e, s);
    cps_decode_bytes(&cps_isa_hwsq, chip(e), of(e)->code + pc, ram_size(e) - pc, &insn);
    if (insn.misfit)
        return fall_off(e, s);
    show(e, s, before);
    s->ip = (uint16_t)(pc + insn.length); /* behind the RAM the next fetch fails */
    e->instructions++;
    if (insn.enc)
        handlers[insn.op](e, s, &insn);
    else
        bad_opcode(e, s);
    show(e, s, after);
    cps_engine_step_(e, s == of(e)->slot ? CPS_CPU_HWSQ : CPS_CPU_HWSQ_B, pc, before, after,
                     CPS_STEP_REGS);
    cps_bus_advance(bus, cps_bus_clock(bus) + cps_bus_policy(bus)->cost);
    return CPS_STOP_IDLE;
}

/* A wait for time has only its deadline. */
static bool holds(struct cps_engine *e, const void *who)
{
    const struct slot *s = who;
    switch ((enum wait)s->wait) {
    case WAIT_EVENT:
        return event_is(e, s);
    case WAIT_POKE:
        return cps_bus_stored_(e->bus, DEBUG_6) & ENABLE;
    default:
        return false;
    }
}

static bool waits(const struct cps_engine *e, const void *who)
{
    const struct slot *s = who;
    (void)e;
    return s->wait || s->illegal;
}

/* The display's events come from parts that are not there. That memory is paused comes from one
 * that is. */
static bool stand_in(struct cps_engine *e, const struct slot *s)
{
    const struct cps_access by = access_of(e, s, 0);
    if (s->wait != WAIT_EVENT || s->event == 0 || cps_bus_limit_(e->bus) != NEVER ||
        cps_bus_policy(e->bus)->waits == CPS_WAITS_STOP)
        return false;
    cps_bus_assume_event_(e->bus, s->event, s->value, &by);
    return true;
}

static enum cps_stop finish_wait(struct cps_engine *e, void *who)
{
    struct slot *s = who;
    uint64_t deadline = s->wait == WAIT_TIME ? s->wake : NEVER;
    bool held = s->illegal || cps_engine_await_(e, holds, s, deadline) == CPS_AWAIT_HELD;
    if (held && !stand_in(e, s))
        return cps_engine_held_(e);
    if (s->wait == WAIT_POKE)
        poke(e, s);
    s->wait = WAIT_NONE;
    return CPS_STOP_IDLE;
}

/* The slot that was started first and can still go on; else one that hangs, or NULL. */
static void *next_slot(struct cps_engine *e)
{
    struct slot *best = NULL;
    for (unsigned i = 0; i < SLOTS; i++) {
        struct slot *s = &of(e)->slot[i];
        if (!s->running)
            continue;
        if (!best || best->illegal > s->illegal ||
            (best->illegal == s->illegal && s->order < best->order))
            best = s;
    }
    return best;
}

static enum cps_stop run(struct cps_engine *e, uint64_t budget)
{
    static const struct cps_loop loop = {next_slot, waits, finish_wait, execute};
    return cps_engine_loop_(e, &loop, budget);
}

static void reset(struct cps_engine *e)
{
    memset(e->state, 0, sizeof(struct hwsq));
    cps_bus_attach_(e->bus, rows, sizeof(rows) / sizeof(rows[0]), e);
}

static const struct cps_reg regs[] = {
    {"a.ip", offsetof(struct hwsq, slot[0].ip), 2},
    {"a.running", offsetof(struct hwsq, slot[0].running), 1},
    {"a.illegal", offsetof(struct hwsq, slot[0].illegal), 1},
    {"a.addr", offsetof(struct hwsq, slot[0].addr), 4},
    {"a.data", offsetof(struct hwsq, slot[0].data), 4},
    {"b.ip", offsetof(struct hwsq, slot[1].ip), 2},
    {"b.running", offsetof(struct hwsq, slot[1].running), 1},
    {"b.illegal", offsetof(struct hwsq, slot[1].illegal), 1},
    {"b.addr", offsetof(struct hwsq, slot[1].addr), 4},
    {"b.data", offsetof(struct hwsq, slot[1].data), 4},
};
static const struct cps_regset regset = {regs, sizeof(regs) / sizeof(regs[0])};

const struct cps_engine_ops cps_hwsq_ops = {
    "hwsq", &cps_isa_hwsq, &regset, sizeof(struct hwsq), reset, run,
};
