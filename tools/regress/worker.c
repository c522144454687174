/* SPDX-License-Identifier: MIT
 * One capture on all of its firmware: run or taken from the cache, compared, judged. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/play/files.h"
#include "tools/regress/cache.h"
#include "tools/report/diffplace.h"
#include "tools/report/names.h"
#include "tools/opt_engine.h"
#include "tools/regress/regress.h"
#include "trace/json.h"

/* A firmware of the manifest, opened once. */
struct engine {
    struct cps_fw *fw, *me; /* NULL: an engine for scripts */
    enum cps_gen gen;
    struct cps_err *err; /* why it cannot run */
    char hash[65], me_hash[65];
    struct record_boot boot;
    bool booted;
    uint8_t *cover; /* per dword, bits as in the cache */
    struct cps_names *names[CPS_CPU_COUNT];
};

struct worker {
    struct regress *regress;
    struct engine *engine; /* by firmware of the manifest */
    struct cps_mask mask;
    struct json_object *seen;   /* places that some pair of this worker was in */
    struct json_object *places; /* new ones of the capture at hand */
    uint64_t emulated, cached;
    char capture_hash[65]; /* of the capture at hand */
    struct files_stamp capture_stamp;
    bool cache_failed;
};

/* Loads it, and the hash is that of what was loaded: the same in all processes. */
static struct cps_err *open_firmware(const char *path, const struct files_stamp *stamp,
                                     struct cps_fw **ret, char hash[65])
{
    CPS_TRY(cps_fw_load(path, 0, ret));
    CPS_TRY(cps_sha256_file(path, hash));
    return files_check_stamp(path, stamp);
}

static struct cps_err *open_engine(struct worker *w, unsigned i)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[i];
    struct engine *e = &w->engine[i];
    e->gen = (enum cps_gen)opt_named_engine(m->path[0]);
    if (e->gen) {
        const struct cps_trace_head head = {.gen = e->gen, .layout = cps_gen_layout(e->gen)};
        return trace_names(&head, w->regress->opt->rnn, e->names);
    }
    CPS_TRY(open_firmware(m->path[0], &w->regress->stamp[i][0], &e->fw, e->hash));
    e->gen = e->fw->gen;
    if (m->path[1])
        CPS_TRY(open_firmware(m->path[1], &w->regress->stamp[i][1], &e->me, e->me_hash));
    const struct cps_trace_head head = {.gen = e->fw->gen, .layout = e->fw->layout};
    CPS_TRY(trace_names(&head, w->regress->opt->rnn, e->names));
    e->cover = calloc((size_t)e->fw->count + 1, 1);
    return e->cover ? NULL : cps_err_nomem();
}

/* Masks name registers as the first firmware's generation does. */
static struct cps_err *read_mask(struct worker *w)
{
    const char *mask = w->regress->manifest.mask;
    unsigned i = 0;
    while (i < w->regress->manifest.firmware_count && w->engine[i].err)
        i++;
    if (!mask || i == w->regress->manifest.firmware_count)
        return NULL;
    const struct engine *e = &w->engine[i];
    unsigned who = e->gen == CPS_A5XX ? CPS_CPU_PFP : CPS_CPU_SQE;
    return cps_mask_add(&w->mask, mask, e->names[e->fw ? who : CPS_CPU_HOST]);
}

struct cps_err *worker_create(struct regress *regress, struct worker **ret)
{
    unsigned count = regress->manifest.firmware_count;
    struct worker *w = calloc(1, sizeof(*w));
    *ret = w;
    if (!w)
        return cps_err_nomem();
    w->regress = regress;
    w->engine = calloc(count, sizeof(*w->engine));
    w->seen = json_object_new_object();
    if (!w->engine || !w->seen)
        return cps_err_nomem();
    for (unsigned i = 0; i < count; i++)
        w->engine[i].err = open_engine(w, i);
    return read_mask(w);
}

void worker_destroy(struct worker *w)
{
    if (!w)
        return;
    for (unsigned i = 0; w->engine && i < w->regress->manifest.firmware_count; i++) {
        struct engine *e = &w->engine[i];
        cps_fw_destroy(e->fw);
        cps_fw_destroy(e->me);
        cps_err_free(e->err);
        free(e->cover);
        trace_names_free(e->names);
        record_boot_deinit(&e->boot);
    }
    free(w->engine);
    json_object_put(w->seen);
    cps_mask_deinit(&w->mask);
    free(w);
}

