/* SPDX-License-Identifier: MIT
 * The report for people: one page that needs no network and no script. A matrix with a cell per
 * pair; a cell that is not green leads to what happened there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/cmd/render/html.h"
#include "tools/explain/regress/results.h"
#include "trace/out/outfile.h"
#include "trace/out/json.h"

static void put_cell(struct cps_buf *out, struct json_object *pair, size_t index)
{
    enum result_status status = result_status(pair);
    bool linked = !result_is_plain(pair);
    if (result_same_code(pair) && !linked) {
        cps_buf_str(out, "<td class=\"same\"><span>same code</span></td>");
        return;
    }
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

/* What the filter goes by: the cell that most wants to be seen. The baseline's is the least of them
 * that ran. */
static unsigned rank(struct json_object *pair, const char *baseline)
{
    enum result_status status = result_status(pair);
    bool base = *baseline && !strcmp(result_text(pair, "firmware"), baseline);
    if (status == RESULT_PASS)
        return base ? 1 : result_same_code(pair) ? 2 : 3;
    return status == RESULT_DIFFERS   ? 6
           : status == RESULT_NOT_RUN ? 5
           : status == RESULT_STOPPED ? 4
                                      : 0;
}

static const char *row_status(struct json_object *pairs, size_t first, size_t end,
                              const char *baseline)
{
    static const char *const words[] = {"skipped", "pass",    "same",   "pass",
                                        "stopped", "not-run", "differs"};
    unsigned most = 0;
    for (size_t i = first; i < end; i++) {
        unsigned one = rank(json_object_array_get_idx(pairs, i), baseline);
        most = one > most ? one : most;
    }
    return words[most];
}

/* Pairs are sorted by capture, so that a row is a run of them. */
static size_t end_of_row(struct json_object *pairs, size_t first)
{
    const char *capture = result_text(json_object_array_get_idx(pairs, first), "capture");
    size_t count = cps_json_count(pairs);
    size_t end = first;
    while (end < count &&
           !strcmp(result_text(json_object_array_get_idx(pairs, end), "capture"), capture))
        end++;
    return end;
}

static void put_row(struct cps_buf *out, struct json_object *pairs, size_t first, size_t end,
                    struct json_object *names, const char *baseline)
{
    cps_buf_printf(out, "<tr class=\"row-%s\">", row_status(pairs, first, end, baseline));
    html_wrap(out, "<th scope=\"row\">",
              result_text(json_object_array_get_idx(pairs, first), "capture"), "</th>");
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(names, i));
        size_t at = first;
        while (at < end &&
               strcmp(result_text(json_object_array_get_idx(pairs, at), "firmware"), name) != 0)
            at++;
        if (at < end)
            put_cell(out, json_object_array_get_idx(pairs, at), at);
        else
            cps_buf_str(out, "<td></td>");
    }
    cps_buf_str(out, "</tr>\n");
}

/* Legend and filter in one: boxes in front of the table, which rules of the style look at. */
static void put_filter(struct cps_buf *out, const char *word, const char *shown, unsigned count,
                       bool checked)
{
    cps_buf_printf(out,
                   "<input class=\"filter\" type=\"checkbox\" id=\"f-%s\"%s>"
                   "<label class=\"legend %s\" for=\"f-%s\">%s %u</label>\n",
                   word, checked ? " checked" : "", word, word, shown, count);
}

/* What did not change is not shown unless somebody asks for it. */
static void put_filters(struct cps_buf *out, struct json_object *results)
{
    unsigned same = results_count_same(results);
    for (unsigned i = 0; i < RESULT_COUNT; i++) {
        const char *word = result_word((enum result_status)i);
        unsigned count = results_count(results, (enum result_status)i);
        if (count || i != RESULT_NOT_RUN)
            put_filter(out, word, word, i == RESULT_PASS && count >= same ? count - same : count,
                       true);
    }
    if (same)
        put_filter(out, "same", "same code, hidden unless checked", same, false);
}

static void put_matrix(struct cps_buf *out, struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct json_object *names = cps_json_get(results, "firmware");
    const char *baseline = result_text(results, "baseline");
    put_filters(out, results);
    cps_buf_str(out, "<table id=\"matrix\"><thead><tr><th>capture</th>");
    for (size_t i = 0; i < cps_json_count(names); i++) {
        const char *name = json_object_get_string(json_object_array_get_idx(names, i));
        html_wrap(out, "<th>", name, strcmp(name, baseline) ? "</th>" : "<br>baseline</th>");
    }
    cps_buf_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cps_json_count(pairs);) {
        size_t end = end_of_row(pairs, i);
        put_row(out, pairs, i, end, names, baseline);
        i = end;
    }
    cps_buf_str(out, "</tbody></table>\n");
}

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
            put_handler(out, json_object_array_get_idx(handlers, i));
        cps_buf_str(out, "</tbody></table></details>\n");
    }
}

struct cps_err *results_html(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    CPS_BUF why = {0};
    html_head(&out, "cpscope regress");
    cps_buf_printf(
        &out,
        "<main>\n<h1>cpscope regress</h1>\n<p>%zu pairs of firmware and capture. <a "
        "href=\"#code\">Changed code</a>, <a href=\"#coverage\">handler coverage</a></p>\n",
        cps_json_count(cps_json_get(results, "pairs")));
    if (cps_json_get(results, "shard"))
        html_wrap(&out, "<p class=\"note\">Only shard ", result_text(results, "shard"), ".</p>\n");
    results_exit(results, &why);
    if (why.size)
        html_wrap(&out, "<p class=\"note\">", cps_buf_text(&why), "</p>\n");
    html_causes_overview(&out, results);
    html_places_overview(&out, results);
    cps_buf_str(&out, "<h2>All pairs</h2>\n");
    put_matrix(&out, results);
    put_code(&out, cps_json_get(results, "code"));
    put_coverage(&out, cps_json_get(results, "coverage"));
    cps_buf_str(&out, "</main>\n");
    html_places(&out, results);
    cps_buf_str(&out, "</body></html>\n");
    return out.failed || why.failed ? cps_err_nomem() : cps_outfile_whole(path, out.data, out.size);
}
