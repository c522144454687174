/* SPDX-License-Identifier: MIT
 * The bus of the NVIDIA engines: registers, time, and what happens at which tick. */
#include "emu/nv/nv.h"

#include <inttypes.h>
#include <string.h>

#include "emu/mem.h"
#include "isa/base/list.h"

#define MEMORY_LIMIT    ((uint64_t)64 << 20)
#define FLAG_FB_PAUSE   (UINT32_C(1) << 16)
#define EVENT_FB_PAUSED UINT32_C(1)
#define EVENTS          0x1578u
#define DEBUG_6         UINT32_C(0x1098)
#define DEBUG_6_HWSQ    UINT32_C(0x18) /* HWSQ_ENABLE and HWSQ_OVERRIDE_MODE */
#define HWSQ_TICK_NS    32u
#define NEVER           UINT64_MAX

/* ---- events ---- */

void cps_bus_tell_time_(struct nv *e)
{
    if (e->bus.told != e->bus.clock && cps_tap_wants_(&e->engine.tap, CPS_EV_TICK))
        cps_tap_put_(&e->engine.tap,
                     cps_event_make(CPS_EV_TICK, 0, CPS_CPU_NONE, 0, e->bus.clock, 0), CPS_EV_TICK);
    e->bus.told = e->bus.clock;
}

void cps_bus_why_(const struct nv *e, struct cps_buf *out)
{
    const struct cps_event *why = &e->bus.why;
    unsigned kind = cps_event_kind(why);
    const char *word = kind == CPS_EV_UNMODELLED ? cps_event_unknown(why)
                       : kind == CPS_EV_EXIT     ? cps_event_sub_word(kind, cps_event_sub(why))
                                                 : NULL;
    if (word)
        cps_buf_printf(out,
                       nv_has_code_(e) ? "%s at 0x%04" PRIx32 ": %s" : "%s at line %" PRIu32 ": %s",
                       cps_processor_name(cps_event_who(why)), cps_event_pc(why), word);
}

void cps_bus_put(struct nv *e, unsigned kind, unsigned sub, const struct cps_by *by, uint64_t addr,
                 uint32_t value)
{
    const struct cps_event event = cps_event_make(kind, sub, by->who, by->pc, addr, value);
    if (e->engine.tap.quiet)
        return;
    if (kind == CPS_EV_UNMODELLED || kind == CPS_EV_EXIT) {
        /* What a run stopped for is the last of these. */
        const char *word =
            cps_event_kind(&event) == CPS_EV_UNMODELLED ? cps_event_unknown(&event) : NULL;
        if (cps_event_kind(&event) == CPS_EV_EXIT && cps_event_sub(&event) > CPS_EXIT_CODE)
            word = cps_event_sub_word(CPS_EV_EXIT, cps_event_sub(&event));
        if (word)
            e->bus.why = event;
    }
    if (cps_tap_wants_(&e->engine.tap, kind))
        cps_bus_tell_time_(e);
    cps_tap_put_(&e->engine.tap, event, kind);
}

void cps_bus_unknown(struct nv *e, enum cps_unknown what, const struct cps_by *by, uint32_t detail)
{
    uint64_t place = ((uint64_t)by->who << 32 | by->pc) + 1;
    if (e->bus.noted[what] == place || e->engine.tap.quiet)
        return;
    e->bus.noted[what] = place;
    cps_bus_put(e, CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, by, what, detail);
}

void cps_bus_unknown_stop_(struct nv *e, enum cps_unknown what, const struct cps_by *by)
{
    cps_bus_put(e, CPS_EV_UNMODELLED, CPS_PLACE_UNKNOWN, by, what, 0);
    e->bus.stopped = true;
}

/* ---- flags ---- */

static const struct flag {
    uint8_t number;
    uint64_t gens, doubtful;
    uint32_t addr[2];
    uint8_t bit;
} flags[] = {
#define HWSQ_FLAG(number, gens, doubtful, first, second, bit, evidence) \
    {number, gens, doubtful, {first, second}, bit},
#include "emu/nv/hwsq_flag.def"
};