/* Shards go by names, so that lists may grow and be reordered. */
bool worker_has(const struct regress *r, unsigned firmware, unsigned capture)
{
    const struct manifest *m = &r->manifest;
    CPS_BUF text = {0};
    char hash[65];
    if (!manifest_pairs(&m->firmware[firmware], &m->capture[capture]))
        return false;
    if (r->shards == 1)
        return true; /* whatever its hash */
    cps_buf_printf(&text, "%s\n%s", m->firmware[firmware].name, m->capture[capture].name);
    cache_hash(cps_buf_text(&text), text.size, hash);
    hash[8] = '\0';
    return strtoul(hash, NULL, 16) % r->shards == r->shard;
}

static void keep_cover(struct engine *e, const struct record *record)
{
    for (uint32_t i = 0; i < record->cover_count && i <= e->fw->count; i++) {
        const struct cps_cover *c = &record->cover[i];
        e->cover[i] |=
            (uint8_t)((c->run ? 1 : 0) | (c->taken ? 2 : 0) | (c->run > c->taken ? 4 : 0));
    }
}

static struct cps_err *emulate(struct worker *w, unsigned firmware, const char *capture,
                               struct record *ret)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[firmware];
    struct engine *e = &w->engine[firmware];
    const struct record_setup setup = {.opt = &w->regress->run,
                                       .kinds = w->regress->kinds | 1u << CPS_EV_PKT |
                                                1u << CPS_EV_SUBMIT | 1u << CPS_EV_END,
                                       .cover = true};
    const char *const paths[2] = {m->path[0], m->path[1]};
    if (!e->booted && e->fw)
        CPS_TRY(record_boot(&setup, paths, &e->boot));
    e->booted = true;
    CPS_TRY(record_run(&setup, paths, capture, &e->boot, ret));
    w->emulated++;
    return NULL;
}

/* The cache is a convenience: that it cannot be written is said once. */
static void put_cache(struct worker *w, const struct cache_key *key, const struct record *record,
                      enum cps_gen gen)
{
    struct cps_err *err = cache_put(w->regress->cache_dir, key, record, gen);
    if (err && !w->cache_failed)
        fprintf(stderr, "cpscope: %s; going on without keeping results\n", err->message);
    w->cache_failed = w->cache_failed || err;
    cps_err_free(err);
}

/* What holds for several pairs is said of each. */
static struct cps_err *again(const struct cps_err *err)
{
    return err->code == CPS_ERR_NOMEM ? cps_err_nomem() : cps_err_lines_(err->code, err->message);
}

static struct cps_err *key_of(const struct worker *w, const struct engine *e, struct cache_key *ret)
{
    const struct manifest *m = &w->regress->manifest;
    return cache_key_of(w->regress->program, e->hash, e->me_hash, w->capture_hash,
                        m->policy ? m->policy : "", m->limit, w->regress->kinds, ret);
}

/* A run reads its files once more: the hashes must be of what it read. */
static struct cps_err *check_inputs(const struct worker *w, unsigned firmware, const char *capture)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[firmware];
    for (unsigned i = 0; i < 2; i++) {
        if (m->path[i])
            CPS_TRY(files_check_stamp(m->path[i], &w->regress->stamp[firmware][i]));
    }
    return files_check_stamp(capture, &w->capture_stamp);
}

static struct cps_err *get_record(struct worker *w, unsigned firmware, unsigned capture,
                                  struct record *ret)
{
    struct engine *e = &w->engine[firmware];
    const char *path = w->regress->manifest.capture[capture].path;
    if (e->err)
        return again(e->err);
    if (!w->capture_hash[0]) {
        files_stamp(path, &w->capture_stamp);
        CPS_TRY(cps_sha256_file(path, w->capture_hash));
    }
    struct cache_key key;
    CPS_TRY(key_of(w, e, &key));
    /* A run file may name other files, which no key has; and scripts are short. What is no file has
     * no hash. */
    bool keep = w->regress->cache_dir && e->fw && files_is_regular(path);
    bool cached = keep && cache_get(w->regress->cache_dir, &key, e->fw->count, ret);
    w->cached += cached;
    if (!cached) {
        CPS_TRY(emulate(w, firmware, path, ret));
        CPS_TRY(check_inputs(w, firmware, path));
        if (keep && !w->cache_failed && !ret->misses)
            put_cache(w, &key, ret, e->fw->gen);
    }
    keep_cover(e, ret);
    return NULL;
}

static void judge(struct json_object *pair, enum result_status status, const char *reason)
{
    cps_json_text(pair, "status", result_word(status));
    cps_json_text(pair, "reason", reason);
}

/* The same with a reason that was put together, and may not be all there. */
static void judge_for(struct json_object *pair, enum result_status status,
                      const struct cps_buf *reason)
{
    cps_json_text(pair, "status", result_word(status));
    cps_json_buf(pair, "reason", reason);
}

