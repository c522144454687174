/* SPDX-License-Identifier: MIT
 * cpscope reduce: the smallest job that still ends the same way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/cachedir.h"
#include "tools/run/interrupt.h"
#include "tools/explain/reduce/reduce.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

int cmd_reduce(const struct cps_options *opt);

/* For people only: nothing of it goes into the result. */
static void show_progress(struct reduce *r)
{
    progress_show("%" PRIu64 " runs, %zu parts to try", r->ran, r->now->count);
}

static void put_digest(const void *bytes, size_t size, struct cps_buf *out)
{
    char digest[65];
    cache_hash(bytes, size, digest);
    cps_buf_printf(out, "%s\n", digest);
}

/* What a verdict depends on: this program, firmware, items and options. */
static void make_key(const struct reduce *r, const struct cps_options *opt, const char *program,
                     char ret[65])
{
    CPS_BUF out = {0};
    char chip[32];
    opt_chip_id_text(&opt->run.chip_id, chip);
    cps_buf_printf(&out, "%s %s %" PRIu64 " %u %s %s\n", program,
                   opt->run.chip_id.given ? chip : "", opt->run.limit, opt->run.as,
                   opt->events ? opt->events : "", opt->mask ? opt->mask : "");
    for (unsigned i = 0; i < r->runner.sides; i++) {
        const struct play *play = r->runner.side[i].play;
        cps_policy_text(&play->policy, play->gen, &out);
        cps_buf_printf(&out, " %u\n", play->gen);
        put_digest(play->fw->words, 4 * (size_t)play->fw->count, &out);
        if (play->me)
            put_digest(play->me->words, 4 * (size_t)play->me->count, &out);
    }
    for (size_t i = 0; i < r->job.count; i++) {
        const struct cps_item *item = &r->job.item[i];
        cps_buf_printf(&out, "%u %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32 "\n",
                       item->kind, item->buffer.iova ^ item->stream.iova ^ item->ring.iova,
                       item->buffer.size, (uint64_t)item->stream.dwords << 32 | item->reg.offset,
                       (uint64_t)item->ring.rptr << 32 | item->ring.wptr, item->reg.value);
        if (item->kind == CPS_ITEM_DATA)
            put_digest(item->buffer.data, (size_t)item->buffer.size, &out);
    }
    cache_hash(tool_text(&out), out.size, ret);
}

/* Packets that are executed. */
static void put_counts(struct json_object *root, const char *key, const struct reduce_counts *c)
{
    doc_put(cps_json_new_object(root, key),
            "submissions=%llu packets=%llu indirect_buffers=%llu draw_state_groups=%llu",
            (unsigned long long)c->submissions, (unsigned long long)c->packets,
            (unsigned long long)c->calls, (unsigned long long)c->groups);
}

static const char layout[] =
    "{end}executed               before      after\n"
    "submissions        {before>{submissions:10}} {after>{submissions:10}}\n"
    "packets            {before>{packets:10}} {after>{packets:10}}\n"
    "indirect buffers   {before>{indirect_buffers:10}} {after>{indirect_buffers:10}}\n"
    "draw-state groups  {before>{draw_state_groups:10}} {after>{draw_state_groups:10}}\n";

static struct cps_err *finish(struct reduce *r, const struct cps_options *opt)
{
    const char *path = opt->output ? opt->output : "-";
    CPS_BUF text = {0};
    CPS_TRY(reduce_text(r, &text));
    CPS_TRY(reduce_write(r, &text, path));
    struct json_object *root = doc_new();
    cps_json_buf(root, "end", &r->whole.loose);
    put_counts(root, "before", &r->before);
    put_counts(root, "after", &r->after);
    cps_json_uint(root, "runs", r->ran);
    cps_json_uint(root, "known", r->known);
    cps_json_bool(root, "ring_as_submissions", r->ring_gone);
    if (opt->json)
        return report_json(root);
    CPS_BUF table = {0};
    bool taken = !strcmp(path, "-"); /* stdout, by the job */
    doc_text(root, layout, &table);
    json_object_put(root);
    if (!taken || !opt->quiet)
        fputs(tool_text(&table), taken ? stderr : stdout);
    return NULL;
}

static struct cps_err *reduce(struct reduce *r, const struct cps_options *opt)
{
    struct cache_choice cache;
    struct interrupt taken;
    char key[65] = "";
    struct cps_err *lost = NULL; /* why results are not stored */
    double begun = reduce_clock();
    CPS_TRY(runner_open(&r->runner, &opt->run, opt->events, opt->mask, opt->arg[0], &r->job));
    CPS_TRY(cache_choose(opt->cache, !opt->no_cache, &cache, &lost));
    if (*cache.dir)
        make_key(r, opt, cache.program, key);
    verdicts_open(&r->verdicts, cache.dir, key);
    r->interrupted = &interrupted;
    r->progress = show_progress;
    interrupt_take(&taken);
    struct cps_err *err = reduce_search(r);
    progress_hide();
    if (!lost)
        lost = verdicts_save(&r->verdicts);
    if (!err && !interrupted)
        err = reduce_shrink(r);
    interrupt_give_back(&taken);
    err = cps_err_within_(err, "%s", opt->arg[0]);
    if (!err && !interrupted)
        err = finish(r, opt);
    if (!err) /* else that error is the one to be told */
        report_note("results are not stored", lost);
    cps_err_free(lost);
    CPS_TRY(err);
    report_aside("%" PRIu64 " runs emulated, %" PRIu64 " answers known before, %.1f s%s\n", r->ran,
                 r->known, reduce_clock() - begun,
                 interrupted ? "; interrupted, run again to continue" : "");
    return NULL;
}

static int usage(const struct cps_options *opt)
{
    bool to_stdout = !opt->output || !strcmp(opt->output, "-");
    for (unsigned i = 0; i < opt->run.fw_count; i++) {
        if (cps_named_engine(opt->run.fw[i]))
            return report_usage("reduce takes captures of Adreno, found --fw %s", opt->run.fw[i]);
    }
    if (opt->arg_count != 1)
        return report_usage("reduce takes one capture or dump (\"-\" is stdin)");
    if (opt->run.fw_count == 0 || opt->run.fw_count == 3 || opt->run.fw_count > 4)
        return report_usage("reduce needs --fw FW, or --fw OLD --fw NEW (a5xx: two files each)");
    if (opt->json && to_stdout)
        return report_usage("--json and the result cannot both go to stdout; expected -o FILE");
    return 0;
}

int cmd_reduce(const struct cps_options *opt)
{
    int status = usage(opt);
    if (status)
        return status;
    struct reduce *r = tool_alloc(1, sizeof(*r));
    r->runner.sides = play_revisions(&opt->run);
    struct cps_err *err = reduce(r, opt);
    ending_deinit(&r->whole);
    json_object_put(r->verdicts.holds);
    job_deinit(&r->job);
    runner_close(&r->runner);
    free(r);
    return err ? report_error(err) : interrupted ? 128 + interrupted : 0;
}
