/* SPDX-License-Identifier: MIT
 * The run of a matrix: captures in processes, what they send made into results, and the account of
 * it: every pair of the manifest ends in exactly one state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/run/pool.h"
#include "tools/explain/regress/regress.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"
#include "trace/out/json.h"

/* ---- Which pairs there have to be ---- */

/* Shards go by names, so that lists may grow and be reordered. */
bool regress_has_pair(const struct regress *r, unsigned firmware, unsigned capture)
{
    const struct manifest *m = &r->manifest;
    CPS_BUF text = {0};
    char hash[65];
    if (!manifest_pairs(&m->firmware[firmware], &m->capture[capture]))
        return false;
    if (r->shards == 1)
        return true; /* whatever its hash */
    cps_buf_printf(&text, "%s\n%s", m->firmware[firmware].name, m->capture[capture].name);
    cache_hash(tool_text(&text), text.size, hash);
    hash[8] = '\0';
    return strtoul(hash, NULL, 16) % r->shards == r->shard;
}

struct json_object *regress_new_pair(const struct manifest *m, unsigned firmware, unsigned capture)
{
    struct json_object *pair = json_object_new_object();
    cps_json_text(pair, "firmware", m->firmware[firmware].name);
    cps_json_text(pair, "capture", m->capture[capture].name);
    return pair;
}

/* Pairs of the manifest, of this share or of all, as results have them. */
static struct json_object *expected_pairs(const struct regress *r, bool share)
{
    const struct manifest *m = &r->manifest;
    struct json_object *pairs = json_object_new_array();
    for (unsigned c = 0; c < m->capture_count; c++) {
        for (unsigned f = 0; f < m->firmware_count; f++) {
            if (share ? regress_has_pair(r, f, c) : manifest_pairs(&m->firmware[f], &m->capture[c]))
                cps_json_append(pairs, regress_new_pair(m, f, c));
        }
    }
    if (!cps_json_complete(pairs))
        tool_oom();
    json_object_array_sort(pairs, result_order);
    return pairs;
}

void regress_count_pairs(struct regress *r)
{
    char digest[65];
    struct json_object *all = expected_pairs(r, false);
    results_digest(all, digest);
    cps_json_text(r->results, "manifest", digest);
    cps_json_uint(r->results, "pairs_total", cps_json_count(all));
    json_object_put(all);
}

static struct cps_err *wrong_pair(const char *what, struct json_object *pair)
{
    return cps_err_new(CPS_ERR_INPUT,
                       "(results): %s of firmware %s and capture %s, expected one of each pair of "
                       "the manifest",
                       what, result_text(pair, "firmware"), result_text(pair, "capture"));
}

/* Both are sorted. */
static struct cps_err *compare_pairs(struct json_object *all, struct json_object *found)
{
    size_t at = 0;
    for (size_t i = 0; i < cps_json_count(found); i++) {
        struct json_object *pair = json_object_array_get_idx(found, i);
        struct json_object *due = json_object_array_get_idx(all, at);
        int order = due ? result_compare(due, pair) : 1;
        if (order)
            return order < 0 ? wrong_pair("no result", due)
                             : wrong_pair("an uncalled result", pair);
        if (result_status(pair) == RESULT_COUNT)
            return wrong_pair("a result without a status", pair);
        at++;
    }
    struct json_object *due = json_object_array_get_idx(all, at);
    return due ? wrong_pair("no result", due) : NULL;
}

struct cps_err *regress_check_pairs(const struct regress *r)
{
    struct json_object *all = expected_pairs(r, true);
    struct cps_err *err = compare_pairs(all, cps_json_get(r->results, "pairs"));
    json_object_put(all);
    return err;
}

/* ---- Results on their way in ---- */

struct gather {
    struct regress *regress;
    bool *done;           /* by capture */
    struct cps_buf death; /* how a worker died, the last one that did */
};

/* The lock of the results' folder is the parent's, which may die before. */
static struct cps_err *begin_process(void *context)
{
    struct regress *r = ((struct gather *)context)->regress;
    if (r->folder.lock >= 0)
        close(r->folder.lock);
    return worker_create(r, &r->worker);
}

