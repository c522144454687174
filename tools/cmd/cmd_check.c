/* SPDX-License-Identifier: MIT
 * cpscope check: runs what a golden's head names and compares. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/diff/diffreport.h"
#include "isa/base/infile.h"
#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/explain/regress/regress.h"
#include "tools/run/names.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/json.h"

int cmd_check(const struct cps_options *opt);

#define MAX_DIRS (FILES_MOST + 4)

/* One golden, its inputs found, and the run. */
struct check {
    const struct cps_options *opt;
    const char *path;
    struct cps_trace_head head;
    struct record golden, fresh;
    int status; /* 1: it is not as it has to be, and --update does not mend it; 4: undecided */
    char firmware[2][FILES_PATH];
    char capture[FILES_PATH];
    bool demo_firmware, demo_capture;
    const char *dirs[MAX_DIRS];
    size_t dir_count;
    char beside[FILES_PATH];
    uint32_t kinds;
    struct checked *all;
};

/* Of all goldens together. */
struct checked {
    struct cache_choice cache;
    char names[65];            /* digest of --rnn */
    uint64_t emulated, cached; /* runs that could be stored */
    struct cps_buf like;       /* what the last run was made of beside its capture */
    struct record_boot boot;
};

/* The golden's own directory, --search, the corpus, where systems keep firmware. */
static void collect_dirs(struct check *c)
{
    const char *corpus = getenv("CPSCOPE_CORPUS");
    const char *slash = strrchr(c->path, '/');
    int length = slash && slash > c->path ? (int)(slash - c->path) : 1;
    for (unsigned i = 0; i < c->opt->search.count; i++)
        c->dirs[c->dir_count++] = c->opt->search.path[i];
    snprintf(c->beside, sizeof(c->beside), "%.*s", length, slash ? c->path : ".");
    c->dirs[c->dir_count++] = c->beside;
    if (corpus)
        c->dirs[c->dir_count++] = corpus;
    c->dirs[c->dir_count++] = FILES_FW_DIR;
}

static struct cps_err *find_one(const struct check *c, const struct cps_trace_file *file,
                                char ret[FILES_PATH], bool *demo)
{
    *demo = !strcmp(file->sha256, "built-in");
    if (*demo || files_find(file->name, file->sha256, c->dirs, c->dir_count, ret))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: %s (sha256 %.12s...) is in none of the directories searched, expected "
                       "it below --search DIR",
                       c->path, file->name, file->sha256);
}

static bool is_script(const struct check *c)
{
    return !cps_gen_is_afuc(c->head.gen);
}

static struct cps_err *find_inputs(struct check *c)
{
    bool demo = false;
    collect_dirs(c);
    if (is_script(c))
        opt_engine_name(c->head.gen, c->firmware[0]);
    else if (!c->head.firmware_count)
        return cps_err_input(c->path, 0, "the head names no firmware, expected \"# firmware\"");
    for (unsigned i = 0; i < c->head.firmware_count; i++)
        CPS_TRY(find_one(c, &c->head.firmware[i], c->firmware[i], i ? &demo : &c->demo_firmware));
    return find_one(c, &c->head.capture, c->capture, &c->demo_capture);
}

/* The run's options are those of the head. */
static struct cps_run_config config_of(const struct check *c)
{
    struct cps_run_config config = c->opt->run;
    cps_run_set_policy(&config, c->head.policy);
    config.gen = c->head.gen;
    config.as = c->head.as;
    opt_chip_id(c->head.chip_id, &config.chip_id);
    return config;
}

/* What is no file, or may name others, is not kept. */
static bool is_kept(const struct check *c)
{
    return *c->all->cache.dir && !is_script(c) && !c->demo_firmware && !c->demo_capture &&
           files_is_regular(c->firmware[0]) && files_is_regular(c->capture);
}

/* Goldens that follow each other are often of one firmware, which the second of them opens for the
 * rest. */
