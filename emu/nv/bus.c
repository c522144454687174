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

struct change {
    uint64_t tick;
    bool is_event;
    uint32_t number, value;
};

struct cps_bus {
    struct nv *nv;
    struct cps_mem *mem; /* registers that hold what was written */
    struct cps_reg_index *rows;
    uint64_t clock, until;
    struct change *change; /* by tick */
    size_t changes, changes_done;
    uint32_t events;
    bool graph_idle;
    struct cps_flags flags;
    uint64_t pause_due; /* NEVER: no pause is under way */
    bool stopped;
    uint64_t noted[CPS_UNKNOWN_COUNT]; /* the place of the last one, and 1 */
    struct cps_tap *tap;               /* of the engine, as are memory and policy */
    uint64_t told;                     /* the last TICK */
    struct cps_event why;              /* what the engine stopped for, if it did */
};

/* ---- events ---- */

uint64_t cps_bus_count(const struct cps_bus *bus, unsigned kind)
{
    return bus->tap->count[kind];
}

void cps_bus_tell_time_(struct cps_bus *bus)
{
    if (bus->told != bus->clock && cps_tap_wants_(bus->tap, CPS_EV_TICK))
        cps_tap_put_(bus->tap, cps_event_make(CPS_EV_TICK, 0, CPS_CPU_NONE, 0, bus->clock, 0),
                     CPS_EV_TICK);
    bus->told = bus->clock;
}

/* What a run stopped for is the last of these. */
static void note_why(struct cps_bus *bus, const struct cps_event *event)
{
    const char *word = cps_event_kind(event) == CPS_EV_UNMODELLED ? cps_event_unknown(event) : NULL;
    if (cps_event_kind(event) == CPS_EV_EXIT && cps_event_sub(event) > CPS_EXIT_CODE)
        word = cps_event_sub_word(CPS_EV_EXIT, cps_event_sub(event));
    if (word)
        bus->why = *event;
}

void cps_bus_why_(const struct cps_bus *bus, struct cps_buf *out)
{
    const struct cps_event *why = &bus->why;
    unsigned kind = cps_event_kind(why);
    const char *word = kind == CPS_EV_UNMODELLED ? cps_event_unknown(why)
                       : kind == CPS_EV_EXIT     ? cps_event_sub_word(kind, cps_event_sub(why))
                                                 : NULL;
    if (word)
        cps_buf_printf(
            out, nv_has_code_(bus->nv) ? "%s at 0x%04" PRIx32 ": %s" : "%s at line %" PRIu32 ": %s",
            cps_processor_name(cps_event_who(why)), cps_event_pc(why), word);
}

void cps_bus_put(struct cps_bus *bus, unsigned kind, unsigned sub, const struct cps_by *by,
                 uint64_t addr, uint32_t value)
{
    const struct cps_event event = cps_event_make(kind, sub, by->who, by->pc, addr, value);
    if (bus->tap->quiet)
        return;
    if (kind == CPS_EV_UNMODELLED || kind == CPS_EV_EXIT)
        note_why(bus, &event);
    if (cps_tap_wants_(bus->tap, kind))
        cps_bus_tell_time_(bus);
    cps_tap_put_(bus->tap, event, kind);
}

void cps_bus_unknown(struct cps_bus *bus, enum cps_unknown what, const struct cps_by *by,
                     uint32_t detail)
{
    uint64_t place = ((uint64_t)by->who << 32 | by->pc) + 1;
    if (bus->noted[what] == place || bus->tap->quiet)
        return;
    bus->noted[what] = place;
    cps_bus_put(bus, CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, by, what, detail);
}

void cps_bus_unknown_stop_(struct cps_bus *bus, enum cps_unknown what, const struct cps_by *by)
{
    cps_bus_put(bus, CPS_EV_UNMODELLED, CPS_PLACE_UNKNOWN, by, what, 0);
    bus->stopped = true;
}

