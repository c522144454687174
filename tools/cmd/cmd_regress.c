/* SPDX-License-Identifier: MIT
 * cpscope regress: every firmware of a manifest over every capture. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/shown.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/explain/cover/cover.h"
#include "tools/explain/regress/account.h"
#include "tools/explain/regress/cache.h"
#include "tools/run/names.h"
#include "tools/cmd/terminal/report.h"
#include "trace/out/json.h"
#include "trace/out/outfile.h"

int cmd_regress(const struct cps_options *opt);

static struct cps_options run_options(const struct regress *r)
{
    struct cps_options opt = *r->opt;
    opt.limit = r->manifest.limit;
    opt_set_policy(&opt, r->manifest.policy);
    opt.policy_mixed = true;
    opt.gen = 0;
    return opt;
}

/* As test runners say it, from 0. */
static struct cps_err *read_environment(struct regress *r, const char *index, const char *total)
{
    const char *status = getenv("TEST_SHARD_STATUS_FILE");
    uint64_t i = 0, n = 0;
    if (!opt_count(total, &n) || !opt_count(index, &i) || i >= n || n > INT32_MAX)
        return cps_err_new(CPS_ERR_INPUT,
                           "TEST_SHARD_INDEX %s of TEST_TOTAL_SHARDS %s: expected an index from 0 "
                           "below the total",
                           index, total);
    r->shard = (uint32_t)i;
    r->shards = (uint32_t)n;
    /* The runner wants to see that it is honoured. */
    return status ? cps_outfile_whole(status, "", 0) : NULL;
}

/* "I/N", from 1; else what the environment says. */
static struct cps_err *read_shard(struct regress *r)
{
    const char *total = getenv("TEST_TOTAL_SHARDS");
    const char *index = getenv("TEST_SHARD_INDEX");
    unsigned i = 1, n = 1;
    if (r->opt->shard && !results_shard(r->opt->shard, &i, &n))
        return cps_err_new(CPS_ERR_INPUT, "--shard %s: expected I/N, I from 1 to N", r->opt->shard);
    r->shard = i - 1;
    r->shards = n;
    return r->opt->shard || !total || !index ? NULL : read_environment(r, index, total);
}

/* What the matrix has for columns; the same in every shard. */
static void add_firmware(struct regress *r)
{
    const struct manifest *m = &r->manifest;
    struct json_object *names = json_object_new_array();
    for (unsigned i = 0; i < m->firmware_count; i++)
        cps_json_append(names, json_object_new_string(m->firmware[i].name));
    cps_json_add(r->results, "firmware", names);
    if (m->baseline >= 0)
        cps_json_text(r->results, "baseline", m->firmware[m->baseline].name);
}

/* What processes left there that were killed, where file systems want names for it. */
static void sweep(const char *cache)
{
    for (unsigned i = 0; i < 256; i++) {
        char path[4096];
        if (snprintf(path, sizeof(path), "%s/%02x", cache, i) < (int)sizeof(path))
            cache_sweep(path, ".tmp");
    }
}

/* What the manifest names without a folder, and is not beside it. */
static struct cps_err *find_firmware(struct regress *r)
{
    const char *manifest = r->opt->arg[0];
    const char *slash = strrchr(manifest, '/');
    size_t folder = slash ? (size_t)(slash - manifest) + 1 : 0;
    for (unsigned i = 0; i < 2 * r->manifest.firmware_count; i++) {
        char found[FILES_PATH];
        char **path = &r->manifest.firmware[i / 2].path[i % 2];
        bool beside = *path && !strncmp(*path, manifest, folder);
        if (!beside || files_firmware_beside(r->opt, *path, *path + folder, found) == *path)
            continue;
        char *copy = strdup(found);
        if (!copy)
            return cps_err_nomem();
        free(*path);
        *path = copy;
    }
    return NULL;
}

static struct cps_err *stamp_firmware(struct regress *r)
{
    const struct manifest *m = &r->manifest;
    r->stamp = calloc(m->firmware_count, sizeof(*r->stamp));
    for (unsigned i = 0; r->stamp && i < 2 * m->firmware_count; i++) {
        if (m->firmware[i / 2].path[i % 2])
            files_stamp(m->firmware[i / 2].path[i % 2], &r->stamp[i / 2][i % 2]);
    }
    return r->stamp ? NULL : cps_err_nomem();
}

/* Results are of one firmware and of one set of names from the first process to the last look. */
static struct cps_err *check_inputs(const struct regress *r)
{
    const struct manifest *m = &r->manifest;
    char names[65] = "";
    if (r->opt->rnn)
        CPS_TRY(files_digest(r->opt->rnn, ".xml", names));
    if (strcmp(names, r->names) != 0)
        return cps_err_new(CPS_ERR_INPUT, "%s: changed while it was used", r->opt->rnn);
    for (unsigned i = 0; i < 2 * m->firmware_count; i++) {
        if (m->firmware[i / 2].path[i % 2])
            CPS_TRY(files_check_stamp(m->firmware[i / 2].path[i % 2], &r->stamp[i / 2][i % 2]));
    }
    return NULL;
}