bool cps_bus_pausing_(const struct nv *e)
{
    const struct cps_flags *f = &e->bus.flags;
    return e->engine.gen != CPS_NV17 && f->enable & f->value & FLAG_FB_PAUSE;
}

void cps_bus_set_flags_(struct nv *e, struct cps_flags to, const struct cps_by *by)
{
    bool before = cps_bus_pausing_(e);
    e->bus.flags = to;
    if (cps_bus_pausing_(e) != before) {
        /* FB_PAUSED is 1 only while the pause is requested. */
        bool on = !before;
        bool timed = on && e->engine.policy.fb_delay;
        e->bus.pause_due = timed ? e->bus.clock + e->engine.policy.fb_delay : NEVER;
        if (!on)
            e->bus.events &= ~EVENT_FB_PAUSED;
        if (timed)
            cps_bus_unknown(e, CPS_UNKNOWN_FB_DELAY, by, (uint32_t)e->engine.policy.fb_delay);
    }
}

/* Flag 16's is the request itself. */
bool cps_bus_flag_known_(const struct nv *e, unsigned number)
{
    uint64_t mask = cps_gen_mask(e->engine.gen);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (flags[i].number == number && flags[i].gens & ~flags[i].doubtful & mask)
            return true;
    }
    return number == 16 && e->engine.gen != CPS_NV17;
}

static uint32_t forced(const struct nv *e, uint32_t addr, uint32_t value)
{
    uint64_t mask = cps_gen_mask(e->engine.gen);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct flag *f = &flags[i];
        if (!(f->gens & mask) || (f->addr[0] != addr && f->addr[1] != addr) ||
            !(e->bus.flags.enable >> f->number & 1))
            continue;
        value &= ~(UINT32_C(1) << f->bit);
        value |= (e->bus.flags.value >> f->number & 1) << f->bit;
    }
    return value;
}

uint32_t cps_bus_stored_(const struct nv *e, uint32_t addr)
{
    return cps_mem_read(e->engine.mem, addr & ~3u, NULL);
}

/* Each of the two registers has 16 flags: values below, what overrides above. */
static uint32_t read_flags(const struct cps_access *at)
{
    const struct cps_flags *f = &nv_of_(at)->bus.flags;
    unsigned low = 16 * at->index;
    return (f->value >> low & 0xffff) | (f->enable >> low & 0xffff) << 16;
}

static void write_flags(const struct cps_access *at)
{
    unsigned low = 16 * at->index;
    struct cps_flags f = nv_of_(at)->bus.flags;
    f.value = (f.value & ~(UINT32_C(0xffff) << low)) | (at->value & 0xffff) << low;
    f.enable = (f.enable & ~(UINT32_C(0xffff) << low)) | (at->value >> 16) << low;
    cps_bus_set_flags_(nv_of_(at), f, at->by);
}

/* ---- time ---- */

uint64_t cps_bus_ns_(const struct nv *e)
{
    return e->bus.clock * (cps_gen_isa(e->engine.gen) == &cps_isa_hwsq ? HWSQ_TICK_NS : 1);
}

uint64_t cps_bus_next_(const struct nv *e)
{
    uint64_t change =
        e->bus.changes_done < e->bus.changes ? e->bus.change[e->bus.changes_done].tick : NEVER;
    return e->bus.pause_due < change ? e->bus.pause_due : change;
}

static void apply(struct nv *e, const struct cps_bus_change *change)
{
    uint32_t bit = UINT32_C(1) << (change->number & 31);
    if (!change->is_event)
        cps_bus_load(e, change->number, change->value);
    else if (change->number == CPS_EVENT_PGRAPH_IDLE)
        e->bus.graph_idle = change->value;
    else if (change->value)
        e->bus.events |= bit;
    else
        e->bus.events &= ~bit;
}