static struct cps_err *open_shared(struct check *c, const struct record_setup *setup,
                                   const char *const firmware[2])
{
    struct checked *all = c->all;
    CPS_BUF like = {0};
    cps_buf_printf(&like, "%u %u %x %s\n%s\n%s\n%s", (unsigned)c->head.gen, (unsigned)c->head.as,
                   (unsigned)c->kinds, c->head.chip_id, c->head.policy,
                   firmware[0] ? firmware[0] : "", firmware[1] ? firmware[1] : "");
    if (!strcmp(tool_text(&like), cps_buf_text(&all->like)))
        return record_open(setup, firmware, 2, &all->boot);
    record_boot_deinit(&all->boot);
    cps_buf_clear(&all->like);
    cps_buf_join(&all->like, &like);
    return NULL;
}

static struct cps_err *rerun_alone(struct check *c, const struct record_setup *setup,
                                   const char *const firmware[2], const char *capture)
{
    CPS_TRY(open_shared(c, setup, firmware));
    return record_run(setup, firmware, capture, &c->all->boot, &c->fresh);
}

/* Through the cache: keyed by all that the head says of the run. */
static struct cps_err *rerun_kept(struct check *c, const struct record_setup *setup,
                                  const char *const firmware[2])
{
    CPS_BUF shape = {0};
    cps_buf_printf(&shape, "check %u %u %s %s", (unsigned)c->head.gen, (unsigned)c->head.as,
                   c->head.chip_id, c->head.policy);
    const struct cache_run run = {.dir = c->all->cache.dir,
                                  .program = c->all->cache.program,
                                  .firmware_hash = c->head.firmware[0].sha256,
                                  .me_hash = firmware[1] ? c->head.firmware[1].sha256 : "",
                                  .capture_hash = c->head.capture.sha256,
                                  .names = c->all->names,
                                  .policy = tool_text(&shape),
                                  .limit = c->opt->run.limit,
                                  .kinds = c->kinds};
    if (cache_take_run(&run, 0, &c->fresh)) {
        c->all->cached++;
        return NULL;
    }
    CPS_TRY(rerun_alone(c, setup, firmware, c->capture));
    c->all->emulated++;
    if (!c->fresh.misses)
        cps_err_free(cache_keep_run(&run, &c->fresh, c->head.gen));
    return NULL;
}

static struct cps_err *rerun(struct check *c)
{
    struct cps_run_config config = config_of(c);
    struct record_setup setup = {
        .config = &config, .kinds = c->kinds, .recover = true, .quiet = true};
    const char *const firmware[2] = {c->demo_firmware ? NULL : c->firmware[0],
                                     c->head.firmware_count > 1 ? c->firmware[1] : NULL};
    bool nothing = !strcmp(c->head.capture.name, play_nothing);
    const char *capture = !c->demo_capture ? c->capture : nothing ? play_nothing : NULL;
    struct cps_err *err =
        is_kept(c) ? rerun_kept(c, &setup, firmware) : rerun_alone(c, &setup, firmware, capture);
    if (!err || err->code != CPS_ERR_MISMATCH)
        return err;
    struct cps_err *ret = cps_err_new(err->code, "%s: this golden is of generation %s, but %s",
                                      c->path, cps_gen_name(c->head.gen), err->message);
    cps_err_free(err);
    return ret;
}

/* What was compressed around its form would be so no more. */
static struct cps_err *check_rewritable(const struct check *c)
{
    struct cps_infile file;
    uint8_t first[16];
    size_t size = 0;
    CPS_TRY(cps_infile_open_(c->path, &file));
    struct cps_err *err = cps_infile_read_(&file, first, sizeof(first), &size);
    bool good = file.regular && cps_trace_recognise(first, size);
    cps_infile_close_(&file);
    if (err || good)
        return err;
    return cps_err_new(CPS_ERR_INPUT,
                       "%s: a compressed golden or no file, expected a trace that can be rewritten",
                       c->path);
}

