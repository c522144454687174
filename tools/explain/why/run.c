/* SPDX-License-Identifier: MIT
 * One replay answers all questions: what each asks for is kept when its time has come. */
#include "tools/explain/why/why.h"

#include "emu/afuc/afuc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/form/text.h"

#include <string.h>

static void set_answer(struct why *why, struct why_ask *ask, uint32_t node)
{
    ask->reached = true;
    if (!node)
        return;
    ask->value = origin_at_(why->origin, node)->value;
    ask->kept = origin_keep_(why->origin, node);
    tool_need(ask->kept != UINT32_MAX);
}

static void no_value(void *context, const struct cps_value *value)
{
    (void)context;
    (void)value;
}

/* The number of the lower half of a register of 64 bits, of which @p number is either; else
 * UINT32_MAX. */
static uint32_t lower_half(const struct cps_names *names, uint32_t number)
{
    unsigned half = 0;
    if (!names || !cps_name(names, CPS_SPACE_GPU, number, &half))
        return UINT32_MAX;
    bool is_wide = cps_name_values64(names, CPS_SPACE_GPU, number - half, 0, no_value, NULL);
    return is_wide ? number - half : UINT32_MAX;
}

/* What the two halves say together is known only now. */
static void keep_whole(struct why *why, struct why_ask *ask)
{
    uint32_t lower = lower_half(why->play->names[why->launches.who], (uint32_t)ask->place);
    uint32_t node[2] = {0};
    for (unsigned i = 0; i < 2 && lower != UINT32_MAX; i++)
        node[i] = origin_register_(why->origin, lower + i);
    ask->has_whole = node[0] && node[1];
    if (ask->has_whole)
        ask->whole = (uint64_t)origin_at_(why->origin, node[1])->value << 32 |
                     origin_at_(why->origin, node[0])->value;
}

static void answer(struct why *why, struct why_ask *ask)
{
    if (ask->what == WHY_REGISTER) {
        set_answer(why, ask, origin_register_(why->origin, (uint32_t)ask->place));
        keep_whole(why, ask);
    }
    if (ask->what == WHY_MEMORY)
        set_answer(why, ask, origin_memory_(why->origin, ask->place));
    else if (ask->what == WHY_GENERAL)
        set_answer(why, ask, origin_general_(why->origin, ask->core, (unsigned)ask->place));
    else if (ask->what == WHY_CONTROL)
        set_answer(why, ask, origin_control_(why->origin, ask->core, (unsigned)ask->place));
}

static void take_draw(struct why *why)
{
    while (why->next_draw < why->draws) {
        struct why_ask *ask = why->later[why->events + why->next_draw];
        if (ask->number > why->launches.last.number)
            return;
        if (ask->number == why->launches.last.number)
            answer(why, ask);
        why->next_draw++;
    }
}

/* A question about a register at an event is answered after that event. */
static void seen(void *context, uint64_t number, const struct cps_event *event, uint32_t node)
{
    struct why *why = context;
    enum cps_launch_step step;
    while (why->next_draw < why->draws &&
           (step = cps_launches_take_(&why->launches, event)) != CPS_LAUNCH_INSIDE) {
        if (step == CPS_LAUNCH_ENDS)
            take_draw(why);
    }
    struct why_clocks *clocks = why->clocks;
    if (clocks && number < clocks->count && !memcmp(event, &clocks->event[number], sizeof(*event)))
        clocks->mark[number] = origin_clock_(why->origin, node);
    if (number != UINT64_MAX) {
        while (why->next_event < why->events && why->later[why->next_event]->number <= number) {
            struct why_ask *ask = why->later[why->next_event++];
            if (ask->number != number)
                continue;
            if (ask->what == WHY_EVENT)
                set_answer(why, ask, node);
            else
                answer(why, ask);
        }
    }
    if (why->next_event == why->events && why->next_draw == why->draws && why->is_timed)
        why->play->enough = true;
}

struct cps_err *why_watch(struct why *why, struct cps_engine *engine)
{
    uint32_t kinds = why->kinds;
    struct cps_afuc *machine = cps_afuc_of(engine);
    unsigned who = cps_gen_row(engine->gen)->draws;
    if (!machine)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "only afuc firmware has origins of values");
    why->engine = engine;
    if (!kinds)
        cps_text_classes("default", &kinds);
    CPS_TRY(origin_create_(machine, why->nodes, &why->origin));
    origin_tell_(why->origin, kinds, seen, why);
    cps_launches_init_(&why->launches, why->play->names[who], who, 1u << CPS_EV_WORD);
    return NULL;
}

void why_finish(struct why *why)
{
    while (why->next_draw < why->draws && cps_launches_end_(&why->launches) != CPS_LAUNCH_INSIDE)
        take_draw(why);
    for (size_t i = 0; i < why->count; i++) {
        if (why->ask[i].when == WHY_END)
            answer(why, &why->ask[i]);
    }
}

struct cps_err *why_run(struct why *why, struct cps_stream *capture)
{
    CPS_TRY(why_watch(why, why->play->engine));
    why->play->extra = ORIGIN_KINDS;
    why->play->watcher = origin_sink_(why->origin);
    why->is_timed = why->play->may_end = why->count && why->events + why->draws == why->count;
    if (why->boots_first && !why->play->dump)
        play_boot(why->play);
    CPS_TRY(play_run(why->play, capture));
    why_finish(why);
    return NULL;
}
