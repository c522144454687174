/* SPDX-License-Identifier: MIT
 * The report for people: one page that needs no network and no script. A matrix with a cell per
 * pair; a cell that is not green leads to what happened there. Anchors: pN for pair N, gN for place
 * N. The page is a tree of its own, over that of the results, and a layout. */
#include <stdlib.h>
#include <string.h>

#include "tools/explain/regress/regress.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Captures of a place that the page shows chains of: a page of thousands shall open. */
enum { MOST_CHAINS = 20 };

/* Boxes of the filter are in front of the table, where rules of the style look at them. */
static const char layout[] =
    "<main>\n<h1>cpscope regress</h1>\n<p>{count} pairs of firmware and capture. "
    "<a href=\"#code\">Changed code</a>, <a href=\"#coverage\">handler coverage</a></p>\n"
    "{shard?<p class=\"note\">Only shard {shard}.</p>\n}{note?<p class=\"note\">{note}</p>\n}"
    "{all_causes?<h2>Why it differs</h2>\n<div class=\"few\" tabindex=\"0\"><table id=\"causes\">"
    "<thead><tr><th>cause</th><th>firmware</th><th>captures</th><th>differences</th>"
    "<th>the first</th></tr></thead>\n{all_causes*<tr><td>{cause}</td><td>{firmware}</td>"
    "<td class=\"n\">{captures}</td><td class=\"n\">{differences}</td><td>{first}</td></tr>\n}"
    "</table></div>\n}{places?<h2>Where it differs first</h2>\n<div class=\"few\" tabindex=\"0\">"
    "<table id=\"places\"><thead><tr><th>handler</th><th>firmware</th><th>captures</th></tr>"
    "</thead>\n{places*<tr><td><a href=\"#g{number}\">{name}</a></td><td>{firmware}</td>"
    "<td class=\"n\">{captures}</td></tr>\n}</table></div>\n}<h2>All pairs</h2>\n"
    "{filters*<input class=\"filter\" type=\"checkbox\" id=\"f-{word}\" checked>"
    "<label class=\"legend {word}\" for=\"f-{word}\">{word} {count}</label>\n}"
    "<table id=\"matrix\"><thead><tr><th>capture</th>"
    "{columns*<th>{name}{is_baseline?<br>baseline}</th>}</tr></thead>\n<tbody>\n"
    "{rows*<tr class=\"row-{status}\"><th scope=\"row\">{capture}</th>{cells*<td{status? "
    "class=\"{status}\"}>{number?<a href=\"#p{number}\">}{plain?<span>}{status}"
    "{differences? ({differences})}{number?</a>}{plain?</span>}</td>}</tr>\n}</tbody></table>\n"
    "<div id=\"code\"></div>{code*<h2>Code of {name} that differs from the baseline</h2>\n"
    "<pre>{text}</pre>\n}<h2 id=\"coverage\">Handler coverage</h2>\n"
    "{coverage*<details open><summary>{name}</summary>\n<table><thead><tr>"
    "<th>handler, from its address</th><th colspan=\"2\">instructions executed</th>"
    "<th>branch directions</th></tr></thead>\n<tbody>{handlers*<tr{none? class=\"none\"}>"
    "<th scope=\"row\">{handler}</th><td class=\"n\">{ran} of {all}</td>"
    "<td><progress max=\"{most}\" value=\"{ran}\" aria-label=\"executed\"></progress></td>"
    "{directions?<td class=\"n\">{taken} of {directions}</td>}{directions!<td></td>}</tr>\n}"
    "</tbody></table></details>\n}</main>\n"
    "{places*<section class=\"page\" id=\"g{number}\"><nav class=\"top\"><a href=\"#matrix\">"
    "matrix</a></nav>\n<h2>{firmware} differs in {name}</h2>\n"
    "{pairs*<article id=\"p{number}\"><nav><a href=\"#matrix\">matrix</a>"
    "{previous? <a href=\"#p{previous}\">previous capture</a>}"
    "{next? <a href=\"#p{next}\">next capture</a>}</nav>\n"
    "{pair><h3><span class=\"tag {status}\">{status}</span> {firmware} &middot; {capture}</h3>\n"
    "<p>{reason}</p>\n{causes?<h4>Why</h4><table><thead><tr><th>cause</th><th>differences</th>"
    "<th>packets</th><th>the first</th></tr></thead>\n<tbody>{causes*<tr><td>{cause}</td>"
    "<td class=\"n\">{differences}</td><td class=\"n\">{packets}</td><td>{first}</td></tr>\n}"
    "</tbody></table>\n}}{chains*<details><summary>Where it comes from: {first}</summary>"
    "<div class=\"sides\">"
    "{why_a?<figure><figcaption>{label_a}</figcaption><pre "
    "tabindex=\"0\">{why_a:m}</pre>\n</figure>}"
    "{why_b?<figure><figcaption>{label_b}</figcaption><pre "
    "tabindex=\"0\">{why_b:m}</pre>\n</figure>}"
    "{why?<figure><figcaption>both</figcaption><pre tabindex=\"0\">{why:m}</pre>\n</figure>}"
    "</div></details>\n}"
    "{elsewhere?<p class=\"key\">Where it comes from: <a href=\"#p{elsewhere}\">another capture</a>"
    " that differs here shows it; for this one it is in results.json</p>\n}"
    "<h4>The packet</h4><div class=\"sides\">{pair>"
    "{packet_a?<figure><figcaption>{label_a}</figcaption><pre "
    "tabindex=\"0\">{packet_a:m}</pre>\n</figure>}"
    "{packet_b?<figure><figcaption>{label_b}</figcaption><pre "
    "tabindex=\"0\">{packet_b:m}</pre>\n</figure>}"
    "}</div>\n"
    "<details><summary>All differences</summary>{pair>{counts?<pre>{counts}</pre>\n}}</details>"
    "</article>\n}{has_code?<h4>The handlers</h4><p class=\"key\"><mark class=\"here\">&gt;</mark> "
    "the difference arises here, <mark class=\"changed\">!</mark> other code on the other side, "
    "~ branches elsewhere</p>\n<div class=\"sides\">"
    "{code_a?<figure><figcaption>{label_a}</figcaption><pre "
    "tabindex=\"0\">{code_a:m}</pre>\n</figure>}"
    "{code_b?<figure><figcaption>{label_b}</figcaption><pre "
    "tabindex=\"0\">{code_b:m}</pre>\n</figure>}"
    "</div>\n}"
    "<h4>Captures that differ here first: {captures}</h4><ul class=\"captures\">\n"
    "{pairs*<li><a href=\"#p{number}\">{pair>{capture}}</a>\n}</ul>\n</section>\n}"
    "{loose*<section class=\"page\"><article id=\"p{number}\"><nav><a href=\"#matrix\">matrix</a>"
    "</nav>\n{pair><h3><span class=\"tag {status}\">{status}</span> {firmware} &middot; {capture}"
    "</h3>\n<p>{reason}</p>\n}</article></section>\n}";

