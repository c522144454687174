/* SPDX-License-Identifier: MIT
 * cpscope info for traces: their head, how many events of each kind, and how the run ended. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/info/info.h"
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

/* The head's lines, without the first one, which says that this is a trace. */
static void print_head(const char *text)
{
    const char *line = strchr(text, '\n');
    while (line && line[1] == '#') {
        int length = (int)strcspn(line + 1, "\n");
        printf("  %.*s\n", length > 2 ? length - 2 : 0, line + 3);
        line = strchr(line + 1, '\n');
    }
}

static void print_text(const char *name, const struct cps_trace_head *head, const struct counts *c)
{
    info_name(name);
    printf(": trace\n");
    print_head(head->text);
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        if (c->of[i])
            printf("  %-10s %10" PRIu64 "\n", cps_event_keyword(i), c->of[i]);
    }
    if (c->of[CPS_EV_END])
        printf("ended: %s, %" PRIu32 " packets, %" PRIu64 " instructions\n",
               cps_event_sub_word(CPS_EV_END, cps_event_sub(&c->end)), c->end.value, c->end.addr);
    else
        printf("the end is not recorded\n");
}

static void add_file(struct json_object *to, const char *key, const struct cps_trace_file *file)
{
    struct json_object *row = json_object_new_object();
    cps_json_text(row, "name", file->name);
    cps_json_text(row, "sha256", file->sha256);
    if (json_object_is_type(to, json_type_array))
        cps_json_append(to, row);
    else
        cps_json_add(to, key, row);
}

static void add_json(const struct cps_trace_head *head, const struct counts *c,
                     struct json_object *to)
{
    struct json_object *firmware = json_object_new_array();
    struct json_object *events = json_object_new_object();
    cps_json_text(to, "kind", "trace");
    cps_json_text(to, "gen", cps_gen_name(head->gen));
    for (unsigned i = 0; i < head->firmware_count; i++)
        add_file(firmware, NULL, &head->firmware[i]);
    cps_json_add(to, "firmware", firmware);
    add_file(to, "capture", &head->capture);
    cps_json_text(to, "policy", head->policy);
    for (unsigned i = 0; i < CPS_EV_COUNT; i++) {
        if (c->of[i])
            cps_json_uint(events, cps_event_keyword(i), c->of[i]);
    }
    cps_json_add(to, "events", events);
    if (!c->of[CPS_EV_END])
        return;
    cps_json_text(to, "end", cps_event_sub_word(CPS_EV_END, cps_event_sub(&c->end)));
    cps_json_uint(to, "packets", c->end.value);
    cps_json_uint(to, "instructions", c->end.addr);
}

struct cps_err *info_trace(struct cps_stream *stream, struct json_object *json)
{
    struct cps_trace *trace = NULL;
    struct counts counts = {0};
    struct cps_err *err = cps_trace_open(stream, &trace);
    if (!err)
        err = count_events(trace, &counts);
    if (!err && json)
        add_json(cps_trace_head(trace), &counts, json);
    else if (!err)
        print_text(cps_stream_name(stream), cps_trace_head(trace), &counts);
    cps_trace_close(trace);
    return err;
}
