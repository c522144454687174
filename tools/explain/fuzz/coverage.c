/* SPDX-License-Identifier: MIT
 * Coverage out of logs of branches: what lies between where one led and where the next stands ran,
 * and the delay slot behind it. Counts say how many different ways led there. */
#include "tools/explain/fuzz/fuzz.h"

/* Where the image of a core begins in the file; UINT32_MAX: in another one (the ME of a5xx). */
static uint32_t start_of(const struct run_side *side, unsigned core)
{
    return side->engine->who[core] == CPS_CPU_ME ? UINT32_MAX : run_image_start(side, core);
}

static void add_way(struct fuzz *fuzz, uint32_t start, const struct cps_edge *edge)
{
    const struct cps_fw *fw = fuzz->run[0].side[0].play->fw;
    uint32_t from = start + (edge->from <= edge->branch ? edge->from : edge->branch);
    uint32_t branch = start + edge->branch;
    if (branch + 1 >= fw->count)
        return;
    for (uint32_t at = from; at <= branch + 1; at++)
        fuzz->cover[at].run++;
    fuzz->cover[branch].taken++;
}

void coverage_add(struct fuzz *fuzz, const struct run_side *side)
{
    for (uint32_t i = 0; i < side->log.count; i++) {
        const struct cps_edge *edge = &side->log.edge[i];
        uint32_t start = start_of(side, edge->core);
        if (start != UINT32_MAX && !key_map_has(&fuzz->edges, batch_edge(edge, 0)))
            add_way(fuzz, start, edge);
    }
}
