/* SPDX-License-Identifier: MIT
 * What the run of a pair gives: made, or taken from the cache, or another firmware's that executed
 * the same code. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/within.h"
#include "tools/explain/regress/worker.h"

void worker_keep_cover_(struct engine *e, const struct record *record)
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

uint32_t worker_kinds_(const struct worker *w)
{
    return w->regress->manifest.kinds | 1u << CPS_EV_PKT | 1u << CPS_EV_SUBMIT | 1u << CPS_EV_END;
}

static struct record_setup setup_of(const struct worker *w)
{
    return (struct record_setup){.opt = &w->regress->run,
                                 .kinds = worker_kinds_(w),
                                 .cover = true,
                                 .code = true,
                                 .recover = true};
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
    return NULL;
}

struct cps_err *worker_same_code_(struct worker *w, unsigned firmware, const struct record *other,
                                  bool *ret)
{
    struct engine *e = &w->engine[firmware];
    *ret = false;
    if (e->err || !e->fw || !other->code.what)
        return NULL;
    CPS_TRY(worker_boot_(w, firmware));
    *ret = same_code_holds(&other->code, &e->boot.base, e->fw);
    return NULL;
}

/* The cache is a convenience: that it cannot be written is said once. */
static void keep_run(struct worker *w, const struct cache_run *run, const struct engine *e,
                     const struct record *record)
{
    struct cps_err *err = cache_keep(run, &e->boot.base, record, e->fw->gen);
    if (err && !w->cache_failed)
        fprintf(stderr, "cpscope: %s; going on without keeping results\n", err->message);
    w->cache_failed = w->cache_failed || err;
    cps_err_free(err);
}

/* What holds for several pairs is said of each. */
struct cps_err *worker_again_(const struct cps_err *err)
{
    return err->code == CPS_ERR_NOMEM ? cps_err_nomem() : cps_err_lines_(err->code, err->message);
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

/* This firmware's result, or that of another one that executed the same code. */
static struct cps_err *take(struct worker *w, unsigned firmware, const struct cache_run *run,
                            struct record *ret, bool *taken)
{
    struct engine *e = &w->engine[firmware];
    *taken = cache_take(run, e->fw->count, ret);
    w->cached += *taken;
    if (*taken)
        return NULL;
    CPS_TRY(worker_boot_(w, firmware));
    *taken = cache_take_same(run, &e->boot.base, e->fw, ret);
    w->same += *taken;
    return NULL;
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

struct cps_err *worker_record_(struct worker *w, unsigned firmware, unsigned capture,
                               struct record *ret)
{
    struct engine *e = &w->engine[firmware];
    const char *path = w->regress->manifest.capture[capture].path;
    if (e->err)
        return worker_again_(e->err);
    /* A run file may name other files, which no key has; and scripts are short. */
    bool has_hash = strlen(w->capture_hash) == 64;
    bool keep = *w->regress->cache.dir && e->fw && has_hash;
    const struct cache_run run = worker_cache_run_(w, firmware);
    bool taken = false;
    if (keep)
        CPS_TRY(take(w, firmware, &run, ret, &taken));
    if (!taken) {
        CPS_TRY(emulate(w, firmware, path, ret));
        CPS_TRY(worker_check_inputs_(w, firmware, path));
        if (keep && !w->cache_failed && !ret->misses)
            keep_run(w, &run, e, ret);
    }
    worker_keep_cover_(e, ret);
    return NULL;
}