/* The digest of each file; the name of an engine for scripts. What cannot be read, its pairs say.
 */
static struct cps_err *put_firmware(const struct manifest_firmware *firmware, struct cps_buf *out)
{
    if (opt_named_engine(firmware->path[0])) {
        cps_buf_str(out, firmware->path[0]);
        return NULL;
    }
    for (unsigned i = 0; i < 2 && firmware->path[i]; i++) {
        char hash[65];
        struct cps_err *err = cps_sha256_file(firmware->path[i], hash);
        if (err && err->code == CPS_ERR_NOMEM)
            return err;
        cps_buf_printf(out, "%s%s", i ? " " : "", err ? "none" : hash);
        cps_err_free(err);
    }
    return NULL;
}

/* What runs are made with; captures and goldens come from the workers. */
static struct cps_err *add_settings(struct regress *r)
{
    const struct manifest *m = &r->manifest;
    struct json_object *to = cps_json_get(r->results, "inputs");
    CPS_BUF limit = {0};
    cps_buf_printf(&limit, "%" PRIu64, m->limit);
    cps_json_text(to, "baseline", m->baseline < 0 ? "none" : m->firmware[m->baseline].name);
    cps_json_text(to, "events", m->events ? m->events : "default");
    cps_json_text(to, "golden", m->golden ? "given" : "none");
    cps_json_buf(to, "limit", &limit);
    cps_json_text(to, "mask", m->mask ? m->mask : "none");
    cps_json_text(to, "names", *r->names ? r->names : "built-in");
    cps_json_text(to, "policy", m->policy ? m->policy : "default");
    for (unsigned i = 0; i < m->firmware_count; i++) {
        CPS_BUF key = {0};
        CPS_BUF value = {0};
        cps_buf_printf(&key, "firmware %s", m->firmware[i].name);
        CPS_TRY(put_firmware(&m->firmware[i], &value));
        cps_json_buf(to, cps_buf_text(&key), &value);
    }
    return NULL;
}

static struct cps_err *prepare(struct regress *r)
{
    const struct cps_options *opt = r->opt;
    CPS_TRY(manifest_read(opt->arg[0], &r->manifest));
    CPS_TRY(find_firmware(r));
    add_firmware(r);
    r->run = run_options(r);
    r->jobs = opt->jobs > 0 ? (unsigned)opt->jobs : 1;
    if (r->jobs > r->manifest.capture_count)
        r->jobs = r->manifest.capture_count;
    CPS_TRY(read_shard(r));
    CPS_TRY(account_open(r));
    CPS_TRY(stamp_firmware(r));
    if (opt->rnn)
        CPS_TRY(files_digest(opt->rnn, ".xml", r->names));
    CPS_TRY(add_settings(r));
    CPS_TRY(cache_choose(opt, true, &r->cache));
    if (*r->cache.dir)
        sweep(r->cache.dir);
    return opt->output ? results_open(opt->output, &r->folder) : NULL;
}

/* Coverage of one firmware, by handler. */
static struct cps_err *add_firmware_cover(struct regress *r, const struct cps_fw *fw,
                                          const char *name, const char *bits)
{
    struct cps_names *names[CPS_CPU_COUNT] = {NULL};
    const struct cps_trace_head head = {.gen = fw->gen, .layout = fw->layout};
    struct cps_cover *cover = calloc((size_t)fw->count + 1, sizeof(*cover));
    struct cps_err *err = cover ? trace_names(&head, r->opt->rnn, names) : cps_err_nomem();
    for (uint32_t k = 0; !err && k < fw->count && bits[k]; k++) {
        cover[k].taken = (bits[k] - '0') >> 1 & 1;
        cover[k].run = cover[k].taken + ((bits[k] - '0') >> 2 & 1);
    }
    if (!err)
        cps_json_add(
            cps_json_get(r->results, "coverage"), name,
            cover_handlers(fw, names[fw->gen == CPS_A5XX ? CPS_CPU_PFP : CPS_CPU_SQE], cover));
    trace_names_free(names);
    free(cover);
    return err;
}

static struct cps_err *add_cover(struct regress *r)
{
    for (unsigned i = 0; i < r->manifest.firmware_count; i++) {
        const struct manifest_firmware *m = &r->manifest.firmware[i];
        const char *digits = cps_json_get_text(r->digits, m->name, NULL);
        struct cps_fw *fw = NULL;
        if (!digits)
            continue;
        struct cps_err *err = cps_fw_load(m->path[0], 0, &fw);
        if (!err)
            err = add_firmware_cover(r, fw, m->name, digits);
        cps_fw_destroy(fw);
        if (err && err->code == CPS_ERR_NOMEM)
            return err;
        cps_err_free(err); /* every pair of that firmware says so */
    }
    return NULL;
}

static struct cps_err *add_code(struct regress *r)
{
    struct worker *worker = NULL;
    struct cps_err *err = worker_create(r, &worker);
    if (!err)
        err = worker_code(worker, cps_json_get(r->results, "code"));
    worker_destroy(worker);
    return err;
}