/* Writes the new events under the golden's own head and form. */
static struct cps_err *rewrite(const struct check *c, struct cps_names *const names[CPS_CPU_COUNT])
{
    struct cps_outfile *out = NULL;
    struct cps_trace_writer *writer = NULL;
    CPS_TRY(check_rewritable(c));
    CPS_TRY(cps_outfile_open(c->path, &out));
    struct cps_err *err = cps_trace_writer_create(c->golden.form, out, &c->head, names, &writer);
    if (!err) {
        struct cps_sink *sink = cps_trace_writer_sink(writer);
        sink->put(sink, c->fresh.event, c->fresh.count);
        err = cps_trace_writer_finish(writer);
    }
    if (err) {
        cps_outfile_abort(out);
        return err;
    }
    return cps_outfile_commit(out);
}

/* A read is not what the run file expects, or the replay does not match its dump. */
static bool is_unlike_input(const struct check *c)
{
    return c->fresh.misses || *c->fresh.disagrees;
}

static void add_row(const struct check *c, const struct diff_report *report,
                    struct json_object *json)
{
    struct json_object *row = diff_json(report);
    cps_json_text(row, "golden", c->path);
    cps_json_uint(row, "status", (uint64_t)c->status);
    if (c->fresh.misses)
        cps_json_text(row, "missed", c->fresh.missed);
    if (*c->fresh.disagrees)
        cps_json_text(row, "replay", c->fresh.disagrees);
    cps_json_append(json, row);
}

static void put_outcome(const struct check *c, const char *what, const char *more,
                        struct cps_buf *out)
{
    cps_shown_put_(out, c->path);
    cps_buf_printf(out, ": %s", what);
    cps_shown_put_(out, more);
}

/* The outcome for people. */
static struct cps_err *print_outcome(const struct check *c, const struct diff_report *report)
{
    CPS_BUF text = {0};
    CPS_BUF why = {0};
    int status = diff_status(report, &why);
    if (c->fresh.misses) {
        put_outcome(c, "a read is not what the run file expects: ", c->fresh.missed, &text);
        cps_buf_str(&text, "\n");
    }
    if (*c->fresh.disagrees) {
        put_outcome(c, c->fresh.disagrees, "", &text);
        cps_buf_str(&text, "\n");
    }
    if (status) {
        put_outcome(c, "", "", &text);
        diff_print_first(report, &text);
        diff_print_counts(report, c->opt->all ? SIZE_MAX : 10, &text);
    } else if (!is_unlike_input(c)) {
        put_outcome(c, "pass", "", &text);
        diff_print_missing(report, &text);
        cps_buf_str(&text, "\n");
    }
    return paint_text(c->opt->colour, PAINT_DIFF, &text);
}

/* The golden becomes what the run did, with its end if the head has that class. */
static int rewritten_status(const struct check *c)
{
    bool has_end = c->fresh.account.stop != CPS_STOP_IDLE && c->kinds >> CPS_EV_END & 1;
    return has_end ? 0 : play_account_status(&c->fresh.account);
}

/* Whether the run is like its input does not depend on the golden. */
static struct cps_err *judge(struct check *c, struct json_object *json)
{
    struct cps_names *names[CPS_CPU_COUNT] = {NULL};
    struct cps_diff diff = {0};
    struct cps_mask mask = {0};
    const struct cps_diff_options options = {c->kinds, &mask};
    struct cps_err *err = trace_names(&c->head, c->opt->run.rnn, names);
    if (!err)
        err = cps_mask_add(&mask, c->opt->mask ? c->opt->mask : "",
                           names[is_script(c) ? CPS_CPU_HOST : CPS_CPU_SQE]);
    if (!err)
        err = cps_diff_events(c->golden.event, c->golden.count, c->fresh.event, c->fresh.count,
                              &options, NULL, NULL, &diff);
    const struct diff_report report = {
        .a = {.label = "golden", .names = names, .record = &c->golden},
        .b = {.label = "now", .names = names, .record = &c->fresh},
        .diff = &diff,
        .kinds = c->kinds,
        .mask = &mask,
        .golden = true};
    CPS_BUF why = {0};
    c->status = diff_status(&report, &why);
    if (c->status == 1 && c->opt->update)
        c->status = rewritten_status(c);
    if (is_unlike_input(c))
        c->status = 1;
    if (!err && json)
        add_row(c, &report, json);
    else if (!err)
        err = print_outcome(c, &report);
    if (!err && diff.differences && c->opt->update)
        err = rewrite(c, names);
    if (!err && diff.differences && c->opt->update && !json) {
        CPS_BUF text = {0};
        put_outcome(c, "rewritten\n", "", &text);
        err = paint_text(c->opt->colour, PAINT_DIFF, &text);
    }
    cps_diff_deinit(&diff);
    cps_mask_deinit(&mask);
    trace_names_free(names);
    return err;
}

