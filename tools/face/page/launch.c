/* SPDX-License-Identifier: MIT
 * Draws, dispatches, blits and resolves of the page: `state` counts them the same. */
#include "tools/face/page/view.h"

#include <inttypes.h>

#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"
#include "trace/event/launch.h"

/* A processor's packets while its events are followed. */
struct walk {
    struct cps_launches launches;
    struct json_object *to;
    int64_t packet; /* the last; -1: none has come */
    int64_t began;  /* of the launch that is open */
};

/* @p event  NULL: the run is over */
static void follow(struct walk *w, const struct cps_event *event)
{
    enum cps_launch_step step;
    const struct cps_launch *last = &w->launches.last;
    while ((step = event ? cps_launches_take_(&w->launches, event)
                         : cps_launches_end_(&w->launches)) != CPS_LAUNCH_INSIDE) {
        if (step == CPS_LAUNCH_BEGINS)
            w->began = w->packet;
        else
            doc_array(w->to, "%" PRId64 " %d %" PRId64 " %" PRId64, w->began, (int)last->kind,
                      last->number == CPS_LAUNCH_UNNUMBERED ? -1 : (int64_t)last->number,
                      w->packet); /* [packet, kind, number or -1, last packet] */
    }
    w->packet +=
        event && cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == w->launches.who;
}

void view_launches(const struct view_run *run, struct json_object *to)
{
    const struct record *record = &run->side->record;
    struct json_object *kinds = cps_json_new_array(to, "kinds");
    struct json_object *list = cps_json_new_array(to, "draws");
    unsigned main = cps_gen_row(run->side->fw->gen)->draws;
    for (unsigned kind = 0; kind < CPS_LAUNCH_KINDS; kind++)
        cps_json_append(kinds, json_object_new_string(cps_launch_kind_text_(kind)));
    for (unsigned i = 0; i < run->processors; i++) {
        const struct view_processor *processor = &run->processor[i];
        struct walk w = {.to = list, .packet = (int64_t)processor->packet - 1};
        cps_launches_init_(&w.launches, run->side->names[processor->who], processor->who,
                           run->words);
        for (size_t k = 0; k < record->count; k++)
            follow(&w, &record->event[k]);
        follow(&w, NULL);
        if (processor->who == main)
            cps_json_uint(to, "drawing", i);
    }
}
