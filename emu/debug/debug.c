/* SPDX-License-Identifier: MIT
 * The debugging core going forward: single steps, points, goals. */
#include "emu/debug/state.h"

#include <string.h>

/* All but STEP: who steps sees the registers. */
#define DEBUG_KINDS (((1u << CPS_EV_COUNT) - 1) & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX))

static void note(struct cps_debug *d, const struct cps_event *event)
{
    uint64_t number = d->place.event++;
    d->log[number % LOG_EVENTS].event = *event;
    d->log[number % LOG_EVENTS].number = number;
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct cps_debug *d = (struct cps_debug *)sink;
    for (size_t i = 0; i < count; i++)
        note(d, &events[i]);
}

void debug_refresh_point_(const struct cps_debug *d, struct point *point)
{
    for (unsigned c = 0; c < d->machine->core_count; c++)
        point->gpr[c] = cps_machine_gpr(d->machine, c, point->is.gpr);
}

void debug_refresh_(struct cps_debug *d)
{
    cps_machine_sink(d->machine, &d->sink, DEBUG_KINDS);
    for (unsigned i = 0; i < d->point_count; i++)
        debug_refresh_point_(d, &d->point[i]);
}

struct cps_err *cps_debug_create(struct cps_machine *machine, const struct cps_feeder *feeder,
                                 struct cps_debug **ret)
{
    struct cps_debug *d = calloc(1, sizeof(*d));
    if (!d) {
        cps_machine_destroy(machine);
        return cps_err_nomem();
    }
    d->machine = machine;
    d->feeder = *feeder;
    d->sink.put = take_events;
    d->fed = feeder->bare;
    debug_refresh_(d);
    if (!debug_keep_(d)) {
        cps_debug_destroy(d);
        return cps_err_nomem();
    }
    *ret = d;
    return NULL;
}

void cps_debug_destroy(struct cps_debug *d)
{
    if (!d)
        return;
    for (unsigned i = 0; i < d->checkpoint_count; i++)
        cps_machine_destroy(d->checkpoint[i].machine);
    debug_drop_edits_(d, 0);
    cps_machine_destroy(d->machine);
    free(d->made);
    free(d->point);
    free(d);
}

struct cps_machine *cps_debug_machine(struct cps_debug *d)
{
    return d->machine;
}

struct cps_debug_place cps_debug_place(const struct cps_debug *d)
{
    return d->place;
}

void cps_debug_interrupt(struct cps_debug *d, const atomic_int *flag)
{
    d->interrupt = flag;
}

bool debug_interrupted_(const struct cps_debug *d)
{
    return d->interrupt && d->place.step % 1024 == 0 && *d->interrupt;
}

bool cps_debug_event(const struct cps_debug *d, uint64_t number, struct cps_event *ret)
{
    if (number >= d->place.event || d->log[number % LOG_EVENTS].number != number)
        return false;
    *ret = d->log[number % LOG_EVENTS].event;
    return true;
}

/* What the firmware waits for when all of it is idle. */
static bool feed(struct cps_debug *d)
{
    if (d->fed == 0)
        machine_me_init_(d->machine);
    else if (!d->feeder.feed(d->feeder.context, d->machine, d->fed - 1))
        return false;
    d->place.submission = d->fed++;
    machine_flush_(d->machine);
    return true;
}

static enum cps_debug_reason reason_of(enum cps_stop stop)
{
    return stop == CPS_STOP_BAD_PACKET ? CPS_WHY_BAD_PACKET
           : stop == CPS_STOP_FAULT    ? CPS_WHY_FAULT
                                       : CPS_WHY_DEADLOCK;
}

/* One tick, or the feeding that an idle machine waits for. */
static enum cps_debug_reason advance(struct cps_debug *d)
{
    struct cps_machine *m = d->machine;
    uint32_t pc[MAX_CORES];
    uint32_t npc[MAX_CORES];
    for (unsigned i = 0; i < m->core_count; i++) {
        pc[i] = m->core[i].s.pc;
        npc[i] = m->core[i].s.npc;
    }
    for (;;) {
        d->ticked = machine_round_(m, 1) != 0;
        if (d->ticked)
            break;
        if (machine_faulted_(m))
            return CPS_WHY_FAULT;
        if (!m->turn.finished || m->turn.ran)
            continue;
        if (!machine_idle_(m))
            return reason_of(machine_error_(m));
        return feed(d) ? CPS_WHY_GONE : CPS_WHY_END;
    }
    d->core = m->ran_core;
    d->before_pc = pc[d->core];
    d->before_npc = npc[d->core];
    if (m->pending)
        machine_flush_(m);
    return CPS_WHY_GONE;
}

