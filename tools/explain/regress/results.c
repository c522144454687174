/* SPDX-License-Identifier: MIT
 * Results of a regression run: their order, their sums. */
#include "tools/explain/regress/results.h"

#include <stdlib.h>
#include <string.h>

#include "trace/out/json.h"

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
    struct json_object *results = json_object_new_object();
    cps_json_uint(results, "cpscope-results", RESULTS_VERSION);
    cps_json_add(results, "firmware", json_object_new_array());
    cps_json_add(results, "pairs", json_object_new_array());
    cps_json_add(results, "places", json_object_new_object());
    cps_json_add(results, "code", json_object_new_object());
    cps_json_add(results, "coverage", json_object_new_object());
    cps_json_add(results, "inputs", json_object_new_object());
    return results;
}

enum result_status result_status(struct json_object *pair)
{
    const char *word = result_text(pair, "status");
    unsigned i = 0;
    while (i < RESULT_COUNT && strcmp(words[i], word) != 0)
        i++;
    return (enum result_status)i;
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

/* What was merged twice is there once. */
struct cps_err *results_sort_pairs(struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *kept = pairs ? json_object_new_array() : NULL;
    if (!kept)
        return cps_err_nomem();
    json_object_array_sort(pairs, by_pair);
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        struct json_object *before = i ? json_object_array_get_idx(pairs, i - 1) : NULL;
        bool same = before && is_same_pair(pair, before);
        if (!same)
            cps_json_append(kept, json_object_get(pair));
        if (!same || json_object_equal(pair, before))
            continue;
        json_object_put(kept);
        return cps_err_new(CPS_ERR_INPUT,
                           "(results): two different ones of firmware %s and capture %s, expected "
                           "one",
                           result_text(pair, "firmware"), result_text(pair, "capture"));
    }
    cps_json_add(results, "pairs", kept);
    return NULL;
}

static int by_text(const void *x, const void *y)
{
    return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* What workers send comes in the order of chance. */
static struct cps_err *sort_members(struct json_object *results, const char *member)
{
    struct json_object *members = cps_json_get(results, member);
    struct json_object *sorted = json_object_new_object();
    size_t count = 0;
    const char **key = calloc((size_t)json_object_object_length(members) + 1, sizeof(*key));
    if (!key) {
        json_object_put(sorted);
        return cps_err_nomem();
    }
    json_object_object_foreach(members, name, unused)
    {
        (void)unused;
        key[count++] = name;
    }
    qsort(key, count, sizeof(*key), by_text);
    for (size_t i = 0; i < count; i++)
        cps_json_add(sorted, key[i], json_object_get(cps_json_get(members, key[i])));
    free(key);
    cps_json_add(results, member, sorted);
    return NULL;
}

struct cps_err *results_sort(struct json_object *results)
{
    if (!cps_json_complete(results))
        return cps_err_nomem();
    CPS_TRY(results_sort_pairs(results));
    CPS_TRY(sort_members(results, "inputs"));
    return sort_members(results, "places");
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

char *results_join_digits(const char *a, const char *b)
{
    size_t size = strlen(a);
    char *ret = strdup(a);
    for (size_t i = 0; ret && i < size && b[i]; i++)
        ret[i] = (char)('0' + ((a[i] - '0') | (b[i] - '0')));
    return ret;
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

/* A run that compared nothing has not shown that anything is as it was. A share may have no pair.
 */
int results_exit(struct json_object *results, struct cps_buf *why)
{
    unsigned count[RESULT_COUNT];
    for (unsigned i = 0; i < RESULT_COUNT; i++)
        count[i] = results_count(results, (enum result_status)i);
    if (cps_json_get(results, "interrupted")) {
        cps_buf_printf(why, "interrupted: %u of %zu pairs were not run", count[RESULT_NOT_RUN],
                       cps_json_count(cps_json_get(results, "pairs")));
        return 130;
    }
    if (!cps_json_get(results, "shard") &&
        !(count[RESULT_PASS] + count[RESULT_DIFFERS] + count[RESULT_STOPPED])) {
        cps_buf_printf(why,
                       "nothing was checked: all %u pairs are skipped, since captures and "
                       "firmware are of different generations",
                       count[RESULT_SKIPPED]);
        return 3;
    }
    return count[RESULT_DIFFERS] ? 1 : count[RESULT_STOPPED] ? 4 : 0;
}

bool result_same_code(struct json_object *pair)
{
    return cps_json_get_bool(pair, "same_code", false);
}

unsigned results_count_same(struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    unsigned count = 0;
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        count += result_same_code(pair) && result_status(pair) == RESULT_PASS;
    }
    return count;
}
