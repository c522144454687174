/* SPDX-License-Identifier: MIT
 * The run of a matrix: which pairs are due; captures in processes, each on all of its firmware; and
 * what the processes send made into results. Every pair that is due ends in exactly one state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/progress.h"
#include "tools/explain/regress/regress.h"
#include "tools/run/config.h"
#include "tools/run/names.h"
#include "tools/run/pool.h"
#include "trace/out/json.h"

/* ---- Which pairs there have to be ---- */

static struct json_object *find_due(const struct regress *r, const char *firmware,
                                    const char *capture)
{
    CPS_BUF key = {0};
    cps_buf_printf(&key, "%s\n%s", capture, firmware);
    return cps_json_get(r->due, tool_text(&key));
}

static struct json_object *find_pair(const struct regress *r, unsigned firmware, unsigned capture)
{
    return find_due(r, r->manifest.firmware[firmware].name, r->manifest.capture[capture].name);
}

static void add_due(struct regress *r, struct json_object *pair)
{
    CPS_BUF key = {0};
    cps_buf_printf(&key, "%s\n%s", result_text(pair, "capture"), result_text(pair, "firmware"));
    cps_json_add(r->due, tool_text(&key), json_object_get(pair));
}

/* Shards go by names, so that lists may grow and be reordered. */
static bool is_of_shard(const struct regress *r, const char *firmware, const char *capture)
{
    CPS_BUF text = {0};
    char hash[65];
    if (r->shards == 1)
        return true; /* whatever its hash */
    cps_buf_printf(&text, "%s\n%s", firmware, capture);
    cache_hash(tool_text(&text), text.size, hash);
    hash[8] = '\0';
    return strtoul(hash, NULL, 16) % r->shards == r->shard;
}

void regress_list_pairs(struct regress *r)
{
    const struct manifest *m = &r->manifest;
    struct json_object *all = tool_json(json_object_new_array());
    char digest[65];
    r->due = doc_new();
    for (unsigned i = 0; i < m->capture_count * m->firmware_count; i++) {
        const struct manifest_capture *c = &m->capture[i / m->firmware_count];
        const struct manifest_firmware *f = &m->firmware[i % m->firmware_count];
        if (!manifest_pairs(f, c))
            continue;
        struct json_object *pair = doc_new();
        cps_json_text(pair, "firmware", f->name);
        cps_json_text(pair, "capture", c->name);
        cps_json_append(all, pair);
        if (is_of_shard(r, f->name, c->name))
            add_due(r, pair);
    }
    if (!cps_json_complete(all) || !cps_json_complete(r->due))
        tool_oom();
    json_object_array_sort(all, result_order);
    results_digest(all, digest);
    cps_json_text(r->results, "manifest", digest);
    cps_json_uint(r->results, "pairs_total", cps_json_count(all));
    json_object_put(all);
}

/* ---- Firmware ---- */

/* Loads it, and the hash is that of what was loaded: the same in all processes. */
static struct cps_err *open_file(const char *path, const struct files_stamp *stamp,
                                 struct cps_fw **ret, char hash[65])
{
    CPS_TRY(cps_fw_load(path, 0, ret));
    CPS_TRY(cps_sha256_file(path, hash));
    return files_check_stamp(path, stamp);
}

static struct cps_err *open_engine(struct regress *r, unsigned i)
{
    const struct manifest_firmware *m = &r->manifest.firmware[i];
    struct engine *e = &r->engine[i];
    e->gen = (enum cps_gen)cps_named_engine(m->path[0]);
    struct cps_trace_head head = {.gen = e->gen, .layout = cps_gen_layout(e->gen)};
    if (!e->gen) {
        CPS_TRY(open_file(m->path[0], &r->stamp[i][0], &e->fw, e->hash));
        if (m->path[1])
            CPS_TRY(open_file(m->path[1], &r->stamp[i][1], &e->me, e->me_hash));
        e->gen = head.gen = e->fw->gen;
        head.layout = e->fw->layout;
        e->cover = tool_alloc((size_t)e->fw->count + 1, 1);
    }
    return trace_names(&head, r->run.rnn, e->names);
}