static struct cps_err *check_golden(struct check *c, struct json_object *json)
{
    struct cps_chip_id ignored;
    struct cps_policy policy = cps_policy_default();
    CPS_TRY(record_read(c->path, &c->head, &c->golden));
    CPS_TRY(find_inputs(c));
    if (!cps_text_classes(c->head.events, &c->kinds))
        return cps_err_input(c->path, 0, "\"# events %s\" is no list of classes", c->head.events);
    CPS_TRY(cps_err_within_(cps_policy_parse(c->head.policy, c->head.gen, &policy), "%s", c->path));
    if (*c->head.chip_id && !opt_chip_id(c->head.chip_id, &ignored))
        return cps_err_input(c->path, 0,
                             "\"# chip-id %s\": expected ID or ID:VARIANT, of 32 bits each",
                             c->head.chip_id);
    CPS_TRY(rerun(c));
    return judge(c, json);
}

static struct cps_err *check_one(const struct cps_options *opt, const char *path,
                                 struct checked *all, struct json_object *json, int *status)
{
    struct check *c = tool_alloc(1, sizeof(*c));
    c->opt = opt;
    c->path = path;
    c->all = all;
    struct cps_err *err = check_golden(c, json);
    *status = c->status;
    record_deinit(&c->golden);
    record_deinit(&c->fresh);
    cps_trace_head_deinit(&c->head);
    free(c);
    return err;
}

/* A golden that could not be checked has a row, too. */
static void put_error(struct json_object *json, const char *path, const struct cps_err *err)
{
    if (!json)
        return;
    struct json_object *row = json_object_new_object();
    cps_json_text(row, "golden", path);
    cps_json_uint(row, "status", 3);
    cps_json_text(row, "error", err->message);
    cps_json_append(json, row);
}

/* What could not be read is no result, and a difference is more than what is undecided. */
static int worse(int a, int b)
{
    static const int order[] = {[0] = 0, [4] = 1, [1] = 2, [3] = 3};
    return order[a] > order[b] ? a : b;
}

/* @return CPS_ERR_NOMEM: what there is would not be all */
static struct cps_err *check_all(const struct cps_options *opt, struct checked *all,
                                 struct json_object *json, int *status)
{
    for (unsigned i = 0; i < opt->arg_count; i++) {
        int one = 0;
        progress_part("golden", i + 1, opt->arg_count);
        progress_show("%s", opt->arg[i]);
        struct cps_err *err = check_one(opt, opt->arg[i], all, json, &one);
        if (err && err->code == CPS_ERR_NOMEM)
            return err;
        if (err) {
            put_error(json, opt->arg[i], err);
            report_error(err);
            one = 3; /* whatever it is about, a file says it */
        }
        *status = worse(*status, one);
    }
    return NULL;
}

int cmd_check(const struct cps_options *opt)
{
    struct checked all = {.cache = {.dir = ""}};
    if (!opt->arg_count)
        return report_usage("check takes golden traces");
    struct cps_err *err = cache_choose(opt->cache, opt->cache != NULL, &all.cache);
    if (!err && opt->run.rnn)
        err = files_digest(opt->run.rnn, ".xml", all.names);
    if (err)
        return report_error(err);
    struct json_object *json = opt->json ? json_object_new_array() : NULL;
    int status = 0;
    err = opt->json && !json ? cps_err_nomem() : check_all(opt, &all, json, &status);
    if (*all.cache.dir && !err)
        report_aside("%" PRIu64 " runs emulated, %" PRIu64 " from the cache\n", all.emulated,
                     all.cached);
    record_boot_deinit(&all.boot);
    cps_buf_deinit(&all.like);
    if (err)
        json_object_put(json);
    else if (json)
        err = report_json(json);
    return err ? report_error(err) : status;
}