enum cps_debug_reason debug_step_(struct cps_debug *d)
{
    d->first_event = d->place.event;
    enum cps_debug_reason reason = advance(d);
    if (reason != CPS_WHY_GONE)
        return reason;
    d->place.step++;
    debug_make_edits_(d);
    return reason;
}

static bool event_fits(const struct cps_debug_point *p, const struct cps_event *event)
{
    return (p->kinds >> cps_event_kind(event) & 1) && event->addr >= p->first &&
           event->addr <= p->last && (!p->subs || (p->subs >> cps_event_sub(event) & 1)) &&
           (event->value & p->mask) == p->value;
}

/* Index of the core that made an event; that of the last step if nobody did. */
static unsigned core_of(const struct cps_debug *d, const struct cps_event *event)
{
    for (unsigned i = 0; i < d->machine->core_count; i++) {
        if ((unsigned)d->machine->core[i].who == cps_event_who(event))
            return i;
    }
    return d->core;
}

static bool allowed(struct cps_debug *d, const struct cps_debug_point *p, unsigned core,
                    const struct cps_event *event)
{
    return (p->core < 0 || (unsigned)p->core == core) &&
           (!p->when || p->when(p->context, d, core, event));
}

static bool event_hits(struct cps_debug *d, const struct cps_debug_point *p,
                       struct cps_debug_stop *stop)
{
    uint64_t first = d->first_event;
    if (d->place.event - first > LOG_EVENTS)
        first = d->place.event - LOG_EVENTS;
    for (uint64_t i = first; i < d->place.event; i++) {
        const struct cps_event event = d->log[i % LOG_EVENTS].event;
        if (!event_fits(p, &event) || !allowed(d, p, core_of(d, &event), &event))
            continue;
        stop->has_event = true;
        stop->event = event;
        return true;
    }
    return false;
}

static bool gpr_hits(struct cps_debug *d, struct point *p)
{
    uint32_t now = cps_machine_gpr(d->machine, d->core, p->is.gpr);
    bool changed = d->ticked && now != p->gpr[d->core];
    p->gpr[d->core] = now;
    return changed && allowed(d, &p->is, d->core, NULL);
}

static bool pc_hits(struct cps_debug *d, const struct cps_debug_point *p)
{
    uint32_t pc = d->machine->core[d->core].s.pc;
    return d->ticked && pc == p->pc && pc != d->before_pc && allowed(d, p, d->core, NULL);
}

static bool point_hits(struct cps_debug *d, struct point *p, struct cps_debug_stop *stop)
{
    switch (p->is.what) {
    case CPS_AT_PC:
        return pc_hits(d, &p->is);
    case CPS_AT_EVENT:
        return event_hits(d, &p->is, stop);
    default:
        return gpr_hits(d, p);
    }
}

bool debug_hits_(struct cps_debug *d, struct point *only, struct cps_debug_stop *stop)
{
    struct point *first = only ? only : d->point;
    unsigned count = only ? 1 : d->point_count;
    bool hit = false;
    for (unsigned i = 0; i < count; i++) {
        struct point *p = &first[i];
        if (p->is.disabled || !point_hits(d, p, stop) || hit)
            continue;
        stop->reason = CPS_WHY_POINT;
        stop->point = p->is.id;
        stop->core = d->core;
        stop->pc = d->before_pc;
        hit = true;
    }
    return hit;
}

/* A hit counts, and may have to be passed. */
static bool count_hit(struct cps_debug *d, const struct cps_debug_stop *stop)
{
    struct cps_debug_point *p = cps_debug_find(d, stop->point);
    p->hits++;
    if (p->ignore && p->ignore--)
        return false;
    p->disabled = p->once;
    return true;
}

struct goal debug_goal_(const struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    const struct afuc_core *c = &d->machine->core[core];
    bool link = c->s.started && c->uops[c->s.pc].code == UOP_BL;
    struct goal goal = {.go = go,
                        .core = core,
                        .depth = c->s.sqe[SQE_SP],
                        .level = c->s.level,
                        .resume = link ? c->s.pc + 2 : 0,
                        .fed = d->fed};
    if (go == CPS_GO_FINISH && !goal.depth)
        goal.go = CPS_GO_PACKET; /* the end of a packet's handler */
    if (go == CPS_GO_IB && (c->s.level == LEVEL_RB || c->s.level == LEVEL_MEQ))
        goal.go = CPS_GO_SUBMIT;
    return goal;
}

/* Behind a `ret`, before its delay slot, the depth is already the caller's. */
static bool returning(const struct cps_debug *d, const struct afuc_core *core)
{
    return core->uops[d->before_pc].code == UOP_RET && core->s.pc == d->before_npc;
}