/* Masks name registers as the first firmware's generation does. */
struct cps_err *regress_open_firmware(struct regress *r)
{
    unsigned count = r->manifest.firmware_count;
    unsigned first = 0;
    r->engine = tool_alloc(count, sizeof(*r->engine));
    r->seen = doc_new();
    for (unsigned i = 0; i < count; i++)
        r->engine[i].err = tool_err(open_engine(r, i));
    while (first < count && r->engine[first].err)
        first++;
    if (!r->manifest.mask || first == count)
        return NULL;
    const struct engine *e = &r->engine[first];
    unsigned who = e->fw ? cps_gen_row(e->gen)->first : CPS_CPU_HOST;
    return cps_err_within_(cps_mask_add(&r->mask, r->manifest.mask, e->names[who]), "%s:%u",
                           r->path, r->manifest.mask_line);
}

void regress_close_firmware(struct regress *r)
{
    for (unsigned i = 0; r->engine && i < r->manifest.firmware_count; i++) {
        struct engine *e = &r->engine[i];
        cps_fw_destroy(e->fw);
        cps_fw_destroy(e->me);
        cps_err_free(e->err);
        free(e->cover);
        diff_causes_destroy(e->causes);
        trace_names_free(e->names);
        record_boot_deinit(&e->boot);
    }
    free(r->engine);
    json_object_put(r->seen);
    cps_mask_deinit(&r->mask);
}

struct cps_err *regress_code(struct regress *r, struct json_object *ret)
{
    const struct manifest *m = &r->manifest;
    const struct cps_diff none = {0};
    for (unsigned i = 0; m->baseline >= 0 && i < m->firmware_count; i++) {
        const struct engine *a = &r->engine[m->baseline];
        const struct engine *b = &r->engine[i];
        CPS_BUF text = {0};
        struct diff_report report = {.a = {"old", a->fw, a->me, NULL, a->names},
                                     .b = {"new", b->fw, b->me, NULL, b->names},
                                     .diff = &none};
        if ((int)i == m->baseline || a->err || b->err || a->gen != b->gen || !a->fw)
            continue;
        CPS_TRY(diff_print_places(&report, &text));
        cps_json_buf(ret, m->firmware[i].name, &text);
    }
    return NULL;
}

/* ---- Runs, made or taken from the cache ---- */

uint32_t regress_kinds_(const struct regress *r)
{
    return r->manifest.kinds | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT | 1u << CPS_EV_END;
}

static struct record_setup setup_of(const struct regress *r)
{
    return (struct record_setup){
        .config = &r->run, .kinds = regress_kinds_(r), .cover = true, .recover = true};
}

struct cps_err *regress_boot_(struct regress *r, unsigned firmware)
{
    struct engine *e = &r->engine[firmware];
    const struct record_setup setup = setup_of(r);
    const char *const *path = r->manifest.firmware[firmware].path;
    /* Before the boot, drivers of a5xx and a6xx write registers that depend on the GPU, which each
     * capture names: there each run boots by itself, as `run` does. */
    bool boots_alike = e->fw && cps_gen_since(e->fw->gen, CPS_A7XX);
    if (!e->booted && e->fw)
        CPS_TRY(boots_alike ? record_boot(&setup, path, &e->boot)
                            : record_open(&setup, path, 2, &e->boot));
    e->booted = true;
    return NULL;
}

struct cache_run regress_cache_run_(const struct regress *r, unsigned firmware)
{
    const struct engine *e = &r->engine[firmware];
    const struct manifest *m = &r->manifest;
    return (struct cache_run){.dir = r->cache.dir,
                              .program = r->cache.program,
                              .firmware_hash = e->hash,
                              .me_hash = e->me_hash,
                              .capture_hash = r->capture_hash,
                              .names = r->names,
                              .policy = m->policy ? m->policy : "",
                              .limit = m->limit,
                              .kinds = m->kinds};
}

struct cps_err *regress_check_inputs_(const struct regress *r, unsigned firmware,
                                      const char *capture)
{
    const char *const *path = r->manifest.firmware[firmware].path;
    for (unsigned i = 0; i < 2 && path[i]; i++)
        CPS_TRY(files_check_stamp(path[i], &r->stamp[firmware][i]));
    return files_check_stamp(capture, &r->capture_stamp);
}