bool cps_bus_stopped_(const struct cps_bus *bus)
{
    return bus->stopped;
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

struct cps_flags cps_bus_flags_(const struct cps_bus *bus)
{
    return bus->flags;
}

static bool pauses(const struct cps_bus *bus, const struct cps_flags *f)
{
    return bus->nv->engine.gen != CPS_NV17 && f->enable & f->value & FLAG_FB_PAUSE;
}

bool cps_bus_pausing_(const struct cps_bus *bus)
{
    return pauses(bus, &bus->flags);
}

/* FB_PAUSED is 1 only while the pause is requested. */
static void request_pause(struct cps_bus *bus, bool on, const struct cps_by *by)
{
    bool timed = on && bus->nv->engine.policy.fb_delay;
    bus->pause_due = timed ? bus->clock + bus->nv->engine.policy.fb_delay : NEVER;
    if (!on)
        bus->events &= ~EVENT_FB_PAUSED;
    if (timed)
        cps_bus_unknown(bus, CPS_UNKNOWN_FB_DELAY, by, (uint32_t)bus->nv->engine.policy.fb_delay);
}

void cps_bus_set_flags_(struct cps_bus *bus, struct cps_flags to, const struct cps_by *by)
{
    bool before = cps_bus_pausing_(bus);
    bus->flags = to;
    if (cps_bus_pausing_(bus) != before)
        request_pause(bus, !before, by);
}

/* Flag 16's is the request itself. */
bool cps_bus_flag_known_(const struct cps_bus *bus, unsigned number)
{
    uint64_t mask = cps_gen_mask(bus->nv->engine.gen);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (flags[i].number == number && flags[i].gens & ~flags[i].doubtful & mask)
            return true;
    }
    return number == 16 && bus->nv->engine.gen != CPS_NV17;
}

static uint32_t forced(const struct cps_bus *bus, uint32_t addr, uint32_t value)
{
    uint64_t mask = cps_gen_mask(bus->nv->engine.gen);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        const struct flag *f = &flags[i];
        if (!(f->gens & mask) || (f->addr[0] != addr && f->addr[1] != addr) ||
            !(bus->flags.enable >> f->number & 1))
            continue;
        value &= ~(UINT32_C(1) << f->bit);
        value |= (bus->flags.value >> f->number & 1) << f->bit;
    }
    return value;
}

uint32_t cps_bus_stored_(struct cps_bus *bus, uint32_t addr)
{
    return cps_mem_read(bus->mem, addr & ~3u, NULL);
}

static struct cps_bus *bus_of(const struct cps_access *at)
{
    return nv_of_(at)->bus;
}

/* Each of the two registers has 16 flags: values below, what overrides above. */
static uint32_t read_flags(const struct cps_access *at)
{
    const struct cps_flags *f = &bus_of(at)->flags;
    unsigned low = 16 * at->index;
    return (f->value >> low & 0xffff) | (f->enable >> low & 0xffff) << 16;
}

static void write_flags(const struct cps_access *at)
{
    unsigned low = 16 * at->index;
    struct cps_flags f = bus_of(at)->flags;
    f.value = (f.value & ~(UINT32_C(0xffff) << low)) | (at->value & 0xffff) << low;
    f.enable = (f.enable & ~(UINT32_C(0xffff) << low)) | (at->value >> 16) << low;
    cps_bus_set_flags_(bus_of(at), f, at->by);
}

/* ---- time ---- */

uint64_t cps_bus_clock(const struct cps_bus *bus)
{
    return bus->clock;
}

uint64_t cps_bus_ns_(const struct cps_bus *bus)
{
    return bus->clock * (cps_gen_isa(bus->nv->engine.gen) == &cps_isa_hwsq ? HWSQ_TICK_NS : 1);
}

void cps_bus_until(struct cps_bus *bus, uint64_t tick)
{
    bus->until = tick;
}

uint64_t cps_bus_limit_(const struct cps_bus *bus)
{
    return bus->until;
}

uint64_t cps_bus_next_(const struct cps_bus *bus)
{
    uint64_t change =
        bus->changes_done < bus->changes ? bus->change[bus->changes_done].tick : NEVER;
    return bus->pause_due < change ? bus->pause_due : change;
}

static void apply(struct cps_bus *bus, const struct change *change)
{
    uint32_t bit = UINT32_C(1) << (change->number & 31);
    if (!change->is_event)
        cps_bus_load(bus, change->number, change->value);
    else if (change->number == CPS_EVENT_PGRAPH_IDLE)
        bus->graph_idle = change->value;
    else if (change->value)
        bus->events |= bit;
    else
        bus->events &= ~bit;
}

void cps_bus_advance(struct cps_bus *bus, uint64_t tick)
{
    for (uint64_t next; (next = cps_bus_next_(bus)) <= tick && next != NEVER;) {
        bus->clock = next > bus->clock ? next : bus->clock;
        if (bus->pause_due == next) {
            bus->pause_due = NEVER;
            bus->events |= EVENT_FB_PAUSED;
        } else {
            apply(bus, &bus->change[bus->changes_done++]);
        }
    }
    bus->clock = tick > bus->clock ? tick : bus->clock;
}

