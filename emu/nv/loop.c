/* SPDX-License-Identifier: MIT
 * The loop of the NVIDIA engines, and how they wait. */
#include "emu/nv/nv.h"

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
        else if (loop->waits(e, who))
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
