/* SPDX-License-Identifier: MIT
 * cpscope info for traces: their head, how many events of each kind, and how the run ended. */
#include <inttypes.h>
#include <string.h>

#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "trace/form/trace.h"
#include "trace/out/json.h"

struct counts {
    uint64_t of[CPS_EV_COUNT];
    struct cps_event end; /* the last END */
};

static struct cps_err *count_events(struct cps_trace *trace, struct counts *ret)
{
    struct cps_event events[1024];
    size_t count = 1;
    while (count) {
        CPS_TRY(cps_trace_next(trace, events, 1024, &count));
        for (size_t i = 0; i < count; i++) {
            unsigned kind = cps_event_kind(&events[i]);
            ret->of[kind]++;
            ret->end = kind == CPS_EV_END ? events[i] : ret->end;
        }
    }
    return NULL;
}

static const char layout[] = "{.name:e}: trace\n{.head*  {.}\n}{events*  {@:-10} {.:10}\n}"
                             "{end?ended: {end}, {packets} packets, {instructions} instructions\n}"
                             "{end!the end is not recorded\n}";

/* The head's lines, without the first one, which says that this is a trace. */
static void put_head(const char *text, struct json_object *list)
{
    const char *line = strchr(text, '\n');
    while (line && line[1] == '#') {
        int length = (int)strcspn(line + 1, "\n");
        cps_json_append(list, json_object_new_string_len(line + 3, length > 2 ? length - 2 : 0));
        line = strchr(line + 1, '\n');
    }
}

static struct cps_err *describe(struct cps_trace *trace, const char *name, struct json_object *to)
{
    struct counts c = {0};
    CPS_TRY(count_events(trace, &c));
    const struct cps_trace_head *head = cps_trace_head(trace);
    doc_put(to, ".layout=%s .name=%s kind=trace gen=%s", layout, name, cps_gen_name(head->gen));
    put_head(head->text, cps_json_new_array(to, ".head"));
    struct json_object *firmware = cps_json_new_array(to, "firmware");
    for (unsigned i = 0; i < head->firmware_count; i++)
        doc_row(firmware, "name=%s sha256=%s", head->firmware[i].name, head->firmware[i].sha256);
    doc_put(cps_json_new_object(to, "capture"), "name=%s sha256=%s", head->capture.name,
            head->capture.sha256);
    doc_put(to, "policy=%s", head->policy);
    struct json_object *events = cps_json_new_object(to, "events");
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        if (c.of[i])
            cps_json_uint(events, cps_event_keyword(i), c.of[i]);
    }
    if (c.of[CPS_EV_END])
        doc_put(to, "end=%s packets=%u instructions=%" PRIu64,
                cps_event_sub_word(CPS_EV_END, cps_event_sub(&c.end)), c.end.value, c.end.addr);
    return NULL;
}

struct cps_err *info_trace(struct cps_stream *stream, struct json_object *to)
{
    struct cps_trace *trace = NULL;
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        err = describe(trace, cps_stream_name(stream), to);
    cps_trace_close(trace);
    return err;
}
