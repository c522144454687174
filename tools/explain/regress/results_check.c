/* SPDX-License-Identifier: MIT
 * Whether a JSON document is results of a regression run: every member of its kind, every status
 * known, every text without what JSON allows and a page does not. Files of results are hostile
 * input: they come from other machines, and what they say goes into a page and a status. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/regress/results.h"
#include "trace/out/json.h"

/* Digits of coverage go from '0' to '0' plus all bits. */
#define LAST_DIGIT ('0' + 31)

static bool is_text(struct json_object *value)
{
    const char *text =
        json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
    return text && strlen(text) == (size_t)json_object_get_string_len(value);
}

static bool is_count(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0;
}

static bool is_list_of(struct json_object *value, bool (*is)(struct json_object *item))
{
    if (!json_object_is_type(value, json_type_array))
        return false;
    for (size_t i = 0; i < cps_json_count(value); i++) {
        if (!is(json_object_array_get_idx(value, i)))
            return false;
    }
    return true;
}

/* An object all of whose members are of one kind. */
static bool is_map_of(struct json_object *value, bool (*is)(struct json_object *item))
{
    if (!json_object_is_type(value, json_type_object))
        return false;
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        if (!is(member))
            return false;
    }
    return true;
}

/* A handler of coverage. */
static bool is_handler(struct json_object *value)
{
    if (!is_text(cps_json_get(value, "handler")) || !is_text(cps_json_get(value, "digits")))
        return false;
    for (const char *at = result_text(value, "digits"); *at; at++) {
        if (*at < '0' || *at > LAST_DIGIT)
            return false;
    }
    return true;
}

static bool is_handlers(struct json_object *value)
{
    return is_list_of(value, is_handler);
}

static bool is_place(struct json_object *value)
{
    return is_map_of(value, is_text) && *result_text(value, "firmware");
}

static bool is_text_or_none(struct json_object *value)
{
    return !value || is_text(value);
}

static bool is_cause(struct json_object *value)
{
    return is_text(cps_json_get(value, "cause")) && is_count(cps_json_get(value, "differences")) &&
           is_count(cps_json_get(value, "packets")) && is_text(cps_json_get(value, "first")) &&
           is_text_or_none(cps_json_get(value, "why_old")) &&
           is_text_or_none(cps_json_get(value, "why_new"));
}

/* Members of a pair that it need not have. */
static bool is_pair_member(const char *key, struct json_object *value)
{
    static const char *const counts[] = {"differences", "packets", "instructions"};
    for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        if (!strcmp(key, counts[i]))
            return is_count(value);
    }
    if (!strcmp(key, "causes"))
        return is_list_of(value, is_cause);
    return strcmp(key, "same_code") ? is_text(value)
                                    : json_object_is_type(value, json_type_boolean);
}

static bool is_pair(struct json_object *pair)
{
    if (!json_object_is_type(pair, json_type_object) || result_status(pair) == RESULT_COUNT)
        return false;
    json_object_object_foreach(pair, key, value)
    {
        if (!is_pair_member(key, value))
            return false;
    }
    return *result_text(pair, "capture") && *result_text(pair, "firmware");
}

/* What a pair names must be there. */
static bool names_known(struct json_object *from, struct json_object *pair)
{
    struct json_object *names = cps_json_get(from, "firmware");
    const char *place = result_text(pair, "place");
    bool known = false;
    for (size_t i = 0; i < cps_json_count(names) && !known; i++)
        known = !strcmp(json_object_get_string(json_object_array_get_idx(names, i)),
                        result_text(pair, "firmware"));
    return known && (!*place || cps_json_get(cps_json_get(from, "places"), place));
}

static bool is_optional_text(struct json_object *from, const char *key)
{
    return !cps_json_get(from, key) || is_text(cps_json_get(from, key));
}

bool results_shard(const char *text, unsigned *i, unsigned *n)
{
    char again[32];
    if (sscanf(text, "%9u/%9u", i, n) != 2 || !*i || *i > *n)
        return false;
    snprintf(again, sizeof(again), "%u/%u", *i, *n);
    return !strcmp(again, text); /* nothing else, and no number that was cut */
}

static bool is_head(struct json_object *from)
{
    unsigned i = 0, n = 0;
    return is_list_of(cps_json_get(from, "firmware"), is_text) &&
           is_text(cps_json_get(from, "manifest")) && strlen(result_text(from, "manifest")) == 64 &&
           is_count(cps_json_get(from, "pairs_total")) && is_optional_text(from, "baseline") &&
           is_optional_text(from, "shard") &&
           (!cps_json_get(from, "shard") || results_shard(result_text(from, "shard"), &i, &n));
}

/* What every run has been made with; captures may be missing whose process died. */
static bool is_inputs(struct json_object *from)
{
    static const char *const settings[] = {"baseline", "events", "golden", "limit",
                                           "mask",     "names",  "policy"};
    struct json_object *inputs = cps_json_get(from, "inputs");
    struct json_object *names = cps_json_get(from, "firmware");
    bool good = is_map_of(inputs, is_text);
    for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        good = good && cps_json_get(inputs, settings[i]);
    for (size_t i = 0; i < cps_json_count(names) && good; i++) {
        CPS_BUF key = {0};
        cps_buf_printf(&key, "firmware %s",
                       json_object_get_string(json_object_array_get_idx(names, i)));
        good = cps_json_get(inputs, cps_buf_text(&key));
    }
    return good;
}

static const char *defect(struct json_object *from)
{
    struct json_object *pairs = cps_json_get(from, "pairs");
    if (!is_head(from))
        return "a head (\"firmware\", \"manifest\", \"pairs_total\", \"baseline\", \"shard\") of "
               "the right kinds";
    if (!is_inputs(from))
        return "inputs: each setting and each firmware";
    if (!is_list_of(pairs, is_pair))
        return "pairs that have a firmware, a capture and a status that is known";
    if (!is_map_of(cps_json_get(from, "places"), is_place))
        return "places that are texts";
    if (!is_map_of(cps_json_get(from, "code"), is_text))
        return "code that is text";
    if (!is_map_of(cps_json_get(from, "coverage"), is_handlers))
        return "coverage that is digits of handlers";
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        if (!names_known(from, json_object_array_get_idx(pairs, i)))
            return "pairs whose firmware and place are in the same file";
    }
    return NULL;
}

struct cps_err *results_check(struct json_object *from, const char *path)
{
    int64_t version = cps_json_get_int(from, "cpscope-results", -1);
    if (version < 0)
        return cps_err_new(CPS_ERR_INPUT, "%s: not the results of a regression run, expected them",
                           path);
    if (version != RESULTS_VERSION)
        return cps_err_new(CPS_ERR_INPUT,
                           "%s: results of version %" PRId64 ", expected version %d: run it again",
                           path, version, RESULTS_VERSION);
    const char *expected = defect(from);
    return expected ? cps_err_new(CPS_ERR_INPUT, "%s: damaged results, expected %s", path, expected)
                    : NULL;
}