struct cps_err *regress_record_(struct regress *r, unsigned firmware, unsigned capture,
                                struct record *ret)
{
    struct engine *e = &r->engine[firmware];
    const char *path = r->manifest.capture[capture].path;
    const struct record_setup setup = setup_of(r);
    if (e->err)
        return cps_err_lines_(e->err->code, e->err->message);
    /* A run file may name other files, which no key has; and scripts are short. */
    bool stored = *r->cache.dir && e->fw && strlen(r->capture_hash) == 64;
    const struct cache_run run = regress_cache_run_(r, firmware);
    bool taken = stored && cache_take_run(&run, e->fw->count, ret);
    r->cached += taken;
    if (!taken) {
        CPS_TRY(regress_boot_(r, firmware));
        CPS_TRY(record_run(&setup, r->manifest.firmware[firmware].path, path, &e->boot, ret));
        r->emulated++;
        CPS_TRY(regress_check_inputs_(r, firmware, path));
    }
    if (!taken && stored && !ret->misses && !r->cache_failed) {
        struct cps_err *err = cache_keep_run(&run, ret, e->fw->gen);
        if (err)
            fprintf(stderr, "cpscope: %s; results are not stored\n", err->message);
        r->cache_failed = err;
        cps_err_free(err);
    }
    /* Adds to what is known of the code that ran. Of scripts nothing is kept. */
    uint32_t words = e->fw ? e->fw->count + 1 : 0;
    for (uint32_t i = 0; i < ret->cover_count && i < words; i++) {
        const struct cps_cover c = ret->cover[i];
        if (c.run) /* few words of an image do */
            e->cover[i] |= (uint8_t)(1 | (c.taken ? 2 : 0) | (c.run > c.taken ? 4 : 0));
    }
    return NULL;
}

/* ---- In a process: captures ---- */

/* Other things than files, and unreadable files, have no digest: their pairs report why. */
static void add_digest(const char *path, const struct cps_buf *key, const char *more, char hash[65],
                       struct json_object *to)
{
    CPS_BUF value = {0};
    struct cps_err *err = tool_err(cps_sha256_file(path, hash));
    if (err)
        snprintf(hash, 65, "none");
    cps_err_free(err);
    cps_buf_printf(&value, "%s%s", hash, more);
    cps_json_buf(to, tool_text(key), &value);
}

/* The digests of a capture and its goldens, also if all of its pairs are of other shards: a merge
 * finds out that these have read the same. */
static void add_inputs(struct regress *r, unsigned capture, struct json_object *to)
{
    const struct manifest *m = &r->manifest;
    const struct manifest_capture *c = &m->capture[capture];
    CPS_BUF key = {0};
    CPS_BUF expect = {0};
    files_stamp(c->path, &r->capture_stamp);
    cps_buf_printf(&key, "capture %s", c->name);
    if (c->expect != CPS_REASON_DONE)
        cps_buf_printf(&expect, ", expect=%s", cps_event_sub_word(CPS_EV_END, (unsigned)c->expect));
    add_digest(c->path, &key, tool_text(&expect), r->capture_hash, to);
    for (unsigned i = 0; i < m->firmware_count && m->golden; i++) {
        CPS_BUF path = {0};
        CPS_BUF golden = {0};
        char hash[65];
        if (!manifest_pairs(&m->firmware[i], c))
            continue;
        regress_golden_(m, i, capture, &path);
        cps_buf_printf(&golden, "golden %s/%s", m->firmware[i].name, c->name);
        add_digest(tool_text(&path), &golden, "", hash, to);
    }
}

/* The lock of the results' folder is the parent's, which may die before. */
static struct cps_err *begin_process(void *context)
{
    struct regress *r = context;
    if (r->folder.lock >= 0)
        close(r->folder.lock);
    return regress_open_firmware(r);
}

/* One capture on its firmware. @p ret  gets "pairs", and "places" that are new to this process */
static struct cps_err *run_capture(void *context, unsigned capture, struct json_object *ret)
{
    struct regress *r = context;
    const struct manifest *m = &r->manifest;
    struct json_object *pairs = cps_json_new_array(ret, "pairs");
    struct base base = {0};
    add_inputs(r, capture, cps_json_new_object(ret, "inputs"));
    r->places = cps_json_new_object(ret, "places");
    for (unsigned i = 0; i < m->firmware_count; i++) {
        struct json_object *pair = find_pair(r, i, capture);
        if (!pair)
            continue;
        if (!cps_json_count(pairs) && m->baseline >= 0)
            base.err = regress_record_(r, (unsigned)m->baseline, capture, &base.record);
        struct trial trial = {r, i, capture, &r->engine[i], pair};
        struct cps_err *err = regress_judge_(&trial, m->baseline >= 0 ? &base : NULL);
        char *hint = err ? strstr(err->message, " (use --as") : NULL;
        if (hint) /* regress has no such option */
            *hint = '\0';
        if (err) /* a capture of another generation than the firmware is no failure of either */
            regress_set_status_(pair,
                                err->code == CPS_ERR_MISMATCH ? RESULT_SKIPPED : RESULT_STOPPED,
                                err->message);
        cps_err_free(err);
        cps_json_append(pairs, json_object_get(pair));
    }
    cps_err_free(base.err);
    record_deinit(&base.record);
    return NULL;
}