void cps_bus_advance(struct nv *e, uint64_t tick)
{
    for (uint64_t next; (next = cps_bus_next_(e)) <= tick && next != NEVER;) {
        e->bus.clock = next > e->bus.clock ? next : e->bus.clock;
        if (e->bus.pause_due == next) {
            e->bus.pause_due = NEVER;
            e->bus.events |= EVENT_FB_PAUSED;
        } else {
            apply(e, &e->bus.change[e->bus.changes_done++]);
        }
    }
    e->bus.clock = tick > e->bus.clock ? tick : e->bus.clock;
}

struct cps_err *cps_bus_schedule(struct nv *e, uint64_t tick, bool is_event, uint32_t number,
                                 uint32_t value)
{
    if (!CPS_LIST_ROOM(e->bus.change, e->bus.changes))
        return cps_err_nomem();
    e->bus.change[e->bus.changes++] = (struct cps_bus_change){tick, is_event, number, value};
    return NULL;
}

void cps_bus_assume_event_(struct nv *e, unsigned number, bool value, const struct cps_by *by)
{
    uint32_t bit = UINT32_C(1) << number;
    e->bus.events = value ? e->bus.events | bit : e->bus.events & ~bit;
    cps_bus_put(e, CPS_EV_ASSUME, CPS_WHAT_WAIT, by, EVENTS, e->bus.events);
}

static uint32_t read_events(const struct cps_access *at)
{
    return nv_of_(at)->bus.events;
}

static uint32_t read_time_low(const struct cps_access *at)
{
    return (uint32_t)cps_bus_ns_(nv_of_(at));
}

static uint32_t read_time_high(const struct cps_access *at)
{
    return (uint32_t)(cps_bus_ns_(nv_of_(at)) >> 32);
}

/* ---- registers ---- */

static const struct cps_reg_row own_rows[] = {
#define NV_REG_BUS(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

static uint32_t aligned(struct nv *e, uint32_t addr, const struct cps_by *by)
{
    if (addr & 3)
        cps_bus_unknown(e, CPS_UNKNOWN_UNALIGNED, by, addr);
    return addr & ~3u;
}

/* To the register at @p addr, a multiple of 4. */
static struct cps_access access_to(struct nv *e, uint32_t addr, uint32_t value,
                                   const struct cps_by *by)
{
    const struct cps_reg_row *row = cps_reg_find_(e->bus.rows, addr);
    return (struct cps_access){.device = e,
                               .row = row,
                               .number = addr,
                               .index = row ? (addr - row->first) / row->stride : 0,
                               .value = value,
                               .lanes = CPS_LANES_ALL,
                               .by = by};
}

uint32_t cps_bus_read_plain_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    bool known = false;
    uint32_t value = cps_mem_read(e->engine.mem, at->number, &known);
    if (!known && !e->engine.tap.quiet && cps_mem_report(e->engine.mem, at->number))
        cps_bus_put(e, CPS_EV_UNMODELLED, CPS_PLACE_GPU, at->by, at->number, 0);
    /* Both bits: flags have an effect, and reads show it. */
    if ((cps_bus_stored_(e, DEBUG_6) & DEBUG_6_HWSQ) == DEBUG_6_HWSQ)
        value = forced(e, at->number, value);
    return value;
}

static bool has_read(const struct cps_access *at)
{
    return at->row && at->row->read;
}

uint32_t cps_bus_read(struct nv *e, uint32_t addr, const struct cps_by *by)
{
    const struct cps_access at = access_to(e, aligned(e, addr, by), 0, by);
    uint32_t value = has_read(&at) ? at.row->read(&at) : cps_bus_read_plain_(&at);
    cps_bus_put(e, CPS_EV_REGR, 0, by, at.number, value);
    return value;
}