/* Lines of single pairs on the terminal, where a report has all of them. */
#define MAX_LINES 20

static void put_field(struct cps_buf *out, struct json_object *pair, const char *key,
                      const char *behind)
{
    cps_shown_put_(out, result_text(pair, key));
    cps_buf_str(out, behind);
}

static struct cps_err *print_people(const struct regress *r)
{
    struct json_object *pairs = cps_json_get(r->results, "pairs");
    CPS_BUF out = {0};
    size_t lines = 0;
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        if (result_is_plain(pair) || (lines++ >= MAX_LINES && r->opt->output))
            continue;
        cps_buf_printf(&out, "%-8s ", result_word(result_status(pair)));
        put_field(&out, pair, "firmware", "  ");
        put_field(&out, pair, "capture", ": ");
        put_field(&out, pair, "reason", "\n");
    }
    if (r->opt->output && lines > MAX_LINES) {
        cps_buf_printf(&out, "and %zu more: see ", lines - MAX_LINES);
        cps_shown_put_(&out, r->opt->output);
        cps_buf_str(&out, "/index.html\n");
    }
    cps_buf_printf(&out, "%u pass, ", results_count(r->results, RESULT_PASS));
    if (results_count_same(r->results))
        cps_buf_printf(&out, "%u of them same code, ", results_count_same(r->results));
    cps_buf_printf(
        &out, "%u differ, %u stopped, %u skipped", results_count(r->results, RESULT_DIFFERS),
        results_count(r->results, RESULT_STOPPED), results_count(r->results, RESULT_SKIPPED));
    if (r->interrupted)
        cps_buf_printf(&out, ", %u not run", results_count(r->results, RESULT_NOT_RUN));
    cps_buf_str(&out, "\n");
    fputs(cps_buf_text(&out), stdout);
    return out.failed ? cps_err_nomem() : NULL;
}

static struct cps_err *finish(struct regress *r)
{
    CPS_BUF why = {0};
    r->status = results_exit(r->results, &why);
    cps_json_uint(r->results, "exit", (uint64_t)r->status);
    if (r->opt->output && r->folder.lock < 0)
        CPS_TRY(results_open(r->opt->output, &r->folder));
    if (r->opt->output)
        CPS_TRY(results_write(r->results, r->opt->output));
    if (r->opt->json)
        CPS_TRY(report_json(json_object_get(r->results)));
    else
        CPS_TRY(print_people(r));
    if (r->status != 3)
        return why.failed ? cps_err_nomem() : NULL;
    return cps_err_new(CPS_ERR_INPUT, "%s", cps_buf_text(&why));
}

static struct cps_err *merge(struct regress *r)
{
    for (unsigned i = 0; i < r->opt->arg_count; i++) {
        CPS_BUF path = {0};
        cps_buf_printf(&path, "%s/results.json", r->opt->arg[i]);
        if (path.failed)
            return cps_err_nomem();
        CPS_TRY(results_merge(r->results, cps_buf_text(&path)));
    }
    CPS_TRY(results_complete(r->results));
    return finish(r);
}

/* Why these are not all pairs of the manifest. */
static void add_share(struct regress *r)
{
    char shard[32];
    snprintf(shard, sizeof(shard), "%" PRIu32 "/%" PRIu32, r->shard + 1, r->shards);
    if (r->shards > 1)
        cps_json_text(r->results, "shard", shard);
    if (r->interrupted)
        cps_json_bool(r->results, "interrupted", true);
    if (r->lost_workers)
        cps_json_bool(r->results, "coverage_lost", true);
}

static struct cps_err *regress(struct regress *r)
{
    if (r->opt->merge)
        return merge(r);
    CPS_TRY(prepare(r));
    CPS_TRY(pool_run(r));
    CPS_TRY(add_code(r));
    CPS_TRY(add_cover(r));
    CPS_TRY(check_inputs(r));
    add_share(r);
    report_aside("%" PRIu64 " runs emulated, %" PRIu64 " from the cache, %" PRIu64
                 " not made: same code%s\n",
                 r->emulated, r->cached, r->same,
                 r->interrupted ? "; interrupted, run again to go on" : "");
    if (r->lost_workers)
        fprintf(stderr, "%u processes died, with what they knew of the code that ran\n",
                r->lost_workers);
    CPS_TRY(results_sort(r->results));
    CPS_TRY(account_close(r));
    return finish(r);
}

int cmd_regress(const struct cps_options *opt)
{
    struct regress r = {.opt = opt, .folder = {.lock = -1}};
    if (opt->merge ? !opt->arg_count : opt->arg_count != 1)
        return report_usage("regress takes one manifest, or --merge and directories");
    r.results = results_create();
    r.digits = json_object_new_object();
    bool made = cps_json_complete(r.results) && cps_json_complete(r.digits);
    struct cps_err *err = made ? regress(&r) : cps_err_nomem();
    int status = err ? report_error(err) : r.status;
    json_object_put(r.results);
    json_object_put(r.digits);
    free(r.stamp);
    results_close(opt->output, &r.folder);
    manifest_deinit(&r.manifest);
    return status;
}
