/* SPDX-License-Identifier: MIT
 * The debugging core going back: checkpoints, searches from one to the next, changes that are made
 * again at their steps, and the run once more beside this one. */
#include <string.h>

#include "emu/debug/state.h"
#include "isa/base/list.h"

/* Most bytes of memory pages that all checkpoints name together; pages they share count for each.
 */
#define MAX_PAGES (UINT64_C(2) << 30)

/* ---- checkpoints ---- */

struct cps_engine *debug_clone_(struct cps_debug *d, struct cps_engine *engine)
{
    struct cps_engine *copy = NULL;
    struct cps_err *err = cps_engine_clone(engine, &copy);
    d->nomem = d->nomem || err;
    cps_err_free(err);
    return err ? NULL : copy;
}

/* Index of the last checkpoint at or before @p step; the first one is at step 0. */
static unsigned checkpoint_before(const struct cps_debug *d, uint64_t step)
{
    unsigned i = d->checkpoint_count - 1;
    while (i && d->checkpoint[i].place.step > step)
        i--;
    return i;
}

static void drop_checkpoint(struct cps_debug *d, unsigned index)
{
    struct checkpoint *at = &d->checkpoint[index];
    cps_engine_destroy(at->engine);
    memmove(at, at + 1, (d->checkpoint_count - index - 1) * sizeof(*at));
    d->checkpoint_count--;
}

/* Drops the one that is missed least: the distance of its neighbours is short, compared with how
 * far it is from here. The first stays: everything can be reached from it. */
static void thin_checkpoints(struct cps_debug *d)
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
    drop_checkpoint(d, worst);
}

static bool too_many(const struct cps_debug *d)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < d->checkpoint_count; i++)
        bytes += cps_mem_bytes(d->checkpoint[i].engine->mem);
    return d->checkpoint_count == CPS_DEBUG_CHECKPOINTS ||
           (d->checkpoint_count > 2 && bytes > MAX_PAGES);
}

/* Makes a checkpoint here if there is none. */
static bool keep_here(struct cps_debug *d)
{
    unsigned index = 0;
    if (d->checkpoint_count) {
        uint64_t step = d->place.step;
        if (d->checkpoint[checkpoint_before(d, step)].place.step == step)
            return true;
        while (too_many(d))
            thin_checkpoints(d);
        index = checkpoint_before(d, step) + 1;
    }
    struct cps_engine *copy = debug_clone_(d, d->engine);
    if (!copy)
        return false;
    struct checkpoint *at = &d->checkpoint[index];
    memmove(at + 1, at, (d->checkpoint_count++ - index) * sizeof(*at));
    *at = (struct checkpoint){copy, d->place, d->made_next};
    return true;
}

bool debug_keep_(struct cps_debug *d)
{
    return (d->checkpoint_count && d->place.step % CPS_DEBUG_INTERVAL) || keep_here(d);
}

uint64_t cps_debug_oldest(const struct cps_debug *d)
{
    return d->checkpoint[0].place.step;
}

uint64_t cps_debug_forget(struct cps_debug *d, uint64_t fed)
{
    unsigned first = 0;
    while (first < d->checkpoint_count && d->checkpoint[first].place.fed < fed)
        first++;
    if (first == d->checkpoint_count && (d->place.fed < fed || !keep_here(d)))
        return d->checkpoint[0].place.fed;
    while (d->checkpoint[0].place.fed < fed)
        drop_checkpoint(d, 0);
    return d->checkpoint[0].place.fed;
}

static bool restore(struct cps_debug *d, const struct checkpoint *from)
{
    struct cps_engine *copy = debug_clone_(d, from->engine);
    if (!copy)
        return false;
    cps_engine_destroy(d->engine);
    d->engine = copy;
    d->place = from->place;
    d->made_next = from->edit_next;
    d->look_at = 0;
    debug_refresh_(d);
    debug_make_edits_(d);
    return true;
}

/* ---- to a place ---- */

/* Many ticks in one piece towards step @p until, where a step is a tick: to the next change or
 * checkpoint; fewer checkpoints where @p until is far. What feeds, stops, or ends them is a step of
 * its own. An engine that looks for a deadlock may run a few more than asked for. */
