/* SPDX-License-Identifier: MIT
 * Joins results of several runs, or of the shards of one, and holds them against what their
 * manifests ask for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/files.h"
#include "tools/explain/regress/account.h"
#include "tools/explain/regress/results.h"
#include "trace/out/json.h"

#define MAX_BYTES ((size_t)512 << 20) /* of a file of results */

/* What the same names mean in all results that are joined: settings by their values, inputs by
 * their contents. */
static struct cps_err *join_inputs(struct json_object *to, struct json_object *from,
                                   const char *path)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        if (!old)
            cps_json_add(to, key, json_object_get(value));
        else if (!json_object_equal(old, value) && strchr(key, ' '))
            return cps_err_new(CPS_ERR_INPUT,
                               "%s: another %s than in the results before, expected the same", path,
                               key);
        else if (!json_object_equal(old, value))
            return cps_err_new(CPS_ERR_INPUT,
                               "%s: found %s %s, expected %s as in the results before", path, key,
                               json_object_get_string(value), json_object_get_string(old));
    }
    return NULL;
}

static bool join_handler(struct json_object *old, struct json_object *new)
{
    const char *a = result_text(old, "digits");
    const char *b = result_text(new, "digits");
    if (strcmp(result_text(old, "handler"), result_text(new, "handler")) != 0 ||
        strlen(a) != strlen(b))
        return false;
    CPS_FREE char *both = results_join_digits(a, b);
    cps_json_add(old, "digits", both ? json_object_new_string(both) : NULL);
    return true;
}

static struct cps_err *join_coverage(struct json_object *to, struct json_object *from,
                                     const char *path)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        size_t count = cps_json_count(value);
        if (!old) {
            cps_json_add(to, key, json_object_get(value));
            continue;
        }
        bool same = cps_json_count(old) == count;
        for (size_t i = 0; i < count && same; i++)
            same = join_handler(json_object_array_get_idx(old, i),
                                json_object_array_get_idx(value, i));
        if (!same)
            return cps_err_new(CPS_ERR_INPUT,
                               "%s: other handlers of firmware %s than in the results before, "
                               "expected the same",
                               path, key);
    }
    return NULL;
}

/* Shards of one run have the same list; else it is the union. */
static void merge_firmware(struct json_object *to, struct json_object *from)
{
    struct json_object *names = cps_json_get(to, "firmware");
    struct json_object *more = cps_json_get(from, "firmware");
    struct json_object *baseline = cps_json_get(from, "baseline");
    for (size_t i = 0; i < cps_json_count(more); i++) {
        struct json_object *name = json_object_array_get_idx(more, i);
        size_t k = 0;
        while (k < cps_json_count(names) &&
               !json_object_equal(json_object_array_get_idx(names, k), name))
            k++;
        if (k == cps_json_count(names))
            cps_json_append(names, json_object_get(name));
    }
    if (baseline)
        cps_json_add(to, "baseline", json_object_get(baseline));
}

/* The member "runs" while merging: by digest of the manifest, how many pairs it has, which there
 * are, and "shards": an object with a member "I/N" per shard. */
static struct json_object *run_of(struct json_object *to, struct json_object *from)
{
    const char *digest = result_text(from, "manifest");
    struct json_object *runs = cps_json_get(to, "runs");
    if (!runs)
        runs = cps_json_new_object(to, "runs");
    if (!cps_json_get(runs, digest)) {
        struct json_object *run = json_object_new_object();
        cps_json_add(run, "total", json_object_get(cps_json_get(from, "pairs_total")));
        cps_json_add(run, "pairs", json_object_new_array());
        cps_json_add(run, "shards", json_object_new_object());
        cps_json_add(runs, digest, run);
    }
    return cps_json_get(runs, digest);
}

static struct cps_err *merge_run(struct json_object *to, struct json_object *from, const char *path)
{
    struct json_object *pairs = cps_json_get(from, "pairs");
    if (cps_json_get(from, "interrupted"))
        return cps_err_new(CPS_ERR_INPUT, "%s: the run was interrupted; run it again to go on",
                           path);
    struct json_object *run = run_of(to, from);
    if (cps_json_get(from, "shard"))
        cps_json_bool(cps_json_get(run, "shards"), result_text(from, "shard"), true);
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        cps_json_append(cps_json_get(run, "pairs"), json_object_get(pair));
        cps_json_append(cps_json_get(to, "pairs"), json_object_get(pair));
    }
    return NULL;
}

static struct cps_err *merge(struct json_object *to, struct json_object *from, const char *path)
{
    CPS_TRY(results_check(from, path));
    CPS_TRY(join_inputs(cps_json_get(to, "inputs"), cps_json_get(from, "inputs"), path));
    CPS_TRY(merge_run(to, from, path));
    merge_firmware(to, from);
    results_join(cps_json_get(to, "places"), cps_json_get(from, "places"));
    results_join(cps_json_get(to, "code"), cps_json_get(from, "code"));
    if (cps_json_get(from, "coverage_lost"))
        cps_json_bool(to, "coverage_lost", true);
    return join_coverage(cps_json_get(to, "coverage"), cps_json_get(from, "coverage"), path);
}

struct cps_err *results_merge(struct json_object *to, const char *path)
{
    CPS_FREE char *text = NULL;
    struct json_object *from = NULL;
    CPS_TRY(files_text(path, MAX_BYTES, &text));
    CPS_TRY(cps_json_parse(text, strlen(text), &from));
    struct cps_err *err = merge(to, from, path);
    json_object_put(from);
    return err;
}

/* All shards are of one division, and all are there. */
static struct cps_err *check_shards(struct json_object *shards)
{
    unsigned i = 0, n = 0;
    json_object_object_foreach(shards, shard, unused)
    {
        unsigned of = 0;
        (void)unused;
        if (!results_shard(shard, &i, &of) || (n && of != n))
            return cps_err_new(CPS_ERR_INPUT, "shard %s is of another run than the others", shard);
        n = of;
    }
    for (i = 1; i <= n; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%u/%u", i, n);
        if (!cps_json_get(shards, key))
            return cps_err_new(CPS_ERR_INPUT, "the results of shard %s are missing", key);
    }
    return NULL;
}

/* The pairs of one run are those of its manifest. */
static struct cps_err *check_run(const char *digest, struct json_object *run)
{
    char found[65];
    CPS_TRY(check_shards(cps_json_get(run, "shards")));
    CPS_TRY(results_sort_pairs(run));
    struct json_object *pairs = cps_json_get(run, "pairs");
    CPS_TRY(account_digest(pairs, found));
    if (!strcmp(found, digest))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "(results): %zu pairs, expected the %" PRId64 " of the manifest %.12s: some "
                       "are missing, or others",
                       cps_json_count(pairs), cps_json_get_int(run, "total", -1), digest);
}

struct cps_err *results_complete(struct json_object *results)
{
    char digest[65];
    struct json_object *runs = cps_json_get(results, "runs");
    if (!cps_json_complete(results))
        return cps_err_nomem();
    if (runs) {
        json_object_object_foreach(runs, manifest, run)
        {
            CPS_TRY(check_run(manifest, run));
        }
    }
    json_object_object_del(results, "runs");
    CPS_TRY(results_sort(results));
    struct json_object *pairs = cps_json_get(results, "pairs");
    CPS_TRY(account_digest(pairs, digest));
    cps_json_text(results, "manifest", digest);
    cps_json_uint(results, "pairs_total", cps_json_count(pairs));
    return NULL;
}
