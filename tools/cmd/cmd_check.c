/* SPDX-License-Identifier: MIT
 * cpscope check: runs what a golden's head names and compares. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/diff/diffreport.h"
#include "tools/explain/why/why.h"
#include "isa/base/infile.h"
#include "isa/base/shown.h"
#include "isa/base/within.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/explain/regress/regress.h"
#include "tools/run/names.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"

int cmd_check(const struct cps_options *opt);

/* Of all goldens together. */
struct checked {
    const struct cps_options *opt;
    struct cache_choice cache;
    char names[65];            /* digest of --rnn */
    uint64_t emulated, cached; /* runs that could be stored */
    struct cps_buf like;       /* inputs of the last run but its capture */
    struct record_boot boot;
    struct json_object *json; /* a row for each; NULL: text */
    int status;
};

/* One golden, its inputs found, and the run. */
struct check {
    struct checked *all;
    const char *path;
    struct cps_trace_head head;
    struct record golden, fresh;
    int status; /* 1: it differs, and --update does not mend it; 4: undecided */
    char firmware[2][FILES_PATH];
    char capture[FILES_PATH];
    bool demo_firmware, demo_capture;
    struct cps_run_config config;
    const char *image[2], *input; /* as record_run() takes them */
    uint32_t kinds;
};

/* Looks in --search, the golden's own directory, the corpus, and where systems keep firmware. */
static struct cps_err *find_file(const struct check *c, const struct cps_trace_file *file,
                                 char ret[FILES_PATH], bool *demo)
{
    const struct cps_options *opt = c->all->opt;
    const char *dirs[FILES_MOST + 4];
    const char *corpus = getenv("CPSCOPE_CORPUS");
    const char *slash = strrchr(c->path, '/');
    char beside[FILES_PATH];
    size_t count = 0;
    *demo = !strcmp(file->sha256, "built-in");
    for (; count < opt->search.count; count++)
        dirs[count] = opt->search.path[count];
    snprintf(beside, sizeof(beside), "%.*s", slash && slash > c->path ? (int)(slash - c->path) : 1,
             slash ? c->path : ".");
    dirs[count++] = beside;
    if (corpus)
        dirs[count++] = corpus;
    dirs[count++] = FILES_FW_DIR;
    if (*demo || files_find(file->name, file->sha256, dirs, count, ret))
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
    if (is_script(c))
        opt_engine_name(c->head.gen, c->firmware[0]);
    else if (!c->head.firmware_count)
        return cps_err_input(c->path, 0, "the head names no firmware, expected \"# firmware\"");
    for (unsigned i = 0; i < c->head.firmware_count; i++)
        CPS_TRY(find_file(c, &c->head.firmware[i], c->firmware[i], i ? &demo : &c->demo_firmware));
    return find_file(c, &c->head.capture, c->capture, &c->demo_capture);
}

/* Goldens that follow each other are often of one firmware, which the second of them opens for the
 * rest. */
static struct cps_err *emulate(struct check *c, const struct record_setup *setup)
{
    struct checked *all = c->all;
    const char *const *firmware = c->image;
    CPS_BUF like = {0};
    cps_buf_printf(&like, "%u %u %x %s\n%s\n%s\n%s", (unsigned)c->head.gen, (unsigned)c->head.as,
                   (unsigned)c->kinds, c->head.chip_id, c->head.policy,
                   firmware[0] ? firmware[0] : "", firmware[1] ? firmware[1] : "");
    if (!strcmp(tool_text(&like), cps_buf_text(&all->like))) {
        CPS_TRY(record_open(setup, firmware, 2, &all->boot));
    } else {
        record_boot_deinit(&all->boot);
        cps_buf_clear(&all->like);
        cps_buf_join(&all->like, &like);
    }
    return record_run(setup, firmware, c->input, &all->boot, &c->fresh);
}

/* The options of the run are those of the head; by all of them the cache knows it. What is no file,
 * or may name others, is not cached. */
