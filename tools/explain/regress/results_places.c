/* SPDX-License-Identifier: MIT
 * The report's sections about where firmware diverges: a section per place with both handlers, and
 * in it an article per capture with what the packet did. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/cmd/render/html.h"
#include "tools/explain/regress/results.h"
#include "trace/out/json.h"

/* Captures of a place that the page shows chains of: a page of thousands shall open. */
enum { MOST_CHAINS = 20 };

/* Pairs by place; those that stopped without a comparison have none. */
struct place {
    const char *key;
    struct json_object *about;
    size_t *pair; /* indices */
    size_t count;
};

struct places {
    struct place *place;
    size_t count;
};

/* Pairs without a place of which there is something to say. */
static bool is_loose(struct json_object *pair)
{
    return !*result_text(pair, "place") && !result_is_plain(pair);
}

static int by_count(const void *x, const void *y)
{
    const struct place *a = x;
    const struct place *b = y;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->key, b->key);
}

static int by_key(const void *key, const void *place)
{
    return strcmp(key, ((const struct place *)place)->key);
}

static bool collect_names(struct json_object *results, struct places *ret)
{
    struct json_object *about = cps_json_get(results, "places");
    ret->place = calloc((size_t)json_object_object_length(about) + 1, sizeof(*ret->place));
    if (!ret->place)
        return false;
    json_object_object_foreach(about, key, value)
    {
        ret->place[ret->count++] = (struct place){.key = key, .about = value};
    }
    return true;
}

/* Results have places sorted by key; the report has those with most captures first. */
static bool collect(struct json_object *results, struct places *ret)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    size_t count = cps_json_count(pairs);
    if (!collect_names(results, ret))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *key = result_text(json_object_array_get_idx(pairs, i), "place");
        struct place *place =
            *key ? bsearch(key, ret->place, ret->count, sizeof(*place), by_key) : NULL;
        if (!place)
            continue;
        if (!CPS_LIST_ROOM(place->pair, place->count))
            return false;
        place->pair[place->count++] = i;
    }
    qsort(ret->place, ret->count, sizeof(*ret->place), by_count);
    return true;
}

static void places_deinit(struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->place[i].pair);
    free(places->place);
}

static void put_handler(struct cps_buf *out, const struct place *place)
{
    const char *handler = result_text(place->about, "handler");
    html_text(out, *handler ? handler : place->key);
}

void html_places_overview(struct cps_buf *out, struct json_object *results)
{
    struct places places = {0};
    if (!collect(results, &places))
        out->failed = true;
    if (!out->failed && places.count)
        cps_buf_str(out, "<h2>Where it differs first</h2>\n<div class=\"few\" "
                         "tabindex=\"0\"><table id=\"places\"><thead><tr>"
                         "<th>handler</th><th>firmware</th><th>captures</th></tr></thead>\n");
    for (size_t i = 0; !out->failed && i < places.count; i++) {
        cps_buf_printf(out, "<tr><td><a href=\"#g%zu\">", i);
        put_handler(out, &places.place[i]);
        html_wrap(out, "</a></td><td>", result_text(places.place[i].about, "firmware"), "</td>");
        cps_buf_printf(out, "<td class=\"n\">%zu</td></tr>\n", places.place[i].count);
    }
    if (places.count)
        cps_buf_str(out, "</table></div>\n");
    places_deinit(&places);
}

static void put_neighbour(struct cps_buf *out, const struct place *place, size_t at, int step,
                          const char *text)
{
    if ((step < 0 && !at) || (step > 0 && at + 1 >= place->count))
        return;
    cps_buf_printf(out, " <a href=\"#p%zu\">%s</a>",
                   step < 0 ? place->pair[at - 1] : place->pair[at + 1], text);
}

static void put_title(struct cps_buf *out, struct json_object *pair)
{
    const char *status = result_word(result_status(pair));
    cps_buf_printf(out, "<h3><span class=\"tag %s\">%s</span> ", status, status);
    html_text(out, result_text(pair, "firmware"));
    html_wrap(out, " &middot; ", result_text(pair, "capture"), "</h3>\n<p>");
    html_wrap(out, "", result_text(pair, "reason"), "</p>\n");
}

/* One side: a caption, and marked lines. A golden has no code. */
static void put_side(struct cps_buf *out, const char *label, const char *text)
{
    if (!*text)
        return;
    html_wrap(out, "<figure><figcaption>", label, "</figcaption>");
    html_pre_marked(out, text);
    cps_buf_str(out, "</figure>");
}

