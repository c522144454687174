/* SPDX-License-Identifier: MIT
 * cpscope cover: which code of a firmware captures execute, added up over runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"
#include "tools/explain/cover/cover.h"
#include "tools/explain/regress/regress.h"
#include "tools/explain/summary/summary.h"
#include "tools/run/files.h"
#include "tools/run/names.h"
#include "tools/run/record.h"
#include "trace/out/json.h"

int cmd_cover(const struct cps_options *opt);

#define MAX_MERGE ((size_t)256 << 20) /* bytes of a file of counts */

struct coverage {
    const struct cps_options *opt;
    struct cps_fw *fw;
    struct cps_names *names[CPS_CPU_COUNT];
    struct cps_cover *cover; /* one per dword of the image, and one more */
    struct cps_buf listing;
    struct record_boot boot;
    unsigned skipped; /* captures of another GPU */
    unsigned dumps;   /* hang dumps among them */
    int stopped;      /* the status for that */
};

/* Counts of an image, all 0. */
static struct cps_err *begin_counts(struct coverage *c)
{
    cps_buf_clear(&c->listing);
    free(c->cover);
    c->cover = tool_alloc((size_t)c->fw->count + 1, sizeof(*c->cover));
    return cps_fw_listing(c->fw, c->opt->run.rnn, &c->listing);
}

/* The firmware of a dump is another one than that of other captures. */
static struct cps_err *adopt(struct coverage *c, struct record *record, const char *path)
{
    if (!record->own)
        return NULL;
    if (c->opt->arg_count > 1 || c->opt->search.count)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: the dump runs a firmware of its own, expected no other captures or "
                           "counts with it (or --no-recover)",
                           path);
    cps_fw_destroy(c->fw);
    c->fw = CPS_TAKE(record->own);
    return begin_counts(c);
}

static struct cps_err *add_capture(struct coverage *c, const char *path)
{
    struct record record = {0};
    const struct record_setup setup = {
        .config = &c->opt->run, .kinds = 1u << CPS_EV_END, .cover = true, .recover = true};
    const char *const firmware[2] = {c->opt->run.fw[0],
                                     c->opt->run.fw_count > 1 ? c->opt->run.fw[1] : NULL};
    struct cps_err *err = record_open(&setup, firmware, c->opt->arg_count, &c->boot);
    if (!err)
        err = record_run(&setup, firmware, path, &c->boot, &record);
    bool other_gpu = err && err->code == CPS_ERR_MISMATCH;
    if (!err)
        err = adopt(c, &record, path);
    for (uint32_t i = 0; !other_gpu && i < record.cover_count && i <= c->fw->count; i++) {
        c->cover[i].run += record.cover[i].run;
        c->cover[i].taken += record.cover[i].taken;
    }
    if (!err)
        c->stopped |= summary_print_stop(&record.account, path);
    c->dumps += record.account.replayed;
    record_deinit(&record);
    return err;
}

static const struct cps_names *names_of(const struct coverage *c)
{
    bool me = c->fw->part[0].role == CPS_FW_ME;
    return c->names[me ? CPS_CPU_ME : cps_gen_row(c->fw->gen)->first];
}

/* "DA:LINE,COUNT" and "BRDA:LINE,0,BRANCH,COUNT"; branch 0 is the one that was taken. Other lines
 * are sums. @p lines, @p dword  as cover_lines() gives them. @return whether there is such a line
 */
static bool add_counts(struct coverage *c, const char *line, const uint32_t *dword, size_t lines)
{
    unsigned number = 0, branch = 0;
    uint64_t count = 0;
    bool run = sscanf(line, "DA:%u,%" SCNu64, &number, &count) == 2;
    bool taken =
        !run && sscanf(line, "BRDA:%u,0,%u,%" SCNu64, &number, &branch, &count) == 3 && !branch;
    if (!run && !taken)
        return true;
    if (number >= lines || dword[number] == UINT32_MAX)
        return false;
    struct cps_cover *to = &c->cover[dword[number]];
    to->run += run ? count : 0;
    to->taken += taken ? count : 0;
    return true;
}

/* A file, or the one of that name in the folder that a command has written. */
static struct cps_err *read_from(const char *path, const char *name, char **ret)
{
    struct stat info;
    CPS_BUF full = {0};
    cps_buf_str(&full, path);
    if (!stat(path, &info) && S_ISDIR(info.st_mode))
        cps_buf_printf(&full, "/%s", name);
    return files_text(tool_text(&full), MAX_MERGE, ret);
}

/* Counts of an earlier run against the same listing. */
static struct cps_err *merge_lcov(struct coverage *c, const char *path)
{
    CPS_FREE char *text = NULL;
    size_t lines = 0;
    bool end = false;
    CPS_TRY(read_from(path, "coverage.info", &text));
    CPS_FREE uint32_t *dword = cover_lines(c->fw, &c->listing, &lines);
    char *at = text, *line = NULL;
    for (unsigned number = 1; (line = files_line(&at)); number++) {
        if (!add_counts(c, line, dword, lines))
            return cps_err_new(CPS_ERR_INPUT,
                               "%s:%u: counts a line without an instruction of %s; expected the "
                               "counts of this firmware",
                               path, number, c->fw->name);
        end = end || !strcmp(line, "end_of_record");
    }
    return end ? NULL
               : cps_err_new(CPS_ERR_INPUT, "%s: expected lcov's format, with \"end_of_record\"",
                             path);
}