static struct cps_err *rerun(struct check *c)
{
    struct checked *all = c->all;
    const struct record_setup setup = {
        .config = &c->config, .kinds = c->kinds, .recover = true, .quiet = true};
    CPS_BUF shape = {0};
    c->image[0] = c->demo_firmware ? NULL : c->firmware[0];
    c->image[1] = c->head.firmware_count > 1 ? c->firmware[1] : NULL;
    c->input = c->capture;
    if (c->demo_capture)
        c->input = strcmp(c->head.capture.name, play_nothing) ? NULL : play_nothing;
    c->config = all->opt->run;
    cps_run_set_policy(&c->config, c->head.policy);
    c->config.gen = c->head.gen;
    c->config.as = c->head.as;
    opt_chip_id(c->head.chip_id, &c->config.chip_id);
    if (!*all->cache.dir || is_script(c) || c->demo_firmware || c->demo_capture ||
        !files_is_regular(c->firmware[0]) || !files_is_regular(c->capture))
        return emulate(c, &setup);
    cps_buf_printf(&shape, "check %u %u %s %s", (unsigned)c->head.gen, (unsigned)c->head.as,
                   c->head.chip_id, c->head.policy);
    const struct cache_run run = {.dir = all->cache.dir,
                                  .program = all->cache.program,
                                  .firmware_hash = c->head.firmware[0].sha256,
                                  .me_hash = c->image[1] ? c->head.firmware[1].sha256 : "",
                                  .capture_hash = c->head.capture.sha256,
                                  .names = all->names,
                                  .policy = tool_text(&shape),
                                  .limit = c->config.limit,
                                  .kinds = c->kinds};
    if (cache_take_run(&run, 0, &c->fresh)) {
        all->cached++;
        return NULL;
    }
    CPS_TRY(emulate(c, &setup));
    all->emulated++;
    if (!c->fresh.misses)
        cps_err_free(cache_keep_run(&run, &c->fresh, c->head.gen));
    return NULL;
}

/* Writes the new events under the golden's own head and format. A compressed one would be so no
 * more. */
static struct cps_err *rewrite(const struct check *c, struct cps_names *const names[CPS_CPU_COUNT])
{
    struct cps_infile file;
    uint8_t first[16];
    size_t size = 0;
    CPS_TRY(cps_infile_open_(c->path, &file));
    struct cps_err *err = cps_infile_read_(&file, first, sizeof(first), &size);
    bool good = file.regular && cps_trace_recognise(first, size);
    cps_infile_close_(&file);
    CPS_TRY(err);
    if (!good)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: a compressed golden or no file, expected a trace that can be "
                           "rewritten",
                           c->path);
    return cache_write_trace(c->path, c->golden.form, &c->head, names, &c->fresh);
}

static void put_line(const struct check *c, const char *what, const char *more, struct cps_buf *out)
{
    cps_shown_put_(out, c->path);
    cps_buf_printf(out, ": %s", what);
    cps_shown_put_(out, more);
    cps_buf_str(out, "\n");
}

/* A read may not be what the run file expects, and the replay may not match its dump: that does not
 * depend on the golden. */
static void add_outcome(const struct check *c, const struct diff_report *report,
                        struct cps_buf *out)
{
    const struct record *fresh = &c->fresh;
    CPS_BUF why = {0};
    int status = diff_status(report, &why);
    if (c->all->json) {
        struct json_object *row = diff_json(report);
        cps_json_text(row, "golden", c->path);
        cps_json_uint(row, "status", (uint64_t)c->status);
        if (fresh->misses)
            cps_json_text(row, "missed", fresh->missed);
        if (*fresh->disagrees)
            cps_json_text(row, "replay", fresh->disagrees);
        cps_json_append(c->all->json, row);
        return;
    }
    if (fresh->misses)
        put_line(c, "a read is not what the run file expects: ", fresh->missed, out);
    if (*fresh->disagrees)
        put_line(c, fresh->disagrees, "", out);
    if (status) {
        cps_shown_put_(out, c->path);
        cps_buf_str(out, ": ");
        diff_print_first(report, out);
        diff_print_counts(report, c->all->opt->all ? SIZE_MAX : 10, out);
    } else if (!fresh->misses && !*fresh->disagrees) {
        cps_shown_put_(out, c->path);
        cps_buf_str(out, ": pass");
        diff_put_clock(report, "; ", out);
        diff_print_missing(report, out);
        cps_buf_str(out, "\n");
    }
}

static struct cps_err *find_clock(void *context, unsigned side, struct why_clocks *clocks)
{
    const struct check *c = context;
    const struct why_question question = {.config = &c->config,
                                          .firmware = {c->image[0], c->image[1]},
                                          .capture = c->input,
                                          .kinds = c->kinds};
    (void)side;
    return why_clock(&question, clocks);
}

static struct cps_err *compare(struct check *c, struct cps_diff_options *options,
                               struct cps_diff *ret)
{
    struct diff_clock clock = {
        .record = {&c->golden, &c->fresh}, .find = find_clock, .context = c, .golden = true};
    diff_clock_begin(&clock, options);
    struct cps_err *err = cps_diff_events(c->golden.event, c->golden.count, c->fresh.event,
                                          c->fresh.count, options, NULL, NULL, ret);
    return cps_err_first_(err, diff_clock_end(&clock));
}