static bool next_reached(const struct cps_debug *d, const struct afuc_core *core,
                         const struct goal *goal)
{
    int32_t deeper = (int32_t)(core->s.sqe[SQE_SP] - goal->depth);
    if (goal->resume)
        return core->s.pc == goal->resume;
    return deeper <= 0 && core->s.pc != d->before_pc && !(deeper == 0 && returning(d, core));
}

static bool packet_reached(const struct cps_debug *d, enum cps_processor who)
{
    for (uint64_t i = d->first_event; i < d->place.event; i++) {
        const struct cps_event *event = &d->log[i % LOG_EVENTS].event;
        if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == (unsigned)who)
            return true;
    }
    return false;
}

bool debug_reached_(const struct cps_debug *d, const struct goal *goal)
{
    const struct afuc_core *core = &d->machine->core[goal->core];
    bool ticked = d->ticked && d->core == goal->core;
    switch (goal->go) {
    case CPS_GO_TICK: /* feeding is a step of its own, so that steps back are those forward */
        return ticked || !d->ticked;
    case CPS_GO_NEXT:
        return ticked ? next_reached(d, core, goal) : !d->ticked;
    case CPS_GO_PACKET:
        return packet_reached(d, core->who);
    case CPS_GO_FINISH:
        return ticked && (int32_t)(core->s.sqe[SQE_SP] - goal->depth) < 0 && !returning(d, core);
    case CPS_GO_IB:
        return ticked && core->s.level < goal->level;
    case CPS_GO_SUBMIT:
        return !d->ticked && d->first_event != d->place.event;
    default:
        return false;
    }
}

/* Whether a copy of the machine proves that nothing will ever change again. */
static bool proves_stuck(struct cps_debug *d, enum cps_debug_reason *ret)
{
    struct cps_machine *copy = NULL;
    struct cps_err *err = cps_machine_clone(d->machine, &copy);
    enum cps_stop stop = err ? CPS_STOP_BUDGET : cps_machine_run(copy, 4u << 20);
    cps_err_free(err);
    cps_machine_destroy(copy);
    *ret = reason_of(stop);
    return stop != CPS_STOP_IDLE && stop != CPS_STOP_BUDGET;
}

static bool stuck(struct cps_debug *d, enum cps_debug_reason *ret)
{
    uint64_t changes = d->machine->changes + cps_mem_changes(d->machine->mem);
    uint64_t step = d->place.step;
    if (changes != d->still_changes || step < d->still_since || !d->look_at) {
        d->still_changes = changes;
        d->still_since = step;
        d->look_at = 8192;
        return false;
    }
    if (step - d->still_since < d->look_at)
        return false;
    d->look_at *= 4;
    return proves_stuck(d, ret);
}

struct cps_debug_stop cps_debug_run(struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    struct goal goal = debug_goal_(d, go, core);
    debug_refresh_(d);
    d->look_at = 0;
    for (;;) {
        struct cps_debug_stop stop = {.core = d->core, .pc = d->before_pc};
        stop.reason = debug_step_(d);
        if (stop.reason != CPS_WHY_GONE)
            return stop;
        if (debug_hits_(d, NULL, &stop) && count_hit(d, &stop))
            return stop;
        stop = (struct cps_debug_stop){CPS_WHY_GONE, .core = d->core, .pc = d->before_pc};
        if (debug_reached_(d, &goal))
            return stop;
        if (!debug_keep_(d))
            stop.reason = CPS_WHY_NOMEM;
        else if (debug_interrupted_(d))
            stop.reason = CPS_WHY_INTERRUPTED;
        else if (!stuck(d, &stop.reason))
            continue;
        return stop;
    }
}

int cps_debug_add(struct cps_debug *d, const struct cps_debug_point *point)
{
    struct point *points = realloc(d->point, (d->point_count + 1) * sizeof(*points));
    if (!points)
        return 0;
    d->point = points;
    points[d->point_count] = (struct point){.is = *point};
    points[d->point_count].is.id = ++d->last_id;
    d->point_count++;
    debug_refresh_(d);
    return d->last_id;
}

struct cps_debug_point *cps_debug_find(struct cps_debug *d, int id)
{
    for (unsigned i = 0; i < d->point_count; i++) {
        if (d->point[i].is.id == id)
            return &d->point[i].is;
    }
    return NULL;
}

bool cps_debug_remove(struct cps_debug *d, int id)
{
    struct point *p = (struct point *)cps_debug_find(d, id);
    if (!p)
        return false;
    size_t behind = (size_t)(&d->point[d->point_count--] - p) - 1;
    memmove(p, p + 1, behind * sizeof(*p));
    return true;
}

struct cps_debug_point *cps_debug_point(struct cps_debug *d, unsigned index)
{
    return index < d->point_count ? &d->point[index].is : NULL;
}
