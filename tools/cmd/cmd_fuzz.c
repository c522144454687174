/* SPDX-License-Identifier: MIT
 * cpscope fuzz: streams that break a rule, or tell two revisions apart. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/fuzz/fuzz.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/run/cachedir.h"
#include "tools/run/work_queue.h"
#include "tools/explain/cover/cover.h"
#include "tools/run/interrupt.h"
#include "tools/explain/regress/regress.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/explain/reduce/reduce.h"
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
    double spent = reduce_clock() - begun;
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
    fuzz->config = opt->run;
    fuzz->seed_path = opt->arg;
    fuzz->seed_paths = opt->arg_count;
    fuzz->merge = opt->merge;
    fuzz->sides = play_revisions(&opt->run);
    fuzz->jobs = opt->jobs > 0 ? (unsigned)opt->jobs : 1;
    fuzz->limit = opt_given(opt, "limit") ? opt->run.limit : LIMIT;
    fuzz->most = opt->execs;
    fuzz->dir = opt->output;
    fuzz->interrupted = &interrupted;
    fuzz->progress = show_progress;
    if (opt->shard && !results_shard(opt->shard, &shard, &shards))
        return cps_err_new(CPS_ERR_USAGE, "--shard %s: expected I/N, I from 1 to N", opt->shard);
    fuzz->seed = rng_mix(opt->seed) + shard - 1;
    if (opt->time)
        fuzz->until = reduce_clock() + (double)opt->time;
    fuzz->oracles = read_oracles(opt->oracles);
    return NULL;
}

/* Nothing that depends on time or machine. */
static struct json_object *make_results(const struct fuzz *fuzz, uint64_t seed,
                                        struct json_object *handlers)
{
    const struct fuzz_stats *s = &fuzz->stats;
    struct json_object *root = doc_new();
    CPS_BUF table = {0};
    results_coverage_table(handlers, &table);
    doc_put(root, ".table=%p .dir=%s seed=%llu cases=%llu ways=%zu kept=%zu looks=%llu",
            (const void *)&table, fuzz->dir, (unsigned long long)seed,
            (unsigned long long)s->executed, s->edges, s->corpus, (unsigned long long)s->looks);
    if (s->seeds.cases)
        doc_put(cps_json_new_object(root, "seeds"), "cases=%llu words=%llu left=%llu lost?=%d",
                (unsigned long long)s->seeds.cases, (unsigned long long)s->seeds.words,
                (unsigned long long)s->seeds.left, s->seeds.lost);
    if (s->seeds.left)
        cps_json_uint(root, ".left", s->seeds.left);
    struct json_object *ends = cps_json_new_object(root, "ends"); /* how cases ended */
    for (unsigned i = 0; i <= CPS_REASON_BAD_PACKET; i++)
        cps_json_uint(ends, cps_event_sub_word(CPS_EV_END, i), s->ends[i]);
    struct json_object *list = cps_json_new_array(root, "findings");
    for (size_t i = 0; i < fuzz->findings.count; i++) {
        const struct finding *f = &fuzz->findings.list[i];
        doc_row(list,
                "oracle=%s name=%s said=%s packet=%u level=%s processor=%s place=%u pc=%u "
                "packets=%u words=%u",
                oracle_name(f->suspect.oracle), f->name, f->said, oracle_packet(f->suspect.header),
                cps_event_sub_word(CPS_EV_PKT, f->suspect.level),
                cps_processor_name(f->suspect.who), f->suspect.place, f->suspect.pc, f->packets,
                f->words);
    }
    cps_json_uint(root, ".count", fuzz->findings.count);
    cps_json_add(root, "coverage", handlers);
    return root;
}

static const char layout[] =
    "{.table}\n{seeds>{cases} seed cases, {words} words"
    "{.left?; {.left} words are skipped: they are in no packet, or in one that is too long for a "
    "case}"
    "{lost?; some streams are missing from the capture}\n}"
    "{cases} cases, {ways} edges covered, {kept} cases stored\n"
    "{findings*{said} ({packets} packets, {words} words){.dir?: findings/{name}}\n}"
    "{.count} finding{.count~s}\n";

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
    CPS_TRY(cps_fw_listing(play->fw, fuzz->config.rnn, &listing));
    cps_buf_printf(&path, "%s/coverage.info", fuzz->dir);
    return cover_write(play->fw, names_of(fuzz), fuzz->cover, &listing, tool_text(&path));
}

static struct cps_err *show_results(const struct fuzz *fuzz, const struct cps_options *opt)
{
    const struct play *play = fuzz->run[0].side[0].play;
    struct json_object *root = make_results(
        fuzz, opt->seed, tool_json(cover_handlers(play->fw, names_of(fuzz), fuzz->cover)));
    CPS_BUF text = {0};
    doc_text(root, layout, &text);
    doc_strip(root);
    struct cps_err *err = fuzz->dir ? write_stats(fuzz, root) : NULL;
    if (!err && fuzz->dir)
        err = write_coverage(fuzz);
    if (!err && opt->json)
        return report_json(root);
    json_object_put(root);
    return err ? err : report_text(&text);
}

static struct cps_err *run_fuzz(struct fuzz *fuzz, const struct cps_options *opt)
{
    struct interrupt taken;
    begun = reduce_clock();
    CPS_TRY(configure(fuzz, opt));
    CPS_TRY(fuzz_open(fuzz));
    interrupt_take(&taken);
    struct cps_err *err = fuzz_run(fuzz);
    double spent = reduce_clock() - begun;
    progress_hide();
    CPS_TRY(err);
    CPS_TRY(show_results(fuzz, opt));
    double yardstick = run_yardstick(&fuzz->run[0]);
    report_aside("%.0f cases/s in %.1f s; a clone and an empty packet: %.0f/s%s\n",
                 (double)(fuzz->stats.executed) / (spent > 0 ? spent : 1), spent, yardstick,
                 interrupted ? "; interrupted" : "");
    return NULL;
}

/* The first oracle asked for by name that compares two revisions; NULL: none is. */
static const char *find_comparison(const char *list)
{
    while (list && *list) {
        unsigned length = (unsigned)strcspn(list, ",");
        enum oracle oracle = oracle_find(list, length);
        if (oracle == ORACLE_DIFFERENCE || oracle == ORACLE_ENDING)
            return oracle_name(oracle);
        list += length + (list[length] == ',');
    }
    return NULL;
}

static int usage(const struct cps_options *opt)
{
    const char *comparison = find_comparison(opt->oracles);
    for (unsigned i = 0; i < opt->run.fw_count; i++) {
        if (cps_named_engine(opt->run.fw[i]))
            return report_usage("fuzz takes firmware of Adreno, found --fw %s", opt->run.fw[i]);
    }
    if (opt->run.fw_count == 0 || opt->run.fw_count == 3 || opt->run.fw_count > 4)
        return report_usage("fuzz needs --fw FW, or --fw OLD --fw NEW (a5xx: two files each)");
    if (comparison && play_revisions(&opt->run) < 2)
        return report_usage("--oracles %s compares two revisions, expected --fw OLD --fw NEW",
                            comparison);
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