static struct json_object *item(struct json_object *list, size_t index)
{
    return json_object_array_get_idx(list, index);
}

/* By falling `captures`, then by the texts of these members. */
static int compare(const void *x, const void *y, const char *const *keys)
{
    struct json_object *a = *(struct json_object *const *)x;
    struct json_object *b = *(struct json_object *const *)y;
    int64_t more = cps_json_get_int(b, "captures", 0) - cps_json_get_int(a, "captures", 0);
    int order = (more > 0) - (more < 0);
    for (; !order && *keys; keys++)
        order = strcmp(result_text(a, *keys), result_text(b, *keys));
    return order;
}

static int compare_causes(const void *a, const void *b)
{
    static const char *const keys[] = {"firmware", "cause", NULL};
    return compare(a, b, keys);
}

static int compare_places(const void *a, const void *b)
{
    static const char *const keys[] = {"key", NULL};
    return compare(a, b, keys);
}

/* Which places of changed code make how many captures of a firmware differ. */
static void add_causes(struct json_object *page, struct json_object *pairs)
{
    struct json_object *list = cps_json_new_array(page, "all_causes");
    struct json_object *known = doc_new();
    for (size_t i = 0; i < cps_json_count(pairs); i++) {
        struct json_object *causes = cps_json_get(item(pairs, i), "causes");
        for (size_t k = 0; k < cps_json_count(causes); k++) {
            const char *firmware = result_text(item(pairs, i), "firmware");
            const char *cause = result_text(item(causes, k), "cause");
            const char *first = result_text(item(causes, k), "first");
            CPS_BUF key = {0};
            cps_buf_printf(&key, "%s\n%s", firmware, cause);
            struct json_object *row = cps_json_get(known, tool_text(&key));
            if (!row) {
                row = doc_row(list, "cause=%s firmware=%s first=%s", cause, firmware, first);
                cps_json_add(known, tool_text(&key), json_object_get(row));
            }
            if (strcmp(first, result_text(row, "first")) < 0)
                cps_json_text(row, "first", first);
            cps_json_int(row, "captures", cps_json_get_int(row, "captures", 0) + 1);
            cps_json_int(row, "differences",
                         cps_json_get_int(row, "differences", 0) +
                             cps_json_get_int(item(causes, k), "differences", 0));
        }
    }
    json_object_array_sort(list, compare_causes);
    json_object_put(known);
}

