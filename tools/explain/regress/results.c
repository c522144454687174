/* SPDX-License-Identifier: MIT
 * Results of a regression run: their order and sums; whether a file has them; several of them
 * joined, of other runs or of the shards of one, and held against their manifests. */
#include "tools/explain/regress/regress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/run/cachedir.h"
#include "tools/run/files.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

#define MAX_BYTES ((size_t)512 << 20) /* of a file of results */

static const char *const words[RESULT_COUNT] = {"pass", "differs", "stopped", "skipped", "not-run"};

const char *result_word(enum result_status status)
{
    return status < RESULT_COUNT ? words[status] : "unknown";
}

const char *result_text(struct json_object *pair, const char *key)
{
    return cps_json_get_text(pair, key, "");
}

struct json_object *results_create(void)
{
    struct json_object *results = doc_new();
    cps_json_uint(results, "cpscope-results", RESULTS_VERSION);
    cps_json_add(results, "firmware", json_object_new_array());
    cps_json_add(results, "pairs", json_object_new_array());
    cps_json_add(results, "places", json_object_new_object());
    cps_json_add(results, "code", json_object_new_object());
    cps_json_add(results, "coverage", json_object_new_object());
    cps_json_add(results, "inputs", json_object_new_object());
    return results;
}

static enum result_status status_of(const char *word)
{
    unsigned i = 0;
    while (i < RESULT_COUNT && strcmp(words[i], word) != 0)
        i++;
    return (enum result_status)i;
}

enum result_status result_status(struct json_object *pair)
{
    return status_of(result_text(pair, "status"));
}

/* By names; of results of two runs that are merged, by all members: always the same. */
int result_order(const void *x, const void *y)
{
    static const char *const keys[] = {"capture", "firmware"};
    struct json_object *a = *(struct json_object *const *)x;
    struct json_object *b = *(struct json_object *const *)y;
    int order = 0;
    for (unsigned i = 0; i < 2 && !order; i++)
        order = strcmp(result_text(a, keys[i]), result_text(b, keys[i]));
    return order ? order : strcmp(json_object_to_json_string(a), json_object_to_json_string(b));
}

/* Names have no line breaks: shown names escape them. */
void results_digest(struct json_object *pairs, char ret[65])
{
    CPS_BUF text = {0};
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        cps_buf_printf(&text, "%s\n%s\n", result_text(pair, "capture"),
                       result_text(pair, "firmware"));
    }
    cache_hash(tool_text(&text), text.size, ret);
}

static struct cps_err *sort_pairs(struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    json_object_array_sort(pairs, result_order);
    for (size_t i = 1; i < cps_json_count(pairs);) {
        struct json_object *before = json_object_array_get_idx(pairs, i - 1);
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        const char *firmware = result_text(pair, "firmware");
        const char *capture = result_text(pair, "capture");
        if (strcmp(result_text(before, "firmware"), firmware) != 0 ||
            strcmp(result_text(before, "capture"), capture) != 0)
            i++;
        else if (json_object_equal(pair, before))
            json_object_array_del_idx(pairs, i, 1);
        else
            return cps_err_new(CPS_ERR_INPUT,
                               "(results): two different ones of firmware %s and capture %s, "
                               "expected one",
                               firmware, capture);
    }
    return NULL;
}

static int compare_names(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Workers send them in any order. */
static void sort_members(struct json_object *results, const char *member)
{
    struct json_object *members = cps_json_get(results, member);
    struct json_object *sorted = doc_new();
    size_t count = 0;
    CPS_FREE const char **key =
        tool_alloc((size_t)json_object_object_length(members), sizeof(*key));
    json_object_object_foreach(members, name, unused)
    {
        (void)unused;
        key[count++] = name;
    }
    qsort(key, count, sizeof(*key), compare_names);
    for (size_t i = 0; i < count; i++)
        cps_json_add(sorted, key[i], json_object_get(cps_json_get(members, key[i])));
    cps_json_add(results, member, sorted);
}

struct cps_err *results_sort(struct json_object *results)
{
    if (!cps_json_complete(results))
        return cps_err_nomem();
    CPS_TRY(sort_pairs(results));
    sort_members(results, "inputs");
    sort_members(results, "places");
    return NULL;
}

void results_join(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        if (!old || strcmp(json_object_to_json_string(value), json_object_to_json_string(old)) < 0)
            cps_json_add(to, key, json_object_get(value));
    }
}

