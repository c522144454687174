/* SPDX-License-Identifier: MIT
 * The way from the start to here once more, for somebody who looks closer than a debugger does. */
#include "emu/debug/retrace.h"
#include "emu/debug/state.h"

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