/* The word that the filter goes by: of the cell that most wants to be seen. */
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

/* Pairs are sorted by capture, so that a row is a run of them. */
static void add_rows(struct json_object *page, struct json_object *pairs, struct json_object *names)
{
    struct json_object *rows = cps_json_new_array(page, "rows");
    for (size_t first = 0, end = 0; first < cps_json_count(pairs); first = end) {
        const char *capture = result_text(item(pairs, first), "capture");
        while (end < cps_json_count(pairs) &&
               !strcmp(result_text(item(pairs, end), "capture"), capture))
            end++;
        struct json_object *row =
            doc_row(rows, "capture=%s status=%s", capture, row_status(pairs, first, end));
        struct json_object *cells = cps_json_new_array(row, "cells");
        for (size_t i = 0; i < cps_json_count(names); i++) {
            struct json_object *cell = doc_row(cells, "status=");
            size_t at = first;
            while (at < end && strcmp(result_text(item(pairs, at), "firmware"),
                                      json_object_get_string(item(names, i))) != 0)
                at++;
            if (at == end)
                continue;
            struct json_object *pair = item(pairs, at);
            cps_json_text(cell, "status", result_word(result_status(pair)));
            if (result_is_plain(pair))
                cps_json_bool(cell, "plain", true);
            else
                cps_json_uint(cell, "number", at);
            if (result_status(pair) == RESULT_DIFFERS)
                cps_json_int(cell, "differences", cps_json_get_int(pair, "differences", 0));
        }
    }
}

/* Where both values of each cause's first difference come from, once where it is the same; of later
 * captures of a place, where that is shown. */
static void add_chains(struct json_object *view, struct json_object *pairs,
                       struct json_object *pair)
{
    struct json_object *causes = cps_json_get(pair, "causes");
    struct json_object *chains = cps_json_new_array(view, "chains");
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        const char *old = result_text(item(causes, i), "why_old");
        const char *new = result_text(item(causes, i), "why_new");
        if (!*old && !*new)
            continue;
        if (cps_json_count(pairs) > MOST_CHAINS) {
            cps_json_int(view, "elsewhere", cps_json_get_int(item(pairs, 0), "number", 0));
            return;
        }
        bool same = !strcmp(old, new);
        doc_row(chains, "first=%s why?=%s why_a?=%s why_b?=%s",
                result_text(item(causes, i), "first"), same ? old : "", same ? "" : old,
                same ? "" : new);
    }
}

/* Places where firmware diverges, those with most captures first, each with its pairs: a section
 * with both handlers, and in it an article per capture. Pairs that stopped without a comparison
 * have no place. */
