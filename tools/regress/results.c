/* SPDX-License-Identifier: MIT
 * Results of a regression run, and their plain forms: JSON, JUnit XML, TAP. */
#include "tools/regress/results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/report/html.h"
#include "trace/outfile.h"
#include "trace/json.h"

static const char *const words[RESULT_COUNT] = {"pass", "differs", "stopped", "skipped"};

const char *result_word(enum result_status status)
{
    return words[status];
}

const char *result_text(struct json_object *pair, const char *key)
{
    struct json_object *value = cps_json_get(pair, key);
    return value ? json_object_get_string(value) : "";
}

struct json_object *results_create(void)
{
    struct json_object *results = json_object_new_object();
    cps_json_uint(results, "cpscope-results", 1);
    cps_json_add(results, "firmware", json_object_new_array());
    cps_json_add(results, "pairs", json_object_new_array());
    cps_json_add(results, "places", json_object_new_object());
    cps_json_add(results, "code", json_object_new_object());
    cps_json_add(results, "coverage", json_object_new_object());
    return results;
}

static int by_pair(const void *x, const void *y)
{
    struct json_object *a = *(struct json_object *const *)x;
    struct json_object *b = *(struct json_object *const *)y;
    int order = strcmp(result_text(a, "capture"), result_text(b, "capture"));
    if (!order)
        order = strcmp(result_text(a, "firmware"), result_text(b, "firmware"));
    /* results of two runs merged: some order, and always the same */
    return order ? order : strcmp(json_object_to_json_string(a), json_object_to_json_string(b));
}

static bool is_same_pair(struct json_object *a, struct json_object *b)
{
    return !strcmp(result_text(a, "capture"), result_text(b, "capture")) &&
           !strcmp(result_text(a, "firmware"), result_text(b, "firmware"));
}

static void sort_pairs(struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *kept = json_object_new_array();
    json_object_array_sort(pairs, by_pair);
    for (size_t i = 0; i < json_object_array_length(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        if (!i || !is_same_pair(pair, json_object_array_get_idx(pairs, i - 1)))
            cps_json_append(kept, json_object_get(pair));
    }
    cps_json_add(results, "pairs", kept);
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Workers find places in the order of chance. */
static struct cps_err *sort_places(struct json_object *results)
{
    struct json_object *places = cps_json_get(results, "places");
    struct json_object *sorted = json_object_new_object();
    size_t count = 0;
    const char **key = calloc((size_t)json_object_object_length(places) + 1, sizeof(*key));
    if (!key) {
        json_object_put(sorted);
        return cps_err_nomem();
    }
    json_object_object_foreach(places, name, unused)
    {
        (void)unused;
        key[count++] = name;
    }
    qsort(key, count, sizeof(*key), by_text);
    for (size_t i = 0; i < count; i++)
        cps_json_add(sorted, key[i], json_object_get(cps_json_get(places, key[i])));
    free(key);
    cps_json_add(results, "places", sorted);
    return NULL;
}

struct cps_err *results_sort(struct json_object *results)
{
    sort_pairs(results);
    return sort_places(results);
}

void results_join(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        if (!old)
            cps_json_add(to, key, json_object_get(value));
    }
}

char *results_join_digits(const char *a, const char *b)
{
    size_t size = strlen(a);
    char *ret = strdup(a);
    for (size_t i = 0; ret && i < size && b[i]; i++)
        ret[i] = (char)('0' + ((a[i] - '0') | (b[i] - '0')));
    return ret;
}

static void join_handlers(struct json_object *to, struct json_object *from)
{
    size_t count = json_object_array_length(to);
    for (size_t i = 0; i < count && i < json_object_array_length(from); i++) {
        struct json_object *old = json_object_array_get_idx(to, i);
        struct json_object *new = json_object_array_get_idx(from, i);
        CPS_FREE char *both =
            results_join_digits(result_text(old, "digits"), result_text(new, "digits"));
        cps_json_add(old, "digits", both ? json_object_new_string(both) : NULL);
    }
}

static void merge_coverage(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = cps_json_get(to, key);
        if (old)
            join_handlers(old, value);
        else
            cps_json_add(to, key, json_object_get(value));
    }
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
    for (size_t i = 0; i < json_object_array_length(handlers); i++) {
        struct json_object *handler = json_object_array_get_idx(handlers, i);
        struct results_cover c = results_cover_of(handler);
        cps_buf_printf(out, "  %8u  %8u   %5u of %5u   %s\n", c.ran, c.all, c.taken, c.directions,
                       result_text(handler, "handler"));
    }
}