static void sum_up(void *context, struct json_object *ret)
{
    const struct regress *r = context;
    struct json_object *coverage = cps_json_new_object(ret, "coverage");
    cps_json_uint(ret, "emulated", r->emulated);
    cps_json_uint(ret, "cached", r->cached);
    for (unsigned i = 0; i < r->manifest.firmware_count; i++) {
        const struct engine *e = &r->engine[i];
        CPS_BUF digits = {0};
        for (uint32_t k = 0; e->fw && e->cover && k < e->fw->count; k++) {
            const char digit = (char)('0' + e->cover[k]);
            cps_buf_add(&digits, &digit, 1);
        }
        cps_json_buf(coverage, r->manifest.firmware[i].name, &digits);
    }
}

/* ---- In the parent: results on their way in ---- */

static struct cps_err *take_capture(void *context, unsigned capture, struct json_object *from)
{
    struct regress *r = context;
    struct json_object *pairs = cps_json_member(from, "pairs", json_type_array);
    bool good = pairs && capture < r->manifest.capture_count;
    for (size_t i = 0; i < cps_json_count(pairs) && good; i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        struct json_object *due =
            find_due(r, result_text(pair, "firmware"), result_text(pair, "capture"));
        good = due && !cps_json_get(due, "status") && result_status(pair) != RESULT_COUNT;
        if (good)
            add_due(r, pair);
    }
    if (!good)
        return cps_err_new(CPS_ERR_INPUT, "(worker): results of no capture, expected those of one");
    results_join(cps_json_get(r->results, "places"), cps_json_get(from, "places"));
    results_join(cps_json_get(r->results, "inputs"), cps_json_get(from, "inputs"));
    return NULL;
}

static void take_sums(void *context, struct json_object *from)
{
    struct regress *r = context;
    struct json_object *coverage = cps_json_get(from, "coverage");
    r->emulated += (uint64_t)cps_json_get_int(from, "emulated", 0);
    r->cached += (uint64_t)cps_json_get_int(from, "cached", 0);
    json_object_object_foreach(coverage, key, value)
    {
        const char *new = json_object_get_string(value);
        cps_json_add(r->digits, key,
                     results_join_digits(cps_json_get_text(r->digits, key, new), new));
    }
}

static void set_lost(struct regress *r, unsigned capture, enum result_status status,
                     const char *reason)
{
    for (unsigned f = 0; f < r->manifest.firmware_count; f++) {
        struct json_object *pair = find_pair(r, f, capture);
        if (pair && !cps_json_get(pair, "status"))
            regress_set_status_(pair, status, reason);
    }
}

static void take_death(void *context, unsigned capture, const char *how)
{
    struct regress *r = context;
    if (capture < r->manifest.capture_count)
        set_lost(r, capture, RESULT_STOPPED, how);
    r->lost_workers++;
    snprintf(r->death, sizeof(r->death), "%s", how);
}

/* For people only: nothing of it goes into a result. */
static void show_progress(void *context, unsigned done, double seconds)
{
    unsigned count = ((struct regress *)context)->manifest.capture_count;
    if (done)
        progress_show("%u of %u captures, about %.0f s left", done, count,
                      seconds * (count - done) / done);
    else
        progress_show("%u of %u captures", done, count);
}

struct cps_err *regress_run(struct regress *r)
{
    const struct pool_job job = {.context = r,
                                 .processes = r->jobs,
                                 .tasks = r->manifest.capture_count,
                                 .begin = begin_process,
                                 .work = run_capture,
                                 .finish = sum_up,
                                 .take = take_capture,
                                 .take_last = take_sums,
                                 .died = take_death,
                                 .progress = show_progress};
    CPS_TRY(pool_run(&job, &r->interrupted));
    CPS_BUF reason = {0};
    cps_buf_str(&reason,
                r->interrupted ? "interrupted before it was run" : "no process was left to run it");
    if (r->lost_workers && !r->interrupted)
        cps_buf_printf(&reason, "; the last process: %s", r->death);
    for (unsigned c = 0; c < r->manifest.capture_count; c++)
        set_lost(r, c, r->interrupted ? RESULT_NOT_RUN : RESULT_STOPPED, tool_text(&reason));
    json_object_object_foreach(r->due, key, pair)
    {
        (void)key;
        cps_json_append(cps_json_get(r->results, "pairs"), json_object_get(pair));
    }
    return NULL;
}
