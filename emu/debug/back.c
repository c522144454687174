/* SPDX-License-Identifier: MIT
 * The debugging core going back: checkpoints, and searches from one to the next. */
#include "emu/debug/state.h"

#include <string.h>

/* Most bytes of memory pages that all checkpoints name together; pages they share count for each.
 */
#define MAX_PAGES (UINT64_C(2) << 30)

unsigned debug_before_(const struct cps_debug *d, uint64_t step)
{
    unsigned i = d->checkpoint_count - 1;
    while (i && d->checkpoint[i].place.step > step)
        i--;
    return i;
}

static void drop(struct cps_debug *d, unsigned index)
{
    struct checkpoint *at = &d->checkpoint[index];
    cps_engine_destroy(at->engine);
    memmove(at, at + 1, (d->checkpoint_count - index - 1) * sizeof(*at));
    d->checkpoint_count--;
}

void debug_forget_behind_(struct cps_debug *d, uint64_t step)
{
    while (d->checkpoint_count > 1 && d->checkpoint[d->checkpoint_count - 1].place.step > step)
        drop(d, d->checkpoint_count - 1);
}

/* Drops the one that is missed least: what lies between its neighbours is short, compared with how
 * far it is from here. The first stays: everything can be reached from it. */
static void thin(struct cps_debug *d)
{
    unsigned worst = 1;
    double least = 0;
    for (unsigned i = 1; i < d->checkpoint_count; i++) {
        uint64_t here = d->checkpoint[i].place.step;
        uint64_t next = i + 1 < d->checkpoint_count ? d->checkpoint[i + 1].place.step : here;
        uint64_t far = d->place.step > here ? d->place.step - here : here - d->place.step;
        double cost =
            (double)(next - d->checkpoint[i - 1].place.step) / (double)(far + CPS_DEBUG_INTERVAL);
        if (i == 1 || cost < least) {
            worst = i;
            least = cost;
        }
    }
    drop(d, worst);
}

static bool too_many(const struct cps_debug *d)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < d->checkpoint_count; i++)
        bytes += cps_mem_bytes(d->checkpoint[i].engine->mem);
    return d->checkpoint_count == CPS_DEBUG_CHECKPOINTS ||
           (d->checkpoint_count > 2 && bytes > MAX_PAGES);
}

static bool insert(struct cps_debug *d, unsigned index)
{
    struct cps_engine *copy = NULL;
    struct cps_err *err = cps_engine_clone(d->engine, &copy);
    if (err) {
        cps_err_free(err);
        d->nomem = true;
        return false;
    }
    struct checkpoint *at = &d->checkpoint[index];
    memmove(at + 1, at, (d->checkpoint_count - index) * sizeof(*at));
    *at = (struct checkpoint){copy, d->place, d->made_next};
    d->checkpoint_count++;
    return true;
}

bool debug_keep_(struct cps_debug *d)
{
    if (!d->checkpoint_count)
        return insert(d, 0);
    if (d->place.step % CPS_DEBUG_INTERVAL)
        return true;
    if (d->checkpoint[debug_before_(d, d->place.step)].place.step == d->place.step)
        return true;
    while (too_many(d))
        thin(d);
    return insert(d, debug_before_(d, d->place.step) + 1);
}

static bool restore(struct cps_debug *d, const struct checkpoint *from)
{
    struct cps_engine *copy = NULL;
    struct cps_err *err = cps_engine_clone(from->engine, &copy);
    if (err) {
        cps_err_free(err);
        d->nomem = true;
        return false;
    }
    cps_engine_destroy(d->engine);
    d->engine = copy;
    d->place = from->place;
    d->made_next = from->edit_next;
    d->look_at = 0;
    debug_refresh_(d);
    debug_make_edits_(d);
    return true;
}

/* The end of a leap towards @p until: where a change is made, or a checkpoint; fewer of those where
 * that is still far. */
static uint64_t leap_end(const struct cps_debug *d, uint64_t until)
{
    enum { MOST = 512 };
    uint64_t intervals = (until - d->place.step) / 16 / CPS_DEBUG_INTERVAL;
    intervals = intervals < 1 ? 1 : intervals > MOST ? MOST : intervals;
    uint64_t end = (d->place.step / CPS_DEBUG_INTERVAL + intervals) * CPS_DEBUG_INTERVAL;
    end = end < until ? end : until;
    uint64_t change = d->made_next < d->made_count ? d->made[d->made_next].step : end;
    return change < end ? change : end;
}

