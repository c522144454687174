/* SPDX-License-Identifier: MIT
 * The report for people: one page that needs no network and no script. A matrix with a cell per
 * pair; a cell that is not green leads to what happened there. Anchors: pN for pair N, gN for place
 * N. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/explain/regress/results.h"
#include "tools/cmd/render/html.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Captures of a place that the page shows chains of: a page of thousands shall open. */
enum { MOST_CHAINS = 20 };

static struct json_object *item(struct json_object *list, size_t index)
{
    return json_object_array_get_idx(list, index);
}

/* Cells of a row: @p kinds  't' a text, 'n' an int64_t */
static void put_cells(struct cps_buf *out, const char *kinds, ...)
{
    va_list args;
    va_start(args, kinds);
    for (; *kinds; kinds++) {
        if (*kinds == 't')
            html_wrap(out, "<td>", va_arg(args, const char *), "</td>");
        else
            cps_buf_printf(out, "<td class=\"n\">%" PRId64 "</td>", va_arg(args, int64_t));
    }
    va_end(args);
}

/* ---- The matrix ---- */

static void put_cell(struct cps_buf *out, struct json_object *pair, size_t index)
{
    enum result_status status = result_status(pair);
    bool linked = !result_is_plain(pair);
    cps_buf_printf(out, "<td class=\"%s\">", result_word(status));
    if (linked)
        cps_buf_printf(out, "<a href=\"#p%zu\">", index);
    else
        cps_buf_str(out, "<span>");
    cps_buf_str(out, result_word(status));
    if (status == RESULT_DIFFERS)
        cps_buf_printf(out, " (%" PRId64 ")", cps_json_get_int(pair, "differences", 0));
    cps_buf_str(out, linked ? "</a></td>" : "</span></td>");
}

/* What the filter goes by: the cell that most wants to be seen. */
static const char *row_status(struct json_object *pairs, size_t first, size_t end)
{
    static const enum result_status order[] = {RESULT_SKIPPED, RESULT_PASS, RESULT_STOPPED,
                                               RESULT_NOT_RUN, RESULT_DIFFERS};
    unsigned most = 0;
    for (size_t i = first; i < end; i++) {
        for (unsigned rank = most; rank < sizeof(order) / sizeof(order[0]); rank++)
            most = result_status(item(pairs, i)) == order[rank] ? rank : most;
    }
    return result_word(order[most]);
}

/* A capture: pairs are sorted by it, so that a row is a run of them. @return its end */
static size_t put_row(struct cps_buf *out, struct json_object *pairs, size_t first,
                      struct json_object *names)
{
    const char *capture = result_text(item(pairs, first), "capture");
    size_t end = first;
    while (end < cps_json_count(pairs) &&
           !strcmp(result_text(item(pairs, end), "capture"), capture))
        end++;
    cps_buf_printf(out, "<tr class=\"row-%s\">", row_status(pairs, first, end));
    html_wrap(out, "<th scope=\"row\">", capture, "</th>");
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(item(names, i));
        size_t at = first;
        while (at < end && strcmp(result_text(item(pairs, at), "firmware"), name) != 0)
            at++;
        if (at < end)
            put_cell(out, item(pairs, at), at);
        else
            cps_buf_str(out, "<td></td>");
    }
    cps_buf_str(out, "</tr>\n");
    return end;
}

/* Legend and filter in one: boxes in front of the table, which rules of the style look at. */
static void put_filters(struct cps_buf *out, struct json_object *results)
{
    for (unsigned i = 0; i < RESULT_COUNT; i++) {
        const char *word = result_word((enum result_status)i);
        unsigned count = results_count(results, (enum result_status)i);
        if (count || i != RESULT_NOT_RUN)
            cps_buf_printf(out,
                           "<input class=\"filter\" type=\"checkbox\" id=\"f-%s\" checked>"
                           "<label class=\"legend %s\" for=\"f-%s\">%s %u</label>\n",
                           word, word, word, word, count);
    }
}

static void put_matrix(struct cps_buf *out, struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *names = cps_json_get(results, "firmware");
    const char *baseline = result_text(results, "baseline");
    cps_buf_str(out, "<h2>All pairs</h2>\n");
    put_filters(out, results);
    cps_buf_str(out, "<table id=\"matrix\"><thead><tr><th>capture</th>");
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(item(names, i));
        html_wrap(out, "<th>", name, strcmp(name, baseline) ? "</th>" : "<br>baseline</th>");
    }
    cps_buf_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cps_json_count(pairs);)
        i = put_row(out, pairs, i, names);
    cps_buf_str(out, "</tbody></table>\n");
}