/* Shards of one run have the same list; else it is the union. */
static void merge_firmware(struct json_object *to, struct json_object *from)
{
    struct json_object *names = cps_json_get(to, "firmware");
    struct json_object *more = cps_json_get(from, "firmware");
    struct json_object *baseline = cps_json_get(from, "baseline");
    for (size_t i = 0; i < json_object_array_length(more); i++) {
        struct json_object *name = json_object_array_get_idx(more, i);
        size_t k = 0;
        while (k < json_object_array_length(names) &&
               !json_object_equal(json_object_array_get_idx(names, k), name))
            k++;
        if (k == json_object_array_length(names))
            cps_json_append(names, json_object_get(name));
    }
    if (baseline && !cps_json_get(to, "baseline"))
        cps_json_add(to, "baseline", json_object_get(baseline));
}

/* "shards": an object with a member "I/N" per shard merged so far. */
static struct cps_err *merge_shard(struct json_object *to, struct json_object *from,
                                   const char *path)
{
    if (cps_json_get(from, "interrupted"))
        return cps_err_new(CPS_ERR_INPUT, "%s: the run was interrupted; run it again to go on",
                           path);
    if (!cps_json_get(from, "shard"))
        return NULL;
    if (!cps_json_get(to, "shards"))
        cps_json_add(to, "shards", json_object_new_object());
    cps_json_bool(cps_json_get(to, "shards"), result_text(from, "shard"), 1);
    return NULL;
}

struct cps_err *results_complete(struct json_object *results)
{
    struct json_object *shards = cps_json_get(results, "shards");
    unsigned i = 0, n = 0;
    if (!shards)
        return NULL;
    json_object_object_foreach(shards, shard, unused)
    {
        unsigned of = 0;
        (void)unused;
        if (sscanf(shard, "%u/%u", &i, &of) != 2 || (n && of != n))
            return cps_err_new(CPS_ERR_INPUT, "shard %s is of another run than the others", shard);
        n = of;
    }
    for (i = 1; i <= n; i++) {
        char key[32];
        snprintf(key, sizeof(key), "%u/%u", i, n);
        if (!cps_json_get(shards, key))
            return cps_err_new(CPS_ERR_INPUT, "the results of shard %s are missing", key);
    }
    json_object_object_del(results, "shards");
    return NULL;
}

/* Whether it has the members of results, of the right kinds. */
static bool are_results(struct json_object *from)
{
    return cps_json_get(from, "cpscope-results") &&
           json_object_is_type(cps_json_get(from, "firmware"), json_type_array) &&
           json_object_is_type(cps_json_get(from, "pairs"), json_type_array) &&
           json_object_is_type(cps_json_get(from, "places"), json_type_object) &&
           json_object_is_type(cps_json_get(from, "code"), json_type_object) &&
           json_object_is_type(cps_json_get(from, "coverage"), json_type_object);
}

struct cps_err *results_merge(struct json_object *to, const char *path)
{
    struct json_object *from = json_object_from_file(path);
    struct json_object *pairs = cps_json_get(from, "pairs");
    if (!are_results(from)) {
        json_object_put(from);
        return cps_err_new(CPS_ERR_INPUT, "%s: not the results of a regression run, expected them",
                           path);
    }
    struct cps_err *err = merge_shard(to, from, path);
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        cps_json_append(cps_json_get(to, "pairs"),
                        json_object_get(json_object_array_get_idx(pairs, i)));
    merge_firmware(to, from);
    results_join(cps_json_get(to, "places"), cps_json_get(from, "places"));
    results_join(cps_json_get(to, "code"), cps_json_get(from, "code"));
    merge_coverage(cps_json_get(to, "coverage"), cps_json_get(from, "coverage"));
    json_object_put(from);
    return err;
}

unsigned results_count(struct json_object *results, enum result_status status)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    unsigned count = 0;
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        count += !strcmp(result_text(json_object_array_get_idx(pairs, i), "status"), words[status]);
    return count;
}

