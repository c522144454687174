/* SPDX-License-Identifier: MIT
 * What the host of a run file does: accesses, waits, and scripts to load. */
#include <string.h>

#include "isa/base/le.h"
#include "emu/nv/nv.h"

/* Where a run file gives NV1's objects: no register of hardware. */
#define OBJECT 0xfffff800u
/* Of code RAM, the filling that drivers use: exit of HWSQ. */
#define FILLER 0x7f

static bool is_memory(const struct nv *e)
{
    const struct cps_item *item = &e->host;
    if (item->host.where != CPS_HOST_REG)
        return true;
    return nv_kind_(e)->memory &&
           nv_kind_(e)->memory(e, item->host.addr, item->kind == CPS_ITEM_WRITE);
}

bool nv_host_stalled_(const struct nv *e)
{
    return cps_bus_pausing_(e) && (e->engine.gen != CPS_NV41 || is_memory(e));
}

bool nv_host_waits_(const struct nv *e)
{
    return (e->host.kind == CPS_ITEM_READ || e->host.kind == CPS_ITEM_WRITE) && nv_host_stalled_(e);
}

uint32_t nv_word_(const struct cps_item *item, size_t at)
{
    uint8_t bytes[4] = {FILLER, FILLER, FILLER, FILLER};
    size_t left = item->code.size - at;
    memcpy(bytes, item->code.bytes + at, left < 4 ? left : 4);
    return cps_le32(bytes);
}

/* Without code, the run file is the program: its lines are the places. */
static struct cps_by host_at(const struct nv *e, const struct cps_item *item, unsigned path)
{
    return (struct cps_by){CPS_CPU_HOST, path, nv_has_code_(e) ? 0 : item->line};
}

static enum cps_bus_memory memory_of(const struct cps_item *item)
{
    static const uint8_t memory[] = {[CPS_HOST_RAMIN] = CPS_MEMORY_RAMIN,
                                     [CPS_HOST_MEMORY] = CPS_MEMORY_HOST,
                                     [CPS_HOST_BAR1] = CPS_MEMORY_VRAM,
                                     [CPS_HOST_BAR2] = CPS_MEMORY_RAMIN};
    return (enum cps_bus_memory)memory[item->host.where];
}

/* Some bytes of a word; a half that crosses into the next one is two writes. */
static void write_part(struct nv *e, const struct cps_item *item)
{
    unsigned lane = item->host.addr & 3;
    unsigned lanes = (item->host.size == 1 ? 1u : 3u) << lane;
    uint64_t value = (uint64_t)item->host.value << 8 * lane;
    const struct cps_by whole =
        host_at(e, item, item->host.size == 1 ? CPS_PATH_BYTE : CPS_PATH_HALF);
    const struct cps_by half = host_at(e, item, CPS_PATH_BYTE);
    bool crosses = lanes >> 4;
    cps_bus_write_lanes(e, item->host.addr, lanes & 15, (uint32_t)value, crosses ? &half : &whole);
    if (crosses)
        cps_bus_write_lanes(e, item->host.addr + 1, lanes >> 4, (uint32_t)(value >> 32), &half);
}

static void write_value(struct nv *e, const struct cps_item *item)
{
    const struct cps_by by = host_at(e, item, CPS_PATH_HOST);
    if (item->host.where != CPS_HOST_REG)
        cps_bus_poke(e, memory_of(item), item->host.addr, item->host.value);
    else if (item->host.size < 4)
        write_part(e, item);
    else
        cps_bus_write(e, item->host.addr, item->host.value, &by);
}

static void read_value(struct nv *e, const struct cps_item *item)
{
    const struct cps_by by = host_at(e, item, CPS_PATH_HOST);
    e->engine.answer = item->host.where == CPS_HOST_REG
                           ? cps_bus_read(e, item->host.addr, &by)
                           : cps_bus_peek(e, memory_of(item), item->host.addr, NULL);
}

void nv_host_count_(struct nv *e)
{
    struct cps_engine *engine = &e->engine;
    engine->changes += engine->instructions - engine->clock;
    engine->clock = engine->instructions;
}

static void finish(struct nv *e)
{
    e->host.kind = CPS_ITEM_TEXT;
    nv_host_count_(e);
}

static void access_now(struct nv *e)
{
    if (e->host.kind == CPS_ITEM_WRITE)
        write_value(e, &e->host);
    else
        read_value(e, &e->host);
    finish(e);
}

static void begin_access(struct nv *e, const struct cps_item *item)
{
    static const struct cps_by host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};
    e->host = *item;
    if (nv_host_stalled_(e))
        cps_bus_unknown(e, CPS_UNKNOWN_HOST_STALLED, &host, 0);
    else
        access_now(e);
}

struct cps_err *nv_host_begin_(struct nv *e, const struct cps_item *item)
{
    cps_bus_advance(e, e->bus.clock); /* what the timeline has at tick 0 */
    switch (item->kind) {
    case CPS_ITEM_WRITE:
    case CPS_ITEM_READ:
        begin_access(e, item);
        return NULL;
    case CPS_ITEM_CODE:
        return nv_kind_(e)->load
                   ? nv_kind_(e)->load(e, item)
                   : cps_err_new(CPS_ERR_INPUT, "%s executes no code", e->engine.ops->name);
    case CPS_ITEM_OBJECT:
        cps_bus_load(e, OBJECT, item->host.addr);
        cps_bus_load(e, OBJECT + 4, item->host.mask);
        cps_bus_load(e, OBJECT + 8, item->host.value);
        return NULL;
    default:
        e->host = *item;
        e->wait_end = e->bus.clock + item->host.ticks;
        return NULL;
    }
}