struct json_object *results_join_digits(const char *a, const char *b)
{
    CPS_FREE char *both = tool_strdup(a);
    for (size_t i = 0; both[i] && b[i]; i++)
        both[i] = (char)('0' + ((a[i] - '0') | (b[i] - '0')));
    return json_object_new_string(both);
}

struct results_cover results_cover_of(struct json_object *handler)
{
    struct results_cover ret = {0};
    for (const char *at = result_text(handler, "digits"); *at; at++) {
        int bits = *at - '0';
        bool code = bits & COVER_CODE;
        bool branch = bits & COVER_BRANCH;
        ret.all += code;
        ret.ran += code && (bits & COVER_RUN);
        ret.directions += branch ? 2 : 0;
        ret.taken += branch ? !!(bits & COVER_TAKEN) + !!(bits & COVER_NOT_TAKEN) : 0;
    }
    return ret;
}

void results_coverage_table(struct json_object *handlers, struct cps_buf *out)
{
    cps_buf_str(out, "  executed        of   branch directions\n");
    for (size_t i = 0; i < cps_json_count(handlers); i++) {
        struct json_object *handler = json_object_array_get_idx(handlers, i);
        struct results_cover c = results_cover_of(handler);
        cps_buf_printf(out, "  %8u  %8u   %5u of %5u   %s\n", c.ran, c.all, c.taken, c.directions,
                       result_text(handler, "handler"));
    }
}

unsigned results_count(struct json_object *results, enum result_status status)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    unsigned count = 0;
    for (size_t i = 0; i < cps_json_count(pairs); i++)
        count += result_status(json_object_array_get_idx(pairs, i)) == status;
    return count;
}

bool result_is_plain(struct json_object *pair)
{
    enum result_status status = result_status(pair);
    return status == RESULT_NOT_RUN || (status == RESULT_PASS && !*result_text(pair, "reason"));
}

/* A pair that is skipped was asked for and not checked, and so was a share without pairs: their
 * status is no promise. The manifest's tags= say which captures are for which firmware. */
int results_exit(struct json_object *results, struct cps_buf *why)
{
    unsigned count[RESULT_COUNT];
    const char *shard = cps_json_get_text(results, "shard", NULL);
    size_t pairs = cps_json_count(cps_json_get(results, "pairs"));
    for (unsigned i = 0; i < RESULT_COUNT; i++)
        count[i] = results_count(results, (enum result_status)i);
    if (cps_json_get(results, "interrupted")) {
        cps_buf_printf(why, "interrupted: %u of %zu pairs were not run", count[RESULT_NOT_RUN],
                       pairs);
        return 130;
    }
    if (shard && !pairs) {
        cps_buf_printf(why, "nothing was checked: shard %s has no pair of firmware and capture",
                       shard);
        return 4;
    }
    if (!shard && count[RESULT_SKIPPED] == pairs) {
        cps_buf_printf(why,
                       "nothing was checked: all %u pairs are skipped, since captures and "
                       "firmware are of different generations",
                       count[RESULT_SKIPPED]);
        return 3;
    }
    return count[RESULT_DIFFERS] ? 1 : count[RESULT_STOPPED] + count[RESULT_SKIPPED] ? 4 : 0;
}

/* ---- Whether a document is results. Files of results are hostile input: they come from other
 * machines, and their texts go into a page and a status. ---- */

/* Digits of coverage go from '0' to '0' plus all bits. */
#define LAST_DIGIT ('0' + 31)

/* Members of objects. A kind is t a text without NUL, T one that is not empty, d a digest, s a
 * shard, c digits of coverage, w the word of a status, n a count; [KIND a list, {KIND an object
 * whose members are that; or an object of the table. Of P, I and L all other members are texts. */
