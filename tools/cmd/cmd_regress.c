/* SPDX-License-Identifier: MIT
 * cpscope regress: every firmware of a manifest over every capture. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/cmd/options/opt_engine.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/cover/cover.h"
#include "tools/explain/regress/regress.h"
#include "tools/run/config.h"
#include "tools/run/names.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

int cmd_regress(const struct cps_options *opt);

/* "I/N", from 1; else the environment of test runners, from 0, whose status file shows them that it
 * is honoured. */
static struct cps_err *read_shard(struct regress *r, const char *shard)
{
    const char *total = getenv("TEST_TOTAL_SHARDS");
    const char *index = getenv("TEST_SHARD_INDEX");
    const char *status = getenv("TEST_SHARD_STATUS_FILE");
    unsigned first = 1, count = 1;
    uint64_t i = 0, n = 0;
    if (shard && !results_shard(shard, &first, &count))
        return cps_err_new(CPS_ERR_INPUT, "--shard %s: expected I/N, I from 1 to N", shard);
    r->shard = first - 1;
    r->shards = count;
    if (shard || !total || !index)
        return NULL;
    if (!opt_count(total, &n) || !opt_count(index, &i) || i >= n || n > INT32_MAX)
        return cps_err_new(CPS_ERR_INPUT,
                           "TEST_SHARD_INDEX %s of TEST_TOTAL_SHARDS %s: expected an index from 0 "
                           "below the total",
                           index, total);
    r->shard = (uint32_t)i;
    r->shards = (uint32_t)n;
    return status ? cps_outfile_whole(status, "", 0) : NULL;
}

/* Firmware that the manifest names without a folder, and is not beside it. */
static void find_firmware(struct regress *r, const struct cps_options *opt)
{
    const char *slash = strrchr(r->path, '/');
    size_t folder = slash ? (size_t)(slash - r->path) + 1 : 0;
    for (unsigned i = 0; i < 2 * r->manifest.firmware_count; i++) {
        char found[FILES_PATH];
        const char **path = &r->manifest.firmware[i / 2].path[i % 2];
        bool beside = *path && !strncmp(*path, r->path, folder);
        if (beside && files_firmware_beside(&opt->fw_path, *path, *path + folder, found) != *path)
            *path = manifest_text(&r->manifest, found);
    }
}

/* The digest of each file; the name of an engine for scripts. What cannot be read, its pairs say.
 */
static void put_firmware(const struct manifest_firmware *firmware, struct cps_buf *out)
{
    bool is_file = !cps_named_engine(firmware->path[0]);
    if (!is_file)
        cps_buf_str(out, firmware->path[0]);
    for (unsigned i = 0; is_file && i < 2 && firmware->path[i]; i++) {
        char hash[65];
        struct cps_err *err = tool_err(cps_sha256_file(firmware->path[i], hash));
        cps_buf_printf(out, "%s%s", i ? " " : "", err ? "none" : hash);
        cps_err_free(err);
    }
}

/* The columns of the matrix, the same in every shard; and what runs are made with: captures and
 * goldens come from the workers. */
static void add_settings(struct regress *r)
{
    const struct manifest *m = &r->manifest;
    const char *baseline = m->baseline < 0 ? NULL : m->firmware[m->baseline].name;
    struct json_object *to = cps_json_get(r->results, "inputs");
    CPS_BUF limit = {0};
    cps_buf_printf(&limit, "%" PRIu64, m->limit);
    cps_json_text(r->results, "baseline", baseline);
    cps_json_text(to, "baseline", baseline ? baseline : "none");
    cps_json_text(to, "events", m->events ? m->events : "default");
    cps_json_text(to, "golden", m->golden ? "given" : "none");
    cps_json_buf(to, "limit", &limit);
    cps_json_text(to, "mask", m->mask ? m->mask : "none");
    cps_json_text(to, "names", *r->names ? r->names : "built-in");
    cps_json_text(to, "policy", m->policy ? m->policy : "default");
    for (unsigned i = 0; i < m->firmware_count; i++) {
        CPS_BUF key = {0};
        CPS_BUF value = {0};
        cps_json_append(cps_json_get(r->results, "firmware"),
                        json_object_new_string(m->firmware[i].name));
        cps_buf_printf(&key, "firmware %s", m->firmware[i].name);
        put_firmware(&m->firmware[i], &value);
        cps_json_buf(to, tool_text(&key), &value);
    }
}