static void leap(struct cps_debug *d, uint64_t until)
{
    enum { SPARE = 64, MOST = 512 };
    uint64_t clock = d->engine->clock;
    uint64_t intervals = (until - d->place.step) / 16 / CPS_DEBUG_INTERVAL;
    intervals = intervals < 1 ? 1 : intervals > MOST ? MOST : intervals;
    uint64_t end = (d->place.step / CPS_DEBUG_INTERVAL + intervals) * CPS_DEBUG_INTERVAL;
    end = end < until ? end : until;
    if (d->made_next < d->made_count && d->made[d->made_next].step < end)
        end = d->made[d->made_next].step;
    uint64_t count = end - d->place.step;
    uint64_t left = d->feeder.until > clock ? d->feeder.until - clock : 0;
    count = d->feeder.until && left < count ? left : count;
    if (!d->engine->ops->ticks_alone || count <= 2 * (uint64_t)SPARE)
        return;
    d->nomem = cps_engine_run(d->engine, count - SPARE) == CPS_STOP_NOMEM || d->nomem;
    d->place.step += d->engine->clock - clock;
}

/* Forward until @p counter of the place is @p until; no point stops it. */
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
    if (step < d->place.step && !restore(d, &d->checkpoint[checkpoint_before(d, step)]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    if (step < d->place.step)
        return (struct cps_debug_stop){.reason = CPS_WHY_START, .core = d->core};
    return go_to(d, &d->place.step, step);
}

struct cps_debug_stop cps_debug_goto_event(struct cps_debug *d, uint64_t event)
{
    unsigned i = d->checkpoint_count - 1;
    while (i && d->checkpoint[i].place.event > event)
        i--;
    if (event < d->place.event && !restore(d, &d->checkpoint[i]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    if (event < d->place.event)
        return (struct cps_debug_stop){.reason = CPS_WHY_START, .core = d->core};
    return go_to(d, &d->place.event, event + 1);
}

/* The first of the changes that is the caller's, from number @p from on. */
static size_t first_change(const struct cps_debug *d, size_t from)
{
    while (from < d->made_count && d->made[from].fed)
        from++;
    return from;
}

struct cps_debug_stop cps_debug_restart(struct cps_debug *d, uint64_t step)
{
    size_t first = first_change(d, d->checkpoint[0].edit_next);
    debug_drop_edits_(d, first);
    for (unsigned i = d->checkpoint_count; i-- > 1;) {
        if (d->checkpoint[i].edit_next > first)
            drop_checkpoint(d, i);
    }
    if (!restore(d, &d->checkpoint[checkpoint_before(d, step)]))
        return (struct cps_debug_stop){.reason = CPS_WHY_NOMEM};
    return go_to(d, &d->place.step, step);
}

/* ---- searches ---- */

/* What a search looks for, and the last time it was found. */
struct search {
    struct point *point; /* NULL: all */
    const struct goal *goal;
    bool found;
    struct cps_debug_stop stop;
    struct cps_debug_location place;
};

/* From here to step @p end, which counts. */
static bool search_part(struct cps_debug *d, struct search *s, uint64_t end)
{
    while (d->place.step < end) {
        struct cps_debug_stop stop = {0};
        if (debug_step_(d) != CPS_WHY_GONE || !debug_keep_(d) || debug_interrupted_(d))
            return false;
        bool hit = debug_hits_(d, s->point, false, &stop);
        if (!hit && !(s->goal && debug_reached_(d, s->goal)))
            continue;
        s->found = true;
        s->stop = hit ? stop : (struct cps_debug_stop){.reason = CPS_WHY_GONE, .core = d->core};
        s->place = d->place;
    }
    return true;
}

/* The last match before step @p end. False: interrupted, or memory is short. */
static bool search(struct cps_debug *d, struct search *s, uint64_t end)
{
    uint64_t high = end ? end - 1 : 0;
    while (high > cps_debug_oldest(d) && !s->found) {
        const struct checkpoint *from = &d->checkpoint[checkpoint_before(d, high - 1)];
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

struct cps_debug_stop cps_debug_back(struct cps_debug *d, enum cps_debug_go go, unsigned core)
{
    struct goal goal = debug_goal_(d, go, core);
    struct search s = {.goal = &goal};
    uint64_t began = d->place.step;
    if (!search(d, &s, began)) {
        bool asked = d->interrupt && d->interrupt(d->interrupt_context);
        return_to(d, began);
        return (struct cps_debug_stop){.reason = asked ? CPS_WHY_INTERRUPTED : CPS_WHY_NOMEM};
    }
    struct cps_debug_stop there = cps_debug_goto_step(d, s.found ? s.place.step : 0);
    if (there.reason != CPS_WHY_GONE)
        return there;
    return s.found ? s.stop : (struct cps_debug_stop){.reason = CPS_WHY_START};
}

bool cps_debug_last(struct cps_debug *d, const struct cps_debug_point *point,
                    struct cps_debug_stop *stop, struct cps_debug_location *place)
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

/* ---- changes ---- */

/* The branch is done: its delay slot, if it has one, is next. */
static bool decide_branch(struct cps_engine *engine, unsigned core, bool taken)
{
    const struct cps_location pc = {(uint8_t)core, CPS_FILE_PC, 0};
    const struct cps_location next = {(uint8_t)core, CPS_FILE_PC, 1};
    struct cps_where where = cps_engine_where(engine, core);
    uint8_t bytes[CPS_INSN_BYTES];
    struct cps_insn insn;
    uint32_t target = 0;
    if (!cps_engine_decode(engine, core, where.pc, bytes, &insn) ||
        cps_insn_flow(engine->ops->isa, &insn) != CPS_FLOW_BRANCH ||
        !cps_insn_target(engine->ops->isa, &insn, where.pc, &target))
        return false;
    if (!cps_insn_has_slot(engine->ops->isa, &insn))
        return cps_engine_set(engine, pc, taken ? target : where.npc);
    return cps_engine_set(engine, pc, where.npc) &&
           (!taken || cps_engine_set(engine, next, target));
}

static bool make_edit(struct cps_engine *engine, const struct cps_edit *edit)
{
    if (edit->what == CPS_EDIT_PLACE)
        return cps_engine_set(engine, edit->place, edit->value);
    if (edit->what == CPS_EDIT_BRANCH)
        return decide_branch(engine, edit->place.core, edit->value);
    const struct cps_item item = {.kind = CPS_ITEM_PACKETS,
                                  .block = {.words = edit->words, .count = edit->count}};
    struct cps_err *err = cps_engine_feed(engine, &item);
    cps_err_free(err);
    return !err;
}

void debug_make_edits_(struct cps_debug *d)
{
    while (d->made_next < d->made_count && d->made[d->made_next].step == d->place.step) {
        const struct made *made = &d->made[d->made_next++];
        if (made->fed)
            debug_prepare_(d, made->fed);
        else
            make_edit(d->engine, &made->edit);
    }
}

void debug_drop_edits_(struct cps_debug *d, size_t first)
{
    for (size_t i = first; i < d->made_count; i++)
        free((void *)d->made[i].edit.words);
    d->made_count = first < d->made_count ? first : d->made_count;
}

static struct cps_err *check_edit(const struct cps_debug *d, const struct cps_edit *edit)
{
    const struct cps_file *file = cps_engine_file(d->engine, edit->place.file);
    if (edit->place.core >= d->engine->cores)
        return cps_err_new(CPS_ERR_INPUT, "there is no processor number %u", edit->place.core);
    if (edit->what != CPS_EDIT_PLACE)
        return NULL;
    if (!file)
        return cps_err_new(CPS_ERR_INPUT, "%s has no such places", d->engine->ops->name);
    if (edit->place.number >= file->count)
        return cps_err_new(CPS_ERR_INPUT, "0x%llx: expected a %s below 0x%llx",
                           (unsigned long long)edit->place.number, file->name,
                           (unsigned long long)file->count);
    return NULL;
}

static struct cps_err *refuse_edit(const struct cps_debug *d, const struct cps_edit *edit)
{
    if (edit->what == CPS_EDIT_BRANCH)
        return cps_err_new(CPS_ERR_INPUT, "there is no conditional branch at 0x%04x",
                           (unsigned)cps_engine_where(d->engine, edit->place.core).pc);
    if (edit->what == CPS_EDIT_PACKETS)
        return cps_err_new(CPS_ERR_INPUT, "%s takes no packets here", d->engine->ops->name);
    return cps_err_new(CPS_ERR_INPUT, "%s 0x%llx cannot be 0x%llx here",
                       cps_engine_file(d->engine, edit->place.file)->name,
                       (unsigned long long)edit->place.number, (unsigned long long)edit->value);
}

/* Puts a copy of a change after those that were made. */
static struct cps_err *keep_edit(struct cps_debug *d, const struct made *made)
{
    const struct cps_edit *edit = &made->edit;
    uint32_t *words = NULL;
    if (!CPS_LIST_ROOM(d->made, d->made_count))
        return cps_err_nomem();
    if (edit->words) {
        words = malloc((edit->count + (size_t)1) * sizeof(*words));
        if (!words)
            return cps_err_nomem();
        memcpy(words, edit->words, edit->count * sizeof(*words));
    }
    d->made[d->made_count] = *made;
    d->made[d->made_count++].edit.words = words;
    return NULL;
}

/* Changes and checkpoints further on belong to a run that will not be. */
static void drop_future(struct cps_debug *d)
{
    debug_drop_edits_(d, d->made_next);
    while (d->checkpoint_count > 1 &&
           d->checkpoint[d->checkpoint_count - 1].place.step > d->place.step)
        drop_checkpoint(d, d->checkpoint_count - 1);
}

struct cps_err *cps_debug_feed(struct cps_debug *d)
{
    drop_future(d);
    enum cps_debug_reason reason = debug_prepare_(d, UINT64_MAX);
    const struct made made = {.step = d->place.step, .fed = d->place.fed};
    d->look_at = 0;
    CPS_TRY(keep_edit(d, &made));
    d->made_next = d->made_count;
    return reason == CPS_WHY_GONE ? NULL : cps_err_nomem();
}

struct cps_err *cps_debug_edit(struct cps_debug *d, const struct cps_edit *edit)
{
    CPS_TRY(check_edit(d, edit));
    drop_future(d);
    CPS_TRY(keep_edit(d, &(struct made){.edit = *edit, .step = d->place.step}));
    bool good = make_edit(d->engine, &d->made[d->made_count - 1].edit);
    if (!good)
        debug_drop_edits_(d, d->made_count - 1);
    d->made_next = d->made_count;
    debug_refresh_(d);
    if (!good && cps_mem_failed(d->engine->mem))
        return cps_err_nomem();
    return good ? NULL : refuse_edit(d, edit);
}

/* ---- the run once more, beside this one ---- */

/* Goes on to @p step, a way that the run went before. */
static struct cps_err *walk_again(struct cps_debug *d, uint64_t step)
{
    while (d->place.step < step) {
        enum cps_debug_reason reason = debug_step_(d);
        if (reason == CPS_WHY_NOMEM || cps_mem_failed(d->engine->mem))
            return cps_err_nomem();
        if (reason != CPS_WHY_GONE)
            return cps_err_new(CPS_ERR_MISMATCH, "the run took another way than before");
        if (debug_interrupted_(d))
            return cps_err_new(CPS_ERR_INPUT, "interrupted");
    }
    return NULL;
}

/* A debugger of the same run at a checkpoint, with the first @p edits changes. */
static struct cps_err *create_twin(struct cps_debug *d, const struct checkpoint *from, size_t edits,
                                   struct cps_debug **ret)
{
    struct cps_debug *twin = calloc(1, sizeof(*twin));
    if (!twin)
        return cps_err_nomem();
    *ret = twin;
    twin->engine = debug_clone_(d, from->engine);
    if (!twin->engine)
        return cps_err_nomem();
    twin->sink = d->sink;
    twin->feeder = d->feeder;
    twin->place = from->place;
    twin->interrupt = d->interrupt;
    twin->interrupt_context = d->interrupt_context;
    twin->tally = d->tally;
    twin->tally_context = d->tally_context;
    debug_refresh_(twin);
    for (size_t i = 0; i < edits; i++)
        CPS_TRY(keep_edit(twin, &d->made[i]));
    twin->made_next = from->edit_next;
    return debug_keep_(twin) ? NULL : cps_err_nomem();
}

struct cps_err *cps_debug_retrace(struct cps_debug *d, const struct cps_debug_retrace *retrace)
{
    struct cps_debug *twin = NULL;
    struct cps_err *err = create_twin(d, &d->checkpoint[0], d->made_next, &twin);
    if (!err)
        err = retrace->ready(retrace->context, twin->engine, twin->place.fed);
    if (!err) {
        debug_make_edits_(twin);
        err = walk_again(twin, d->place.step);
    }
    if (!err)
        err = retrace->done(retrace->context, twin->engine);
    cps_debug_destroy(twin);
    return err;
}

struct cps_err *cps_debug_twin(struct cps_debug *d, bool changed, struct cps_debug **ret)
{
    struct cps_debug *twin = NULL;
    size_t first = first_change(d, 0);
    if (first >= d->made_next)
        return cps_err_new(CPS_ERR_INPUT, "nothing has been changed so far");
    unsigned from = checkpoint_before(d, d->made[first].step);
    while (from && d->checkpoint[from].edit_next > first)
        from--;
    if (d->checkpoint[from].edit_next > first)
        return cps_err_new(CPS_ERR_INPUT, "the first change is before the oldest place");
    struct cps_err *err =
        create_twin(d, &d->checkpoint[from], changed ? d->made_next : first, &twin);
    if (!err)
        err = walk_again(twin, d->made[first].step);
    if (err) {
        cps_debug_destroy(twin);
        return err;
    }
    debug_make_edits_(twin);
    *ret = twin;
    return NULL;
}
