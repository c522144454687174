/* SPDX-License-Identifier: MIT
 * The profile as one JSON object. */
#include <stdlib.h>

#include "tools/run/account.h"
#include "tools/explain/profile/profile.h"
#include "trace/out/json.h"

static struct json_object *new_row(const struct profile *p, const struct profile_node *node,
                                   const char *key)
{
    struct json_object *row = json_object_new_object();
    CPS_BUF name = {0};
    profile_name(p, node, &name);
    cps_json_text(row, "processor", cps_processor_name(node->who));
    cps_json_buf(row, key, &name);
    return row;
}

static struct json_object *processor(const struct profile *p, const struct profile_row *from)
{
    struct json_object *row = json_object_new_object();
    (void)p;
    cps_json_text(row, "processor", cps_processor_name(from->what.who));
    cps_json_uint(row, "instructions", from->total);
    return row;
}

static struct json_object *packet(const struct profile *p, const struct profile_row *from)
{
    struct json_object *row = new_row(p, &from->what, "packet");
    if (from->what.kind != PROFILE_BOOT)
        cps_json_text(row, "level", cps_event_sub_word(CPS_EV_PKT, from->what.site));
    cps_json_uint(row, "count", from->what.visits);
    cps_json_uint(row, "instructions", from->what.own);
    cps_json_uint(row, "least", from->what.least);
    cps_json_uint(row, "most", from->what.most);
    return row;
}

static struct json_object *function(const struct profile *p, const struct profile_row *from)
{
    struct json_object *row = new_row(p, &from->what, "function");
    cps_json_uint(row, "pc", from->what.key);
    cps_json_uint(row, "calls", from->what.visits);
    cps_json_uint(row, "self", from->what.self);
    cps_json_uint(row, "total", from->total);
    return row;
}

static bool add_rows(const struct profile *p, enum profile_kind kind, const char *key,
                     struct json_object *(*make)(const struct profile *,
                                                 const struct profile_row *),
                     struct json_object *to)
{
    struct profile_row *rows = NULL;
    long count = profile_rows(p, kind, &rows);
    struct json_object *array = cps_json_new_array(to, key);
    for (long i = 0; i < count; i++)
        cps_json_append(array, make(p, &rows[i]));
    free(rows);
    return count >= 0;
}

static void add_launches(const struct profile *p, struct json_object *to)
{
    struct json_object *array = cps_json_new_array(to, "draws");
    for (unsigned kind = CPS_LAUNCH_DRAW; kind < CPS_LAUNCH_KINDS; kind++) {
        const struct profile_range *range = &p->launch[kind];
        struct json_object *row = json_object_new_object();
        cps_json_text(row, "kind", cps_launch_kind_text_(kind));
        cps_json_text(row, "processor", cps_processor_name(p->launches.who));
        cps_json_uint(row, "count", range->count);
        cps_json_uint(row, "instructions", range->sum);
        cps_json_uint(row, "least", range->least);
        cps_json_uint(row, "most", range->most);
        cps_json_append(array, row);
    }
}

static void add_wait(const struct profile *p, const struct profile_wait *wait,
                     struct json_object *to)
{
    struct json_object *row = json_object_new_object();
    CPS_BUF name = {0};
    profile_packet_name(p, wait->who, wait->packet, &name);
    cps_json_text(row, "processor", cps_processor_name(wait->who));
    cps_json_buf(row, "packet", &name);
    cps_json_uint(row, "pc", wait->pc);
    cps_json_bool(row, "assumed", wait->assumed);
    if (wait->assumed)
        cps_json_uint(row, "at", wait->at);
    cps_json_uint(row, "times", wait->count);
    cps_json_uint(row, "instructions", wait->spent);
    cps_json_append(to, row);
}

struct json_object *profile_json(const struct profile *p)
{
    struct play_account account;
    struct json_object *to = json_object_new_object();
    struct cps_err *err = play_account_take(p->play, &account);
    cps_json_text(to, "format", "cpscope-profile 1");
    cps_json_text(to, "gen", cps_gen_name(p->play->gen));
    cps_json_text(to, "ended", cps_event_sub_word(CPS_EV_END, p->reason));
    cps_json_uint(to, "instructions", p->instructions);
    bool good = add_rows(p, PROFILE_PROCESSOR, "processors", processor, to) &&
                add_rows(p, PROFILE_PACKET, "packets", packet, to) &&
                add_rows(p, PROFILE_CALL, "functions", function, to);
    add_launches(p, to);
    struct json_object *waits = cps_json_new_array(to, "waits");
    for (size_t i = 0; i < p->waits; i++)
        add_wait(p, &p->wait[i], waits);
    if (!err && good)
        play_account_json(&account, cps_json_new_object(to, "run"));
    good = good && !err;
    cps_err_free(err);
    if (good)
        return to;
    json_object_put(to);
    return NULL;
}