/* Reads what prove found of this firmware and another one. */
static struct cps_err *read_proofs(const char *path, struct json_object **ret)
{
    CPS_FREE char *text = NULL;
    CPS_TRY(read_from(path, "results.json", &text));
    struct cps_err *err = cps_json_parse(text, strlen(text), ret);
    if (!err && strcmp(cps_json_get_text(*ret, "format", ""), "cpscope-prove 1") != 0)
        err = cps_err_new(CPS_ERR_INPUT, "expected results.json of prove, found something else");
    return cps_err_within_(err, "%s", path);
}

static struct cps_err *print_unreached(const struct coverage *c, struct cps_buf *out)
{
    struct json_object *proofs = NULL;
    struct cps_err *err = c->opt->proofs ? read_proofs(c->opt->proofs, &proofs) : NULL;
    if (!err)
        err = unreached_print(c->fw, names_of(c), c->cover, proofs, out);
    if (err && c->opt->proofs && err->code == CPS_ERR_INPUT)
        err = cps_err_within_(err, "%s", c->opt->proofs);
    json_object_put(proofs);
    return err;
}

static struct cps_err *run(struct coverage *c)
{
    const struct cps_options *opt = c->opt;
    CPS_BUF table = {0};
    CPS_TRY(cps_fw_load(opt->run.fw[0], opt->run.gen, &c->fw));
    struct cps_trace_head head = {.gen = c->fw->gen, .layout = c->fw->layout};
    CPS_TRY(trace_names(&head, opt->run.rnn, c->names));
    CPS_TRY(begin_counts(c));
    for (unsigned i = 0; i < opt->search.count; i++)
        CPS_TRY(merge_lcov(c, opt->search.path[i]));
    for (unsigned i = 0; i < opt->arg_count; i++) {
        progress_part("capture", i + 1, opt->arg_count);
        CPS_TRY(report_skip(add_capture(c, opt->arg[i]), opt->arg, opt->arg_count, i, &c->skipped));
    }
    c->stopped |= c->skipped ? 4 : 0;
    if (opt->run.no_recover && !c->dumps)
        return cps_err_new(CPS_ERR_USAGE, "--no-recover: expected a hang dump, found none");
    if (opt->output)
        CPS_TRY(cover_write(c->fw, names_of(c), c->cover, &c->listing, opt->output));
    struct json_object *handlers = tool_json(cover_handlers(c->fw, names_of(c), c->cover));
    results_coverage_table(handlers, &table);
    json_object_put(handlers);
    if (opt->unreached || opt->proofs)
        CPS_TRY(print_unreached(c, &table));
    return report_text(&table);
}

/* Each script is a program of its own. */
static struct cps_err *run_script(const struct cps_options *opt, const struct cps_isa *isa,
                                  unsigned gen, const char *path, int *status)
{
    CPS_CLEANUP(cps_script_deinit) struct cps_script script = {0};
    CPS_CLEANUP(record_deinit) struct record record = {0};
    CPS_BUF listing = {0};
    CPS_BUF table = {0};
    char firmware[24];
    const struct record_setup setup = {
        .config = &opt->run, .kinds = 1u << CPS_EV_END, .cover = true, .scripts = true};
    CPS_TRY(play_load_script(path, isa, gen, &script));
    opt_engine_name(script.gen, firmware);
    CPS_TRY(record_run(&setup, (const char *const[2]){firmware, NULL}, path, NULL, &record));
    *status |= summary_print_stop(&record.account, path);
    cover_script(path, script.gen, &script.code, record.cover, &table);
    if (opt->output) {
        CPS_TRY(cps_script_listing(script.gen, cps_buf_text(&script.code), script.code.size,
                                   opt->run.rnn, CPS_NAMES_MEASURED, &listing));
        CPS_TRY(cover_write_script(record.cover, record.cover_count, &listing, opt->output));
    }
    return report_text(&table);
}

static struct cps_err *cover_scripts(const struct cps_options *opt, int *status)
{
    const struct cps_isa *isa = NULL;
    unsigned gen = 0;
    CPS_TRY(cps_run_script_engine(&opt->run, &isa, &gen));
    if (!opt->arg_count)
        return cps_err_new(CPS_ERR_USAGE, "cover --engine takes scripts");
    if (!cps_isa_has_code(isa))
        return cps_err_new(CPS_ERR_USAGE, "%s has no code to cover", opt->run.engine);
    if (opt->output && opt->arg_count > 1)
        return cps_err_new(CPS_ERR_USAGE,
                           "cover -o takes one script: each has a listing of its own");
    for (unsigned i = 0; i < opt->arg_count; i++)
        CPS_TRY(run_script(opt, isa, gen, opt->arg[i], status));
    return NULL;
}

int cmd_cover(const struct cps_options *opt)
{
    struct coverage c = {.opt = opt};
    struct cps_err *err = NULL;
    if (cps_run_is_script(&opt->run)) {
        err = cover_scripts(opt, &c.stopped);
        return err ? report_error(err) : c.stopped;
    }
    err = opt_check_run_file(opt);
    if (err)
        return report_error(err);
    if (!opt->run.fw_count || (!opt->arg_count && !opt->search.count))
        return report_usage("cover takes --fw FILE and captures, or --counts FILE");
    err = run(&c);
    cps_fw_destroy(c.fw);
    trace_names_free(c.names);
    record_boot_deinit(&c.boot);
    cps_buf_deinit(&c.listing);
    free(c.cover);
    return err ? report_error(err) : c.stopped;
}
