/* SPDX-License-Identifier: MIT
 * cpscope fuzz: streams that break a rule, or tell two revisions apart. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/fuzz/fuzz.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/run/cachedir.h"
#include "tools/run/work_queue.h"
#include "tools/explain/cover/cover.h"
#include "tools/run/interrupt.h"
#include "tools/explain/regress/regress.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

int cmd_fuzz(const struct cps_options *opt);

#define LIMIT 50000u /* instructions of a case */

static double begun;

static void show_progress(const struct fuzz *fuzz)
{
    const struct fuzz_stats *s = &fuzz->stats;
    double spent = fuzz_now() - begun;
    progress_show("%" PRIu64 " cases, %.0f/s, %zu edges, %zu cases stored, %zu findings",
                  s->executed, (double)s->executed / (spent > 0 ? spent : 1), s->edges, s->corpus,
                  s->findings);
}

/* Names with commas between, of which "all" is no oracle's, checked when they were taken; NULL:
 * those that are always asked. */
static uint32_t read_oracles(const char *list)
{
    uint32_t ret = list ? 0 : oracle_usual();
    while (list && *list) {
        unsigned length = (unsigned)strcspn(list, ",");
        enum oracle oracle = oracle_find(list, length);
        ret |= oracle == ORACLE_COUNT ? (1u << ORACLE_COUNT) - 1 : 1u << oracle;
        list += length + (list[length] == ',');
    }
    return ret;
}

static struct cps_err *configure(struct fuzz *fuzz, const struct cps_options *opt)
{
    unsigned shard = 1;
    unsigned shards = 1;
    fuzz->opt = opt;
    fuzz->sides = play_revisions(&opt->run);
    fuzz->jobs = opt->jobs > 0 ? (unsigned)opt->jobs : 1;
    fuzz->limit = opt_given(opt, "limit") ? opt->run.limit : LIMIT;
    fuzz->most = opt->execs;
    fuzz->dir = opt->output;
    fuzz->rnn = opt->run.rnn;
    fuzz->interrupted = &interrupted;
    if (opt->shard && !results_shard(opt->shard, &shard, &shards))
        return cps_err_new(CPS_ERR_USAGE, "--shard %s: expected I/N, I from 1 to N", opt->shard);
    fuzz->seed = rng_mix(opt->seed) + shard - 1;
    if (opt->time)
        fuzz->until = fuzz_now() + (double)opt->time;
    fuzz->oracles = read_oracles(opt->oracles);
    return NULL;
}

static void add_findings(const struct fuzz *fuzz, struct json_object *root)
{
    struct json_object *list = cps_json_new_array(root, "findings");
    for (size_t i = 0; i < fuzz->findings.count; i++) {
        const struct finding *f = &fuzz->findings.list[i];
        struct json_object *row = json_object_new_object();
        cps_json_text(row, "oracle", oracle_name(f->suspect.oracle));
        cps_json_text(row, "name", f->name);
        cps_json_text(row, "said", f->said);
        cps_json_uint(row, "packet", oracle_packet(f->suspect.header));
        cps_json_text(row, "level", cps_event_sub_word(CPS_EV_PKT, f->suspect.level));
        cps_json_text(row, "processor", cps_processor_name(f->suspect.who));
        cps_json_uint(row, "place", f->suspect.place);
        cps_json_uint(row, "pc", f->suspect.pc);
        cps_json_uint(row, "packets", f->packets);
        cps_json_uint(row, "words", f->words);
        cps_json_append(list, row);
    }
}

static void put_seeds(const struct case_taken *seeds, struct cps_buf *out)
{
    cps_buf_printf(out, "%" PRIu64 " cases to begin with, of %" PRIu64 " words", seeds->cases,
                   seeds->words);
    if (seeds->left)
        cps_buf_printf(
            out,
            "; %" PRIu64
            " words are left out: they are in no packet, or in one that is too long for a case",
            seeds->left);
    cps_buf_str(out, seeds->lost ? "; some streams are not in the capture\n" : "\n");
}

/* Nothing that depends on time or machine. */
static struct json_object *make_json(const struct fuzz *fuzz, struct json_object *handlers)
{
    const struct fuzz_stats *s = &fuzz->stats;
    struct json_object *root = json_object_new_object();
    cps_json_uint(root, "seed", fuzz->opt->seed);
    cps_json_uint(root, "cases", s->executed);
    cps_json_uint(root, "ways", s->edges);
    cps_json_uint(root, "kept", s->corpus);
    cps_json_uint(root, "looks", s->looks);
    if (s->seeds.cases) {
        struct json_object *seeds = cps_json_new_object(root, "seeds");
        cps_json_uint(seeds, "cases", s->seeds.cases);
        cps_json_uint(seeds, "words", s->seeds.words);
        cps_json_uint(seeds, "left", s->seeds.left);
        cps_json_bool(seeds, "lost", s->seeds.lost);
    }
    struct json_object *ends = cps_json_new_object(root, "ends"); /* how cases ended */
    for (unsigned i = 0; i <= CPS_REASON_BAD_PACKET; i++)
        cps_json_uint(ends, cps_event_sub_word(CPS_EV_END, i), s->ends[i]);
    add_findings(fuzz, root);
    cps_json_add(root, "coverage", handlers);
    return root;
}