static void add_places(struct json_object *page, struct json_object *results)
{
    struct json_object *all = cps_json_get(results, "pairs");
    struct json_object *abouts = cps_json_get(results, "places");
    struct json_object *list = cps_json_new_array(page, "places");
    struct json_object *loose = cps_json_new_array(page, "loose");
    struct json_object *known = doc_new();
    json_object_object_foreach(abouts, name, about)
    {
        const char *handler = result_text(about, "handler");
        const char *code[] = {result_text(about, "code_a"), result_text(about, "code_b")};
        struct json_object *place =
            doc_row(list,
                    "key=%s name=%s captures=%u firmware=%s label_a=%s label_b=%s has_code?=%d "
                    "code_a?=%s code_b?=%s",
                    name, *handler ? handler : name, 0, result_text(about, "firmware"),
                    result_text(about, "label_a"), result_text(about, "label_b"),
                    *code[0] || *code[1], code[0], code[1]);
        cps_json_new_array(place, "pairs");
        cps_json_add(known, name, json_object_get(place));
    }
    for (size_t i = 0; i < cps_json_count(all); i++) {
        struct json_object *pair = item(all, i);
        const char *key = result_text(pair, "place");
        struct json_object *place = cps_json_get(known, key);
        struct json_object *pairs = cps_json_get(place, "pairs");
        size_t before = cps_json_count(pairs);
        if (!place && (*key || result_is_plain(pair)))
            continue;
        struct json_object *view = doc_row(place ? pairs : loose, "number=%zu", i);
        cps_json_add(view, "pair", json_object_get(pair));
        if (!place)
            continue;
        if (before) {
            struct json_object *last = item(pairs, before - 1);
            cps_json_uint(last, "next", i);
            cps_json_add(view, "previous", json_object_get(cps_json_get(last, "number")));
        }
        add_chains(view, pairs, pair);
        cps_json_uint(place, "captures", before + 1);
    }
    json_object_put(known);
    json_object_array_sort(list, compare_places);
    for (size_t i = 0; i < cps_json_count(list); i++)
        cps_json_uint(item(list, i), "number", i);
}

static void add_code(struct json_object *page, struct json_object *results)
{
    struct json_object *code = cps_json_new_array(page, "code");
    struct json_object *coverage = cps_json_new_array(page, "coverage");
    json_object_object_foreach(cps_json_get(results, "code"), name, value)
    {
        const char *text = json_object_get_string(value);
        doc_row(code, "name=%s text=%s", name, *text ? text : "none");
    }
    json_object_object_foreach(cps_json_get(results, "coverage"), firmware, handlers)
    {
        struct json_object *rows =
            cps_json_new_array(doc_row(coverage, "name=%s", firmware), "handlers");
        for (size_t i = 0; i < cps_json_count(handlers); i++) {
            struct results_cover c = results_cover_of(item(handlers, i));
            struct json_object *row =
                doc_row(rows, "handler=%s ran=%u all=%u most=%u taken=%u none?=%d",
                        result_text(item(handlers, i), "handler"), c.ran, c.all, c.all ? c.all : 1,
                        c.taken, !c.ran);
            if (c.directions)
                cps_json_uint(row, "directions", c.directions);
        }
    }
}

void results_page(struct json_object *results, const char *why, struct cps_buf *out)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *names = cps_json_get(results, "firmware");
    struct json_object *page = doc_new();
    doc_put(page, "count=%zu shard?=%s note?=%s", cps_json_count(pairs),
            result_text(results, "shard"), why);
    struct json_object *filters = cps_json_new_array(page, "filters");
    for (unsigned i = 0; i < RESULT_COUNT; i++) {
        unsigned count = results_count(results, (enum result_status)i);
        if (count || i != RESULT_NOT_RUN)
            doc_row(filters, "word=%s count=%u", result_word((enum result_status)i), count);
    }
    struct json_object *columns = cps_json_new_array(page, "columns");
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(item(names, i));
        doc_row(columns, "name=%s is_baseline?=%d", name,
                !strcmp(name, result_text(results, "baseline")));
    }
    add_causes(page, pairs);
    add_rows(page, pairs, names);
    add_places(page, results);
    add_code(page, results);
    doc_page(page, "cpscope regress", layout, out);
    json_object_put(page);
}
