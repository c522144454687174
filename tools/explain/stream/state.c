/* SPDX-License-Identifier: MIT
 * One run, with the state of the registers after each launch. */
#include "tools/explain/stream/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/engine.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"

/* Bits of a register's address from here on are its pipe, 0: the processor's own (a7xx on). */
#define PIPE_SHIFT 36

/* A run so far. After each draw only those registers are copied that were written since the one
 * before: there may be thousands of draws. */
struct state_run {
    struct cps_sink sink; /* first */
    long draw;            /* the run ends after it; -1: each is listed; -2: neither */
    struct state_result result;
    struct cps_launches launches;
    struct cps_event packet; /* the processor's last */
    uint64_t events;
    uint32_t *written; /* registers, since the last draw; room for all */
    uint32_t count;
    bool done; /* `draw` is over */
};

static void follow_launch(struct state_run *run, enum cps_launch_step step)
{
    struct state_result *result = &run->result;
    struct state *state = &result->state;
    const struct cps_launch *last = &run->launches.last;
    state->launch = *last;
    if (run->draw != -1)
        result->count = run->launches.count;
    if (step == CPS_LAUNCH_BEGINS)
        return;
    run->done = run->draw >= 0 && last->number == (uint64_t)run->draw;
    if (run->draw == -1) {
        TOOL_ROOM(result->list, result->count);
        result->list[result->count++] = *last;
    } else if (!run->done) {
        while (run->count) {
            uint32_t number = run->written[--run->count];
            state->before[number] = state->now[number];
        }
        state->since = run->events;
    }
}

/* The processors of a5xx write the same registers; of a7xx on, each writes those of its pipe. */
static void note_write(struct state_run *run, const struct cps_event *event)
{
    unsigned who = run->launches.who;
    uint32_t number = event->addr % STATE_REGISTERS;
    struct state_register *reg = &run->result.state.now[number];
    if (cps_event_kind(event) != CPS_EV_REG || event->addr >> PIPE_SHIFT ||
        (who != CPS_CPU_ME && who != CPS_CPU_PFP && cps_event_who(event) != who))
        return;
    if (reg->event <= run->result.state.since)
        run->written[run->count++] = number;
    *reg = (struct state_register){.value = event->value,
                                   .pc = cps_event_pc(event),
                                   .event = run->events + 1,
                                   .packet = run->packet.addr,
                                   .header = run->packet.value,
                                   .level = (uint8_t)cps_event_sub(&run->packet)};
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct state_run *run = (struct state_run *)sink;
    for (const struct cps_event *event = events; event < events + count; event++) {
        enum cps_launch_step step;
        while (!run->done &&
               (step = cps_launches_take_(&run->launches, event)) != CPS_LAUNCH_INSIDE)
            follow_launch(run, step);
        if (run->done)
            return;
        if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == run->launches.who)
            run->packet = *event;
        note_write(run, event);
        run->events++;
    }
}

struct state_run *state_run_create(struct cps_names *names, struct cps_buffers *buffers,
                                   unsigned who)
{
    struct state_run *run = tool_alloc(1, sizeof(*run));
    struct state *state = &run->result.state;
    run->sink.put = take_events;
    run->draw = -2;
    run->result.who = who;
    run->result.names = names;
    run->result.buffers = buffers;
    state->now = tool_alloc(STATE_REGISTERS, sizeof(*state->now));
    state->before = tool_alloc(STATE_REGISTERS, sizeof(*state->before));
    run->written = tool_alloc(STATE_REGISTERS, sizeof(*run->written));
    cps_launches_init_(&run->launches, names, who, STATE_KINDS);
    return run;
}

struct cps_sink *state_run_sink(struct state_run *run)
{
    return &run->sink;
}

const struct state_result *state_run_result(const struct state_run *run)
{
    return &run->result;
}

bool state_run_in_draw(const struct state_run *run)
{
    return run->launches.is_open;
}

void state_run_destroy(struct state_run *run)
{
    free(run->result.state.now);
    free(run->result.state.before);
    free(run->result.list);
    free(run->written);
    free(run);
}

/* ---- a run of its own ---- */

static struct cps_err *choose_processor(const struct state_setup *setup, const struct play *play,
                                        unsigned *ret)
{
    *ret = setup->who != CPS_CPU_NONE ? setup->who : cps_gen_row(play->gen)->draws;
    for (unsigned i = 0; i < play->engine->cores; i++) {
        if (play->engine->who[i] == *ret)
            return NULL;
    }
    return cps_err_new(CPS_ERR_USAGE, "--processor %s: this firmware does not run on it",
                       cps_processor_name(*ret));
}

/* The registers, the launches and the account go to @p ret, with the names and buffers of @p play.
 */
static struct cps_err *run_capture(struct state_run *run, const struct state_setup *setup,
                                   struct play *play, struct cps_stream *stream,
                                   struct state_result *ret)
{
    enum cps_launch_step step;
    struct cps_run_config config = *setup->config;
    unsigned who;
    config.fw[0] = setup->firmware[0];
    config.fw[1] = setup->firmware[1];
    config.fw_count = config.fw[0] ? config.fw[1] ? 2 : 1 : 0;
    config.demo = !config.fw_count;
    run->draw = setup->draw < 0 ? -1 : setup->draw;
    play->trace = &run->sink;
    play->kinds = STATE_KINDS;
    CPS_TRY(cps_buffers_create(&play->buffers));
    CPS_TRY(play_read_dump(play, stream));
    play->as_given = play_revisions(setup->config) > 1;
    play->quiet = setup->quiet;
    CPS_TRY(play_open(play, &config, setup->capture));
    CPS_TRY(choose_processor(setup, play, &who));
    cps_launches_init_(&run->launches, play->names[who], who, STATE_KINDS);
    struct cps_err *err = play_run(play, stream);
    while (!run->done && (step = cps_launches_end_(&run->launches)) != CPS_LAUNCH_INSIDE)
        follow_launch(run, step);
    play->enough = run->done; /* the rest of the run is not wanted */
    *ret = run->result;
    run->result = (struct state_result){0};
    ret->who = who;
    if (!run->done) {
        free(ret->state.now);
        ret->state.now = NULL;
    }
    err = cps_err_first_(err, play_account_take(play, &ret->account));
    ret->names = CPS_TAKE(play->names[who]);
    ret->buffers = CPS_TAKE(play->buffers);
    return err;
}

struct cps_err *state_gather(const struct state_setup *setup, struct state_result *ret)
{
    struct cps_stream *stream = NULL;
    struct state_run *run = state_run_create(NULL, NULL, 0);
    CPS_FREE struct play *play = tool_alloc(1, sizeof(*play));
    *ret = (struct state_result){.who = CPS_CPU_NONE};
    struct cps_err *err = play_stream(setup->capture, &stream);
    if (!err)
        err = run_capture(run, setup, play, stream, ret);
    play_close(play);
    cps_stream_close(stream);
    state_run_destroy(run);
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
