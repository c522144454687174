/* SPDX-License-Identifier: MIT
 * The search: kind after kind of what can be left out, from large to small, until a whole round
 * leaves nothing more out; and the answers of earlier calls, a file of JSON. */
#include "tools/explain/reduce/reduce.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "isa/base/within.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/cachedir.h"
#include "trace/capture/pm4walk.h"
#include "trace/out/json.h"

/* A run that takes so many times the instructions of the whole job ends otherwise. */
#define MOST_TIMES 4

/* ---- Verdicts ---- */

#define FILE_LIMIT (64u << 20)

double reduce_clock(void)
{
    struct timespec time = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void verdicts_open(struct verdicts *v, const char *dir, const char *key)
{
    struct json_object *file = NULL;
    *v = (struct verdicts){.saved = reduce_clock()};
    snprintf(v->key, sizeof(v->key), "%s", key);
    if (!cache_path(dir, key, ".reduce", v->path))
        v->path[0] = '\0';
    CPS_FREE char *text = v->path[0] ? cache_read(v->path, FILE_LIMIT) : NULL;
    if (text)
        cps_err_free(tool_err(cps_json_parse(text, strlen(text), &file)));
    struct json_object *holds = cps_json_member(file, "holds", json_type_object);
    if (holds && !strcmp(cps_json_get_text(file, "key", ""), key))
        v->holds = json_object_get(holds);
    v->read = v->holds;
    if (!v->holds)
        v->holds = doc_new();
    json_object_put(file);
}

struct cps_err *verdicts_save(struct verdicts *v)
{
    CPS_BUF text = {0};
    if (!v->path[0])
        return NULL;
    struct json_object *file = doc_new();
    cps_json_text(file, "key", v->key);
    cps_json_add(file, "holds", json_object_get(v->holds));
    cps_json_put(&text, file, JSON_C_TO_STRING_PLAIN);
    json_object_put(file);
    return cache_write(v->path, &text);
}

/* ---- Questions ---- */

static bool is_equal(const struct cps_buf *a, const struct cps_buf *b)
{
    return !strcmp(tool_text(a), tool_text(b));
}

struct cps_err *reduce_same(struct reduce *r, struct job *job, bool *ret)
{
    struct ending ending;
    struct cps_err *err = runner_run(&r->runner, job, 0, &ending);
    *ret = !err && is_equal(&ending.loose, &r->whole.loose);
    r->ran++;
    ending_deinit(&ending);
    return err;
}

struct cps_err *reduce_accept(struct reduce *r, struct job *job, bool *ret)
{
    CPS_TRY(reduce_same(r, job, ret));
    if (*ret)
        job_swap(job, &r->job);
    return NULL;
}

static struct cps_err *run_without(struct reduce *r, const bool *out, bool *ret)
{
    struct ending ending;
    for (size_t i = 0; i < r->now->count; i++) {
        if (out[i])
            job_drop(&r->tried, &r->now->list[i]);
    }
    struct cps_err *err = runner_run(&r->runner, &r->tried, 0, &ending);
    *ret = !err && is_equal(&ending.text, &r->whole.text);
    ending_deinit(&ending);
    for (size_t i = 0; i < r->now->count; i++)
        job_restore(&r->tried, &r->job, &r->now->list[i]);
    r->ran++;
    if (r->progress)
        r->progress(r);
    return err;
}

static bool is_interrupted(const struct reduce *r)
{
    return r->interrupted && *r->interrupted;
}

/* As ddmin_test.holds: by a verdict, or by a run, whose verdict is saved once a second. Once the
 * user wants an end, nothing holds any more. */
static struct cps_err *holds(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct reduce *r = (struct reduce *)test;
    struct verdicts *v = &r->verdicts;
    struct drop_key key = r->done;
    char digits[40];
    *ret = false;
    if (is_interrupted(r))
        return NULL;
    for (size_t i = 0; i < r->now->count; i++) {
        if (out[i])
            job_key_add(&key, &r->now->list[i]);
    }
    snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, key.low, key.high);
    struct json_object *known = cps_json_member(v->holds, digits, json_type_boolean);
    if (known) {
        *ret = json_object_get_boolean(known);
        r->known++;
        return NULL;
    }
    CPS_TRY(run_without(r, out, ret));
    cps_json_bool(v->holds, digits, *ret);
    if (reduce_clock() - v->saved > 1) {
        v->saved = reduce_clock();
        cps_err_free(verdicts_save(v)); /* that of the end is reported */
    }
    return NULL;
}

/* Leaves out of the job what it can of @p drops. @p any  something was */
static struct cps_err *pass(struct reduce *r, const struct drops *drops, bool *any)
{
    CPS_FREE bool *out = tool_alloc(drops->count, sizeof(*out));
    r->now = drops;
    CPS_TRY(ddmin(&r->test, drops->count, out));
    for (size_t i = 0; i < drops->count; i++) {
        if (!out[i])
            continue;
        *any = true;
        job_drop(&r->job, &drops->list[i]);
        job_drop(&r->tried, &drops->list[i]);
        job_key_add(&r->done, &drops->list[i]);
    }
    return NULL;
}

