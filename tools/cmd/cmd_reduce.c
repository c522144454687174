/* SPDX-License-Identifier: MIT
 * cpscope reduce: the smallest job that still ends the same way. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
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
    progress_show("%" PRIu64 " runs, %zu things at hand", r->ran, r->now->count);
}

/* Adds the digest of what @p text has, and empties it. */
static void add_digest(struct cps_buf *text, struct cps_buf *out)
{
    char digest[65];
    cache_hash(cps_buf_text(text), text->size, digest);
    out->failed |= text->failed;
    cps_buf_printf(out, "%s\n", digest);
    cps_buf_clear(text);
}

static void add_firmware(const struct cps_fw *fw, struct cps_buf *text, struct cps_buf *out)
{
    if (!fw)
        return;
    cps_buf_add(text, (const char *)fw->words, 4 * (size_t)fw->count);
    add_digest(text, out);
}

static void add_item(const struct cps_item *item, struct cps_buf *text, struct cps_buf *out)
{
    cps_buf_printf(out, "%u %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx32 "\n",
                   item->kind, item->buffer.iova ^ item->stream.iova ^ item->ring.iova,
                   item->buffer.size, (uint64_t)item->stream.dwords << 32 | item->reg.offset,
                   (uint64_t)item->ring.rptr << 32 | item->ring.wptr, item->reg.value);
    if (item->kind != CPS_ITEM_DATA)
        return;
    cps_buf_add(text, (const char *)item->buffer.data, (size_t)item->buffer.size);
    add_digest(text, out);
}

/* What a verdict depends on: this program, firmware, items and options. */
static struct cps_err *key_of(const struct reduce *r, const struct cps_options *opt,
                              const char *program, char ret[65])
{
    CPS_BUF out = {0};
    CPS_BUF text = {0};
    char chip[32];
    opt_chip_id_text(&opt->chip_id, chip);
    cps_buf_printf(&out, "%s %s %" PRIu64 " %u %s %s\n", program, opt->chip_id.given ? chip : "",
                   opt->limit, opt->as, opt->events ? opt->events : "", opt->mask ? opt->mask : "");
    for (unsigned i = 0; i < r->runner.sides; i++) {
        const struct play *play = r->runner.play[i];
        cps_policy_text(&play->policy, play->gen, &out);
        cps_buf_printf(&out, " %u\n", play->gen);
        add_firmware(play->fw, &text, &out);
        add_firmware(play->me, &text, &out);
    }
    for (size_t i = 0; i < r->job.count; i++)
        add_item(&r->job.item[i], &text, &out);
    cache_hash(cps_buf_text(&out), out.size, ret);
    return out.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *open_verdicts(struct reduce *r, const struct cps_options *opt)
{
    struct cache_choice cache;
    char key[65] = "";
    CPS_TRY(cache_choose(opt, true, &cache));
    if (*cache.dir)
        CPS_TRY(key_of(r, opt, cache.program, key));
    verdicts_open(&r->verdicts, *cache.dir ? cache.dir : NULL, key);
    return NULL;
}

static void save_verdicts(struct reduce *r)
{
    struct cps_err *err = verdicts_save(&r->verdicts);
    report_note("going on without keeping results", err);
    cps_err_free(err);
}

static struct cps_err *search(struct reduce *r)
{
    struct interrupt taken;
    r->interrupted = &interrupted;
    r->progress = show_progress;
    interrupt_take(&taken);
    struct cps_err *err = reduce_search(r);
    progress_hide();
    save_verdicts(r);
    if (!err && !interrupted)
        err = reduce_shrink(r);
    interrupt_give_back(&taken);
    return err;
}

static void print_row(const char *name, uint64_t before, uint64_t after, FILE *out)
{
    fprintf(out, "%-18s %10" PRIu64 " %10" PRIu64 "\n", name, before, after);
}

static void print_people(const struct reduce *r, FILE *out)
{
    const struct reduce_counts *a = &r->before;
    const struct reduce_counts *b = &r->after;
    fprintf(out, "%s%-18s %10s %10s\n", cps_buf_text(&r->whole.loose), "executed", "before",
            "after");
    print_row("submissions", a->submissions, b->submissions, out);
    print_row("packets", a->packets, b->packets, out);
    print_row("indirect buffers", a->calls, b->calls, out);
    print_row("draw-state groups", a->groups, b->groups, out);
}

static void add_counts(struct json_object *root, const char *key,
                       const struct reduce_counts *counts)
{
    struct json_object *row = cps_json_new_object(root, key);
    cps_json_uint(row, "submissions", counts->submissions);
    cps_json_uint(row, "packets", counts->packets);
    cps_json_uint(row, "indirect_buffers", counts->calls);
    cps_json_uint(row, "draw_state_groups", counts->groups);
}

static struct cps_err *print_json(const struct reduce *r)
{
    struct json_object *root = json_object_new_object();
    cps_json_buf(root, "end", &r->whole.loose);
    add_counts(root, "before", &r->before);
    add_counts(root, "after", &r->after);
    cps_json_uint(root, "runs", r->ran);
    cps_json_uint(root, "known", r->known);
    cps_json_bool(root, "ring_as_submissions", r->ring_gone);
    return report_json(root);
}

static struct cps_err *finish(struct reduce *r, const struct cps_options *opt)
{
    const char *path = opt->output ? opt->output : "-";
    CPS_BUF text = {0};
    CPS_TRY(reduce_text(r, &text));
    CPS_TRY(reduce_write(r, &text, path));
    if (opt->json)
        return print_json(r);
    bool taken = !strcmp(path, "-"); /* stdout, by the job */
    if (!taken || !opt->quiet)
        print_people(r, taken ? stderr : stdout);
    return NULL;
}

static void tell_runs(const struct reduce *r, const struct timespec *begun)
{
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    double spent =
        (double)(now.tv_sec - begun->tv_sec) + 1e-9 * (double)(now.tv_nsec - begun->tv_nsec);
    report_aside("%" PRIu64 " runs emulated, %" PRIu64 " answers known before, %.1f s%s\n", r->ran,
                 r->known, spent, interrupted ? "; interrupted, run again to go on" : "");
}

static struct cps_err *reduce(struct reduce *r, const struct cps_options *opt)
{
    struct timespec begun = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &begun);
    CPS_TRY(runner_open(&r->runner, opt, opt->arg[0], &r->job));
    CPS_TRY(open_verdicts(r, opt));
    CPS_TRY(cps_err_within_(search(r), "%s", opt->arg[0]));
    if (!interrupted)
        CPS_TRY(finish(r, opt));
    tell_runs(r, &begun);
    return NULL;
}

static int usage(const struct cps_options *opt)
{
    bool to_stdout = !opt->output || !strcmp(opt->output, "-");
    for (unsigned i = 0; i < opt->fw_count; i++) {
        if (opt_named_engine(opt->fw[i]))
            return report_usage("reduce is about captures of Adreno, found --fw %s", opt->fw[i]);
    }
    if (opt->arg_count != 1)
        return report_usage("reduce takes one capture or dump (\"-\" is stdin)");
    if (opt->fw_count == 0 || opt->fw_count == 3 || opt->fw_count > 4)
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
    struct reduce *r = calloc(1, sizeof(*r));
    struct cps_err *err = r ? NULL : cps_err_nomem();
    if (r) {
        r->runner.sides = play_revisions(opt);
        err = reduce(r, opt);
        ending_deinit(&r->whole);
        verdicts_deinit(&r->verdicts);
        job_deinit(&r->job);
        runner_close(&r->runner);
    }
    free(r);
    return err ? report_error(err) : interrupted ? 128 + interrupted : 0;
}
