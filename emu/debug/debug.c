/* SPDX-License-Identifier: MIT
 * The debugging core going forward: single steps, points, goals. */
#include <string.h>

#include "emu/debug/state.h"
#include "isa/base/list.h"

/* All but STEP: registers show it. Words of packets are in memory, and would renumber the events.
 */
#define DEBUG_KINDS \
    (((1u << CPS_EV_COUNT) - 1) & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_WORD))

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct cps_debug *d = (struct cps_debug *)sink;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = d->place.event++;
        d->log[number % LOG_EVENTS].event = events[i];
        d->log[number % LOG_EVENTS].number = number;
        if (d->tally && cps_event_kind(&events[i]) == CPS_EV_PKT)
            d->place.tally += d->tally(d->tally_context, d->engine, &events[i]);
    }
    if (d->listener)
        d->listener->put(d->listener, events, count);
}

/* Values that every core has of its own. */
static bool is_per_core(char file)
{
    return strchr("$@%^!#", file) != NULL;
}

static uint64_t watched(const struct cps_debug *d, const struct point *point, unsigned core)
{
    struct cps_location place = point->is.place;
    uint64_t value = 0;
    place.core = (uint8_t)core;
    cps_engine_get(d->engine, place, &value);
    return value;
}

void debug_refresh_point_(const struct cps_debug *d, struct point *point)
{
    for (unsigned c = 0; c < d->engine->cores && point->is.what == CPS_AT_PLACE; c++)
        point->seen[c] = watched(d, point, c);
}

void debug_refresh_(struct cps_debug *d)
{
    cps_engine_sink(d->engine, &d->sink, DEBUG_KINDS);
    for (unsigned i = 0; i < d->point_count; i++)
        debug_refresh_point_(d, &d->point[i]);
}

/* Memory that the engine's limit does not hold stays unknown, and reads of it are reported. */
static enum cps_debug_reason give(struct cps_debug *d, const struct cps_item *item)
{
    struct cps_err *err = cps_engine_feed(d->engine, item);
    if (err && err->code != CPS_ERR_NOMEM) {
        cps_err_free(d->refused);
        d->refused = err;
        return CPS_WHY_REFUSED;
    }
    d->nomem = d->nomem || err == cps_err_nomem() || cps_mem_failed(d->engine->mem);
    cps_err_free(err);
    return d->nomem ? CPS_WHY_NOMEM : CPS_WHY_GONE;
}

enum cps_debug_reason debug_prepare_(struct cps_debug *d, uint64_t until)
{
    const struct cps_item *item = NULL;
    enum cps_debug_reason reason = CPS_WHY_GONE;
    while (reason == CPS_WHY_GONE && d->place.fed < until &&
           (item = d->feeder.item(d->feeder.context, d->place.fed)) && !cps_item_acts(item)) {
        reason = give(d, item);
        d->place.fed += reason == CPS_WHY_GONE;
    }
    return reason;
}