static struct cps_err *write_file(const char *path, const char *text, size_t size)
{
    struct cps_outfile *out = NULL;
    CPS_TRY(cps_outfile_open(path, &out));
    cps_outfile_write(out, text, size);
    return cps_outfile_commit(out);
}

static void junit_case(struct json_object *pair, struct cps_buf *out)
{
    const char *status = result_text(pair, "status");
    cps_buf_str(out, "  <testcase classname=\"");
    html_text(out, result_text(pair, "firmware"));
    cps_buf_str(out, "\" name=\"");
    html_text(out, result_text(pair, "capture"));
    if (!strcmp(status, words[RESULT_PASS])) {
        cps_buf_str(out, "\"/>\n");
        return;
    }
    const char *tag = !strcmp(status, words[RESULT_SKIPPED])   ? "skipped"
                      : !strcmp(status, words[RESULT_DIFFERS]) ? "failure"
                                                               : "error";
    cps_buf_printf(out, "\"><%s message=\"", tag);
    html_text(out, result_text(pair, "reason"));
    cps_buf_str(out, "\">");
    html_text(out, result_text(pair, "first"));
    cps_buf_printf(out, "</%s></testcase>\n", tag);
}

static struct cps_err *write_junit(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    struct json_object *pairs = cps_json_get(results, "pairs");
    cps_buf_printf(&out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"cpscope\" "
                   "tests=\"%zu\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
                   json_object_array_length(pairs), results_count(results, RESULT_DIFFERS),
                   results_count(results, RESULT_STOPPED), results_count(results, RESULT_SKIPPED));
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        junit_case(json_object_array_get_idx(pairs, i), &out);
    cps_buf_str(&out, "</testsuite>\n");
    return out.failed ? cps_err_nomem() : write_file(path, out.data, out.size);
}

/* A "#" in a name would begin a directive, a line break another line. */
static void tap_text(struct cps_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '#' || *text == '\\')
            cps_buf_str(out, "\\");
        cps_buf_add(out, (unsigned char)*text < ' ' ? " " : text, 1);
    }
}

static void tap_line(struct json_object *pair, size_t number, struct cps_buf *out)
{
    const char *status = result_text(pair, "status");
    bool skipped = !strcmp(status, words[RESULT_SKIPPED]);
    bool pass = !strcmp(status, words[RESULT_PASS]);
    cps_buf_printf(out, "%s %zu - ", pass || skipped ? "ok" : "not ok", number);
    tap_text(out, result_text(pair, "firmware"));
    cps_buf_str(out, " ");
    tap_text(out, result_text(pair, "capture"));
    cps_buf_str(out, skipped ? " # SKIP " : pass ? "" : ": ");
    tap_text(out, pass ? "" : result_text(pair, "reason"));
    cps_buf_str(out, "\n");
}

static struct cps_err *write_tap(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    struct json_object *pairs = cps_json_get(results, "pairs");
    cps_buf_printf(&out, "TAP version 13\n1..%zu\n", json_object_array_length(pairs));
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        tap_line(json_object_array_get_idx(pairs, i), i + 1, &out);
    return out.failed ? cps_err_nomem() : write_file(path, out.data, out.size);
}

static struct cps_err *path_in(const char *dir, const char *name, char ret[4096])
{
    if (snprintf(ret, 4096, "%s/%s", dir, name) >= 4096)
        return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", dir);
    return NULL;
}

struct cps_err *results_write(struct json_object *results, const char *dir)
{
    char path[4096];
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return cps_err_os(dir, "create");
    CPS_BUF text = {0};
    const char *json = cps_json_print(results, JSON_C_TO_STRING_PRETTY);
    cps_buf_printf(&text, "%s\n", json ? json : "");
    if (!json || text.failed)
        return cps_err_nomem();
    CPS_TRY(path_in(dir, "results.json", path));
    CPS_TRY(write_file(path, text.data, text.size));
    CPS_TRY(path_in(dir, "results.xml", path));
    CPS_TRY(write_junit(results, path));
    CPS_TRY(path_in(dir, "results.tap", path));
    CPS_TRY(write_tap(results, path));
    CPS_TRY(path_in(dir, "index.html", path));
    return results_html(results, path);
}
