/* SPDX-License-Identifier: MIT
 * Results of a regression run, and their plain forms: JSON, JUnit XML, TAP. */
#include "results.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "trace/outfile.h"

static const char *const words[RESULT_COUNT] = {"pass", "differs", "stopped", "skipped"};

const char *result_word(enum result_status status)
{
    return words[status];
}

const char *result_text(struct json_object *pair, const char *key)
{
    struct json_object *value = NULL;
    if (!json_object_object_get_ex(pair, key, &value))
        return "";
    return json_object_get_string(value);
}

struct json_object *results_create(void)
{
    struct json_object *results = json_object_new_object();
    json_object_object_add(results, "cpscope-results", json_object_new_int(1));
    json_object_object_add(results, "pairs", json_object_new_array());
    json_object_object_add(results, "code", json_object_new_object());
    json_object_object_add(results, "coverage", json_object_new_object());
    return results;
}

static struct json_object *get(struct json_object *from, const char *key)
{
    struct json_object *value = NULL;
    json_object_object_get_ex(from, key, &value);
    return value;
}

static int by_pair(const void *x, const void *y)
{
    struct json_object *a = *(struct json_object *const *)x;
    struct json_object *b = *(struct json_object *const *)y;
    int order = strcmp(result_text(a, "capture"), result_text(b, "capture"));
    order = order ? order : strcmp(result_text(a, "firmware"), result_text(b, "firmware"));
    return order ? order : strcmp(json_object_to_json_string(a), json_object_to_json_string(b));
}

void results_sort(struct json_object *results)
{
    struct json_object *pairs = get(results, "pairs");
    struct json_object *unique = json_object_new_array();
    json_object_array_sort(pairs, by_pair);
    size_t count = json_object_array_length(pairs);
    for (size_t i = 0; i < count; i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        struct json_object *next = json_object_array_get_idx(pairs, i + 1);
        if (i + 1 == count || !json_object_equal(pair, next))
            json_object_array_add(unique, json_object_get(pair));
    }
    json_object_object_add(results, "pairs", unique);
}

/* Shards have every text about code, and the same one; coverage is a union of executed places. */
static void merge_objects(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = get(to, key);
        if (!old)
            json_object_object_add(to, key, json_object_get(value));
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
        if (both)
            json_object_object_add(old, "digits", json_object_new_string(both));
    }
}

static void merge_coverage(struct json_object *to, struct json_object *from)
{
    json_object_object_foreach(from, key, value)
    {
        struct json_object *old = get(to, key);
        if (old)
            join_handlers(old, value);
        else
            json_object_object_add(to, key, json_object_get(value));
    }
}

void results_coverage_table(struct json_object *handlers, struct cps_buf *out)
{
    cps_buf_str(out, "  executed        of   branch directions\n");
    for (size_t i = 0; i < json_object_array_length(handlers); i++) {
        struct json_object *handler = json_object_array_get_idx(handlers, i);
        unsigned ran = 0, all = 0, directions = 0, taken = 0;
        for (const char *at = result_text(handler, "digits"); *at; at++) {
            int bits = *at - '0';
            bool code = bits & COVER_CODE;
            bool branch = bits & COVER_BRANCH;
            all += code;
            ran += code && (bits & COVER_RUN);
            directions += branch ? 2 : 0;
            taken += branch ? !!(bits & COVER_TAKEN) + !!(bits & COVER_NOT_TAKEN) : 0;
        }
        cps_buf_printf(out, "  %8u  %8u   %5u of %5u   %s\n", ran, all, taken, directions,
                       result_text(handler, "handler"));
    }
}

struct cps_err *results_merge(struct json_object *to, const char *path)
{
    struct json_object *from = json_object_from_file(path);
    struct json_object *pairs = from ? get(from, "pairs") : NULL;
    if (!pairs || !get(from, "cpscope-results") || !get(from, "code") || !get(from, "coverage")) {
        json_object_put(from);
        return cps_err_new(CPS_ERR_INPUT, "%s: not the results of a regression run, expected them",
                           path);
    }
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        json_object_array_add(get(to, "pairs"),
                              json_object_get(json_object_array_get_idx(pairs, i)));
    merge_objects(get(to, "code"), get(from, "code"));
    merge_coverage(get(to, "coverage"), get(from, "coverage"));
    json_object_put(from);
    return NULL;
}

unsigned results_count(struct json_object *results, enum result_status status)
{
    struct json_object *pairs = get(results, "pairs");
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

static void put_xml(struct cps_buf *out, const char *text)
{
    for (; *text; text++) {
        const char *escape = *text == '<'   ? "&lt;"
                             : *text == '>' ? "&gt;"
                             : *text == '&' ? "&amp;"
                             : *text == '"' ? "&quot;"
                                            : NULL;
        if (escape)
            cps_buf_str(out, escape);
        else if ((unsigned char)*text >= ' ' || *text == '\n' || *text == '\t')
            cps_buf_add(out, text, 1);
    }
}

static void junit_case(struct json_object *pair, struct cps_buf *out)
{
    const char *status = result_text(pair, "status");
    cps_buf_str(out, "  <testcase classname=\"");
    put_xml(out, result_text(pair, "firmware"));
    cps_buf_str(out, "\" name=\"");
    put_xml(out, result_text(pair, "capture"));
    if (!strcmp(status, words[RESULT_PASS])) {
        cps_buf_str(out, "\"/>\n");
        return;
    }
    const char *tag = !strcmp(status, words[RESULT_SKIPPED])   ? "skipped"
                      : !strcmp(status, words[RESULT_DIFFERS]) ? "failure"
                                                               : "error";
    cps_buf_printf(out, "\"><%s message=\"", tag);
    put_xml(out, result_text(pair, "reason"));
    cps_buf_str(out, "\">");
    put_xml(out, result_text(pair, "first"));
    cps_buf_printf(out, "</%s></testcase>\n", tag);
}

static struct cps_err *write_junit(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    struct json_object *pairs = get(results, "pairs");
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

static struct cps_err *write_tap(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    struct json_object *pairs = get(results, "pairs");
    cps_buf_printf(&out, "TAP version 13\n1..%zu\n", json_object_array_length(pairs));
    for (size_t i = 0; i < json_object_array_length(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        const char *status = result_text(pair, "status");
        bool skipped = !strcmp(status, words[RESULT_SKIPPED]);
        bool good = skipped || !strcmp(status, words[RESULT_PASS]);
        const char *reason = result_text(pair, "reason");
        cps_buf_printf(&out, "%s %zu - %s %s%s%s\n", good ? "ok" : "not ok", i + 1,
                       result_text(pair, "firmware"), result_text(pair, "capture"),
                       skipped ? " # SKIP "
                       : good  ? ""
                               : ": ",
                       good && !skipped ? "" : reason);
    }
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
    cps_buf_str(&text, json_object_to_json_string_ext(results, JSON_C_TO_STRING_PRETTY));
    cps_buf_str(&text, "\n");
    if (text.failed)
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
