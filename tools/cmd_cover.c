/* SPDX-License-Identifier: MIT
 * cpscope cover: which code of a firmware captures execute, added up over runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cover.h"
#include "job.h"
#include "names.h"
#include "report.h"
#include "results.h"
#include "trace/outfile.h"

int cmd_cover(const struct cps_options *opt);

struct coverage {
    const struct cps_options *opt;
    struct cps_fw *fw;
    struct cps_names *names[CPS_CPU_COUNT];
    struct cps_cover *cover;
    struct cps_buf listing;
};

static struct cps_err *add_capture(struct coverage *c, const char *path)
{
    struct job job = {0};
    const struct job_setup setup = {c->opt, 1u << CPS_EV_END, true};
    const char *const firmware[2] = {c->opt->fw[0], c->opt->fw_count > 1 ? c->opt->fw[1] : NULL};
    struct cps_err *err = job_run(&setup, firmware, path, NULL, &job);
    for (uint32_t i = 0; i < job.cover_count && i <= c->fw->count; i++) {
        c->cover[i].run += job.cover[i].run;
        c->cover[i].taken += job.cover[i].taken;
    }
    job_deinit(&job);
    return err;
}

static struct cps_err *write_text(const char *path, const struct cps_buf *text)
{
    struct cps_outfile *out = NULL;
    if (text->failed)
        return cps_err_nomem();
    CPS_TRY(cps_outfile_open(path, &out));
    cps_outfile_write(out, cps_buf_text(text), text->size);
    return cps_outfile_commit(out);
}

/* FILE.asm beside FILE: what genhtml shows the counts against. */
static struct cps_err *write_lcov(struct coverage *c, const char *path)
{
    CPS_BUF name = {0};
    CPS_BUF info = {0};
    cps_buf_printf(&name, "%s.asm", path);
    CPS_TRY(write_text(cps_buf_text(&name), &c->listing));
    CPS_FREE char *full = realpath(cps_buf_text(&name), NULL);
    cover_lcov(c->fw, c->cover, full ? full : cps_buf_text(&name), cps_buf_text(&c->listing),
               &info);
    return write_text(path, &info);
}

/* Counts of an earlier run: "DA:LINE,COUNT" and "BRDA:" against the same listing. */
static struct cps_err *merge_lcov(struct coverage *c, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[4096];
    if (!file)
        return cps_err_os(path, "open");
    uint32_t *dword = calloc(c->listing.size + 2, sizeof(*dword));
    if (!dword) {
        fclose(file);
        return cps_err_nomem();
    }
    size_t lines = cover_lines(c->fw, cps_buf_text(&c->listing), dword);
    while (fgets(line, sizeof(line), file)) {
        unsigned number = 0, branch = 0;
        uint64_t count = 0;
        if (sscanf(line, "DA:%u,%" SCNu64, &number, &count) == 2 && number < lines &&
            dword[number] != UINT32_MAX)
            c->cover[dword[number]].run += count;
        if (sscanf(line, "BRDA:%u,0,%u,%" SCNu64, &number, &branch, &count) == 3 && !branch &&
            number < lines && dword[number] != UINT32_MAX)
            c->cover[dword[number]].taken += count;
    }
    free(dword);
    fclose(file);
    return NULL;
}

static struct cps_err *run(struct coverage *c)
{
    const struct cps_options *opt = c->opt;
    CPS_BUF table = {0};
    CPS_TRY(cps_fw_load(opt->fw[0], opt->gen, &c->fw));
    struct cps_trace_head head = {.gen = c->fw->gen, .layout = c->fw->layout};
    CPS_TRY(trace_names(&head, opt->rnn, c->names));
    CPS_TRY(cps_fw_listing(c->fw, opt->rnn, &c->listing));
    c->cover = calloc((size_t)c->fw->count + 1, sizeof(*c->cover));
    if (!c->cover)
        return cps_err_nomem();
    for (unsigned i = 0; i < opt->search_count; i++)
        CPS_TRY(merge_lcov(c, opt->search[i]));
    for (unsigned i = 0; i < opt->arg_count; i++)
        CPS_TRY(add_capture(c, opt->arg[i]));
    if (opt->output)
        CPS_TRY(write_lcov(c, opt->output));
    struct json_object *handlers = cover_handlers(
        c->fw, c->names[c->fw->gen == CPS_A5XX ? CPS_CPU_PFP : CPS_CPU_SQE], c->cover);
    results_coverage_table(handlers, &table);
    json_object_put(handlers);
    fputs(cps_buf_text(&table), stdout);
    return NULL;
}

int cmd_cover(const struct cps_options *opt)
{
    struct coverage c = {.opt = opt};
    if (!opt->fw_count || (!opt->arg_count && !opt->search_count))
        return report_usage("cover takes --fw FILE and captures, or --counts FILE");
    struct cps_err *err = run(&c);
    cps_fw_destroy(c.fw);
    trace_names_free(c.names);
    cps_buf_deinit(&c.listing);
    free(c.cover);
    return err ? report_error(err) : 0;
}