/* ---- Code and coverage ---- */

static void put_code(struct cps_buf *out, struct json_object *code)
{
    cps_buf_str(out, "<div id=\"code\"></div>");
    json_object_object_foreach(code, name, text)
    {
        const char *places = json_object_get_string(text);
        html_wrap(out, "<h2>Code of ", name, " that differs from the baseline</h2>\n");
        html_pre(out, *places ? places : "none");
    }
}

static void put_handler(struct cps_buf *out, struct json_object *handler)
{
    struct results_cover c = results_cover_of(handler);
    cps_buf_str(out, c.ran ? "<tr>" : "<tr class=\"none\">");
    html_wrap(out, "<th scope=\"row\">", result_text(handler, "handler"), "</th>");
    cps_buf_printf(out,
                   "<td class=\"n\">%u of %u</td><td><progress max=\"%u\" value=\"%u\" "
                   "aria-label=\"executed\"></progress></td>",
                   c.ran, c.all, c.all ? c.all : 1, c.ran);
    if (c.directions)
        cps_buf_printf(out, "<td class=\"n\">%u of %u</td></tr>\n", c.taken, c.directions);
    else
        cps_buf_str(out, "<td></td></tr>\n");
}

static void put_coverage(struct cps_buf *out, struct json_object *coverage)
{
    cps_buf_str(out, "<h2 id=\"coverage\">Handler coverage</h2>\n");
    json_object_object_foreach(coverage, name, handlers)
    {
        html_wrap(out, "<details open><summary>", name, "</summary>\n<table><thead><tr>");
        cps_buf_str(out, "<th>handler, from its address</th><th colspan=\"2\">instructions "
                         "executed</th><th>branch directions</th></tr></thead>\n<tbody>");
        for (size_t i = 0; i < cps_json_count(handlers); i++)
            put_handler(out, item(handlers, i));
        cps_buf_str(out, "</tbody></table></details>\n");
    }
}

/* ---- Causes over all captures: which places of changed code make how many of them differ ---- */

/* A cause of one pair, or of all pairs of its firmware. */
struct row {
    const char *firmware, *cause, *first;
    int64_t differences, captures;
};

static int by_name(const void *x, const void *y)
{
    const struct row *a = x;
    const struct row *b = y;
    int order = strcmp(a->firmware, b->firmware);
    order = order ? order : strcmp(a->cause, b->cause);
    return order ? order : strcmp(a->first, b->first);
}

static int by_captures(const void *x, const void *y)
{
    const struct row *a = x;
    const struct row *b = y;
    if (a->captures != b->captures)
        return a->captures > b->captures ? -1 : 1;
    return by_name(a, b);
}

/* Rows of one firmware and cause become one. @return how many are left */
static size_t join_rows(struct row *row, size_t count)
{
    size_t kept = 0;
    qsort(row, count, sizeof(*row), by_name);
    for (size_t i = 0; i < count; i++) {
        struct row *last = kept ? &row[kept - 1] : NULL;
        if (last && !strcmp(last->firmware, row[i].firmware) &&
            !strcmp(last->cause, row[i].cause)) {
            last->differences += row[i].differences;
            last->captures++;
        } else {
            row[kept++] = row[i];
        }
    }
    qsort(row, kept, sizeof(*row), by_captures);
    return kept;
}

static void put_causes_overview(struct cps_buf *out, struct json_object *pairs)
{
    struct row *row = NULL;
    size_t count = 0;
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *causes = cps_json_get(item(pairs, i), "causes");
        for (size_t k = 0; k < cps_json_count(causes); k++) {
            struct json_object *cause = item(causes, k);
            TOOL_ROOM(row, count);
            row[count++] = (struct row){result_text(item(pairs, i), "firmware"),
                                        result_text(cause, "cause"), result_text(cause, "first"),
                                        cps_json_get_int(cause, "differences", 0), 1};
        }
    }
    if (!count)
        return;
    count = join_rows(row, count);
    cps_buf_str(out, "<h2>Why it differs</h2>\n<div class=\"few\" tabindex=\"0\"><table id="
                     "\"causes\"><thead><tr><th>cause</th><th>firmware</th><th>captures</th>"
                     "<th>differences</th><th>the first</th></tr></thead>\n");
    for (size_t i = 0; i < count; i++) {
        cps_buf_str(out, "<tr>");
        put_cells(out, "ttnnt", row[i].cause, row[i].firmware, row[i].captures, row[i].differences,
                  row[i].first);
        cps_buf_str(out, "</tr>\n");
    }
    cps_buf_str(out, "</table></div>\n");
    free(row);
}

