/* SPDX-License-Identifier: MIT
 * A second debugger of the same run, from where its first change was made. */
#include "emu/debug/twin.h"

#include <stdlib.h>

#include "emu/debug/state.h"

/* The last checkpoint that no change lies before. */
static const struct checkpoint *unchanged(const struct cps_debug *d)
{
    unsigned i = debug_before_(d, d->made[0].step);
    while (i && d->checkpoint[i].edit_next)
        i--;
    return &d->checkpoint[i];
}

static struct cps_err *start(const struct cps_debug *d, struct cps_debug *twin)
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

static struct cps_err *copy_edits(const struct cps_debug *d, struct cps_debug *twin)
{
    for (size_t i = 0; i < d->made_next; i++)
        CPS_TRY(debug_keep_edit_(twin, &d->made[i].edit, d->made[i].step));
    return NULL;
}

struct cps_err *cps_debug_twin(struct cps_debug *d, bool changed, struct cps_debug **ret)
{
    if (!d->made_next)
        return cps_err_new(CPS_ERR_INPUT, "nothing was changed until here");
    struct cps_debug *twin = calloc(1, sizeof(*twin));
    struct cps_err *err = twin ? start(d, twin) : cps_err_nomem();
    if (!err && changed)
        err = copy_edits(d, twin);
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