struct cps_err *cps_bus_schedule(struct cps_bus *bus, uint64_t tick, bool is_event, uint32_t number,
                                 uint32_t value)
{
    if (!CPS_LIST_ROOM(bus->change, bus->changes))
        return cps_err_nomem();
    bus->change[bus->changes++] = (struct change){tick, is_event, number, value};
    return NULL;
}

uint32_t cps_bus_events(const struct cps_bus *bus)
{
    return bus->events;
}

bool cps_bus_graph_idle_(const struct cps_bus *bus)
{
    return bus->graph_idle;
}

void cps_bus_assume_event_(struct cps_bus *bus, unsigned number, bool value,
                           const struct cps_by *by)
{
    uint32_t bit = UINT32_C(1) << number;
    bus->events = value ? bus->events | bit : bus->events & ~bit;
    cps_bus_put(bus, CPS_EV_ASSUME, CPS_WHAT_WAIT, by, EVENTS, bus->events);
}

static uint32_t read_events(const struct cps_access *at)
{
    return bus_of(at)->events;
}

static uint32_t read_time_low(const struct cps_access *at)
{
    return (uint32_t)cps_bus_ns_(bus_of(at));
}

static uint32_t read_time_high(const struct cps_access *at)
{
    return (uint32_t)(cps_bus_ns_(bus_of(at)) >> 32);
}

/* ---- registers ---- */

static const struct cps_reg_row own_rows[] = {
#define NV_REG_BUS(bits, low, high, rd, wr, evidence) NV_ROW(bits, low, high, rd, wr),
#include "emu/nv/reg.def"
};

static uint32_t aligned(struct cps_bus *bus, uint32_t addr, const struct cps_by *by)
{
    if (addr & 3)
        cps_bus_unknown(bus, CPS_UNKNOWN_UNALIGNED, by, addr);
    return addr & ~3u;
}

/* To the register at @p addr, a multiple of 4. */
static struct cps_access access_to(struct cps_bus *bus, uint32_t addr, uint32_t value,
                                   const struct cps_by *by)
{
    const struct cps_reg_row *row = cps_reg_find_(bus->rows, addr);
    return (struct cps_access){.device = bus->nv,
                               .row = row,
                               .number = addr,
                               .index = row ? (addr - row->first) / row->stride : 0,
                               .value = value,
                               .lanes = CPS_LANES_ALL,
                               .by = by};
}

uint32_t cps_bus_read_plain_(const struct cps_access *at)
{
    struct cps_bus *bus = bus_of(at);
    bool known = false;
    uint32_t value = cps_mem_read(bus->mem, at->number, &known);
    if (!known && !bus->tap->quiet && cps_mem_report(bus->mem, at->number))
        cps_bus_put(bus, CPS_EV_UNMODELLED, CPS_PLACE_GPU, at->by, at->number, 0);
    /* Both bits: flags have an effect, and reads show it. */
    if ((cps_bus_stored_(bus, DEBUG_6) & DEBUG_6_HWSQ) == DEBUG_6_HWSQ)
        value = forced(bus, at->number, value);
    return value;
}

static bool has_read(const struct cps_access *at)
{
    return at->row && at->row->read;
}

uint32_t cps_bus_read(struct cps_bus *bus, uint32_t addr, const struct cps_by *by)
{
    const struct cps_access at = access_to(bus, aligned(bus, addr, by), 0, by);
    uint32_t value = has_read(&at) ? at.row->read(&at) : cps_bus_read_plain_(&at);
    cps_bus_put(bus, CPS_EV_REGR, 0, by, at.number, value);
    return value;
}

uint32_t cps_bus_effective(struct cps_bus *bus, uint32_t addr)
{
    const struct cps_by nobody = {CPS_CPU_NONE, 0, 0};
    const struct cps_access at = access_to(bus, addr & ~3u, 0, &nobody);
    bus->tap->quiet = true;
    uint32_t value = has_read(&at) ? at.row->read(&at) : cps_bus_stored_(bus, addr);
    bus->tap->quiet = false;
    return cps_bus_stored_(bus, DEBUG_6) & 8 ? forced(bus, at.number, value) : value;
}

bool cps_bus_quiet_(const struct cps_bus *bus)
{
    return bus->tap->quiet;
}