static struct cps_err *prepare(struct regress *r, const struct cps_options *opt)
{
    const struct manifest *m = &r->manifest;
    r->path = opt->arg[0];
    if (opt->output) /* first: a manifest that is refused leaves no report of the run before */
        CPS_TRY(results_open(opt->output, &r->folder));
    CPS_TRY(manifest_read(r->path, &r->manifest));
    find_firmware(r, opt);
    r->run = opt->run;
    r->run.limit = m->limit;
    cps_run_set_policy(&r->run, m->policy);
    r->run.policy_mixed = true;
    r->run.gen = 0;
    r->jobs = opt->jobs > 0 ? (unsigned)opt->jobs : 1;
    if (r->jobs > m->capture_count)
        r->jobs = m->capture_count;
    CPS_TRY(read_shard(r, opt->shard));
    r->stamp = tool_alloc(m->firmware_count, sizeof(*r->stamp));
    for (unsigned i = 0; i < 2 * m->firmware_count; i++) {
        if (m->firmware[i / 2].path[i % 2])
            files_stamp(m->firmware[i / 2].path[i % 2], &r->stamp[i / 2][i % 2]);
    }
    if (r->run.rnn)
        CPS_TRY(files_digest(r->run.rnn, ".xml", r->names));
    add_settings(r);
    regress_list_pairs(r);
    CPS_TRY(cache_choose(opt->cache, !opt->no_cache, &r->cache, NULL));
    for (unsigned i = 0; *r->cache.dir && i < 256; i++) {
        char path[4096]; /* temporary files of processes that were killed */
        if (snprintf(path, sizeof(path), "%s/%02x", r->cache.dir, i) < (int)sizeof(path))
            cache_sweep(path, ".tmp");
    }
    return NULL;
}

/* Coverage of one firmware, by handler, out of the digits that workers have. */
static struct cps_err *add_cover(struct regress *r, const struct manifest_firmware *m,
                                 const char *bits)
{
    struct cps_names *names[CPS_CPU_COUNT] = {NULL};
    struct cps_fw *fw = NULL;
    CPS_TRY(cps_fw_load(m->path[0], 0, &fw));
    const struct cps_trace_head head = {.gen = fw->gen, .layout = fw->layout};
    CPS_FREE struct cps_cover *cover = tool_alloc((size_t)fw->count + 1, sizeof(*cover));
    struct cps_err *err = trace_names(&head, r->run.rnn, names);
    for (uint32_t k = 0; k < fw->count && bits[k]; k++) {
        cover[k].taken = (bits[k] - '0') >> 1 & 1;
        cover[k].run = cover[k].taken + ((bits[k] - '0') >> 2 & 1);
    }
    if (!err)
        cps_json_add(cps_json_get(r->results, "coverage"), m->name,
                     cover_handlers(fw, names[cps_gen_row(fw->gen)->first], cover));
    trace_names_free(names);
    cps_fw_destroy(fw);
    return err;
}

/* How the code differs, and which code ran. */
static struct cps_err *add_code(struct regress *r)
{
    struct cps_err *err = regress_open_firmware(r);
    if (!err)
        err = regress_code(r, cps_json_get(r->results, "code"));
    regress_close_firmware(r);
    for (unsigned i = 0; !err && i < r->manifest.firmware_count; i++) {
        const struct manifest_firmware *m = &r->manifest.firmware[i];
        const char *digits = cps_json_get_text(r->digits, m->name, NULL);
        if (digits) /* of firmware that cannot be read, every pair tells */
            cps_err_free(tool_err(add_cover(r, m, digits)));
    }
    return err;
}

/* Lines of single pairs on the terminal, where a report has all of them. */
enum { MOST_LINES = 20 };

static const char layout[] =
    "{lines*{status:-8} {firmware:e}  {capture:e}: {reason:e}\n}"
    "{more?and {more} more: see {folder:e}/index.html\n}"
    "{pass} pass, {differ} differ, {stopped} stopped, {skipped} skipped{not_run?, {not_run} not "
    "run}\n";

static struct cps_err *print_people(struct json_object *results, const char *folder)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *root = doc_new();
    struct json_object *lines = cps_json_new_array(root, "lines");
    size_t count = 0;
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        if (!result_is_plain(pair) && (count++ < MOST_LINES || !folder))
            cps_json_append(lines, json_object_get(pair));
    }
    doc_put(root, "folder=%s pass=%u differ=%u stopped=%u skipped=%u", folder,
            results_count(results, RESULT_PASS), results_count(results, RESULT_DIFFERS),
            results_count(results, RESULT_STOPPED), results_count(results, RESULT_SKIPPED));
    if (folder && count > MOST_LINES)
        cps_json_uint(root, "more", count - MOST_LINES);
    if (cps_json_get(results, "interrupted"))
        cps_json_uint(root, "not_run", results_count(results, RESULT_NOT_RUN));
    return doc_print(root, layout, false);
}

