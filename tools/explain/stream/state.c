/* SPDX-License-Identifier: MIT
 * One run, of which the state of the registers is kept as it stands when a launch has been made. */
#include "tools/explain/stream/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/engine.h"
#include "isa/base/list.h"
#include "isa/base/within.h"

/* Where the address of a register has its pipe, if it is not that of the processor (a7xx on). */
#define PIPE_SHIFT 36

/* A run, and what is known of it so far. */
struct gather {
    struct cps_sink sink; /* first */
    const struct state_setup *setup;
    struct state_result *ret;
    struct cps_launches launches;
    struct cps_event packet; /* the processor's last */
    struct state_register *held;
    uint64_t events;
    bool done; /* the launch in question is over */
    bool lost; /* out of memory */
};

static bool copy(struct state_register **to, const struct state_register *from)
{
    size_t size = STATE_REGISTERS * sizeof(**to);
    if (!*to)
        *to = malloc(size);
    if (*to)
        memcpy(*to, from, size);
    return *to;
}

static void list_launch(struct gather *g)
{
    struct state_result *ret = g->ret;
    if (!CPS_LIST_ROOM(ret->list, ret->count)) {
        g->lost = true;
        return;
    }
    ret->list[ret->count++] = g->launches.last;
}

static void begin_launch(struct gather *g)
{
    const struct cps_launch *launch = &g->launches.last;
    if (g->setup->draw < 0 || launch->number != (uint64_t)g->setup->draw)
        return;
    g->ret->state.launch = *launch;
}

static void end_launch(struct gather *g)
{
    struct state *state = &g->ret->state;
    uint64_t number = g->launches.last.number;
    if (g->setup->draw < 0) {
        list_launch(g);
        return;
    }
    g->ret->count = (uint32_t)number + 1;
    if (number + 1 == (uint64_t)g->setup->draw) {
        g->lost |= !copy(&state->before, g->held);
        state->since = g->events;
    }
    if (number != (uint64_t)g->setup->draw)
        return;
    g->lost |= !copy(&state->now, g->held);
    g->done = true;
}

/* The processors of a5xx write the same registers; of a7xx on, each writes those of its pipe. */
static bool writes_here(unsigned of, const struct cps_event *event)
{
    bool is_a5xx = of == CPS_CPU_ME || of == CPS_CPU_PFP;
    return cps_event_kind(event) == CPS_EV_REG && !(event->addr >> PIPE_SHIFT) &&
           (is_a5xx || cps_event_who(event) == of);
}

bool state_keep_(struct state_register *held, unsigned who, const struct cps_event *event,
                 uint64_t number, const struct cps_event *packet)
{
    if (!writes_here(who, event))
        return false;
    held[event->addr % STATE_REGISTERS] =
        (struct state_register){.value = event->value,
                                .pc = cps_event_pc(event),
                                .event = number + 1,
                                .packet = packet->addr,
                                .header = packet->value,
                                .level = (uint8_t)cps_event_sub(packet)};
    return true;
}

static void take(struct gather *g, const struct cps_event *event)
{
    enum cps_launch_step step;
    while ((step = cps_launches_take_(&g->launches, event)) != CPS_LAUNCH_INSIDE && !g->done) {
        if (step == CPS_LAUNCH_BEGINS)
            begin_launch(g);
        else
            end_launch(g);
    }
    if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == g->launches.who)
        g->packet = *event;
    state_keep_(g->held, g->launches.who, event, g->events, &g->packet);
    g->events++;
}

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct gather *g = (struct gather *)sink;
    for (size_t i = 0; i < count && !g->done; i++)
        take(g, &events[i]);
}

static bool has_processor(const struct play *play, unsigned who)
{
    for (unsigned i = 0; i < play->engine->cores; i++) {
        if (play->engine->who[i] == who)
            return true;
    }
    return false;
}

static struct cps_err *choose_processor(struct gather *g, struct play *play)
{
    unsigned who = g->setup->who != CPS_CPU_NONE ? g->setup->who : cps_launch_processor_(play->gen);
    if (!has_processor(play, who))
        return cps_err_new(CPS_ERR_USAGE, "--processor %s: this firmware does not run on it",
                           cps_processor_name(who));
    g->ret->who = who;
    cps_launches_init_(&g->launches, play->names[who], who, true);
    return NULL;
}

static struct cps_err *finish(struct gather *g, struct play *play)
{
    enum cps_launch_step step;
    while (!g->done && (step = cps_launches_end_(&g->launches)) != CPS_LAUNCH_INSIDE) {
        if (step == CPS_LAUNCH_BEGINS)
            begin_launch(g);
        else
            end_launch(g);
    }
    play->enough = g->done; /* how it went on is not asked */
    CPS_TRY(play_account_take(play, &g->ret->account));
    g->ret->names = CPS_TAKE(play->names[g->ret->who]);
    g->ret->buffers = CPS_TAKE(play->buffers);
    return g->lost ? cps_err_nomem() : NULL;
}

static struct cps_err *run(struct gather *g, struct play *play, const struct cps_options *opt,
                           struct cps_stream *stream)
{
    CPS_TRY(cps_buffers_create(&play->buffers));
    CPS_TRY(play_read_dump(play, stream));
    play->as_given = play_revisions(g->setup->opt) > 1;
    play->quiet = g->setup->quiet;
    CPS_TRY(play_open(play, opt, g->setup->capture));
    CPS_TRY(choose_processor(g, play));
    struct cps_err *err = play_run(play, stream);
    return cps_err_first_(err, finish(g, play));
}

struct cps_err *state_gather(const struct state_setup *setup, struct state_result *ret)
{
    struct cps_options opt = *setup->opt;
    struct gather g = {.sink = {put}, .setup = setup, .ret = ret};
    struct cps_stream *stream = NULL;
    *ret = (struct state_result){.who = CPS_CPU_NONE};
    opt.fw[0] = setup->firmware[0];
    opt.fw[1] = setup->firmware[1];
    opt.fw_count = opt.fw[0] ? opt.fw[1] ? 2 : 1 : 0;
    opt.demo = !opt.fw_count;
    CPS_FREE struct state_register *held = calloc(STATE_REGISTERS, sizeof(*held));
    CPS_FREE struct play *play = calloc(1, sizeof(*play));
    g.held = held;
    ret->state.before = calloc(STATE_REGISTERS, sizeof(*held));
    if (!held || !play || !ret->state.before)
        return cps_err_nomem();
    play->trace = &g.sink;
    play->kinds = 1u << CPS_EV_REG | 1u << CPS_EV_PKT | 1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT;
    struct cps_err *err = play_stream(setup->capture, &stream);
    if (!err)
        err = run(&g, play, &opt, stream);
    play_close(play);
    cps_stream_close(stream);
    return err;
}

void state_deinit(struct state_result *result)
{
    free(result->state.now);
    free(result->state.before);
    free(result->list);
    cps_names_destroy(result->names);
    cps_buffers_destroy(result->buffers);
    *result = (struct state_result){0};
}
