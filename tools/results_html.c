/* SPDX-License-Identifier: MIT
 * The report for people: one page that needs no network and no script. A matrix with a cell per
 * pair; a cell that is not green leads to what happened there. */
#include <stdio.h>
#include <string.h>

#include "results.h"
#include "trace/outfile.h"

static const char style[] =
    "body{font:14px/1.4 system-ui,sans-serif;margin:2em auto;max-width:80em;padding:0 "
    "1em;color:#222}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em;border-top:1px solid "
    "#ccc;padding-top:1em}"
    "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left;"
    "vertical-align:top}"
    "th{background:#f2f2f2;position:sticky;top:0}a{color:inherit}"
    ".pass{background:#dff2df}.differs{background:#ffe0b0}.stopped{background:#ffc8c8}"
    ".skipped{background:#eee;color:#777}"
    "pre{background:#f7f7f7;border:1px solid #ddd;padding:.6em;overflow:auto;margin:.4em 0;"
    "font:12px/1.35 ui-monospace,monospace}"
    ".sides{display:grid;grid-template-columns:1fr 1fr;gap:1em}"
    "@media(max-width:60em){.sides{grid-template-columns:1fr}}"
    "@media(prefers-color-scheme:dark){body{background:#1b1b1b;color:#ddd}th{background:#2a2a2a}"
    "pre{background:#242424;border-color:#444}.pass{background:#1d3a1d}.differs{background:#5a3d00}"
    ".stopped{background:#5c1f1f}.skipped{background:#2a2a2a}td,th{border-color:#444}}";

static struct json_object *get(struct json_object *from, const char *key)
{
    struct json_object *value = NULL;
    json_object_object_get_ex(from, key, &value);
    return value;
}

static void put_text(struct cps_buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<')
            cps_buf_str(out, "&lt;");
        else if (*text == '>')
            cps_buf_str(out, "&gt;");
        else if (*text == '&')
            cps_buf_str(out, "&amp;");
        else if (*text == '"')
            cps_buf_str(out, "&quot;");
        else
            cps_buf_add(out, text, 1);
    }
}

static void put_pre(struct cps_buf *out, const char *text)
{
    if (!*text)
        return;
    cps_buf_str(out, "<pre>");
    put_text(out, text);
    cps_buf_str(out, "</pre>");
}

/* The firmware that pairs name, in the order of their names. */
static struct json_object *columns(struct json_object *pairs)
{
    struct json_object *ret = json_object_new_object();
    for (size_t i = 0; i < json_object_array_length(pairs); i++) {
        const char *name = result_text(json_object_array_get_idx(pairs, i), "firmware");
        json_object_object_add(ret, name, json_object_new_boolean(1));
    }
    return ret;
}

static void put_cell(struct cps_buf *out, struct json_object *pair, size_t index)
{
    const char *status = result_text(pair, "status");
    bool linked = strcmp(status, "pass") != 0;
    cps_buf_printf(out, "<td class=\"%s\">", status);
    if (linked)
        cps_buf_printf(out, "<a href=\"#p%zu\">", index);
    cps_buf_str(out, status);
    if (!strcmp(status, "differs"))
        cps_buf_printf(out, " (%s)", result_text(pair, "differences"));
    cps_buf_str(out, linked ? "</a></td>" : "</td>");
}

