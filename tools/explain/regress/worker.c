/* SPDX-License-Identifier: MIT
 * One capture on all of its firmware: what a process of a regression run does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/explain/regress/regress.h"
#include "tools/run/names.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* ---- Firmware ---- */

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
    e->gen = (enum cps_gen)cps_named_engine(m->path[0]);
    struct cps_trace_head head = {.gen = e->gen, .layout = cps_gen_layout(e->gen)};
    if (!e->gen) {
        CPS_TRY(open_firmware(m->path[0], &w->regress->stamp[i][0], &e->fw, e->hash));
        if (m->path[1])
            CPS_TRY(open_firmware(m->path[1], &w->regress->stamp[i][1], &e->me, e->me_hash));
        e->gen = head.gen = e->fw->gen;
        head.layout = e->fw->layout;
        e->cover = tool_alloc((size_t)e->fw->count + 1, 1);
    }
    return trace_names(&head, w->regress->opt->run.rnn, e->names);
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
    unsigned who = cps_gen_row(e->gen)->first;
    return cps_err_within_(cps_mask_add(&w->mask, mask, e->names[e->fw ? who : CPS_CPU_HOST]),
                           "%s:%u", w->regress->opt->arg[0], w->regress->manifest.mask_line);
}

struct cps_err *worker_create(struct regress *regress, struct worker **ret)
{
    unsigned count = regress->manifest.firmware_count;
    struct worker *w = *ret = tool_alloc(1, sizeof(*w));
    w->regress = regress;
    w->engine = tool_alloc(count, sizeof(*w->engine));
    w->seen = json_object_new_object();
    for (unsigned i = 0; i < count; i++)
        w->engine[i].err = tool_err(open_engine(w, i));
    return read_mask(w);
}

void worker_destroy(struct worker *w)
{
    if (!w)
        return;
    for (unsigned i = 0; i < w->regress->manifest.firmware_count; i++) {
        struct engine *e = &w->engine[i];
        cps_fw_destroy(e->fw);
        cps_fw_destroy(e->me);
        cps_err_free(e->err);
        free(e->cover);
        diff_causes_destroy(e->causes);
        trace_names_free(e->names);
        record_boot_deinit(&e->boot);
    }
    free(w->engine);
    json_object_put(w->seen);
    cps_mask_deinit(&w->mask);
    free(w);
}

/* ---- Runs, made or taken from the cache ---- */

uint32_t worker_kinds_(const struct worker *w)
{
    return w->regress->manifest.kinds | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT | 1u << CPS_EV_END;
}

static struct record_setup setup_of(const struct worker *w)
{
    return (struct record_setup){
        .config = &w->regress->run, .kinds = worker_kinds_(w), .cover = true, .recover = true};
}

struct cps_err *worker_boot_(struct worker *w, unsigned firmware)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[firmware];
    struct engine *e = &w->engine[firmware];
    const struct record_setup setup = setup_of(w);
    const char *const paths[2] = {m->path[0], m->path[1]};
    if (!e->booted && e->fw)
        CPS_TRY(record_boot(&setup, paths, &e->boot));
    e->booted = true;
    return NULL;
}

static struct cps_err *emulate(struct worker *w, unsigned firmware, const char *capture,
                               struct record *ret)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[firmware];
    const struct record_setup setup = setup_of(w);
    const char *const paths[2] = {m->path[0], m->path[1]};
    CPS_TRY(worker_boot_(w, firmware));
    CPS_TRY(record_run(&setup, paths, capture, &w->engine[firmware].boot, ret));
    w->emulated++;
    return worker_check_inputs_(w, firmware, capture);
}

struct cps_err *worker_again_(const struct cps_err *err)
{
    return cps_err_lines_(err->code, err->message);
}

struct cache_run worker_cache_run_(const struct worker *w, unsigned firmware)
{
    const struct engine *e = &w->engine[firmware];
    const struct manifest *m = &w->regress->manifest;
    return (struct cache_run){.dir = w->regress->cache.dir,
                              .program = w->regress->cache.program,
                              .firmware_hash = e->hash,
                              .me_hash = e->me_hash,
                              .capture_hash = w->capture_hash,
                              .names = w->regress->names,
                              .policy = m->policy ? m->policy : "",
                              .limit = m->limit,
                              .kinds = w->regress->manifest.kinds};
}

struct cps_err *worker_check_inputs_(const struct worker *w, unsigned firmware, const char *capture)
{
    const struct manifest_firmware *m = &w->regress->manifest.firmware[firmware];
    for (unsigned i = 0; i < 2; i++) {
        if (m->path[i])
            CPS_TRY(files_check_stamp(m->path[i], &w->regress->stamp[firmware][i]));
    }
    return files_check_stamp(capture, &w->capture_stamp);
}

/* The cache is a convenience: that it cannot be written is said once. */
static void keep_run(struct worker *w, const struct cache_run *run, const struct record *record,
                     enum cps_gen gen)
{
    struct cps_err *err = w->cache_failed ? NULL : cache_keep_run(run, record, gen);
    if (err)
        fprintf(stderr, "cpscope: %s; results are not stored\n", err->message);
    w->cache_failed = w->cache_failed || err;
    cps_err_free(err);
}

