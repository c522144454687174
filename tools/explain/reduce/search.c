/* SPDX-License-Identifier: MIT
 * The search: kind after kind of what can be left out, from large to small, until a whole round
 * leaves nothing more out. */
#include "tools/explain/reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/capture/pm4walk.h"

/* A run that takes so many times the instructions of the whole job ends otherwise. */
#define MOST_TIMES 4

static bool equal(const struct cps_buf *a, const struct cps_buf *b)
{
    return !strcmp(cps_buf_text(a), cps_buf_text(b));
}

struct cps_err *reduce_same(struct reduce *r, struct job *job, bool *ret)
{
    struct ending ending = {{0}, {0}};
    struct cps_err *err = runner_run(&r->runner, job, 0, &ending);
    *ret = !err && equal(&ending.loose, &r->whole.loose);
    r->ran++;
    ending_deinit(&ending);
    return err;
}

struct cps_err *reduce_accept(struct reduce *r, struct job *job, bool *ret)
{
    CPS_TRY(reduce_same(r, job, ret));
    if (*ret) {
        struct job other = r->job;
        r->job = *job;
        *job = other;
    }
    return NULL;
}

static struct cps_err *run_without(struct reduce *r, const bool *out, bool *ret)
{
    const struct drops *drops = r->now;
    struct ending ending;
    for (size_t i = 0; i < drops->count; i++) {
        if (out[i])
            job_drop(&r->job, &drops->list[i]);
    }
    struct cps_err *err = runner_run(&r->runner, &r->job, 0, &ending);
    *ret = !err && equal(&ending.text, &r->whole.text);
    job_back(&r->job, drops->list, drops->count);
    ending_deinit(&ending);
    r->ran++;
    if (r->progress)
        r->progress(r);
    return err;
}

/* As ddmin_test.holds: from what is known, or by a run. Once the user wants an end, nothing holds
 * any more. */
static struct cps_err *holds(struct ddmin_test *test, const bool *out, bool *ret)
{
    struct reduce *r = (struct reduce *)test;
    struct drop_key key = r->job.done;
    *ret = false;
    if (r->interrupted && *r->interrupted)
        return NULL;
    for (size_t i = 0; i < r->now->count; i++) {
        if (out[i])
            job_key_add(&key, &r->now->list[i]);
    }
    if (verdicts_find(&r->verdicts, &key, ret)) {
        r->known++;
        return NULL;
    }
    CPS_TRY(run_without(r, out, ret));
    verdicts_add(&r->verdicts, &key, *ret);
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
        job_keep(&r->job, &drops->list[i]);
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

/* What a run executes now: the passes before have changed that. */
static struct cps_err *pass_executed(struct reduce *r, unsigned kind, bool *any)
{
    struct walk walk;
    struct ending ending;
    struct cps_err *err = walk_run(&r->runner, &r->job, &walk, &ending);
    r->ran++;
    if (!err)
        err = pass(r, kind < 6 ? &walk.calls[kind] : kind == 6 ? &walk.groups : &walk.packets, any);
    ending_deinit(&ending);
    walk_deinit(&walk);
    return err;
}

static struct cps_err *one_round(struct reduce *r, bool *any)
{
    *any = false;
    CPS_TRY(pass_items(r, 1u << CPS_ITEM_SUBMIT, any));
    CPS_TRY(pass_items(r, 1u << CPS_ITEM_REGISTER, any));
    for (unsigned kind = 0; kind < 8; kind++)
        CPS_TRY(pass_executed(r, kind, any));
    return pass_items(r, 1u << CPS_ITEM_DATA, any);
}

static void add_item(struct feed *feed, const struct cps_item *item)
{
    cps_err_free(tool_err(feed_add_shared(feed, item)));
}

/* What the ring calls, as submissions, behind our own boot: a list of items as a capture has it. */
static void list_calls(const struct job *job, const struct walk *walk, struct feed *feed)
{
    const struct cps_item init = {.kind = CPS_ITEM_INIT};
    for (size_t i = 0; i < job->count; i++) {
        unsigned kind = job->item[i].kind;
        if (kind == CPS_ITEM_CHIP || kind == CPS_ITEM_DATA)
            add_item(feed, &job->item[i]);
        if (kind == CPS_ITEM_CHIP)
            add_item(feed, &init);
    }
    for (size_t i = 0; i < walk->calls[0].count; i++) {
        const struct drop *call = &walk->calls[0].list[i];
        const struct cps_item *load = &job->item[call->item];
        uint64_t high = pm4_word_(load, call->at + 2);
        const struct cps_item submit = {
            .kind = CPS_ITEM_SUBMIT,
            .stream = {.iova = high << 32 | pm4_word_(load, call->at + 1),
                       .dwords = pm4_word_(load, call->at + 3) & 0xfffff}};
        add_item(feed, &submit);
    }
}

/* A capture has no ring and no start values: where the end is the same without, they go. */
static struct cps_err *leave_ring(struct reduce *r, const struct walk *walk)
{
    struct feed feed = {0};
    struct job job;
    list_calls(&r->job, walk, &feed);
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
    if (runner->sides == 1 && runner->play[0]->stop == CPS_STOP_BUDGET)
        return cps_err_new(CPS_ERR_INPUT, "the job reaches --limit, which is no end of its own: "
                                          "expected one that stops before");
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
    bool any = true;
    while (any && !(r->interrupted && *r->interrupted))
        CPS_TRY(one_round(r, &any));
    return NULL;
}

/* Answers that were kept may be wrong. What they have led to is run, and if it does not end the
 * same way, the search begins again without them. */
static struct cps_err *check_known(struct reduce *r, struct job *whole)
{
    bool same = false;
    CPS_TRY(reduce_same(r, &r->job, &same));
    if (same || (r->interrupted && *r->interrupted))
        return NULL;
    struct job other = r->job;
    r->job = *whole;
    *whole = other;
    verdicts_forget(&r->verdicts);
    return all_rounds(r);
}

struct cps_err *reduce_search(struct reduce *r)
{
    struct job whole = {0};
    r->test.holds = holds;
    CPS_TRY(begin(r));
    bool known = r->verdicts.read;
    if (known)
        job_copy(&whole, &r->job);
    struct cps_err *err = all_rounds(r);
    if (!err && known)
        err = check_known(r, &whole);
    job_deinit(&whole);
    return err;
}