/* Many ticks in one piece, where a step is a tick; what feeds, stops, or ends them is a step of its
 * own. An engine that looks for a deadlock may run a few more than asked for. */
static void leap(struct cps_debug *d, uint64_t until)
{
    enum { SPARE = 64 };
    uint64_t clock = d->engine->clock;
    uint64_t count = leap_end(d, until) - d->place.step;
    uint64_t left = d->feeder.until > clock ? d->feeder.until - clock : 0;
    count = d->feeder.until && left < count ? left : count;
    if (!d->engine->ops->ticks_alone || count <= 2 * (uint64_t)SPARE)
        return;
    d->nomem = cps_engine_run(d->engine, count - SPARE) == CPS_STOP_NOMEM || d->nomem;
    d->place.step += d->engine->clock - clock;
}

/* Forward until @p done; no point stops it. */
static struct cps_debug_stop go_to(struct cps_debug *d, const uint64_t *counter, uint64_t until)
{
    struct cps_debug_stop stop = {.reason = CPS_WHY_GONE};
    while (stop.reason == CPS_WHY_GONE && *counter < until) {
        if (counter == &d->place.step)
            leap(d, until);
        stop.reason = debug_step_(d);
        if (stop.reason == CPS_WHY_GONE && !debug_keep_(d))
            stop.reason = CPS_WHY_NOMEM;
        if (stop.reason == CPS_WHY_GONE && debug_interrupted_(d))
            stop.reason = CPS_WHY_INTERRUPTED;
    }
    stop.core = d->core;
    return stop;
}