/* Pairs are sorted by capture, so that a row is a run of them. */
static size_t put_row(struct cps_buf *out, struct json_object *pairs, size_t first,
                      struct json_object *names)
{
    size_t count = json_object_array_length(pairs);
    const char *capture = result_text(json_object_array_get_idx(pairs, first), "capture");
    size_t end = first;
    while (end < count &&
           !strcmp(result_text(json_object_array_get_idx(pairs, end), "capture"), capture))
        end++;
    cps_buf_str(out, "<tr><td>");
    put_text(out, capture);
    cps_buf_str(out, "</td>");
    json_object_object_foreach(names, name, unused)
    {
        (void)unused;
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
    return end;
}

static void put_matrix(struct cps_buf *out, struct json_object *pairs)
{
    struct json_object *names = columns(pairs);
    cps_buf_str(out, "<table id=\"matrix\"><tr><th>capture</th>");
    json_object_object_foreach(names, name, unused)
    {
        (void)unused;
        cps_buf_str(out, "<th>");
        put_text(out, name);
        cps_buf_str(out, "</th>");
    }
    cps_buf_str(out, "</tr>\n");
    for (size_t i = 0; i < json_object_array_length(pairs);)
        i = put_row(out, pairs, i, names);
    cps_buf_str(out, "</table>\n");
    json_object_put(names);
}

static void put_detail(struct cps_buf *out, struct json_object *pair, size_t index)
{
    if (!strcmp(result_text(pair, "status"), "pass"))
        return;
    cps_buf_printf(out, "<h2 id=\"p%zu\"><span class=\"%s\">%s</span> ", index,
                   result_text(pair, "status"), result_text(pair, "status"));
    put_text(out, result_text(pair, "firmware"));
    cps_buf_str(out, " &middot; ");
    put_text(out, result_text(pair, "capture"));
    cps_buf_str(out, "</h2><p>");
    put_text(out, result_text(pair, "reason"));
    cps_buf_str(out, " <a href=\"#matrix\">back</a></p>");
    put_pre(out, result_text(pair, "first"));
    if (*result_text(pair, "code_a") || *result_text(pair, "code_b")) {
        cps_buf_str(out, "<div class=\"sides\"><div>");
        put_pre(out, result_text(pair, "code_a"));
        cps_buf_str(out, "</div><div>");
        put_pre(out, result_text(pair, "code_b"));
        cps_buf_str(out, "</div></div>");
    }
    put_pre(out, result_text(pair, "counts"));
    cps_buf_str(out, "\n");
}

static void put_code(struct cps_buf *out, struct json_object *code)
{
    json_object_object_foreach(code, name, text)
    {
        cps_buf_str(out, "<h2>Code of ");
        put_text(out, name);
        cps_buf_str(out, " that differs from the baseline</h2>");
        const char *places = json_object_get_string(text);
        put_pre(out, *places ? places : "none");
    }
}

static void put_coverage(struct cps_buf *out, struct json_object *coverage)
{
    cps_buf_str(out, "<h2 id=\"coverage\">Handler coverage</h2>");
    json_object_object_foreach(coverage, name, handlers)
    {
        CPS_BUF table = {0};
        results_coverage_table(handlers, &table);
        cps_buf_str(out, "<h3>");
        put_text(out, name);
        cps_buf_str(out, "</h3>");
        put_pre(out, cps_buf_text(&table));
    }
}

struct cps_err *results_html(struct json_object *results, const char *path)
{
    CPS_BUF out = {0};
    struct cps_outfile *file = NULL;
    struct json_object *pairs = get(results, "pairs");
    cps_buf_printf(
        &out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<meta name=\"viewport\" content=\"width=device-width\">"
        "<link rel=\"icon\" href=\"data:,\"><title>cpscope regress</title><style>%s"
        "</style></head><body>\n<h1>cpscope regress</h1>\n<p>%zu pairs: %u pass, %u "
        "differ, %u stopped, %u skipped. <a href=\"#coverage\">Handler coverage</a></p>\n",
        style, json_object_array_length(pairs), results_count(results, RESULT_PASS),
        results_count(results, RESULT_DIFFERS), results_count(results, RESULT_STOPPED),
        results_count(results, RESULT_SKIPPED));
    put_matrix(&out, pairs);
    for (size_t i = 0; i < json_object_array_length(pairs); i++)
        put_detail(&out, json_object_array_get_idx(pairs, i), i);
    put_code(&out, get(results, "code"));
    put_coverage(&out, get(results, "coverage"));
    cps_buf_str(&out, "</body></html>\n");
    if (out.failed)
        return cps_err_nomem();
    CPS_TRY(cps_outfile_open(path, &file));
    cps_outfile_write(file, out.data, out.size);
    return cps_outfile_commit(file);
}
