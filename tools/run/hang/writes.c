/* SPDX-License-Identifier: MIT
 * Register writes of a replay. */
#include "tools/run/hang/hang.h"

#include <stdlib.h>

#include "isa/base/list.h"

enum { STATE = 0x13 };

static void add(struct writes *w, const struct cps_event *event, bool pipe)
{
    if (w->failed || !CPS_LIST_ROOM(w->write, w->count)) {
        w->failed = true;
        return;
    }
    w->write[w->count++] = (struct replay_write){
        .packet = w->packet,
        .header = w->header,
        .index = w->packets,
        .offset = (uint32_t)event->addr,
        .value = event->value,
        .state = w->state,
        .pipe = pipe,
        .direct = !pipe && cps_event_sub(event) == CPS_PATH_CTRL,
    };
}

static void add_writes(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct writes *w = (struct writes *)sink;
    for (size_t i = 0; i < count; i++) {
        unsigned kind = cps_event_kind(&events[i]);
        if (!(w->who >> cps_event_who(&events[i]) & 1))
            continue;
        if (kind == CPS_EV_STEP || kind == CPS_EV_STEPX) {
            /* Of a STEP, `value` says which registers it has, `addr` their values in order: two at
             * most. */
            const struct cps_event *step = &events[i];
            uint32_t below = step->value & ((1u << STATE) - 1);
            if (step->value >> STATE & 1)
                w->state = (uint32_t)(step->addr >> (below ? 32 : 0));
        } else if (kind == CPS_EV_PKT) {
            w->packets++;
            w->packet = events[i].addr;
            w->header = events[i].value;
        } else if (kind == CPS_EV_REG || kind == CPS_EV_PIPE) {
            add(w, &events[i], kind == CPS_EV_PIPE);
        }
    }
}

void writes_init(struct writes *writes, enum cps_gen gen, uint32_t state)
{
    *writes = (struct writes){.sink = {add_writes}, .state = state};
    writes->who = gen == CPS_A5XX ? 1u << CPS_CPU_PFP | 1u << CPS_CPU_ME : 1u << CPS_CPU_SQE;
}

void writes_deinit(struct writes *writes)
{
    free(writes->write);
    *writes = (struct writes){0};
}