/* A host that is stalled goes on when the script, or the rest of the chip, has let it. */
static enum cps_stop run_stalled(struct nv *e, uint64_t ticks)
{
    while (nv_host_stalled_(e)) {
        enum cps_stop stop = nv_loop_(e, ticks ? 1 : 0);
        if (stop == CPS_STOP_FAULT || (stop == CPS_STOP_BUDGET && ticks <= 1))
            return stop;
        uint64_t next = cps_bus_next_(e);
        if (stop != CPS_STOP_BUDGET && next == UINT64_MAX)
            return CPS_STOP_DEADLOCK; /* nobody is left to end the pause */
        if (stop == CPS_STOP_BUDGET)
            ticks--;
        else
            cps_bus_advance(e, next);
    }
    access_now(e);
    return CPS_STOP_IDLE;
}

static enum cps_stop run_wait(struct nv *e, uint64_t ticks)
{
    e->bus.until = e->wait_end;
    enum cps_stop stop = nv_loop_(e, ticks);
    e->bus.until = UINT64_MAX;
    if (stop == CPS_STOP_FAULT || (stop == CPS_STOP_BUDGET && e->bus.clock < e->wait_end))
        return stop;
    cps_bus_advance(e, e->wait_end);
    finish(e);
    return CPS_STOP_IDLE;
}

/* What waits for the host is no deadlock while the host goes on. */
static enum cps_stop run_free(struct nv *e, uint64_t ticks)
{
    enum cps_stop stop = nv_loop_(e, ticks);
    if (stop == CPS_STOP_FAULT || stop == CPS_STOP_BUDGET)
        return stop;
    finish(e);
    return CPS_STOP_IDLE;
}

/* To the end, after all that the host did. */
static enum cps_stop run_out(struct nv *e, uint64_t ticks)
{
    enum cps_stop stop = nv_loop_(e, ticks);
    bool failed = stop == CPS_STOP_IDLE && nv_kind_(e)->failed && nv_kind_(e)->failed(e);
    return failed ? CPS_STOP_FAULT : stop;
}

enum cps_stop nv_host_run_(struct nv *e, uint64_t ticks)
{
    switch (e->host.kind) {
    case CPS_ITEM_WRITE:
    case CPS_ITEM_READ:
        return run_stalled(e, ticks);
    case CPS_ITEM_WAIT:
        return run_wait(e, ticks);
    case CPS_ITEM_RUN:
        return run_free(e, ticks);
    case CPS_ITEM_END:
        return run_out(e, ticks);
    default:
        return e->bus.stopped ? CPS_STOP_FAULT : CPS_STOP_IDLE;
    }
}

/* ---- the loop of the engines, and how they wait ---- */

static bool is_asked(const struct nv *e, unsigned turns)
{
    enum { EVERY = 65536 };
    return turns % EVERY == 0 && e->engine.asked && e->engine.asked(e->engine.asked_context);
}

enum cps_stop nv_loop_(struct nv *e, uint64_t budget)
{
    const struct nv_loop *loop = &nv_kind_(e)->loop;
    uint64_t begin = e->engine.instructions;
    uint64_t end = begin + budget < budget ? UINT64_MAX : begin + budget;
    unsigned turns = 0;
    enum cps_stop stop = CPS_STOP_IDLE;
    if (nv_kind_(e)->begin)
        nv_kind_(e)->begin(e);
    for (void *who; stop == CPS_STOP_IDLE && (who = loop->next(e));) {
        if (e->bus.stopped)
            stop = CPS_STOP_FAULT;
        else if (is_asked(e, turns++))
            stop = CPS_STOP_BUDGET;
        else if (loop->waits && loop->waits(e, who))
            stop = loop->wait(e, who);
        else if (e->engine.instructions >= end || e->bus.clock >= e->bus.until)
            stop = CPS_STOP_BUDGET;
        else
            stop = loop->execute(e, who);
    }
    return e->bus.stopped ? CPS_STOP_FAULT : stop;
}

enum cps_await nv_await_(struct nv *e, bool (*holds)(struct nv *e, const void *who),
                         const void *who, uint64_t deadline)
{
    for (;;) {
        if (holds(e, who))
            return CPS_AWAIT_MET;
        if (e->bus.clock >= deadline)
            return CPS_AWAIT_LATE;
        uint64_t next = cps_bus_next_(e);
        next = next < deadline ? next : deadline;
        if (next == UINT64_MAX || next > e->bus.until)
            return CPS_AWAIT_HELD;
        cps_bus_advance(e, next);
    }
}

enum cps_stop nv_held_(struct nv *e)
{
    uint64_t limit = e->bus.until;
    if (limit == UINT64_MAX)
        return CPS_STOP_DEADLOCK;
    cps_bus_advance(e, limit);
    return CPS_STOP_BUDGET;
}

void nv_step_(struct nv *e, unsigned who, uint32_t pc, const uint32_t *before,
              const uint32_t *after, unsigned count)
{
    for (unsigned i = 0; i < e->engine.cores; i++)
        e->engine.ran_core = e->engine.who[i] == who ? i : e->engine.ran_core;
    if (!cps_tap_wants_(&e->engine.tap, CPS_EV_STEP))
        return;
    cps_bus_tell_time_(e);
    cps_tap_step_(&e->engine.tap, who, pc, before, after, count);
}
