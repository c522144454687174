/* SPDX-License-Identifier: MIT
 * Values that differ only by the assumed clock. */
#include "tools/explain/diff/diffreport.h"

#include <stdlib.h>

#include "tools/cmd/terminal/oom.h"
#include "tools/explain/why/why.h"

static void find_marks(struct diff_clock *clock, unsigned side)
{
    const struct record *record = clock->record[side];
    if (clock->mark[side] || clock->err)
        return;
    clock->mark[side] = tool_alloc(record->count + 1, sizeof(*clock->mark[side]));
    struct why_clocks clocks = {record->event, record->count, clock->mark[side]};
    clock->err = clock->find(clock->context, side, &clocks);
}

static uint64_t mark_of(struct diff_clock *clock, unsigned side, const struct cps_event *event)
{
    find_marks(clock, side);
    return clock->err ? 0 : clock->mark[side][event - clock->record[side]->event];
}

static bool is_excused(void *context, const struct cps_event *a, const struct cps_event *b)
{
    struct diff_clock *clock = context;
    uint64_t mark = mark_of(clock, 1, b);
    return mark && (clock->golden || mark == mark_of(clock, 0, a));
}

void diff_clock_begin(struct diff_clock *clock, struct cps_diff_options *options)
{
    const struct record *const *record = clock->record;
    if (!record[1]->account.clock_varies || (!clock->golden && !record[0]->account.clock_varies))
        return;
    options->is_excused = is_excused;
    options->excuse_context = clock;
}

struct cps_err *diff_clock_end(struct diff_clock *clock)
{
    free(clock->mark[0]);
    free(clock->mark[1]);
    clock->mark[0] = clock->mark[1] = NULL;
    return clock->err;
}