/* Code goes with the place, which many pairs share; the first pair there brings it along. */
static void add_place(struct worker *w, const struct diff_report *report, struct json_object *pair)
{
    CPS_BUF key = {0};
    diff_place_key(report, &key);
    cps_json_buf(pair, "place", &key);
    if (key.failed || cps_json_get(w->seen, cps_buf_text(&key)))
        return;
    struct json_object *place = diff_place(report);
    cps_json_add(w->seen, cps_buf_text(&key), json_object_get(place));
    cps_json_add(w->places, cps_buf_text(&key), place);
}

static void describe(struct worker *w, struct diff_report *report, struct json_object *pair)
{
    CPS_BUF first = {0};
    CPS_BUF counts = {0};
    CPS_BUF packet_a = {0};
    CPS_BUF packet_b = {0};
    add_place(w, report, pair);
    diff_place_packet(report, false, &packet_a);
    diff_place_packet(report, true, &packet_b);
    report->a.fw = report->b.fw = NULL; /* the place has the code */
    diff_print_first(report, &first);
    diff_print_counts(report, &counts);
    cps_json_buf(pair, "first", &first);
    cps_json_buf(pair, "counts", &counts);
    cps_json_buf(pair, "packet_a", &packet_a);
    cps_json_buf(pair, "packet_b", &packet_b);
}

static void judge_difference(uint64_t differences, const struct record *record,
                             struct json_object *pair)
{
    CPS_BUF reason = {0};
    cps_buf_printf(&reason, "%" PRIu64 " difference%s", differences, differences == 1 ? "" : "s");
    if (record->stop != CPS_STOP_IDLE)
        cps_buf_printf(&reason, "; %s: %s",
                       cps_event_sub_word(CPS_EV_END, cps_stop_reason(record->stop)), record->why);
    judge_for(pair, RESULT_DIFFERS, &reason);
}

/* A run file says what its host must read. */
static void judge_misses(const struct record *record, struct json_object *pair)
{
    CPS_BUF reason = {0};
    cps_buf_printf(&reason, "%" PRIu64 " read%s not as the run file expects: %s", record->misses,
                   record->misses == 1 ? " is" : "s are", record->missed);
    cps_json_uint(pair, "differences", record->misses);
    judge_for(pair, RESULT_DIFFERS, &reason);
}

/* Compares with @p base and judges the pair. */
static struct cps_err *compare(struct worker *w, unsigned firmware, const struct record *base,
                               const struct diff_side *base_side, const struct record *record,
                               struct json_object *pair)
{
    struct engine *e = &w->engine[firmware];
    struct cps_diff diff = {0};
    const struct cps_diff_options options = {w->regress->kinds, &w->mask};
    CPS_TRY(cps_diff_events(base->event, base->count, record->event, record->count, &options, NULL,
                            NULL, &diff));
    const char *name = w->regress->manifest.firmware[firmware].name;
    struct diff_report report = {
        .a = *base_side, .b = {name, e->fw, e->me, record, e->names}, .diff = &diff};
    cps_json_uint(pair, "differences", diff.differences);
    if (diff.differences) {
        judge_difference(diff.differences, record, pair);
        describe(w, &report, pair);
    } else {
        judge(pair, RESULT_PASS, "");
    }
    cps_diff_deinit(&diff);
    return NULL;
}

/* DIR/FIRMWARE/CAPTURE.cpt */
static void golden_path(const struct manifest *m, unsigned firmware, unsigned capture,
                        struct cps_buf *ret)
{
    cps_buf_printf(ret, "%s/%s/%s.cpt", m->golden, m->firmware[firmware].name,
                   m->capture[capture].name);
}

static struct cps_err *compare_golden(struct worker *w, unsigned firmware, unsigned capture,
                                      const struct record *record, struct json_object *pair)
{
    CPS_BUF path = {0};
    struct record golden = {0};
    if (!w->regress->manifest.golden) {
        judge(pair, RESULT_PASS, "");
        return NULL;
    }
    golden_path(&w->regress->manifest, firmware, capture, &path);
    if (path.failed)
        return cps_err_nomem();
    const struct diff_side side = {
        .label = "golden", .record = &golden, .names = w->engine[firmware].names};
    struct cps_err *err = record_read(cps_buf_text(&path), NULL, &golden);
    if (!err)
        err = compare(w, firmware, &golden, &side, record, pair);
    record_deinit(&golden);
    return err;
}

static void judge_stop(struct worker *w, unsigned capture, const struct record *record,
                       struct json_object *pair)
{
    int expected = w->regress->manifest.capture[capture].expect;
    int reason = (int)cps_stop_reason(record->stop);
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s, expected %s%s%s", cps_event_sub_word(CPS_EV_END, (unsigned)reason),
                   cps_event_sub_word(CPS_EV_END, (unsigned)expected), record->why[0] ? ": " : "",
                   record->why);
    if (reason != expected)
        judge_for(pair, RESULT_STOPPED, &text);
}