/* Adds to what is known of the code that ran. */
static void keep_cover(struct engine *e, const struct record *record)
{
    const struct cps_cover *const cover = record->cover;
    const uint32_t words = e->fw ? e->fw->count + 1 : 0; /* of scripts nothing is kept */
    const uint32_t count = record->cover_count < words ? record->cover_count : words;
    uint8_t *const known = e->cover;
    for (uint32_t i = 0; i < count; i++) {
        const struct cps_cover c = cover[i];
        if (c.run) /* few words of an image do */
            known[i] |= (uint8_t)(1 | (c.taken ? 2 : 0) | (c.run > c.taken ? 4 : 0));
    }
}

struct cps_err *worker_record_(struct worker *w, unsigned firmware, unsigned capture,
                               struct record *ret)
{
    struct engine *e = &w->engine[firmware];
    const char *path = w->regress->manifest.capture[capture].path;
    if (e->err)
        return worker_again_(e->err);
    /* A run file may name other files, which no key has; and scripts are short. */
    bool stored = *w->regress->cache.dir && e->fw && strlen(w->capture_hash) == 64;
    const struct cache_run run = worker_cache_run_(w, firmware);
    bool taken = stored && cache_take_run(&run, e->fw->count, ret);
    w->cached += taken;
    if (!taken)
        CPS_TRY(emulate(w, firmware, path, ret));
    if (!taken && stored && !ret->misses)
        keep_run(w, &run, ret, e->fw->gen);
    keep_cover(e, ret);
    return NULL;
}

/* ---- Captures ---- */

static void run_pair(struct worker *w, unsigned firmware, unsigned capture, const struct base *base,
                     struct json_object *pairs)
{
    struct json_object *pair = regress_new_pair(&w->regress->manifest, firmware, capture);
    struct cps_err *err = worker_judge_(w, firmware, capture, base, pair);
    if (err) /* a capture of another generation than the firmware is no failure of either */
        worker_set_status_(pair, err->code == CPS_ERR_MISMATCH ? RESULT_SKIPPED : RESULT_STOPPED,
                           err->message);
    cps_err_free(err);
    cps_json_append(pairs, pair);
}

/* What is no file has no digest, nor what cannot be read: its pairs say why. */
static void add_digest(const char *path, const struct cps_buf *key, const char *behind,
                       char hash[65], struct json_object *to)
{
    CPS_BUF value = {0};
    struct cps_err *err = tool_err(cps_sha256_file(path, hash));
    if (err)
        snprintf(hash, 65, "none");
    cps_err_free(err);
    cps_buf_printf(&value, "%s%s", hash, behind);
    cps_json_buf(to, tool_text(key), &value);
}

/* The digests of a capture and its goldens, also if all of its pairs are of other shards: a merge
 * finds out that these have read the same. */
static void add_inputs(struct worker *w, unsigned capture, struct json_object *to)
{
    const struct manifest *m = &w->regress->manifest;
    const struct manifest_capture *c = &m->capture[capture];
    CPS_BUF key = {0};
    CPS_BUF expect = {0};
    files_stamp(c->path, &w->capture_stamp);
    cps_buf_printf(&key, "capture %s", c->name);
    if (c->expect != CPS_REASON_DONE)
        cps_buf_printf(&expect, ", expect=%s", cps_event_sub_word(CPS_EV_END, (unsigned)c->expect));
    add_digest(c->path, &key, tool_text(&expect), w->capture_hash, to);
    for (unsigned i = 0; i < m->firmware_count && m->golden; i++) {
        CPS_BUF path = {0};
        CPS_BUF golden = {0};
        char hash[65];
        if (!manifest_pairs(&m->firmware[i], c))
            continue;
        worker_golden_(m, i, capture, &path);
        cps_buf_printf(&golden, "golden %s/%s", m->firmware[i].name, c->name);
        add_digest(tool_text(&path), &golden, "", hash, to);
    }
}

void worker_capture(struct worker *w, unsigned capture, struct json_object *ret)
{
    const struct manifest *m = &w->regress->manifest;
    struct json_object *pairs = cps_json_new_array(ret, "pairs");
    struct base base = {0};
    bool needs_base = false;
    add_inputs(w, capture, cps_json_new_object(ret, "inputs"));
    w->places = cps_json_new_object(ret, "places");
    for (unsigned i = 0; i < m->firmware_count && m->baseline >= 0; i++)
        needs_base = needs_base || regress_has_pair(w->regress, i, capture);
    if (needs_base)
        base.err = worker_record_(w, (unsigned)m->baseline, capture, &base.record);
    for (unsigned i = 0; i < m->firmware_count; i++) {
        if (regress_has_pair(w->regress, i, capture))
            run_pair(w, i, capture, needs_base ? &base : NULL, pairs);
    }
    cps_err_free(base.err);
    record_deinit(&base.record);
}

void worker_sums(const struct worker *w, struct json_object *ret)
{
    struct json_object *coverage = cps_json_new_object(ret, "coverage");
    cps_json_uint(ret, "emulated", w->emulated);
    cps_json_uint(ret, "cached", w->cached);
    for (unsigned i = 0; i < w->regress->manifest.firmware_count; i++) {
        const struct engine *e = &w->engine[i];
        CPS_BUF digits = {0};
        for (uint32_t k = 0; e->fw && e->cover && k < e->fw->count; k++) {
            const char digit = (char)('0' + e->cover[k]);
            cps_buf_add(&digits, &digit, 1);
        }
        cps_json_buf(coverage, w->regress->manifest.firmware[i].name, &digits);
    }
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