/* Items of the kinds that @p kinds has a bit for. */
static struct cps_err *pass_items(struct reduce *r, uint32_t kinds, bool *any)
{
    struct drops drops = {NULL, 0};
    for (size_t i = 0; i < r->job.count; i++) {
        if (r->job.gone[i] || !(kinds >> r->job.item[i].kind & 1))
            continue;
        TOOL_ROOM(drops.list, drops.count);
        drops.list[drops.count++] = (struct drop){DROP_ITEM, (uint32_t)i, 0};
    }
    struct cps_err *err = pass(r, &drops, any);
    free(drops.list);
    return err;
}

static struct cps_err *one_round(struct reduce *r, bool *any)
{
    *any = false;
    CPS_TRY(pass_items(r, 1u << CPS_ITEM_SUBMIT, any));
    CPS_TRY(pass_items(r, 1u << CPS_ITEM_REGISTER, any));
    for (unsigned kind = 0; kind < WALK_KINDS; kind++) {
        /* What a run executes now: the passes before have changed that. */
        struct walk walk;
        struct ending ending;
        struct cps_err *err = walk_run(&r->runner, &r->job, &walk, &ending);
        r->ran++;
        if (!err)
            err = pass(r, &walk.drops[kind], any);
        ending_deinit(&ending);
        walk_deinit(&walk);
        CPS_TRY(err);
    }
    return pass_items(r, 1u << CPS_ITEM_DATA, any);
}

/* A capture has no ring and no start values: where the end is the same without, they go. Then the
 * ring's calls are submissions, after our own boot, as a capture has them. */
static struct cps_err *leave_ring(struct reduce *r, const struct walk *walk)
{
    const struct drops *calls = &walk->drops[0];
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    struct feed feed = {0};
    struct job job;
    for (size_t i = 0; i < r->job.count; i++) {
        unsigned kind = r->job.item[i].kind;
        if (kind == CPS_ITEM_CHIP || kind == CPS_ITEM_DATA)
            job_list(&feed, &r->job.item[i]);
        if (kind == CPS_ITEM_CHIP)
            job_list(&feed, &init);
    }
    for (size_t i = 0; i < calls->count; i++) {
        const struct cps_item *load = &r->job.item[calls->list[i].item];
        uint32_t at = calls->list[i].at;
        uint64_t high = pm4_word_(load, at + 2);
        const struct cps_item submit = {
            .kind = CPS_ITEM_SUBMIT,
            .stream = {.iova = high << 32 | pm4_word_(load, at + 1),
                       .dwords = pm4_word_(load, at + 3) & PM4_IB_SIZE}};
        job_list(&feed, &submit);
    }
    job_init(&job, &feed);
    struct cps_err *err = runner_boot(&r->runner, &job);
    if (!err)
        err = reduce_accept(r, &job, &r->ring_gone);
    job_deinit(&job);
    return err;
}

static struct cps_err *check_end(const struct reduce *r)
{
    const struct runner *runner = &r->runner;
    const char *two = runner->sides > 1 ? "the two revisions do nothing differently"
                      : runner->place.wanted
                          ? "the replay does not come to the hang of the dump a second time"
                          : "the job runs to its end";
    if (!r->whole.text.size)
        return cps_err_new(CPS_ERR_INPUT, "%s: there is nothing to reduce", two);
    if (runner->sides == 1 && runner->side[0].play->stop == CPS_STOP_BUDGET)
        return cps_err_new(CPS_ERR_INPUT, "the job reaches --limit, expected a job that stops "
                                          "before it");
    return NULL;
}

static struct cps_err *begin(struct reduce *r)
{
    struct walk walk;
    struct cps_err *err = walk_run(&r->runner, &r->job, &walk, &r->whole);
    r->ran++;
    r->before = walk.count;
    if (!err)
        err = check_end(r);
    if (!err)
        runner_bound(&r->runner, MOST_TIMES);
    if (!err && job_has(&r->job, CPS_ITEM_RING))
        err = leave_ring(r, &walk);
    walk_deinit(&walk);
    return err;
}

static struct cps_err *all_rounds(struct reduce *r)
{
    struct cps_err *err = NULL;
    bool any = true;
    job_copy(&r->tried, &r->job);
    while (any && !err && !is_interrupted(r))
        err = one_round(r, &any);
    job_deinit(&r->tried);
    return err;
}

/* Verdicts of the file may be wrong. The job that they have led to is run, and if it does not end
 * the same way, the search begins again with @p whole and without them. */
static struct cps_err *check_known(struct reduce *r, struct job *whole)
{
    bool same = false;
    CPS_TRY(reduce_same(r, &r->job, &same));
    if (same || is_interrupted(r))
        return NULL;
    job_swap(whole, &r->job);
    r->done = (struct drop_key){0, 0};
    json_object_put(r->verdicts.holds);
    r->verdicts.holds = doc_new();
    return all_rounds(r);
}

struct cps_err *reduce_search(struct reduce *r)
{
    struct job whole = {0};
    r->test.holds = holds;
    CPS_TRY(begin(r));
    if (r->verdicts.read)
        job_copy(&whole, &r->job);
    struct cps_err *err = all_rounds(r);
    if (!err && r->verdicts.read)
        err = check_known(r, &whole);
    job_deinit(&whole);
    return err;
}
