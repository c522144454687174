/* SPDX-License-Identifier: MIT
 * Draws, dispatches, blits and resolves of a trace as rows, numbered as everywhere. */
#include "trace/form/sqlite.h"
#include "trace/form/text.h"

void cps_db_begin_draws_(struct cps_trace_writer *w)
{
    struct database *d = w->state;
    uint32_t kinds = 0;
    bool words = cps_text_classes(w->head->events, &kinds) && kinds >> CPS_EV_WORD & 1;
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        cps_launches_init_(&d->draws[who].launches, w->names[who], who, words);
}

static void put_draw(struct database *d, struct db_draws *draws)
{
    const struct cps_launch *launch = &draws->launches.last;
    unsigned who = draws->launches.who;
    int64_t last = d->packet[who].id;
    DB_INSERT(
        d, DB_DRAW, DB_NUMBER(draws->packet), DB_NUMBER(draws->event), DB_NUMBER(draws->submission),
        DB_TEXT(who == CPS_CPU_NONE ? NULL : cps_processor_name(who)),
        DB_TEXT(cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&launch->packet))),
        DB_TEXT(launch->name), DB_TEXT(cps_launch_kind_text_(launch->kind)),
        DB_NUMBER(launch->number == CPS_LAUNCH_UNNUMBERED ? DB_NULL : (int64_t)launch->number),
        DB_NUMBER(last), DB_NUMBER(draws->before ? draws->before : DB_NULL));
    draws->before = last;
}

/* The packet is still the processor's last when it proves to have been a draw. */
static void take_step(struct database *d, struct db_draws *draws, enum cps_launch_step step)
{
    const struct db_packet *packet = &d->packet[draws->launches.who];
    if (step == CPS_LAUNCH_ENDS) {
        put_draw(d, draws);
        return;
    }
    draws->packet = packet->id;
    draws->event = packet->number;
    draws->submission = packet->submission;
}

static void take_event(struct database *d, unsigned who, const struct cps_event *event)
{
    struct db_draws *draws = &d->draws[who];
    enum cps_launch_step step;
    while ((step = event ? cps_launches_take_(&draws->launches, event)
                         : cps_launches_end_(&draws->launches)) != CPS_LAUNCH_INSIDE)
        take_step(d, draws, step);
}

void cps_db_draws_(struct cps_trace_writer *w, const struct cps_event *event)
{
    struct database *d = w->state;
    unsigned kind = event ? cps_event_kind(event) : CPS_EV_END;
    bool is_everyones = kind == CPS_EV_SUBMIT || kind == CPS_EV_END;
    unsigned by = is_everyones ? CPS_CPU_COUNT : cps_event_who(event);
    for (unsigned who = 0; is_everyones && who < CPS_CPU_COUNT; who++)
        take_event(d, who, event);
    if (by < CPS_CPU_COUNT)
        take_event(d, by, event);
}
