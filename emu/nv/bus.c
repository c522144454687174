/* SPDX-License-Identifier: MIT
 * The bus of the NVIDIA engines: registers, time, and what happens at which tick. */
#include "emu/nv/nv.h"

#include <inttypes.h>
#include <string.h>

#include "emu/mem.h"

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

struct device {
    const struct cps_bus_row *rows;
    size_t count;
};

struct cps_bus {
    struct nv *nv;
    struct cps_mem *mem; /* registers that hold what was written */
    struct device device[2];
    unsigned devices;
    uint64_t clock, until;
    struct change *change; /* by tick */
    size_t changes, changes_done, room;
    uint32_t events;
    struct cps_flags flags;
    uint64_t pause_due; /* NEVER: no pause is under way */
    bool stopped;
    uint64_t noted[CPS_UNKNOWN_COUNT]; /* the place of the last one, and 1 */
    struct cps_tap *tap;               /* of the engine, as are memory and policy */
    unsigned lanes;
    uint64_t told;        /* the last TICK */
    struct cps_event why; /* what the engine stopped for, if it did */
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

void cps_bus_put(struct cps_bus *bus, unsigned kind, unsigned sub, const struct cps_access *by,
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

void cps_bus_unknown(struct cps_bus *bus, enum cps_unknown what, const struct cps_access *by,
                     uint32_t detail)
{
    uint64_t place = ((uint64_t)by->who << 32 | by->pc) + 1;
    if (bus->noted[what] == place || bus->tap->quiet)
        return;
    bus->noted[what] = place;
    cps_bus_put(bus, CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, by, what, detail);
}

void cps_bus_unknown_stop_(struct cps_bus *bus, enum cps_unknown what, const struct cps_access *by)
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
static void request_pause(struct cps_bus *bus, bool on, const struct cps_access *by)
{
    bool timed = on && bus->nv->engine.policy.fb_delay;
    bus->pause_due = timed ? bus->clock + bus->nv->engine.policy.fb_delay : NEVER;
    if (!on)
        bus->events &= ~EVENT_FB_PAUSED;
    if (timed)
        cps_bus_unknown(bus, CPS_UNKNOWN_FB_DELAY, by, (uint32_t)bus->nv->engine.policy.fb_delay);
}

void cps_bus_set_flags_(struct cps_bus *bus, struct cps_flags to, const struct cps_access *by)
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

static uint32_t read_flags(struct cps_bus *bus, void *device, uint32_t addr,
                           const struct cps_access *by)
{
    (void)by;
    unsigned low = addr & 4 ? 16 : 0;
    (void)device;
    return (bus->flags.value >> low & 0xffff) | (bus->flags.enable >> low & 0xffff) << 16;
}

static void write_flags(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                        const struct cps_access *by)
{
    unsigned low = addr & 4 ? 16 : 0;
    struct cps_flags f = bus->flags;
    (void)device;
    f.value = (f.value & ~(UINT32_C(0xffff) << low)) | (value & 0xffff) << low;
    f.enable = (f.enable & ~(UINT32_C(0xffff) << low)) | (value >> 16) << low;
    cps_bus_set_flags_(bus, f, by);
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
    if (bus->changes == bus->room) {
        size_t room = bus->room ? bus->room * 2 : 16;
        struct change *more = realloc(bus->change, room * sizeof(*more));
        if (!more)
            return cps_err_nomem();
        bus->change = more;
        bus->room = room;
    }
    bus->change[bus->changes++] = (struct change){tick, is_event, number, value};
    return NULL;
}

uint32_t cps_bus_events(const struct cps_bus *bus)
{
    return bus->events;
}

void cps_bus_assume_event_(struct cps_bus *bus, unsigned number, bool value,
                           const struct cps_access *by)
{
    uint32_t bit = UINT32_C(1) << number;
    bus->events = value ? bus->events | bit : bus->events & ~bit;
    cps_bus_put(bus, CPS_EV_ASSUME, CPS_WHAT_WAIT, by, EVENTS, bus->events);
}

static uint32_t read_events(struct cps_bus *bus, void *device, uint32_t addr,
                            const struct cps_access *by)
{
    (void)by;
    (void)device;
    (void)addr;
    return bus->events;
}

static uint32_t read_time_low(struct cps_bus *bus, void *device, uint32_t addr,
                              const struct cps_access *by)
{
    (void)by;
    (void)device;
    (void)addr;
    return (uint32_t)cps_bus_ns_(bus);
}

static uint32_t read_time_high(struct cps_bus *bus, void *device, uint32_t addr,
                               const struct cps_access *by)
{
    (void)by;
    (void)device;
    (void)addr;
    return (uint32_t)(cps_bus_ns_(bus) >> 32);
}

/* ---- registers ---- */

uint32_t cps_bus_read_none_(struct cps_bus *bus, void *device, uint32_t addr,
                            const struct cps_access *by)
{
    (void)bus;
    (void)device;
    (void)addr;
    (void)by;
    return 0;
}

void cps_bus_write_none_(struct cps_bus *bus, void *device, uint32_t addr, uint32_t value,
                         const struct cps_access *by)
{
    (void)value;
    cps_bus_read_none_(bus, device, addr, by);
}

static const struct cps_bus_row own_rows[] = {
#define NV_REG_BUS(gens, first, last, read, write, evidence) \
    {gens, first, last, read_##read, write_##write},
#include "emu/nv/reg.def"
};

void cps_bus_attach_(struct cps_bus *bus, const struct cps_bus_row *rows, size_t count)
{
    bus->device[bus->devices++] = (struct device){rows, count};
}

/* The bus's own rows come first. */
static const struct cps_bus_row *find_row(const struct cps_bus *bus, uint32_t addr)
{
    uint64_t mask = cps_gen_mask(bus->nv->engine.gen);
    for (unsigned d = 0; d < bus->devices; d++) {
        for (size_t i = 0; i < bus->device[d].count; i++) {
            const struct cps_bus_row *row = &bus->device[d].rows[i];
            if (addr >= row->first && addr - row->first <= row->last - row->first &&
                row->gens & mask)
                return row;
        }
    }
    return NULL;
}

static uint32_t aligned(struct cps_bus *bus, uint32_t addr, const struct cps_access *by)
{
    if (addr & 3)
        cps_bus_unknown(bus, CPS_UNKNOWN_UNALIGNED, by, addr);
    return addr & ~3u;
}

uint32_t cps_bus_read_plain_(struct cps_bus *bus, uint32_t addr, const struct cps_access *by)
{
    bool known = false;
    uint32_t value = cps_mem_read(bus->mem, addr, &known);
    if (!known && !bus->tap->quiet && cps_mem_report(bus->mem, addr))
        cps_bus_put(bus, CPS_EV_UNMODELLED, CPS_PLACE_GPU, by, addr, 0);
    /* Both bits: flags have an effect, and reads show it. */
    if ((cps_bus_stored_(bus, DEBUG_6) & DEBUG_6_HWSQ) == DEBUG_6_HWSQ)
        value = forced(bus, addr, value);
    return value;
}

uint32_t cps_bus_read(struct cps_bus *bus, uint32_t addr, const struct cps_access *by)
{
    addr = aligned(bus, addr, by);
    const struct cps_bus_row *row = find_row(bus, addr);
    uint32_t value =
        row && row->read ? row->read(bus, bus->nv, addr, by) : cps_bus_read_plain_(bus, addr, by);
    cps_bus_put(bus, CPS_EV_REGR, 0, by, addr, value);
    return value;
}

uint32_t cps_bus_effective(struct cps_bus *bus, uint32_t addr)
{
    const struct cps_access nobody = {CPS_CPU_NONE, 0, 0};
    addr &= ~3u;
    const struct cps_bus_row *row = find_row(bus, addr);
    uint32_t value = cps_bus_stored_(bus, addr);
    bus->tap->quiet = true;
    if (row && row->read)
        value = row->read(bus, bus->nv, addr, &nobody);
    bus->tap->quiet = false;
    return cps_bus_stored_(bus, DEBUG_6) & 8 ? forced(bus, addr, value) : value;
}

bool cps_bus_quiet_(const struct cps_bus *bus)
{
    return bus->tap->quiet;
}

unsigned cps_bus_lanes_(const struct cps_bus *bus)
{
    return bus->lanes;
}

uint32_t cps_bus_merge_(const struct cps_bus *bus, uint32_t old, uint32_t value)
{
    uint32_t mask = 0;
    for (unsigned lane = 0; lane < 4; lane++)
        mask |= bus->lanes >> lane & 1 ? UINT32_C(0xff) << 8 * lane : 0;
    return (old & ~mask) | (value & mask);
}

/* Beyond the limit on memory: as if nobody wrote it. */
void cps_bus_write_plain_(struct cps_bus *bus, uint32_t addr, uint32_t value)
{
    if (bus->lanes != CPS_LANES_ALL)
        value = cps_bus_merge_(bus, cps_bus_stored_(bus, addr), value);
    (void)cps_mem_write(bus->mem, addr, value);
}

uint32_t cps_bus_peek(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, bool *known)
{
    return cps_mem_read(bus->mem, (uint64_t)memory << 32 | (addr & ~3u), known);
}

void cps_bus_poke(struct cps_bus *bus, enum cps_bus_memory memory, uint32_t addr, uint32_t value)
{
    (void)cps_mem_write(bus->mem, (uint64_t)memory << 32 | (addr & ~3u), value);
}

static void store(struct cps_bus *bus, uint32_t addr, uint32_t value, const struct cps_access *by)
{
    const struct cps_bus_row *row = find_row(bus, addr);
    if (!row || !row->write)
        cps_bus_write_plain_(bus, addr, value);
    if (row && row->write)
        row->write(bus, bus->nv, addr, value, by);
}

void cps_bus_write(struct cps_bus *bus, uint32_t addr, uint32_t value, const struct cps_access *by)
{
    addr = aligned(bus, addr, by);
    cps_bus_put(bus, CPS_EV_REG, by->path, by, addr, value);
    store(bus, addr, value, by);
}

void cps_bus_write_lanes(struct cps_bus *bus, uint32_t addr, unsigned lanes, uint32_t value,
                         const struct cps_access *by)
{
    uint32_t first = addr & ~3u;
    for (unsigned lane = 0; lane < 3 && !(lanes >> lane & 1); lane++)
        first++;
    bus->lanes = lanes & CPS_LANES_ALL;
    value = cps_bus_merge_(bus, 0, value);
    cps_bus_put(bus, CPS_EV_REG, by->path, by, first, value);
    store(bus, addr & ~3u, value, by);
    bus->lanes = CPS_LANES_ALL;
}

void cps_bus_load(struct cps_bus *bus, uint32_t addr, uint32_t value)
{
    store(bus, addr & ~3u, value, &(struct cps_access){CPS_CPU_HOST, CPS_PATH_HOST, 0});
}

enum cps_gen cps_bus_gen(const struct cps_bus *bus)
{
    return bus->nv->engine.gen;
}

const struct cps_policy *cps_bus_policy_(const struct cps_bus *bus)
{
    return &bus->nv->engine.policy;
}

struct cps_err *cps_bus_create_(struct nv *nv, uint64_t limit, struct cps_bus **ret)
{
    struct cps_bus *bus = calloc(1, sizeof(*bus));
    if (!bus)
        return cps_err_nomem();
    *ret = bus;
    bus->nv = nv;
    bus->tap = &nv->engine.tap;
    bus->until = NEVER;
    bus->lanes = CPS_LANES_ALL;
    bus->pause_due = NEVER;
    bus->told = NEVER;
    cps_bus_attach_(bus, own_rows, sizeof(own_rows) / sizeof(own_rows[0]));
    CPS_TRY(cps_mem_create(limit ? limit : MEMORY_LIMIT, &bus->mem));
    nv->engine.mem = bus->mem;
    return NULL;
}

/* Room for one change at least, so that the copy of none is no failure. */
static struct cps_err *copy_changes(const struct cps_bus *from, struct cps_bus *to)
{
    to->change = malloc((from->changes + 1) * sizeof(*to->change));
    if (!to->change)
        return cps_err_nomem();
    if (from->changes)
        memcpy(to->change, from->change, from->changes * sizeof(*to->change));
    to->room = from->changes;
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
    free(bus->change);
    free(bus);
}