struct cps_err *cps_debug_create(struct cps_engine *engine, const struct cps_feeder *feeder,
                                 struct cps_debug **ret)
{
    struct cps_debug *d = calloc(1, sizeof(*d));
    if (!d) {
        cps_engine_destroy(engine);
        return cps_err_nomem();
    }
    d->engine = engine;
    d->feeder = *feeder;
    d->sink.put = take_events;
    /* Items before the first that acts are there before the engine starts. */
    debug_prepare_(d, UINT64_MAX);
    debug_refresh_(d);
    if (d->nomem || !debug_keep_(d)) {
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
        cps_engine_destroy(d->checkpoint[i].engine);
    debug_drop_edits_(d, 0);
    cps_engine_destroy(d->engine);
    cps_err_free(d->refused);
    free(d->made);
    free(d->point);
    free(d);
}

struct cps_engine *cps_debug_engine(struct cps_debug *d)
{
    return d->engine;
}

bool cps_debug_nomem(struct cps_debug *d)
{
    bool nomem = d->nomem || cps_mem_failed(d->engine->mem);
    d->nomem = false;
    return nomem;
}

const struct cps_err *cps_debug_refused(const struct cps_debug *d)
{
    return d->refused;
}

struct cps_debug_location cps_debug_location(const struct cps_debug *d)
{
    return d->place;
}

void cps_debug_interrupt(struct cps_debug *d, bool (*asked)(void *context), void *context)
{
    d->interrupt = asked;
    d->interrupt_context = context;
}

void cps_debug_tally(struct cps_debug *d,
                     bool (*counts)(void *context, struct cps_engine *engine,
                                    const struct cps_event *packet),
                     void *context)
{
    d->tally = counts;
    d->tally_context = context;
}

void cps_debug_listen(struct cps_debug *d, struct cps_sink *sink)
{
    d->listener = sink;
}

bool debug_interrupted_(const struct cps_debug *d)
{
    return d->interrupt && d->place.step % CPS_DEBUG_INTERRUPT == 0 &&
           d->interrupt(d->interrupt_context);
}

bool cps_debug_event(const struct cps_debug *d, uint64_t number, struct cps_event *ret)
{
    if (number >= d->place.event || d->log[number % LOG_EVENTS].number != number)
        return false;
    *ret = d->log[number % LOG_EVENTS].event;
    return true;
}

/* A read of the host's is over where the engine is idle again. */
static void note_answer(struct cps_debug *d)
{
    struct cps_debug_location *place = &d->place;
    if (place->answered == place->fed)
        return;
    place->answered = place->fed;
    const struct cps_item *item = d->feeder.item(d->feeder.context, place->fed - 1);
    if (!item || cps_engine_answered(d->engine, item))
        return;
    if (!place->missed++) {
        place->missed_item = place->fed - 1;
        place->missed_answer = d->engine->answer;
    }
}

/* What an idle engine waits for: items up to one that acts. */
static enum cps_debug_reason feed(struct cps_debug *d)
{
    const struct cps_item *item;
    note_answer(d);
    do {
        item = d->feeder.item(d->feeder.context, d->place.fed);
        if (!item)
            return CPS_WHY_END;
        enum cps_debug_reason reason = give(d, item);
        if (reason != CPS_WHY_GONE)
            return reason;
        d->place.fed++;
    } while (!cps_item_acts(item));
    d->place.submission += item->kind == CPS_ITEM_SUBMIT;
    return CPS_WHY_GONE;
}

static enum cps_debug_reason reason_of(enum cps_stop stop)
{
    return stop == CPS_STOP_BAD_PACKET ? CPS_WHY_BAD_PACKET
           : stop == CPS_STOP_FAULT    ? CPS_WHY_FAULT
           : stop == CPS_STOP_NOMEM    ? CPS_WHY_NOMEM
                                       : CPS_WHY_DEADLOCK;
}

/* One tick, or the feeding that an idle engine waits for. */
enum cps_debug_reason debug_step_(struct cps_debug *d)
{
    enum cps_debug_reason reason = CPS_WHY_GONE;
    struct cps_where before[CPS_MAX_CORES];
    uint64_t clock = d->engine->clock;
    d->first_event = d->place.event;
    if (d->feeder.until && clock >= d->feeder.until)
        return CPS_WHY_END;
    for (unsigned i = 0; i < d->engine->cores; i++)
        before[i] = cps_engine_where(d->engine, i);
    enum cps_stop stop = cps_engine_run(d->engine, 1);
    d->ticked = d->engine->clock != clock;
    d->nomem = d->nomem || stop == CPS_STOP_NOMEM;
    if (stop == CPS_STOP_NOMEM)
        return CPS_WHY_NOMEM;
    if (!d->ticked && stop != CPS_STOP_BUDGET) {
        reason = stop == CPS_STOP_IDLE ? feed(d) : reason_of(stop);
    } else {
        d->core = d->engine->ran_core;
        d->before_pc = before[d->core].pc;
        d->before_npc = before[d->core].npc;
    }
    if (reason != CPS_WHY_GONE)
        return reason;
    d->place.step++;
    debug_make_edits_(d);
    return reason;
}

static bool event_fits(const struct cps_debug_point *p, const struct cps_event *event)
{
    uint64_t place = cps_event_place(event);
    return (p->kinds >> cps_event_kind(event) & 1) && place >= p->first && place <= p->last &&
           (!p->subs || (p->subs >> cps_event_sub(event) & 1)) &&
           (event->value & p->mask) == p->value;
}

/* Index of the core that made an event; that of the last step if none did. */
static unsigned core_of(const struct cps_debug *d, const struct cps_event *event)
{
    for (unsigned i = 0; i < d->engine->cores; i++) {
        if (d->engine->who[i] == cps_event_who(event))
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

/* A value of all cores may be changed by any of them, and by the host. */
static bool place_hits(struct cps_debug *d, struct point *p)
{
    bool own = is_per_core(p->is.place.file);
    unsigned core = own ? d->core : 0;
    uint64_t now = watched(d, p, core);
    bool changed = (d->ticked || !own) && now != p->seen[core];
    p->seen[core] = now;
    return changed && allowed(d, &p->is, d->core, NULL);
}

static bool point_hits(struct cps_debug *d, struct point *point, struct cps_debug_stop *stop)
{
    const struct cps_debug_point *p = &point->is;
    uint32_t pc = cps_engine_where(d->engine, d->core).pc;
    const struct cps_item *item = NULL;
    switch (p->what) {
    case CPS_AT_PC:
        return d->ticked && pc == p->pc && pc != d->before_pc && allowed(d, p, d->core, NULL);
    case CPS_AT_EVENT:
        return event_hits(d, p, stop);
    case CPS_AT_LINE:
        item = d->ticked ? NULL : d->feeder.item(d->feeder.context, d->place.fed - 1);
        return item && item->line >= p->first && item->line <= p->last &&
               allowed(d, p, d->core, NULL);
    default:
        return place_hits(d, point);
    }
}

/* A hit counts, and may have to be ignored. */
static bool count_hit(struct cps_debug_point *p)
{
    p->hits++;
    if (p->ignore && p->ignore--)
        return false;
    p->disabled = p->once;
    return true;
}

bool debug_hits_(struct cps_debug *d, struct point *only, bool counts, struct cps_debug_stop *stop)
{
    struct point *first = only ? only : d->point;
    unsigned count = only ? 1 : d->point_count;
    bool hit = false;
    for (unsigned i = 0; i < count; i++) {
        struct point *p = &first[i];
        struct cps_debug_stop here = *stop;
        if (p->is.disabled || !point_hits(d, p, &here) || hit || (counts && !count_hit(&p->is)))
            continue;
        *stop = here;
        stop->reason = CPS_WHY_POINT;
        stop->point = p->is.id;
        stop->core = d->core;
        stop->pc = d->before_pc;
        hit = true;
    }
    return hit;
}

/* How the instruction at @p pc goes on; without one, to the next unit. */
static enum cps_flow flow_at(struct cps_debug *d, unsigned core, uint32_t pc, struct cps_insn *insn)
{
    uint8_t bytes[CPS_INSN_BYTES];
    *insn = (struct cps_insn){0};
    if (!cps_engine_decode(d->engine, core, pc, bytes, insn))
        return CPS_FLOW_NEXT;
    return cps_insn_flow(d->engine->ops->isa, insn);
}

/* Where a call at the pc returns to: after its delay slot, if it has one. */
static uint32_t return_of_call(struct cps_debug *d, unsigned core, const struct cps_where *where)
{
    struct cps_insn insn;
    enum cps_flow flow = flow_at(d, core, where->pc, &insn);
    if (!where->started || (flow != CPS_FLOW_CALL && flow != CPS_FLOW_CALLIF))
        return 0;
    return cps_insn_has_slot(d->engine->ops->isa, &insn) ? where->npc + 1 : where->npc;
}

struct goal debug_goal_(struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    struct cps_where where = cps_engine_where(d->engine, core);
    struct goal goal = {.go = go,
                        .core = core,
                        .depth = where.depth,
                        .level = where.level,
                        .resume = go == CPS_GO_NEXT ? return_of_call(d, core, &where) : 0};
    if (go == CPS_GO_FINISH && !goal.depth)
        goal.go = CPS_GO_PACKET; /* the end of a packet's handler */
    if (go == CPS_GO_IB && !where.level)
        goal.go = CPS_GO_SUBMIT;
    return goal;
}

static bool next_reached(const struct cps_debug *d, const struct goal *goal,
                         const struct cps_where *now)
{
    if (goal->resume)
        return now->pc == goal->resume;
    return (int32_t)(now->depth - goal->depth) <= 0 && now->pc != d->before_pc;
}

/* After a return, before its delay slot, the depth is already the caller's. */
static bool finish_reached(struct cps_debug *d, const struct goal *goal,
                           const struct cps_where *now)
{
    struct cps_insn insn;
    bool returning =
        now->pc == d->before_npc && flow_at(d, goal->core, d->before_pc, &insn) == CPS_FLOW_RETURN;
    return now->depth < goal->depth && !returning;
}

static bool packet_reached(const struct cps_debug *d, unsigned who)
{
    for (uint64_t i = d->first_event; i < d->place.event; i++) {
        const struct cps_event *event = &d->log[i % LOG_EVENTS].event;
        if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == who)
            return true;
    }
    return false;
}

bool debug_reached_(struct cps_debug *d, const struct goal *goal)
{
    bool ticked = d->ticked && d->core == goal->core;
    struct cps_where now = cps_engine_where(d->engine, goal->core);
    switch (goal->go) {
    case CPS_GO_TICK: /* feeding is a step of its own, so that steps back are those forward */
        return ticked || !d->ticked;
    case CPS_GO_NEXT:
        return ticked ? next_reached(d, goal, &now) : !d->ticked;
    case CPS_GO_PACKET:
        return packet_reached(d, d->engine->who[goal->core]);
    case CPS_GO_FINISH:
        return ticked && finish_reached(d, goal, &now);
    case CPS_GO_IB:
        return ticked && now.level < goal->level;
    case CPS_GO_SUBMIT:
        return !d->ticked && d->first_event != d->place.event;
    case CPS_GO_FEED:
        return !d->ticked;
    default:
        return false;
    }
}

/* Whether a copy of the engine proves that nothing will ever change again. The run goes on to where
 * the copy ended: as far as a run without a debugger. */
static void prove_stuck(struct cps_debug *d)
{
    struct cps_engine *copy = debug_clone_(d, d->engine);
    enum cps_stop stop = copy ? cps_engine_run(copy, 4u << 20) : CPS_STOP_NOMEM;
    if (stop != CPS_STOP_IDLE && stop != CPS_STOP_BUDGET) {
        d->stuck_at = stop == CPS_STOP_NOMEM ? d->engine->clock : copy->clock;
        d->stuck_reason = reason_of(stop);
    }
    cps_engine_destroy(copy);
}

static bool stuck(struct cps_debug *d, enum cps_debug_reason *ret)
{
    uint64_t changes = d->engine->changes + cps_mem_changes(d->engine->mem);
    uint64_t step = d->place.step;
    if (changes != d->still_changes || step < d->still_since || !d->look_at) {
        d->still_changes = changes;
        d->still_since = step;
        d->look_at = 8192;
        d->stuck_at = 0;
        return false;
    }
    if (!d->stuck_at && step - d->still_since >= d->look_at) {
        d->look_at *= 4;
        prove_stuck(d);
    }
    *ret = d->stuck_at ? d->stuck_reason : *ret;
    return d->stuck_at && d->engine->clock >= d->stuck_at;
}

struct cps_debug_stop cps_debug_run(struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    struct goal goal = debug_goal_(d, go, core);
    debug_refresh_(d);
    d->look_at = 0;
    for (;;) {
        struct cps_debug_stop stop = {.core = d->core, .pc = d->before_pc};
        stop.reason = debug_step_(d);
        if (stop.reason != CPS_WHY_GONE || debug_hits_(d, NULL, true, &stop))
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
    if (!CPS_LIST_ROOM(d->point, d->point_count))
        return 0;
    struct point *added = &d->point[d->point_count++];
    *added = (struct point){.is = *point};
    added->is.id = point->own ? --d->last_own : ++d->last_id;
    debug_refresh_(d);
    return added->is.id;
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
    size_t after = (size_t)(&d->point[d->point_count--] - p) - 1;
    memmove(p, p + 1, after * sizeof(*p));
    return true;
}

struct cps_debug_point *cps_debug_point(struct cps_debug *d, unsigned index)
{
    return index < d->point_count ? &d->point[index].is : NULL;
}