static const struct member {
    char object;
    const char *key, *kind;
    bool is_optional;
    const char *expected; /* of R, in the message */
} members[] = {
#define HEAD                                                                                      \
    "a head (\"firmware\", \"manifest\", \"pairs_total\", \"baseline\", \"shard\") of the right " \
    "kinds"
    {'R', "firmware", "[t", false, HEAD},
    {'R', "manifest", "d", false, HEAD},
    {'R', "pairs_total", "n", false, HEAD},
    {'R', "baseline", "t", true, HEAD},
    {'R', "shard", "s", true, HEAD},
    {'R', "inputs", "I", false, "inputs: each setting and each firmware"},
    {'R', "pairs", "[P", false, "pairs that have a firmware, a capture and a status that is known"},
    {'R', "places", "{L", false, "places that are texts"},
    {'R', "code", "{t", false, "code that is text"},
    {'R', "coverage", "{[H", false, "coverage that is digits of handlers"},
    {'I', "baseline", "t", false, NULL},
    {'I', "events", "t", false, NULL},
    {'I', "golden", "t", false, NULL},
    {'I', "limit", "t", false, NULL},
    {'I', "mask", "t", false, NULL},
    {'I', "names", "t", false, NULL},
    {'I', "policy", "t", false, NULL},
    {'P', "capture", "T", false, NULL},
    {'P', "firmware", "T", false, NULL},
    {'P', "status", "w", false, NULL},
    {'P', "differences", "n", true, NULL},
    {'P', "packets", "n", true, NULL},
    {'P', "instructions", "n", true, NULL},
    {'P', "causes", "[C", true, NULL},
    {'C', "cause", "t", false, NULL},
    {'C', "differences", "n", false, NULL},
    {'C', "packets", "n", false, NULL},
    {'C', "first", "t", false, NULL},
    {'C', "why_old", "t", true, NULL},
    {'C', "why_new", "t", true, NULL},
    {'L', "firmware", "T", false, NULL},
    {'H', "handler", "t", false, NULL},
    {'H', "digits", "c", false, NULL},
};

static bool is_kind(struct json_object *value, const char *kind);

static const struct member *find_member(char object, const char *key)
{
    const struct member *found = NULL;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !found; i++)
        found = members[i].object == object && !strcmp(members[i].key, key) ? &members[i] : NULL;
    return found;
}

/* @return the first member that is missing or of another kind; NULL: there is none */
static const struct member *find_defect(struct json_object *from, char object)
{
    const struct member *defect = NULL;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]) && !defect; i++) {
        const struct member *m = &members[i];
        struct json_object *value = cps_json_get(from, m->key);
        if (m->object == object && (value ? !is_kind(value, m->kind) : !m->is_optional))
            defect = m;
    }
    return defect;
}

static bool is_text_kind(const char *text, char kind)
{
    unsigned i = 0, n = 0;
    switch (kind) {
    case 'T':
        return *text;
    case 'd':
        return strlen(text) == 64;
    case 's':
        return results_shard(text, &i, &n);
    case 'c':
        while (*text >= '0' && *text <= LAST_DIGIT)
            text++;
        return !*text;
    case 'w':
        return status_of(text) != RESULT_COUNT;
    default:
        return true;
    }
}

static bool is_kind(struct json_object *value, const char *kind)
{
    enum json_type type = json_object_get_type(value);
    bool good = true;
    if (strchr("tTdscw", *kind)) {
        const char *text = type == json_type_string ? json_object_get_string(value) : NULL;
        return text && strlen(text) == (size_t)json_object_get_string_len(value) &&
               is_text_kind(text, *kind);
    }
    if (*kind == 'n')
        return type == json_type_int && json_object_get_int64(value) >= 0;
    if (*kind == '[') {
        for (size_t i = 0; i < cps_json_count(value) && good; i++)
            good = is_kind(json_object_array_get_idx(value, i), kind + 1);
        return good && type == json_type_array;
    }
    if (type != json_type_object)
        return false;
    json_object_object_foreach(value, key, member)
    {
        if (*kind == '{')
            good = good && is_kind(member, kind + 1);
        else if (strchr("PIL", *kind) && !find_member(*kind, key))
            good = good && is_kind(member, "t");
    }
    return good && (*kind == '{' || !find_defect(value, *kind));
}

bool results_shard(const char *text, unsigned *i, unsigned *n)
{
    char again[32];
    if (sscanf(text, "%9u/%9u", i, n) != 2 || !*i || *i > *n)
        return false;
    snprintf(again, sizeof(again), "%u/%u", *i, *n);
    return !strcmp(again, text); /* nothing else, and no number that was cut */
}

/* Firmware without its input, and pairs of other firmware and places. @return what was expected */
static const char *find_unknown(struct json_object *from)
{
    struct json_object *pairs = cps_json_get(from, "pairs");
    struct json_object *names = cps_json_get(from, "firmware");
    struct json_object *known = doc_new();
    const char *expected = NULL;
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(names, i));
        CPS_BUF key = {0};
        cps_buf_printf(&key, "firmware %s", name);
        cps_json_bool(known, name, true);
        if (!cps_json_get(cps_json_get(from, "inputs"), tool_text(&key)))
            expected = find_member('R', "inputs")->expected;
    }
    for (size_t i = 0; i < cps_json_count(pairs) && !expected; i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        const char *place = result_text(pair, "place");
        if (!cps_json_get(known, result_text(pair, "firmware")) ||
            (*place && !cps_json_get(cps_json_get(from, "places"), place)))
            expected = "pairs whose firmware and place are in the same file";
    }
    json_object_put(known);
    return expected;
}

