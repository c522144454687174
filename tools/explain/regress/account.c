/* SPDX-License-Identifier: MIT
 * The account of a regression run. */
#include "tools/explain/regress/account.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/run/cachedir.h"
#include "trace/out/json.h"

/* A pair by the names that results have. */
struct pair {
    const char *capture, *firmware;
};

struct pairs {
    struct pair *pair;
    size_t count;
};

static int by_names(const void *x, const void *y)
{
    const struct pair *a = x;
    const struct pair *b = y;
    int order = strcmp(a->capture, b->capture);
    return order ? order : strcmp(a->firmware, b->firmware);
}

static struct pair pair_of(struct json_object *pair)
{
    return (struct pair){result_text(pair, "capture"), result_text(pair, "firmware")};
}

/* Those of the manifest, of this share or of all, in the order of results. */
static struct cps_err *expect(const struct regress *r, bool share, struct pairs *ret)
{
    const struct manifest *m = &r->manifest;
    for (unsigned c = 0; c < m->capture_count; c++) {
        for (unsigned f = 0; f < m->firmware_count; f++) {
            if (share ? !worker_has(r, f, c) : !manifest_pairs(&m->firmware[f], &m->capture[c]))
                continue;
            if (!CPS_LIST_ROOM(ret->pair, ret->count))
                return cps_err_nomem();
            ret->pair[ret->count++] = (struct pair){m->capture[c].name, m->firmware[f].name};
        }
    }
    if (ret->count)
        qsort(ret->pair, ret->count, sizeof(*ret->pair), by_names);
    return NULL;
}

/* Names have no line breaks: shown names escape them. */
static void put_pair(struct cps_buf *out, struct pair pair)
{
    cps_buf_printf(out, "%s\n%s\n", pair.capture, pair.firmware);
}

struct cps_err *account_digest(struct json_object *pairs, char ret[65])
{
    CPS_BUF text = {0};
    for (size_t i = 0; i < cps_json_count(pairs); i++)
        put_pair(&text, pair_of(json_object_array_get_idx(pairs, i)));
    if (text.failed)
        return cps_err_nomem();
    cache_hash(cps_buf_text(&text), text.size, ret);
    return NULL;
}

struct cps_err *account_open(struct regress *r)
{
    struct pairs all = {0};
    char digest[65];
    CPS_BUF text = {0};
    struct cps_err *err = expect(r, false, &all);
    for (size_t i = 0; i < all.count; i++)
        put_pair(&text, all.pair[i]);
    free(all.pair);
    if (err || text.failed)
        return err ? err : cps_err_nomem();
    cache_hash(cps_buf_text(&text), text.size, digest);
    cps_json_text(r->results, "manifest", digest);
    cps_json_uint(r->results, "pairs_total", all.count);
    return NULL;
}

static struct cps_err *wrong(const char *what, struct pair pair)
{
    return cps_err_new(CPS_ERR_INPUT,
                       "(results): %s of firmware %s and capture %s, expected one of each pair of "
                       "the manifest",
                       what, pair.firmware, pair.capture);
}

/* Both are sorted. */
static struct cps_err *compare(const struct pairs *all, struct json_object *found)
{
    size_t at = 0;
    for (size_t i = 0; i < cps_json_count(found); i++) {
        struct json_object *object = json_object_array_get_idx(found, i);
        struct pair pair = pair_of(object);
        int order = at < all->count ? by_names(&all->pair[at], &pair) : 1;
        if (order)
            return order < 0 ? wrong("no result", all->pair[at])
                             : wrong("an uncalled result", pair);
        if (result_status(object) == RESULT_COUNT)
            return wrong("a result without a status", pair);
        at++;
    }
    return at < all->count ? wrong("no result", all->pair[at]) : NULL;
}

struct cps_err *account_close(const struct regress *r)
{
    struct pairs all = {0};
    struct cps_err *err = expect(r, true, &all);
    if (!err)
        err = compare(&all, cps_json_get(r->results, "pairs"));
    free(all.pair);
    return err;
}