/* What is behind the pair's differences, each cause with its first example. */
static void put_causes(struct cps_buf *out, struct json_object *causes)
{
    if (!cps_json_count(causes))
        return;
    cps_buf_str(out, "<h4>Why</h4><table><thead><tr><th>cause</th><th>differences</th>"
                     "<th>packets</th><th>the first</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        struct json_object *cause = json_object_array_get_idx(causes, i);
        html_wrap(out, "<tr><td>", result_text(cause, "cause"), "</td>");
        cps_buf_printf(out, "<td class=\"n\">%" PRId64 "</td><td class=\"n\">%" PRId64 "</td>",
                       cps_json_get_int(cause, "differences", 0),
                       cps_json_get_int(cause, "packets", 0));
        html_wrap(out, "<td>", result_text(cause, "first"), "</td></tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

static bool has_chains(struct json_object *causes)
{
    bool any = false;
    for (size_t i = 0; i < cps_json_count(causes) && !any; i++) {
        struct json_object *cause = json_object_array_get_idx(causes, i);
        any = *result_text(cause, "why_old") || *result_text(cause, "why_new");
    }
    return any;
}

/* Where both values of a cause's first difference come from; once where it is the same. */
static void put_chains(struct cps_buf *out, const struct place *place, struct json_object *causes)
{
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        struct json_object *cause = json_object_array_get_idx(causes, i);
        const char *old = result_text(cause, "why_old");
        const char *new = result_text(cause, "why_new");
        bool same = !strcmp(old, new);
        if (!*old && !*new)
            continue;
        html_wrap(out, "<details><summary>Where it comes from: ", result_text(cause, "first"),
                  "</summary><div class=\"sides\">");
        put_side(out, same ? "both" : result_text(place->about, "label_a"), old);
        put_side(out, result_text(place->about, "label_b"), same ? "" : new);
        cps_buf_str(out, "</div></details>\n");
    }
}

static void put_pair(struct cps_buf *out, const struct place *place, size_t at,
                     struct json_object *pair)
{
    cps_buf_printf(out, "<article id=\"p%zu\"><nav><a href=\"#matrix\">matrix</a>",
                   place->pair[at]);
    put_neighbour(out, place, at, -1, "previous capture");
    put_neighbour(out, place, at, 1, "next capture");
    cps_buf_str(out, "</nav>\n");
    put_title(out, pair);
    put_causes(out, cps_json_get(pair, "causes"));
    if (at < MOST_CHAINS)
        put_chains(out, place, cps_json_get(pair, "causes"));
    else if (has_chains(cps_json_get(pair, "causes")))
        cps_buf_printf(
            out,
            "<p class=\"key\">Where it comes from: <a href=\"#p%zu\">another capture</a> "
            "that differs here shows it; for this one it is in results.json</p>\n",
            place->pair[0]);
    cps_buf_str(out, "<h4>The packet</h4><div class=\"sides\">");
    put_side(out, result_text(place->about, "label_a"), result_text(pair, "packet_a"));
    put_side(out, result_text(place->about, "label_b"), result_text(pair, "packet_b"));
    cps_buf_str(out, "</div>\n<details><summary>All differences</summary>");
    html_pre(out, result_text(pair, "counts"));
    cps_buf_str(out, "</details></article>\n");
}

static void put_code(struct cps_buf *out, const struct place *place)
{
    const char *code_a = result_text(place->about, "code_a");
    const char *code_b = result_text(place->about, "code_b");
    if (!*code_a && !*code_b)
        return;
    cps_buf_str(out, "<h4>The handlers</h4><p class=\"key\"><mark class=\"here\">&gt;</mark> the "
                     "difference arises here, <mark class=\"changed\">!</mark> other code on the "
                     "other side, ~ branches elsewhere</p>\n<div class=\"sides\">");
    put_side(out, result_text(place->about, "label_a"), code_a);
    put_side(out, result_text(place->about, "label_b"), code_b);
    cps_buf_str(out, "</div>\n");
}

static void put_captures(struct cps_buf *out, const struct place *place, struct json_object *pairs)
{
    cps_buf_printf(out, "<h4>Captures that differ here first: %zu</h4><ul class=\"captures\">\n",
                   place->count);
    for (size_t i = 0; i < place->count; i++) {
        cps_buf_printf(out, "<li><a href=\"#p%zu\">", place->pair[i]);
        html_text(out, result_text(json_object_array_get_idx(pairs, place->pair[i]), "capture"));
        cps_buf_str(out, "</a>\n");
    }
    cps_buf_str(out, "</ul>\n");
}

static void put_place(struct cps_buf *out, const struct place *place, size_t index,
                      struct json_object *pairs)
{
    cps_buf_printf(out,
                   "<section class=\"page\" id=\"g%zu\"><nav class=\"top\">"
                   "<a href=\"#matrix\">matrix</a></nav>\n<h2>",
                   index);
    html_text(out, result_text(place->about, "firmware"));
    cps_buf_str(out, " differs in ");
    put_handler(out, place);
    cps_buf_str(out, "</h2>\n");
    for (size_t i = 0; i < place->count; i++)
        put_pair(out, place, i, json_object_array_get_idx(pairs, place->pair[i]));
    put_code(out, place);
    put_captures(out, place, pairs);
    cps_buf_str(out, "</section>\n");
}

void html_places(struct cps_buf *out, struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct places places = {0};
    if (!collect(results, &places))
        out->failed = true;
    for (size_t i = 0; !out->failed && i < places.count; i++)
        put_place(out, &places.place[i], i, pairs);
    places_deinit(&places);
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = json_object_array_get_idx(pairs, i);
        if (!is_loose(pair))
            continue;
        cps_buf_printf(out,
                       "<section class=\"page\"><article id=\"p%zu\"><nav>"
                       "<a href=\"#matrix\">matrix</a></nav>\n",
                       i);
        put_title(out, pair);
        cps_buf_str(out, "</article></section>\n");
    }
}