static struct cps_err *write_stats(const struct fuzz *fuzz, struct json_object *root)
{
    CPS_BUF path = {0};
    CPS_BUF text = {0};
    cps_buf_printf(&path, "%s/stats.json", fuzz->dir);
    cps_json_put(&text, root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    cps_buf_str(&text, "\n");
    tool_text(&path);
    cache_make_dirs(path.data, 0777);
    return cps_outfile_whole(path.data, tool_text(&text), text.size);
}

static const struct cps_names *names_of(const struct fuzz *fuzz)
{
    const struct run_side *side = &fuzz->run[0].side[0];
    return side->play->names[side->engine->who[0]];
}

static struct cps_err *write_coverage(const struct fuzz *fuzz)
{
    const struct play *play = fuzz->run[0].side[0].play;
    CPS_BUF path = {0};
    CPS_BUF listing = {0};
    CPS_TRY(cps_fw_listing(play->fw, fuzz->opt->run.rnn, &listing));
    cps_buf_printf(&path, "%s/coverage.info", fuzz->dir);
    return cover_write(play->fw, names_of(fuzz), fuzz->cover, &listing, tool_text(&path));
}

static struct cps_err *print_people(const struct fuzz *fuzz, struct json_object *handlers)
{
    CPS_BUF table = {0};
    const struct fuzz_stats *s = &fuzz->stats;
    results_coverage_table(handlers, &table);
    cps_buf_str(&table, "\n");
    if (s->seeds.cases)
        put_seeds(&s->seeds, &table);
    cps_buf_printf(&table, "%" PRIu64 " cases, %zu edges covered, %zu cases stored\n", s->executed,
                   s->edges, s->corpus);
    for (size_t i = 0; i < fuzz->findings.count; i++) {
        const struct finding *f = &fuzz->findings.list[i];
        cps_buf_printf(&table, "%s (%" PRIu32 " packets, %" PRIu32 " words)%s%s\n", f->said,
                       f->packets, f->words, fuzz->dir ? ": findings/" : "",
                       fuzz->dir ? f->name : "");
    }
    cps_buf_printf(&table, "%zu finding%s\n", fuzz->findings.count,
                   fuzz->findings.count == 1 ? "" : "s");
    return report_text(&table);
}

static struct cps_err *show_results(struct fuzz *fuzz)
{
    const struct play *play = fuzz->run[0].side[0].play;
    struct json_object *handlers = cover_handlers(play->fw, names_of(fuzz), fuzz->cover);
    struct json_object *root = make_json(fuzz, json_object_get(handlers));
    struct cps_err *err = fuzz->dir ? write_stats(fuzz, root) : NULL;
    if (!err && fuzz->dir)
        err = write_coverage(fuzz);
    if (!err && !fuzz->opt->json)
        err = print_people(fuzz, tool_json(handlers));
    json_object_put(handlers);
    if (!err && fuzz->opt->json)
        return report_json(root);
    json_object_put(root);
    return err;
}

static struct cps_err *run_fuzz(struct fuzz *fuzz, const struct cps_options *opt)
{
    struct interrupt taken;
    begun = fuzz_now();
    CPS_TRY(configure(fuzz, opt));
    CPS_TRY(fuzz_open(fuzz));
    interrupt_take(&taken);
    fuzz->progress = show_progress;
    struct cps_err *err = fuzz_run(fuzz);
    double spent = fuzz_now() - begun;
    progress_hide();
    CPS_TRY(err);
    CPS_TRY(show_results(fuzz));
    double yardstick = run_yardstick(&fuzz->run[0]);
    report_aside("%.0f cases/s in %.1f s; a clone and an empty packet: %.0f/s%s\n",
                 (double)(fuzz->stats.executed) / (spent > 0 ? spent : 1), spent, yardstick,
                 interrupted ? "; interrupted" : "");
    return NULL;
}

static int usage(const struct cps_options *opt)
{
    for (unsigned i = 0; i < opt->run.fw_count; i++) {
        if (cps_named_engine(opt->run.fw[i]))
            return report_usage("fuzz is about Adreno's firmware, found --fw %s", opt->run.fw[i]);
    }
    if (opt->run.fw_count == 0 || opt->run.fw_count == 3 || opt->run.fw_count > 4)
        return report_usage("fuzz needs --fw FW, or --fw OLD --fw NEW (a5xx: two files each)");
    if (opt->jobs < 0 || opt->jobs > (long)SHARE_MOST)
        return report_usage("--jobs %ld: expected 1 to %u", opt->jobs, SHARE_MOST);
    if (opt->merge && !opt->arg_count)
        return report_usage("fuzz --merge takes the folders to join");
    if (!opt->execs && !opt->time && !opt->merge)
        return report_usage("fuzz needs an end: --execs N, --time SECONDS, or --merge");
    return 0;
}

int cmd_fuzz(const struct cps_options *opt)
{
    int status = usage(opt);
    if (status)
        return status;
    struct fuzz *f = tool_alloc(1, sizeof(*f));
    struct cps_err *err = run_fuzz(f, opt);
    bool found = f->findings.count;
    fuzz_close(f);
    free(f);
    return err ? report_error(err) : interrupted ? 128 + interrupted : found ? 1 : 0;
}