static struct cps_err *check(struct json_object *from, const char *path)
{
    int64_t version = cps_json_get_int(from, "cpscope-results", -1);
    if (version < 0)
        return cps_err_new(CPS_ERR_INPUT, "%s: not the results of a regression run, expected them",
                           path);
    if (version != RESULTS_VERSION)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: results of version %" PRId64 ", expected version %d: run it again",
                           path, version, RESULTS_VERSION);
    const struct member *defect = find_defect(from, 'R');
    const char *expected = defect ? defect->expected : find_unknown(from);
    return expected ? cps_err_new(CPS_ERR_INPUT, "%s: damaged results, expected %s", path, expected)
                    : NULL;
}

/* ---- Merging ---- */

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
    cps_json_add(old, "digits", results_join_digits(a, b));
    return true;
}

static struct cps_err *join_coverage(struct json_object *to, struct json_object *from,
                                     const char *path)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        size_t count = cps_json_count(value);
        bool same = !old || cps_json_count(old) == count;
        if (!old)
            cps_json_add(to, key, json_object_get(value));
        for (size_t i = 0; old && i < count && same; i++)
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

/* Adds to the member "runs" while merging: by digest of the manifest, how many pairs it has, its
 * pairs, and "shards", an object with a member "I/N" for each. */
static void merge_run(struct json_object *to, struct json_object *from)
{
    const char *digest = result_text(from, "manifest");
    struct json_object *pairs = cps_json_get(from, "pairs");
    struct json_object *runs = cps_json_get(to, "runs");
    if (!runs)
        runs = cps_json_new_object(to, "runs");
    struct json_object *run = cps_json_get(runs, digest);
    if (!run) {
        run = cps_json_new_object(runs, digest);
        cps_json_add(run, "total", json_object_get(cps_json_get(from, "pairs_total")));
        cps_json_new_array(run, "pairs");
        cps_json_new_object(run, "shards");
    }
    if (cps_json_get(from, "shard"))
        cps_json_bool(cps_json_get(run, "shards"), result_text(from, "shard"), true);
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        cps_json_append(cps_json_get(run, "pairs"), json_object_get(pair));
        cps_json_append(cps_json_get(to, "pairs"), json_object_get(pair));
    }
}

static struct cps_err *merge(struct json_object *to, struct json_object *from, const char *path)
{
    struct json_object *names = cps_json_get(to, "firmware");
    struct json_object *more = cps_json_get(from, "firmware");
    CPS_TRY(check(from, path));
    CPS_TRY(join_inputs(cps_json_get(to, "inputs"), cps_json_get(from, "inputs"), path));
    if (cps_json_get(from, "interrupted"))
        return cps_err_new(CPS_ERR_INPUT, "%s: the run was interrupted; run it again to continue",
                           path);
    merge_run(to, from);
    for (size_t i = 0; i < cps_json_count(more); i++) {
        struct json_object *name = json_object_array_get_idx(more, i);
        size_t k = 0;
        while (k < cps_json_count(names) &&
               !json_object_equal(json_object_array_get_idx(names, k), name))
            k++;
        if (k == cps_json_count(names))
            cps_json_append(names, json_object_get(name));
    }
    if (cps_json_get(from, "baseline"))
        cps_json_add(to, "baseline", json_object_get(cps_json_get(from, "baseline")));
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

static struct cps_err *check_run(const char *digest, struct json_object *run)
{
    char found[65];
    CPS_TRY(check_shards(cps_json_get(run, "shards")));
    CPS_TRY(sort_pairs(run));
    struct json_object *pairs = cps_json_get(run, "pairs");
    results_digest(pairs, found);
    if (!strcmp(found, digest))
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "(results): %zu pairs, expected the %" PRId64
                       " of the manifest %.12s: pairs "
                       "are missing or differ",
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
    results_digest(pairs, digest);
    cps_json_text(results, "manifest", digest);
    cps_json_uint(results, "pairs_total", cps_json_count(pairs));
    return NULL;
}
