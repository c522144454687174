/* SPDX-License-Identifier: MIT
 * The way from the start to here once more, for somebody who looks closer than a debugger does. */
#include "emu/debug/retrace.h"
#include "emu/debug/state.h"

/* Steps of @p again up to @p step. */
static struct cps_err *go(struct cps_debug *again, uint64_t step)
{
    while (again->place.step < step) {
        enum cps_debug_reason reason = debug_step_(again);
        if (reason == CPS_WHY_NOMEM || cps_mem_failed(again->engine->mem))
            return cps_err_nomem();
        if (reason != CPS_WHY_GONE)
            return cps_err_new(CPS_ERR_MISMATCH, "the run took another way than before");
        if (debug_interrupted_(again))
            return cps_err_new(CPS_ERR_INPUT, "interrupted");
    }
    return NULL;
}

static struct cps_err *retrace_on(struct cps_debug *again, uint64_t step,
                                  const struct cps_debug_retrace *retrace)
{
    CPS_TRY(retrace->ready(retrace->context, again->engine, again->place.fed));
    debug_make_edits_(again);
    CPS_TRY(go(again, step));
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