struct cps_debug_stop cps_debug_goto_step(struct cps_debug *d, uint64_t step)
{
    if (step < d->place.step && !restore(d, &d->checkpoint[debug_before_(d, step)]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    return go_to(d, &d->place.step, step);
}

struct cps_debug_stop cps_debug_goto_event(struct cps_debug *d, uint64_t event)
{
    unsigned i = d->checkpoint_count - 1;
    while (i && d->checkpoint[i].place.event > event)
        i--;
    if (event < d->place.event && !restore(d, &d->checkpoint[i]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    return go_to(d, &d->place.event, event + 1);
}

/* What a search looks for, and the last time it was found. */
struct search {
    struct point *point; /* NULL: all */
    const struct goal *goal;
    bool found;
    struct cps_debug_stop stop;
    struct cps_debug_place place;
};

static bool matches(struct cps_debug *d, struct search *s, struct cps_debug_stop *stop)
{
    bool hit = debug_hits_(d, s->point, false, stop);
    if (!hit && s->goal && debug_reached_(d, s->goal))
        *stop = (struct cps_debug_stop){.reason = CPS_WHY_GONE, .core = d->core};
    else if (!hit)
        return false;
    return true;
}

/* From here to step @p end, which counts. */
static bool search_part(struct cps_debug *d, struct search *s, uint64_t end)
{
    while (d->place.step < end) {
        struct cps_debug_stop stop = {0};
        if (debug_step_(d) != CPS_WHY_GONE || !debug_keep_(d) || debug_interrupted_(d))
            return false;
        if (!matches(d, s, &stop))
            continue;
        s->found = true;
        s->stop = stop;
        s->place = d->place;
    }
    return true;
}

/* The last match in front of step @p end. False: interrupted, or memory is short. */
static bool search(struct cps_debug *d, struct search *s, uint64_t end)
{
    uint64_t high = end ? end - 1 : 0;
    while (high && !s->found) {
        const struct checkpoint *from = &d->checkpoint[debug_before_(d, high - 1)];
        uint64_t low = from->place.step;
        if (!restore(d, from))
            return false;
        if (s->point)
            debug_refresh_point_(d, s->point);
        if (!search_part(d, s, high))
            return false;
        high = low;
    }
    return true;
}

/* Back to where a search began, which nothing interrupts. */
static void return_to(struct cps_debug *d, uint64_t step)
{
    bool (*interrupt)(void *) = d->interrupt;
    d->interrupt = NULL;
    cps_debug_goto_step(d, step);
    d->interrupt = interrupt;
}

static struct cps_debug_stop failed(struct cps_debug *d, uint64_t began)
{
    bool asked = d->interrupt && d->interrupt(d->interrupt_context);
    return_to(d, began);
    return (struct cps_debug_stop){.reason = asked ? CPS_WHY_INTERRUPTED : CPS_WHY_NOMEM};
}

struct cps_debug_stop cps_debug_back(struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    struct goal goal = debug_goal_(d, go, core);
    struct search s = {.goal = &goal};
    uint64_t began = d->place.step;
    if (!search(d, &s, began))
        return failed(d, began);
    struct cps_debug_stop there = cps_debug_goto_step(d, s.found ? s.place.step : 0);
    if (there.reason != CPS_WHY_GONE)
        return there;
    return s.found ? s.stop : (struct cps_debug_stop){.reason = CPS_WHY_START};
}

bool cps_debug_last(struct cps_debug *d, const struct cps_debug_point *point,
                    struct cps_debug_stop *stop, struct cps_debug_place *place)
{
    struct point wrapped = {.is = *point};
    struct search s = {.point = &wrapped};
    uint64_t here = d->place.step;
    bool whole = search(d, &s, here + 1);
    return_to(d, here);
    *stop = s.stop;
    *place = s.place;
    return whole && s.found;
}

struct cps_debug_stop cps_debug_restart(struct cps_debug *d, uint64_t step)
{
    debug_drop_edits_(d, 0);
    for (unsigned i = d->checkpoint_count; i-- > 1;) {
        if (d->checkpoint[i].edit_next)
            drop(d, i);
    }
    if (!restore(d, &d->checkpoint[debug_before_(d, step)]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    return go_to(d, &d->place.step, step);
}

/* ---- the run once more, beside this one ---- */

static struct cps_err *retrace_on(struct cps_debug *again, uint64_t step,
                                  const struct cps_debug_retrace *retrace)
{
    CPS_TRY(retrace->ready(retrace->context, again->engine, again->place.fed));
    debug_make_edits_(again);
    CPS_TRY(debug_walk_(again, step));
    return retrace->done(retrace->context, again->engine);
}

struct cps_err *cps_debug_retrace(struct cps_debug *d, const struct cps_debug_retrace *retrace)
{
    const struct checkpoint *first = &d->checkpoint[0];
    struct cps_debug *again = malloc(sizeof(*again));
    if (!again)
        return cps_err_nomem();
    *again = *d;
    again->engine = NULL;
    again->refused = NULL;
    again->point_count = 0;
    again->checkpoint_count = 0;
    again->place = first->place;
    again->made_next = first->edit_next;
    struct cps_err *err = cps_engine_clone(first->engine, &again->engine);
    if (!err)
        err = retrace_on(again, d->place.step, retrace);
    cps_engine_destroy(again->engine);
    cps_err_free(again->refused);
    free(again);
    return err;
}

/* The last checkpoint that no change lies before. */
static const struct checkpoint *unchanged(const struct cps_debug *d)
{
    unsigned i = debug_before_(d, d->made[0].step);
    while (i && d->checkpoint[i].edit_next)
        i--;
    return &d->checkpoint[i];
}

static struct cps_err *start_twin(const struct cps_debug *d, struct cps_debug *twin)
{
    const struct checkpoint *from = unchanged(d);
    CPS_TRY(cps_engine_clone(from->engine, &twin->engine));
    twin->sink = d->sink;
    twin->feeder = d->feeder;
    twin->place = from->place;
    twin->interrupt = d->interrupt;
    twin->interrupt_context = d->interrupt_context;
    twin->tally = d->tally;
    twin->tally_context = d->tally_context;
    debug_refresh_(twin);
    return debug_keep_(twin) ? NULL : cps_err_nomem();
}

struct cps_err *cps_debug_twin(struct cps_debug *d, bool changed, struct cps_debug **ret)
{
    if (!d->made_next)
        return cps_err_new(CPS_ERR_INPUT, "nothing was changed until here");
    struct cps_debug *twin = calloc(1, sizeof(*twin));
    struct cps_err *err = twin ? start_twin(d, twin) : cps_err_nomem();
    for (size_t i = 0; !err && changed && i < d->made_next; i++)
        err = debug_keep_edit_(twin, &d->made[i].edit, d->made[i].step);
    if (!err)
        err = debug_walk_(twin, d->made[0].step);
    if (!err)
        debug_make_edits_(twin);
    if (err)
        cps_debug_destroy(twin);
    else
        *ret = twin;
    return err;
}