uint32_t cps_bus_effective(struct nv *e, uint32_t addr)
{
    const struct cps_by nobody = {CPS_CPU_NONE, 0, 0};
    const struct cps_access at = access_to(e, addr & ~3u, 0, &nobody);
    e->engine.tap.quiet = true;
    uint32_t value = has_read(&at) ? at.row->read(&at) : cps_bus_stored_(e, addr);
    e->engine.tap.quiet = false;
    return cps_bus_stored_(e, DEBUG_6) & 8 ? forced(e, at.number, value) : value;
}

/* Beyond the limit on memory: as if nobody wrote it. */
void cps_bus_write_plain_(const struct cps_access *at)
{
    struct nv *e = nv_of_(at);
    uint32_t old = at->lanes == CPS_LANES_ALL ? 0 : cps_bus_stored_(e, at->number);
    (void)cps_mem_write(e->engine.mem, at->number, cps_reg_lanes_(at, old));
}

uint32_t cps_bus_peek(const struct nv *e, enum cps_bus_memory memory, uint32_t addr, bool *known)
{
    return cps_mem_read(e->engine.mem, (uint64_t)memory << 32 | (addr & ~3u), known);
}

void cps_bus_poke(struct nv *e, enum cps_bus_memory memory, uint32_t addr, uint32_t value)
{
    (void)cps_mem_write(e->engine.mem, (uint64_t)memory << 32 | (addr & ~3u), value);
}

static void store(const struct cps_access *at)
{
    if (at->row && at->row->write)
        at->row->write(at);
    else
        cps_bus_write_plain_(at);
}

void cps_bus_write(struct nv *e, uint32_t addr, uint32_t value, const struct cps_by *by)
{
    const struct cps_access at = access_to(e, aligned(e, addr, by), value, by);
    cps_bus_put(e, CPS_EV_REG, by->path, by, at.number, value);
    store(&at);
}

void cps_bus_write_lanes(struct nv *e, uint32_t addr, unsigned lanes, uint32_t value,
                         const struct cps_by *by)
{
    struct cps_access at = access_to(e, addr & ~3u, value, by);
    uint32_t first = at.number;
    for (unsigned lane = 0; lane < 3 && !(lanes >> lane & 1); lane++)
        first++;
    at.lanes = lanes & CPS_LANES_ALL;
    at.value = cps_reg_lanes_(&at, 0);
    cps_bus_put(e, CPS_EV_REG, by->path, by, first, at.value);
    store(&at);
}

void cps_bus_load(struct nv *e, uint32_t addr, uint32_t value)
{
    static const struct cps_by host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};
    const struct cps_access at = access_to(e, addr & ~3u, value, &host);
    store(&at);
}

struct cps_err *cps_bus_init_(struct nv *e, uint64_t limit)
{
    const struct cps_reg_table tables[] = {CPS_REG_TABLE(own_rows), nv_kind_(e)->rows};
    e->bus.until = e->bus.pause_due = e->bus.told = NEVER;
    CPS_TRY(cps_reg_index_create_(tables, 2, cps_gen_mask(e->engine.gen), &e->bus.rows));
    return cps_mem_create(limit ? limit : MEMORY_LIMIT, &e->engine.mem);
}

struct cps_err *cps_bus_clone_(struct nv *copy)
{
    const struct cps_bus_change *from = copy->bus.change;
    struct cps_mem *mem = copy->engine.mem;
    size_t room = 0;
    copy->bus.change = NULL;
    copy->engine.mem = NULL;
    cps_reg_index_ref_(copy->bus.rows);
    if (!CPS_LIST_RESERVE(copy->bus.change, room, copy->bus.changes))
        return cps_err_nomem();
    if (copy->bus.changes)
        memcpy(copy->bus.change, from, copy->bus.changes * sizeof(*from));
    return cps_mem_clone(mem, &copy->engine.mem);
}

void cps_bus_deinit_(struct nv *e)
{
    cps_mem_destroy(e->engine.mem);
    cps_reg_index_unref_(e->bus.rows);
    free(e->bus.change);
}