static struct cps_err *finish(struct regress *r, const struct cps_options *opt)
{
    CPS_BUF why = {0};
    r->status = results_exit(r->results, &why);
    cps_json_uint(r->results, "exit", (uint64_t)r->status);
    if (opt->output && r->folder.lock < 0)
        CPS_TRY(results_open(opt->output, &r->folder));
    if (opt->output)
        CPS_TRY(results_write(r->results, opt->output));
    CPS_TRY(opt->json ? report_json(json_object_get(r->results))
                      : print_people(r->results, opt->output));
    if (r->status == 4 && why.size)
        fprintf(stderr, "cpscope: %s\n", why.data);
    return r->status == 3 ? cps_err_new(CPS_ERR_INPUT, "%s", tool_text(&why)) : NULL;
}

static struct cps_err *read_shards(struct regress *r, const struct cps_options *opt)
{
    for (unsigned i = 0; i < opt->arg_count; i++) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/results.json", opt->arg[i]);
        CPS_TRY(results_merge(r->results, tool_text(&path)));
    }
    return results_complete(r->results);
}

static bool is_merged(const struct cps_options *opt, const char *dir)
{
    CPS_BUF to = {0};
    bool found = false;
    cps_buf_printf(&to, "%s/results.json", dir);
    for (unsigned i = 0; i < opt->arg_count && !found; i++) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/results.json", opt->arg[i]);
        found = files_are_same(tool_text(&to), tool_text(&path));
    }
    return found;
}

/* Shards that are refused leave no report of the merge before; results that are merged stay. */
static struct cps_err *merge(struct regress *r, const struct cps_options *opt)
{
    struct cps_err *err = read_shards(r, opt);
    if (err && opt->output && !is_merged(opt, opt->output))
        cps_err_free(tool_err(results_open(opt->output, &r->folder)));
    return err ? err : finish(r, opt);
}

static struct cps_err *regress(struct regress *r, const struct cps_options *opt)
{
    char shard[32];
    CPS_TRY(prepare(r, opt));
    CPS_TRY(regress_run(r));
    CPS_TRY(add_code(r));
    /* Results are of one firmware and of one set of names from the first process to the last look.
     */
    char names[65] = "";
    if (r->run.rnn)
        CPS_TRY(files_digest(r->run.rnn, ".xml", names));
    if (strcmp(names, r->names) != 0)
        return cps_err_new(CPS_ERR_INPUT, "%s: changed while it was used", r->run.rnn);
    for (unsigned i = 0; i < 2 * r->manifest.firmware_count; i++) {
        const char *path = r->manifest.firmware[i / 2].path[i % 2];
        if (path)
            CPS_TRY(files_check_stamp(path, &r->stamp[i / 2][i % 2]));
    }
    /* Why these are not all pairs of the manifest. */
    snprintf(shard, sizeof(shard), "%" PRIu32 "/%" PRIu32, r->shard + 1, r->shards);
    if (r->shards > 1)
        cps_json_text(r->results, "shard", shard);
    if (r->interrupted)
        cps_json_bool(r->results, "interrupted", true);
    if (r->lost_workers)
        cps_json_bool(r->results, "coverage_lost", true);
    report_aside("%" PRIu64 " runs emulated, %" PRIu64 " from the cache%s\n", r->emulated,
                 r->cached, r->interrupted ? "; interrupted, run again to continue" : "");
    if (r->lost_workers)
        fprintf(stderr, "%u processes died: their coverage is lost\n", r->lost_workers);
    CPS_TRY(results_sort(r->results));
    return finish(r, opt);
}

int cmd_regress(const struct cps_options *opt)
{
    struct regress r = {.folder = {.lock = -1}};
    if (opt->merge ? !opt->arg_count : opt->arg_count != 1)
        return report_usage("regress takes one manifest, or --merge and directories");
    r.results = tool_json(results_create());
    r.digits = doc_new();
    struct cps_err *err = opt->merge ? merge(&r, opt) : regress(&r, opt);
    int status = err ? report_error(err) : r.status;
    json_object_put(r.results);
    json_object_put(r.due);
    json_object_put(r.digits);
    free(r.stamp);
    results_close(opt->output, &r.folder);
    manifest_deinit(&r.manifest);
    return status;
}
