/* SPDX-License-Identifier: MIT
 * One capture on all of its firmware: what a process of a regression run does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/explain/diff/diffplace.h"
#include "tools/run/names.h"
#include "tools/cmd/options/opt_engine.h"
#include "tools/explain/regress/worker.h"
#include "trace/out/json.h"

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
    return cps_err_within_(cps_mask_add(&w->mask, mask, e->names[e->fw ? who : CPS_CPU_HOST]),
                           "%s:%u", w->regress->opt->arg[0], w->regress->manifest.mask_line);
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
        diff_causes_destroy(e->causes);
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

static void run_pair(struct worker *w, unsigned firmware, unsigned capture, const struct base *base,
                     struct json_object *pairs)
{
    const struct manifest *m = &w->regress->manifest;
    struct json_object *pair = json_object_new_object();
    cps_json_text(pair, "firmware", m->firmware[firmware].name);
    cps_json_text(pair, "capture", m->capture[capture].name);
    struct cps_err *err = worker_judge_(w, firmware, capture, base, pair);
    if (err) /* a capture of another generation than the firmware is no failure of either */
        worker_say_(pair, err->code == CPS_ERR_MISMATCH ? RESULT_SKIPPED : RESULT_STOPPED,
                    err->message);
    cps_err_free(err);
    cps_json_append(pairs, pair);
}

/* What is no file has no digest, nor what cannot be read: its pairs say why. */
static void add_digest(const char *path, const struct cps_buf *key, const char *behind,
                       char hash[65], struct json_object *to)
{
    CPS_BUF value = {0};
    struct cps_err *err = cps_sha256_file(path, hash);
    value.failed = err && err->code == CPS_ERR_NOMEM;
    if (err)
        snprintf(hash, 65, "none");
    cps_buf_printf(&value, "%s%s", hash, behind);
    cps_json_buf(to, cps_buf_text(key), &value);
    cps_err_free(err);
}

static void add_golden(const struct manifest *m, unsigned firmware, unsigned capture,
                       struct json_object *to)
{
    CPS_BUF path = {0};
    CPS_BUF key = {0};
    char hash[65];
    worker_golden_(m, firmware, capture, &path);
    cps_buf_printf(&key, "golden %s/%s", m->firmware[firmware].name, m->capture[capture].name);
    add_digest(cps_buf_text(&path), &key, "", hash, to);
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
    add_digest(c->path, &key, cps_buf_text(&expect), w->capture_hash, to);
    for (unsigned i = 0; i < m->firmware_count && m->golden; i++) {
        if (manifest_pairs(&m->firmware[i], c))
            add_golden(m, i, capture, to);
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
        needs_base = needs_base || worker_has(w->regress, i, capture);
    if (needs_base)
        base.err = worker_record_(w, (unsigned)m->baseline, capture, &base.record);
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

void worker_counts(const struct worker *w, struct json_object *ret)
{
    cps_json_uint(ret, "emulated", w->emulated);
    cps_json_uint(ret, "cached", w->cached);
    cps_json_uint(ret, "same", w->same);
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