static bool is_judged(struct json_object *pair)
{
    return cps_json_get(pair, "status");
}

/* The baseline's run of the capture at hand, made once for all that are compared with it. */
struct base {
    struct record record;
    struct cps_err *err; /* why there is none */
};

/* Against what it should do: as the baseline does, else end as expected and be as the golden.
 * @p base  NULL: there is none, or this is it */
static struct cps_err *judge_record(struct worker *w, unsigned firmware, unsigned capture,
                                    const struct base *base, const struct record *record,
                                    struct json_object *pair)
{
    const struct manifest *m = &w->regress->manifest;
    cps_json_uint(pair, "packets", record->packets);
    cps_json_uint(pair, "instructions", record->instructions);
    if (record->misses) {
        judge_misses(record, pair);
        return NULL;
    }
    if (base && !base->err) {
        const struct engine *e = &w->engine[m->baseline];
        const struct diff_side side = {m->firmware[m->baseline].name, e->fw, e->me, &base->record,
                                       e->names};
        return compare(w, firmware, &base->record, &side, record, pair);
    }
    /* A baseline of another generation says nothing about this pair; one that failed should have.
     */
    if (base && base->err->code != CPS_ERR_MISMATCH)
        return cps_err_new(base->err->code, "the baseline did not run: %s", base->err->message);
    judge_stop(w, capture, record, pair);
    return is_judged(pair) ? NULL : compare_golden(w, firmware, capture, record, pair);
}

static struct cps_err *judge_pair(struct worker *w, unsigned firmware, unsigned capture,
                                  const struct base *base, struct json_object *pair)
{
    struct record record = {0};
    if (base && (int)firmware == w->regress->manifest.baseline)
        return base->err ? again(base->err)
                         : judge_record(w, firmware, capture, NULL, &base->record, pair);
    struct cps_err *err = get_record(w, firmware, capture, &record);
    if (!err)
        err = judge_record(w, firmware, capture, base, &record, pair);
    record_deinit(&record);
    return err;
}

static void run_pair(struct worker *w, unsigned firmware, unsigned capture, const struct base *base,
                     struct json_object *pairs)
{
    const struct manifest *m = &w->regress->manifest;
    struct json_object *pair = json_object_new_object();
    cps_json_text(pair, "firmware", m->firmware[firmware].name);
    cps_json_text(pair, "capture", m->capture[capture].name);
    struct cps_err *err = judge_pair(w, firmware, capture, base, pair);
    if (err) /* a capture of another generation than the firmware is no failure of either */
        judge(pair, err->code == CPS_ERR_MISMATCH ? RESULT_SKIPPED : RESULT_STOPPED, err->message);
    cps_err_free(err);
    cps_json_append(pairs, pair);
}

void worker_capture(struct worker *w, unsigned capture, struct json_object *ret)
{
    const struct manifest *m = &w->regress->manifest;
    struct json_object *pairs = cps_json_new_array(ret, "pairs");
    struct base base = {0};
    bool needs_base = false;
    w->capture_hash[0] = '\0';
    w->places = cps_json_new_object(ret, "places");
    for (unsigned i = 0; i < m->firmware_count && m->baseline >= 0; i++)
        needs_base = needs_base || worker_has(w->regress, i, capture);
    if (needs_base)
        base.err = get_record(w, (unsigned)m->baseline, capture, &base.record);
    for (unsigned i = 0; i < m->firmware_count; i++) {
        if (worker_has(w->regress, i, capture))
            run_pair(w, i, capture, needs_base ? &base : NULL, pairs);
    }
    cps_err_free(base.err);
    record_deinit(&base.record);
}

struct json_object *worker_coverage(const struct worker *w)
{
    struct json_object *ret = json_object_new_object();
    for (unsigned i = 0; i < w->regress->manifest.firmware_count; i++) {
        const struct engine *e = &w->engine[i];
        CPS_BUF digits = {0};
        for (uint32_t k = 0; e->fw && e->cover && k < e->fw->count; k++) {
            const char digit = (char)('0' + e->cover[k]);
            cps_buf_add(&digits, &digit, 1);
        }
        cps_json_buf(ret, w->regress->manifest.firmware[i].name, &digits);
    }
    return ret;
}

void worker_counts(const struct worker *w, uint64_t *emulated, uint64_t *cached)
{
    *emulated = w->emulated;
    *cached = w->cached;
}

struct cps_err *worker_code(struct worker *w, struct json_object *ret)
{
    const struct manifest *m = &w->regress->manifest;
    const struct cps_diff none = {0};
    for (unsigned i = 0; m->baseline >= 0 && i < m->firmware_count; i++) {
        const struct engine *a = &w->engine[m->baseline];
        const struct engine *b = &w->engine[i];
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