/* ---- Places where firmware diverges: a section per place with both handlers, and in it an article
 * per capture with what the packet did ---- */

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

/* Results have places sorted by key; the report has those with most captures first. */
static struct places collect_places(struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *about = cps_json_get(results, "places");
    struct places ret = {
        tool_alloc((size_t)json_object_object_length(about) + 1, sizeof(*ret.place)), 0};
    json_object_object_foreach(about, name, value)
    {
        ret.place[ret.count++] = (struct place){.key = name, .about = value};
    }
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        const char *key = result_text(item(pairs, i), "place");
        struct place *place =
            *key ? bsearch(key, ret.place, ret.count, sizeof(*place), by_key) : NULL;
        if (!place)
            continue;
        TOOL_ROOM(place->pair, place->count);
        place->pair[place->count++] = i;
    }
    qsort(ret.place, ret.count, sizeof(*ret.place), by_count);
    return ret;
}

static void places_deinit(struct places *places)
{
    for (size_t i = 0; i < places->count; i++)
        free(places->place[i].pair);
    free(places->place);
}

static void put_handler_name(struct cps_buf *out, const struct place *place)
{
    const char *handler = result_text(place->about, "handler");
    html_text(out, *handler ? handler : place->key);
}

static void put_places_overview(struct cps_buf *out, const struct places *places)
{
    if (!places->count)
        return;
    cps_buf_str(out, "<h2>Where it differs first</h2>\n<div class=\"few\" "
                     "tabindex=\"0\"><table id=\"places\"><thead><tr>"
                     "<th>handler</th><th>firmware</th><th>captures</th></tr></thead>\n");
    for (size_t i = 0; i < places->count; i++) {
        const struct place *place = &places->place[i];
        cps_buf_printf(out, "<tr><td><a href=\"#g%zu\">", i);
        put_handler_name(out, place);
        cps_buf_str(out, "</a></td>");
        put_cells(out, "tn", result_text(place->about, "firmware"), (int64_t)place->count);
        cps_buf_str(out, "</tr>\n");
    }
    cps_buf_str(out, "</table></div>\n");
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

/* Both sides of a place beside each other, out of two members of @p from. */
static void put_sides(struct cps_buf *out, const struct place *place, struct json_object *from,
                      const char *a, const char *b)
{
    put_side(out, result_text(place->about, "label_a"), result_text(from, a));
    put_side(out, result_text(place->about, "label_b"), result_text(from, b));
}

/* The causes of the pair's differences, each with its first example. */
static void put_causes(struct cps_buf *out, struct json_object *causes)
{
    if (!cps_json_count(causes))
        return;
    cps_buf_str(out, "<h4>Why</h4><table><thead><tr><th>cause</th><th>differences</th>"
                     "<th>packets</th><th>the first</th></tr></thead>\n<tbody>");
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        struct json_object *cause = item(causes, i);
        cps_buf_str(out, "<tr>");
        put_cells(out, "tnnt", result_text(cause, "cause"),
                  cps_json_get_int(cause, "differences", 0), cps_json_get_int(cause, "packets", 0),
                  result_text(cause, "first"));
        cps_buf_str(out, "</tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

/* Where both values of each cause's first difference come from, once where it is the same; of later
 * captures, where that is shown. */
static void put_chains(struct cps_buf *out, const struct place *place, size_t at,
                       struct json_object *causes)
{
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        struct json_object *cause = item(causes, i);
        const char *old = result_text(cause, "why_old");
        const char *new = result_text(cause, "why_new");
        if (!*old && !*new)
            continue;
        if (at >= MOST_CHAINS) {
            cps_buf_printf(
                out,
                "<p class=\"key\">Where it comes from: <a href=\"#p%zu\">another capture</a> "
                "that differs here shows it; for this one it is in results.json</p>\n",
                place->pair[0]);
            return;
        }
        html_wrap(out, "<details><summary>Where it comes from: ", result_text(cause, "first"),
                  "</summary><div class=\"sides\">");
        if (strcmp(old, new) != 0)
            put_sides(out, place, cause, "why_old", "why_new");
        else
            put_side(out, "both", old);
        cps_buf_str(out, "</div></details>\n");
    }
}

static void put_pair(struct cps_buf *out, const struct place *place, size_t at,
                     struct json_object *pair)
{
    cps_buf_printf(out, "<article id=\"p%zu\"><nav><a href=\"#matrix\">matrix</a>",
                   place->pair[at]);
    if (at)
        cps_buf_printf(out, " <a href=\"#p%zu\">previous capture</a>", place->pair[at - 1]);
    if (at + 1 < place->count)
        cps_buf_printf(out, " <a href=\"#p%zu\">next capture</a>", place->pair[at + 1]);
    cps_buf_str(out, "</nav>\n");
    put_title(out, pair);
    put_causes(out, cps_json_get(pair, "causes"));
    put_chains(out, place, at, cps_json_get(pair, "causes"));
    cps_buf_str(out, "<h4>The packet</h4><div class=\"sides\">");
    put_sides(out, place, pair, "packet_a", "packet_b");
    cps_buf_str(out, "</div>\n<details><summary>All differences</summary>");
    html_pre(out, result_text(pair, "counts"));
    cps_buf_str(out, "</details></article>\n");
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
    put_handler_name(out, place);
    cps_buf_str(out, "</h2>\n");
    for (size_t i = 0; i < place->count; i++)
        put_pair(out, place, i, item(pairs, place->pair[i]));
    if (*result_text(place->about, "code_a") || *result_text(place->about, "code_b")) {
        cps_buf_str(out,
                    "<h4>The handlers</h4><p class=\"key\"><mark class=\"here\">&gt;</mark> the "
                    "difference arises here, <mark class=\"changed\">!</mark> other code on the "
                    "other side, ~ branches elsewhere</p>\n<div class=\"sides\">");
        put_sides(out, place, place->about, "code_a", "code_b");
        cps_buf_str(out, "</div>\n");
    }
    cps_buf_printf(out, "<h4>Captures that differ here first: %zu</h4><ul class=\"captures\">\n",
                   place->count);
    for (size_t i = 0; i < place->count; i++) {
        cps_buf_printf(out, "<li><a href=\"#p%zu\">", place->pair[i]);
        html_text(out, result_text(item(pairs, place->pair[i]), "capture"));
        cps_buf_str(out, "</a>\n");
    }
    cps_buf_str(out, "</ul>\n</section>\n");
}

/* Pairs without a place of which there is something to say. */
static void put_loose_pairs(struct cps_buf *out, struct json_object *pairs)
{
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *pair = item(pairs, i);
        if (*result_text(pair, "place") || result_is_plain(pair))
            continue;
        cps_buf_printf(out,
                       "<section class=\"page\"><article id=\"p%zu\"><nav>"
                       "<a href=\"#matrix\">matrix</a></nav>\n",
                       i);
        put_title(out, pair);
        cps_buf_str(out, "</article></section>\n");
    }
}

void results_page(struct json_object *results, const char *why, struct cps_buf *out)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct places places = collect_places(results);
    html_head(out, "cpscope regress");
    cps_buf_printf(
        out,
        "<main>\n<h1>cpscope regress</h1>\n<p>%zu pairs of firmware and capture. <a "
        "href=\"#code\">Changed code</a>, <a href=\"#coverage\">handler coverage</a></p>\n",
        cps_json_count(pairs));
    if (cps_json_get(results, "shard"))
        html_wrap(out, "<p class=\"note\">Only shard ", result_text(results, "shard"), ".</p>\n");
    if (*why)
        html_wrap(out, "<p class=\"note\">", why, "</p>\n");
    put_causes_overview(out, pairs);
    put_places_overview(out, &places);
    put_matrix(out, results);
    put_code(out, cps_json_get(results, "code"));
    put_coverage(out, cps_json_get(results, "coverage"));
    cps_buf_str(out, "</main>\n");
    for (size_t i = 0; i < places.count; i++)
        put_place(out, &places.place[i], i, pairs);
    put_loose_pairs(out, pairs);
    cps_buf_str(out, "</body></html>\n");
    places_deinit(&places);
}
