/* SPDX-License-Identifier: MIT
 * What workers send, made into results. */
#include "tools/explain/regress/gather.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/out/json.h"

struct cps_err *gather_begin(struct gather *g)
{
    g->done = calloc(g->regress->manifest.capture_count, sizeof(*g->done));
    return g->done ? NULL : cps_err_nomem();
}

void gather_end(struct gather *g)
{
    free(g->done);
    cps_buf_deinit(&g->death);
}

/* Digits of two workers for one firmware. */
static void join_cover(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        const char *new = json_object_get_string(value);
        CPS_FREE char *both = results_join_digits(cps_json_get_text(to, key, new), new);
        cps_json_add(to, key, both ? json_object_new_string(both) : NULL);
    }
}

/* What a worker says of all of its captures. */
static void take_last(struct gather *g, struct json_object *from)
{
    struct regress *r = g->regress;
    join_cover(r->digits, cps_json_get(from, "coverage"));
    r->emulated += (uint64_t)cps_json_get_int(from, "emulated", 0);
    r->cached += (uint64_t)cps_json_get_int(from, "cached", 0);
    r->same += (uint64_t)cps_json_get_int(from, "same", 0);
}

static struct cps_err *take_capture(struct gather *g, struct json_object *from)
{
    struct json_object *results = g->regress->results;
    struct json_object *pairs = cps_json_member(from, "pairs", json_type_array);
    int64_t capture = cps_json_get_int(from, "capture", -1);
    if (!pairs || capture < 0 || capture >= g->regress->manifest.capture_count || g->done[capture])
        return cps_err_new(CPS_ERR_INPUT, "(worker): results of no capture, expected those of one");
    for (size_t i = 0; i < cps_json_count(pairs); i++)
        cps_json_append(cps_json_get(results, "pairs"),
                        json_object_get(json_object_array_get_idx(pairs, i)));
    results_join(cps_json_get(results, "places"), cps_json_get(from, "places"));
    results_join(cps_json_get(results, "inputs"), cps_json_get(from, "inputs"));
    g->done[capture] = true;
    g->captures++;
    return NULL;
}

/* What an object of a worker's line says. */
static struct cps_err *take(struct gather *g, struct json_object *from, bool *last)
{
    const char *error = cps_json_get_text(from, "error", NULL);
    *last = cps_json_get(from, "coverage") != NULL;
    if (error)
        return strcmp(error, cps_err_nomem()->message) ? cps_err_new(CPS_ERR_INPUT, "%s", error)
                                                       : cps_err_nomem();
    if (!*last)
        return take_capture(g, from);
    take_last(g, from);
    return NULL;
}

struct cps_err *gather_line(struct gather *g, const char *line, bool *last)
{
    struct json_object *from = NULL;
    CPS_TRY(cps_json_parse(line, strlen(line), &from));
    struct cps_err *err = take(g, from, last);
    json_object_put(from);
    return err;
}

static void add_lost(struct gather *g, unsigned capture, enum result_status status,
                     const char *reason)
{
    const struct manifest *m = &g->regress->manifest;
    for (unsigned f = 0; f < m->firmware_count; f++) {
        if (!worker_has(g->regress, f, capture))
            continue;
        struct json_object *pair = json_object_new_object();
        cps_json_text(pair, "firmware", m->firmware[f].name);
        cps_json_text(pair, "capture", m->capture[capture].name);
        cps_json_text(pair, "status", result_word(status));
        cps_json_text(pair, "reason", reason);
        cps_json_append(cps_json_get(g->regress->results, "pairs"), pair);
    }
    g->done[capture] = true;
}

struct cps_err *gather_death(struct gather *g, unsigned capture, const struct cps_buf *how)
{
    if (how->failed)
        return cps_err_nomem();
    if (capture < g->regress->manifest.capture_count && !g->done[capture])
        add_lost(g, capture, RESULT_STOPPED, cps_buf_text(how));
    g->regress->lost_workers++;
    cps_buf_clear(&g->death);
    cps_buf_str(&g->death, cps_buf_text(how));
    return NULL;
}

struct cps_err *gather_rest(struct gather *g, bool stopped)
{
    CPS_BUF reason = {0};
    cps_buf_str(&reason,
                stopped ? "interrupted before it was run" : "no process was left to run it");
    if (g->death.size && !stopped)
        cps_buf_printf(&reason, "; of another one: %s", cps_buf_text(&g->death));
    for (unsigned c = 0; c < g->regress->manifest.capture_count; c++) {
        if (!g->done[c])
            add_lost(g, c, stopped ? RESULT_NOT_RUN : RESULT_STOPPED, cps_buf_text(&reason));
    }
    return reason.failed || g->death.failed ? cps_err_nomem() : NULL;
}
