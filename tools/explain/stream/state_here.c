/* SPDX-License-Identifier: MIT
 * The state in the middle of a run. Behind each draw only those registers are copied that were
 * written since the one before: there may be thousands of draws. */
#include "tools/explain/stream/state_here.h"

#include <stdlib.h>
#include <string.h>

struct state_here {
    struct cps_sink sink; /* first */
    struct cps_launches launches;
    struct cps_event packet; /* the processor's last */
    uint64_t events;
    struct state_result result;
    uint32_t *written; /* registers, since the last draw; room for all */
    uint32_t count;
    bool *is_written;
};

static void end_draw(struct state_here *here)
{
    struct state *state = &here->result.state;
    for (uint32_t i = 0; i < here->count; i++) {
        uint32_t number = here->written[i];
        state->before[number] = state->now[number];
        here->is_written[number] = false;
    }
    here->count = 0;
    state->since = here->events;
}

static void take(struct state_here *here, const struct cps_event *event)
{
    struct state *state = &here->result.state;
    unsigned who = here->launches.who;
    enum cps_launch_step step;
    while ((step = cps_launches_take_(&here->launches, event)) != CPS_LAUNCH_INSIDE) {
        state->launch = here->launches.last;
        here->result.count = here->launches.count;
        if (step == CPS_LAUNCH_ENDS)
            end_draw(here);
    }
    if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == who)
        here->packet = *event;
    uint32_t number = event->addr % STATE_REGISTERS;
    if (state_keep_(state->now, who, event, here->events, &here->packet) &&
        !here->is_written[number]) {
        here->is_written[number] = true;
        here->written[here->count++] = number;
    }
    here->events++;
}

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    for (size_t i = 0; i < count; i++)
        take((struct state_here *)sink, &events[i]);
}

struct cps_err *state_here_create(struct cps_names *names, struct cps_buffers *buffers,
                                  unsigned who, struct state_here **ret)
{
    struct state_here *here = calloc(1, sizeof(*here));
    *ret = here;
    if (!here)
        return cps_err_nomem();
    here->sink.put = put;
    here->result.who = who;
    here->result.names = names;
    here->result.buffers = buffers;
    here->result.state.now = calloc(STATE_REGISTERS, sizeof(*here->result.state.now));
    here->result.state.before = calloc(STATE_REGISTERS, sizeof(*here->result.state.before));
    here->written = calloc(STATE_REGISTERS, sizeof(*here->written));
    here->is_written = calloc(STATE_REGISTERS, sizeof(*here->is_written));
    cps_launches_init_(&here->launches, names, who, true);
    bool whole =
        here->result.state.now && here->result.state.before && here->written && here->is_written;
    return whole ? NULL : cps_err_nomem();
}

struct cps_sink *state_here_sink(struct state_here *here)
{
    return &here->sink;
}

const struct state_result *state_here_result(const struct state_here *here)
{
    return &here->result;
}

bool state_here_in_draw(const struct state_here *here)
{
    return here->launches.is_open;
}

void state_here_destroy(struct state_here *here)
{
    if (!here)
        return;
    free(here->result.state.now);
    free(here->result.state.before);
    free(here->written);
    free(here->is_written);
    free(here);
}
