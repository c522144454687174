/* SPDX-License-Identifier: MIT
 * Whether a JSON document is results of a regression run: every member of its kind, every status
 * known, every text without what JSON allows and a page does not. Files of results are hostile
 * input: they come from other machines, and what they say goes into a page and a status. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/regress/results.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Digits of coverage go from '0' to '0' plus all bits. */
#define LAST_DIGIT ('0' + 31)

typedef bool kind_fn(struct json_object *value);

/* A member of an object. */
struct member {
    const char *key;
    kind_fn *is;
    bool optional;
};

static bool has_members(struct json_object *value, const struct member *rows, size_t count)
{
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct json_object *member = cps_json_get(value, rows[i].key);
        good = member ? rows[i].is(member) : rows[i].optional;
    }
    return good;
}
#define HAS_MEMBERS(value, rows) has_members((value), (rows), sizeof(rows) / sizeof((rows)[0]))

static bool is_list_of(struct json_object *value, kind_fn *is)
{
    bool good = json_object_is_type(value, json_type_array);
    for (size_t i = 0; good && i < cps_json_count(value); i++)
        good = is(json_object_array_get_idx(value, i));
    return good;
}

/* An object all of whose members are of one kind. */
static bool is_map_of(struct json_object *value, kind_fn *is)
{
    bool good = json_object_is_type(value, json_type_object);
    if (!good)
        return false;
    json_object_object_foreach(value, key, member)
    {
        (void)key;
        good = good && is(member);
    }
    return good;
}

/* ---- Kinds ---- */

static bool is_text(struct json_object *value)
{
    const char *text =
        json_object_is_type(value, json_type_string) ? json_object_get_string(value) : NULL;
    return text && strlen(text) == (size_t)json_object_get_string_len(value);
}

static bool is_name(struct json_object *value)
{
    return is_text(value) && *json_object_get_string(value);
}

static bool is_count(struct json_object *value)
{
    return json_object_is_type(value, json_type_int) && json_object_get_int64(value) >= 0;
}

static bool is_digest(struct json_object *value)
{
    return is_text(value) && json_object_get_string_len(value) == 64;
}

static bool is_shard(struct json_object *value)
{
    unsigned i = 0, n = 0;
    return is_text(value) && results_shard(json_object_get_string(value), &i, &n);
}

static bool is_digits(struct json_object *value)
{
    bool good = is_text(value);
    for (const char *at = good ? json_object_get_string(value) : ""; *at && good; at++)
        good = *at >= '0' && *at <= LAST_DIGIT;
    return good;
}

static bool is_names(struct json_object *value)
{
    return is_list_of(value, is_text);
}

static bool is_handler(struct json_object *value)
{
    static const struct member rows[] = {{"handler", is_text, false}, {"digits", is_digits, false}};
    return HAS_MEMBERS(value, rows);
}

static bool is_handlers(struct json_object *value)
{
    return is_list_of(value, is_handler);
}

static bool is_place(struct json_object *value)
{
    return is_map_of(value, is_text) && *result_text(value, "firmware");
}

static bool is_cause(struct json_object *value)
{
    static const struct member rows[] = {
        {"cause", is_text, false}, {"differences", is_count, false}, {"packets", is_count, false},
        {"first", is_text, false}, {"why_old", is_text, true},       {"why_new", is_text, true},
    };
    return HAS_MEMBERS(value, rows);
}

static bool is_causes(struct json_object *value)
{
    return is_list_of(value, is_cause);
}

/* What has no row here is a text. */
static bool is_pair(struct json_object *pair)
{
    static const struct member rows[] = {
        {"capture", is_name, false},      {"firmware", is_name, false},
        {"differences", is_count, true},  {"packets", is_count, true},
        {"instructions", is_count, true}, {"causes", is_causes, true},
    };
    bool good = json_object_is_type(pair, json_type_object) && HAS_MEMBERS(pair, rows) &&
                result_status(pair) != RESULT_COUNT;
    if (!good)
        return false;
    json_object_object_foreach(pair, key, value)
    {
        size_t i = 2;
        while (i < sizeof(rows) / sizeof(rows[0]) && strcmp(key, rows[i].key) != 0)
            i++;
        good = good && (i < sizeof(rows) / sizeof(rows[0]) || is_text(value));
    }
    return good;
}

/* ---- Results ---- */

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
    static const struct member rows[] = {
        {"firmware", is_names, false},    {"manifest", is_digest, false},
        {"pairs_total", is_count, false}, {"baseline", is_text, true},
        {"shard", is_shard, true},
    };
    return HAS_MEMBERS(from, rows);
}

/* What every run has been made with; captures may be missing whose process died. */
static bool is_inputs(struct json_object *from)
{
    static const struct member settings[] = {
        {"baseline", is_text, false}, {"events", is_text, false}, {"golden", is_text, false},
        {"limit", is_text, false},    {"mask", is_text, false},   {"names", is_text, false},
        {"policy", is_text, false},
    };
    struct json_object *inputs = cps_json_get(from, "inputs");
    struct json_object *names = cps_json_get(from, "firmware");
    bool good = is_map_of(inputs, is_text) && HAS_MEMBERS(inputs, settings);
    for (size_t i = 0; i < cps_json_count(names) && good; i++) {
        CPS_BUF key = {0};
        cps_buf_printf(&key, "firmware %s",
                       json_object_get_string(json_object_array_get_idx(names, i)));
        good = cps_json_get(inputs, tool_text(&key));
    }
    return good;
}

static const char *find_defect(struct json_object *from)
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
    const char *expected = find_defect(from);
    return expected ? cps_err_new(CPS_ERR_INPUT, "%s: damaged results, expected %s", path, expected)
                    : NULL;
}