static struct cps_err *run_capture(void *context, unsigned capture, struct json_object *ret)
{
    worker_capture(((struct gather *)context)->regress->worker, capture, ret);
    return NULL;
}

static void sum_up(void *context, struct json_object *ret)
{
    worker_sums(((struct gather *)context)->regress->worker, ret);
}

static struct cps_err *take_capture(void *context, unsigned capture, struct json_object *from)
{
    struct gather *g = context;
    struct json_object *results = g->regress->results;
    struct json_object *pairs = cps_json_member(from, "pairs", json_type_array);
    if (!pairs || capture >= g->regress->manifest.capture_count || g->done[capture])
        return cps_err_new(CPS_ERR_INPUT, "(worker): results of no capture, expected those of one");
    for (size_t i = 0; i < cps_json_count(pairs); i++)
        cps_json_append(cps_json_get(results, "pairs"),
                        json_object_get(json_object_array_get_idx(pairs, i)));
    results_join(cps_json_get(results, "places"), cps_json_get(from, "places"));
    results_join(cps_json_get(results, "inputs"), cps_json_get(from, "inputs"));
    g->done[capture] = true;
    return NULL;
}

static void take_sums(void *context, struct json_object *from)
{
    struct regress *r = ((struct gather *)context)->regress;
    struct json_object *coverage = cps_json_get(from, "coverage");
    r->emulated += (uint64_t)cps_json_get_int(from, "emulated", 0);
    r->cached += (uint64_t)cps_json_get_int(from, "cached", 0);
    json_object_object_foreach(coverage, key, value)
    {
        const char *new = json_object_get_string(value);
        cps_json_add(r->digits, key,
                     results_join_digits(cps_json_get_text(r->digits, key, new), new));
    }
}

static void add_lost(struct gather *g, unsigned capture, enum result_status status,
                     const char *reason)
{
    const struct manifest *m = &g->regress->manifest;
    for (unsigned f = 0; f < m->firmware_count; f++) {
        if (!regress_has_pair(g->regress, f, capture))
            continue;
        struct json_object *pair = regress_new_pair(m, f, capture);
        worker_set_status_(pair, status, reason);
        cps_json_append(cps_json_get(g->regress->results, "pairs"), pair);
    }
    g->done[capture] = true;
}

static void take_death(void *context, unsigned capture, const char *how)
{
    struct gather *g = context;
    if (capture < g->regress->manifest.capture_count && !g->done[capture])
        add_lost(g, capture, RESULT_STOPPED, how);
    g->regress->lost_workers++;
    cps_buf_clear(&g->death);
    cps_buf_str(&g->death, how);
}

/* For people only: nothing of it goes into a result. */
static void show_progress(void *context, unsigned done, double seconds)
{
    unsigned count = ((struct gather *)context)->regress->manifest.capture_count;
    if (done)
        progress_show("%u of %u captures, about %.0f s left", done, count,
                      seconds * (count - done) / done);
    else
        progress_show("%u of %u captures", done, count);
}

struct cps_err *regress_run(struct regress *r)
{
    const unsigned count = r->manifest.capture_count;
    CPS_FREE bool *done = tool_alloc(count, sizeof(*done));
    struct gather g = {.regress = r, .done = done};
    const struct pool_job job = {.context = &g,
                                 .processes = r->jobs,
                                 .tasks = count,
                                 .begin = begin_process,
                                 .work = run_capture,
                                 .finish = sum_up,
                                 .take = take_capture,
                                 .take_last = take_sums,
                                 .died = take_death,
                                 .progress = show_progress};
    struct cps_err *err = pool_run(&job, &r->interrupted);
    CPS_BUF reason = {0};
    cps_buf_str(&reason,
                r->interrupted ? "interrupted before it was run" : "no process was left to run it");
    if (g.death.size && !r->interrupted)
        cps_buf_printf(&reason, "; of another one: %s", tool_text(&g.death));
    for (unsigned c = 0; c < count && !err; c++) {
        if (!done[c])
            add_lost(&g, c, r->interrupted ? RESULT_NOT_RUN : RESULT_STOPPED, tool_text(&reason));
    }
    cps_buf_deinit(&g.death);
    return err;
}