/* Beyond the limit on memory: as if nobody wrote it. */
void cps_bus_write_plain_(const struct cps_access *at)
{
    struct cps_bus *bus = bus_of(at);
    uint32_t old = at->lanes == CPS_LANES_ALL ? 0 : cps_bus_stored_(bus, at->number);
    (void)cps_mem_write(bus->mem, at->number, cps_reg_lanes_(at, old));
}

uint32_t cps_bus_peek(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, bool *known)
{
    return cps_mem_read(bus->mem, (uint64_t)memory << 32 | (addr & ~3u), known);
}

void cps_bus_poke(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, uint32_t value)
{
    (void)cps_mem_write(bus->mem, (uint64_t)memory << 32 | (addr & ~3u), value);
}

static void store(const struct cps_access *at)
{
    if (at->row && at->row->write)
        at->row->write(at);
    else
        cps_bus_write_plain_(at);
}

void cps_bus_write(struct cps_bus *bus, uint32_t addr, uint32_t value, const struct cps_by *by)
{
    const struct cps_access at = access_to(bus, aligned(bus, addr, by), value, by);
    cps_bus_put(bus, CPS_EV_REG, by->path, by, at.number, value);
    store(&at);
}

void cps_bus_write_lanes(struct cps_bus *bus, uint32_t addr, unsigned lanes, uint32_t value,
                         const struct cps_by *by)
{
    struct cps_access at = access_to(bus, addr & ~3u, value, by);
    uint32_t first = at.number;
    for (unsigned lane = 0; lane < 3 && !(lanes >> lane & 1); lane++)
        first++;
    at.lanes = lanes & CPS_LANES_ALL;
    at.value = cps_reg_lanes_(&at, 0);
    cps_bus_put(bus, CPS_EV_REG, by->path, by, first, at.value);
    store(&at);
}

void cps_bus_load(struct cps_bus *bus, uint32_t addr, uint32_t value)
{
    static const struct cps_by host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};
    const struct cps_access at = access_to(bus, addr & ~3u, value, &host);
    store(&at);
}

enum cps_gen cps_bus_gen(const struct cps_bus *bus)
{
    return bus->nv->engine.gen;
}

const struct cps_policy *cps_bus_policy_(const struct cps_bus *bus)
{
    return &bus->nv->engine.policy;
}

struct cps_err *cps_bus_create_(struct nv *nv, struct cps_reg_table rows, uint64_t limit,
                                struct cps_bus **ret)
{
    const struct cps_reg_table tables[] = {CPS_REG_TABLE(own_rows), rows};
    struct cps_bus *bus = calloc(1, sizeof(*bus));
    if (!bus)
        return cps_err_nomem();
    *ret = bus;
    bus->nv = nv;
    bus->tap = &nv->engine.tap;
    bus->until = NEVER;
    bus->pause_due = NEVER;
    bus->told = NEVER;
    CPS_TRY(cps_reg_index_create_(tables, 2, cps_gen_mask(nv->engine.gen), &bus->rows));
    CPS_TRY(cps_mem_create(limit ? limit : MEMORY_LIMIT, &bus->mem));
    nv->engine.mem = bus->mem;
    return NULL;
}

static struct cps_err *copy_changes(const struct cps_bus *from, struct cps_bus *to)
{
    size_t room = 0;
    to->change = NULL;
    if (!CPS_LIST_RESERVE(to->change, room, from->changes))
        return cps_err_nomem();
    if (from->changes)
        memcpy(to->change, from->change, from->changes * sizeof(*to->change));
    return NULL;
}

struct cps_err *cps_bus_clone_(const struct cps_bus *from, struct nv *nv, struct cps_bus **ret)
{
    struct cps_bus *bus = malloc(sizeof(*bus));
    if (!bus)
        return cps_err_nomem();
    *bus = *from;
    *ret = bus;
    bus->nv = nv;
    bus->tap = &nv->engine.tap;
    bus->change = NULL;
    bus->mem = NULL;
    cps_reg_index_ref_(bus->rows);
    CPS_TRY(copy_changes(from, bus));
    CPS_TRY(cps_mem_clone(from->mem, &bus->mem));
    nv->engine.mem = bus->mem;
    return NULL;
}

void cps_bus_destroy_(struct cps_bus *bus)
{
    if (!bus)
        return;
    cps_mem_destroy(bus->mem);
    cps_reg_index_unref_(bus->rows);
    free(bus->change);
    free(bus);
}