static struct cps_err *judge(struct check *c)
{
    const struct cps_options *opt = c->all->opt;
    struct cps_names *names[CPS_CPU_COUNT] = {NULL};
    struct cps_diff diff = {0};
    struct cps_mask mask = {0};
    struct cps_diff_options options = {.kinds = c->kinds, .mask = &mask};
    const struct diff_report report = {
        .a = {.label = "golden", .names = names, .record = &c->golden},
        .b = {.label = "now", .names = names, .record = &c->fresh},
        .diff = &diff,
        .kinds = c->kinds,
        .mask = &mask,
        .golden = true};
    CPS_BUF why = {0};
    CPS_BUF text = {0};
    struct cps_err *err = trace_names(&c->head, opt->run.rnn, names);
    if (!err)
        err = cps_mask_add(&mask, opt->mask ? opt->mask : "",
                           names[is_script(c) ? CPS_CPU_HOST : CPS_CPU_SQE]);
    if (!err)
        err = compare(c, &options, &diff);
    bool has_end = c->fresh.account.stop != CPS_STOP_IDLE && c->kinds >> CPS_EV_END & 1;
    c->status = diff_status(&report, &why);
    if (c->status == 1 && opt->update) /* the golden becomes the run, perhaps with its end */
        c->status = has_end ? 0 : play_account_status(&c->fresh.account);
    if (c->fresh.misses || *c->fresh.disagrees)
        c->status = 1;
    if (!err)
        add_outcome(c, &report, &text);
    if (!err && text.size)
        err = paint_text(opt->colour, PAINT_DIFF, &text);
    if (!err && diff.differences && opt->update) {
        CPS_BUF line = {0};
        err = rewrite(c, names);
        put_line(c, "rewritten", "", &line);
        if (!err && !c->all->json)
            err = paint_text(opt->colour, PAINT_DIFF, &line);
    }
    cps_diff_deinit(&diff);
    cps_mask_deinit(&mask);
    trace_names_free(names);
    return err;
}

static struct cps_err *check_golden(struct check *c)
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
    struct cps_err *err = rerun(c);
    if (!err)
        return judge(c);
    if (err->code != CPS_ERR_MISMATCH)
        return err;
    struct cps_err *ret = cps_err_new(err->code, "%s: this golden is of generation %s, but %s",
                                      c->path, cps_gen_name(c->head.gen), err->message);
    cps_err_free(err);
    return ret;
}

/* A golden that could not be checked has a row, too, whatever its error is about. A file that could
 * not be read is no result, and a difference is more than an undecided run. */
static void check_one(struct checked *all, const char *path)
{
    static const int order[] = {[0] = 0, [4] = 1, [1] = 2, [3] = 3};
    struct check *c = tool_alloc(1, sizeof(*c));
    c->all = all;
    c->path = path;
    struct cps_err *err = tool_err(check_golden(c));
    int status = err ? 3 : c->status;
    if (err && all->json)
        doc_row(all->json, "golden=%s status=%d error=%s", path, status, err->message);
    if (err)
        report_error(err);
    if (order[status] > order[all->status])
        all->status = status;
    record_deinit(&c->golden);
    record_deinit(&c->fresh);
    cps_trace_head_deinit(&c->head);
    free(c);
}

int cmd_check(const struct cps_options *opt)
{
    struct checked all = {.opt = opt, .cache = {.dir = ""}};
    if (!opt->arg_count)
        return report_usage("check takes golden traces");
    struct cps_err *err = cache_choose(opt->cache, opt->cache != NULL, &all.cache, NULL);
    if (!err && opt->run.rnn)
        err = files_digest(opt->run.rnn, ".xml", all.names);
    if (err)
        return report_error(err);
    all.json = opt->json ? tool_json(json_object_new_array()) : NULL;
    for (unsigned i = 0; i < opt->arg_count; i++) {
        progress_part("golden", i + 1, opt->arg_count);
        progress_show("%s", opt->arg[i]);
        check_one(&all, opt->arg[i]);
    }
    if (*all.cache.dir)
        report_aside("%" PRIu64 " runs emulated, %" PRIu64 " from the cache\n", all.emulated,
                     all.cached);
    record_boot_deinit(&all.boot);
    cps_buf_deinit(&all.like);
    err = all.json ? report_json(all.json) : NULL;
    return err ? report_error(err) : all.status;
}
