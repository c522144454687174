/* SPDX-License-Identifier: MIT
 * The report as one page that needs no network and no script: a table of all firmware by cases,
 * then each file. */
#include <inttypes.h>
#include <string.h>

#include "tools/explain/audit/audit.h"
#include "tools/explain/audit/protect.h"
#include "tools/explain/audit/verdict.h"
#include "tools/cmd/render/html.h"
#include "trace/out/json.h"

static struct json_object *item(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static bool is_kind(struct json_object *row, const char *kind)
{
    return !strcmp(cps_json_get_text(row, "kind", ""), kind);
}

/* The style of a verdict, in the words of the style of reports. */
static const char *verdict_class(const char *word)
{
    if (!strcmp(word, verdict_word(VERDICT_FLAW)) || !strcmp(word, "unchecked"))
        return "stopped";
    if (!strcmp(word, verdict_word(VERDICT_UNDECIDED)))
        return "differs";
    if (!strcmp(word, verdict_word(VERDICT_NOT_ABOUT)) || !strcmp(word, "-") ||
        !strcmp(word, "nothing"))
        return "skipped";
    return "pass";
}

static void put_cell(struct cps_buf *out, const char *word)
{
    cps_buf_printf(out, "<td class=\"%s\">", verdict_class(word));
    html_wrap(out, "<span>", word, "</span></td>");
}

static void put_name(struct json_object *row, size_t index, struct cps_buf *out)
{
    cps_buf_printf(out, "<tr><th scope=\"row\"><a href=\"#f%zu\">", index);
    html_wrap(out, "", cps_json_get_text(row, "name", ""), "</a></th>");
}

static void put_matrix(struct json_object *root, struct cps_buf *out)
{
    struct json_object *files = cps_json_get(root, "files");
    struct json_object *cases = cps_json_get(root, "cases");
    cps_buf_str(out, "<table id=\"matrix\"><thead><tr><th>firmware</th><th>version</th>");
    for (size_t i = 0; i < cps_json_count(cases); i++)
        html_wrap(out, "<th>", cps_json_get_text(item(cases, i), "name", ""), "</th>");
    cps_buf_str(out, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *flaws = cps_json_get(item(files, i), "flaws");
        if (!is_kind(item(files, i), "firmware"))
            continue;
        put_name(item(files, i), i, out);
        cps_buf_printf(out, "<td><span>0x%03" PRIx64 " 0x%03" PRIx64 "</span></td>",
                       cps_json_get_int(item(files, i), "id", 0),
                       cps_json_get_int(item(files, i), "version", 0));
        for (size_t k = 0; k < cps_json_count(flaws); k++)
            put_cell(out, cps_json_get_text(item(flaws, k), "verdict", ""));
        cps_buf_str(out, "</tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

static void put_cases(struct json_object *cases, struct cps_buf *out)
{
    cps_buf_str(out, "<h2>Cases</h2>\n<table><thead><tr><th>case</th><th>a firmware has the flaw "
                     "if</th><th>known as</th><th>evidence</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cps_json_count(cases); i++) {
        html_wrap(out, "<tr><th scope=\"row\">", cps_json_get_text(item(cases, i), "name", ""),
                  "</th>");
        html_wrap(out, "<td>", cps_json_get_text(item(cases, i), "flaw", ""), "</td>");
        html_wrap(out, "<td>", cps_json_get_text(item(cases, i), "known_as", ""), "</td>");
        html_wrap(out, "<td>", cps_json_get_text(item(cases, i), "evidence", ""), "</td></tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

static void put_pair(struct cps_buf *out, const char *key, const char *value)
{
    html_wrap(out, "<tr><th scope=\"row\">", key, "</th>");
    html_wrap(out, "<td>", value, "</td></tr>\n");
}

static void put_processors(struct json_object *row, struct cps_buf *out)
{
    struct json_object *parts = cps_json_get(row, "processors");
    CPS_BUF text = {0};
    for (size_t i = 0; i < cps_json_count(parts); i++)
        cps_buf_printf(&text, "%s%s: %" PRId64, i ? ", " : "",
                       cps_json_get_text(item(parts, i), "name", ""),
                       cps_json_get_int(item(parts, i), "handlers", 0));
    put_pair(out, "handlers", cps_buf_text(&text));
    out->failed |= text.failed;
}

static void put_nearest(struct json_object *row, struct cps_buf *out)
{
    struct json_object *nearest = cps_json_get(row, "nearest");
    CPS_BUF text = {0};
    if (!nearest)
        return;
    cps_buf_printf(&text, "%s: ", cps_json_get_text(nearest, "name", ""));
    if (cps_json_get_bool(nearest, "same_contents", false))
        cps_buf_str(&text, "the same");
    else
        cps_buf_printf(&text, "%" PRId64 " of %" PRId64 " %s",
                       cps_json_get_int(nearest, "equal", 0), cps_json_get_int(nearest, "of", 0),
                       is_kind(row, "dump") ? "lines of the instruction cache are there"
                                            : "handlers do the same");
    put_pair(out, "nearest", cps_buf_text(&text));
    out->failed |= text.failed;
}

static void put_identity(struct json_object *row, struct cps_buf *out)
{
    CPS_BUF id = {0};
    cps_buf_str(out, "<table><tbody>\n");
    cps_buf_printf(&id, "0x%03" PRIx64 " (%s), version 0x%03" PRIx64 ", %s",
                   cps_json_get_int(row, "id", 0), cps_json_get_text(row, "chip", "unknown"),
                   cps_json_get_int(row, "version", 0), cps_json_get_text(row, "generation", ""));
    put_pair(out, "id", cps_buf_text(&id));
    put_pair(out, "SHA-256", cps_json_get_text(row, "sha256", ""));
    put_processors(row, out);
    if (cps_json_get_text(row, "assumed", NULL))
        put_pair(out, "assumed", cps_json_get_text(row, "assumed", ""));
    put_nearest(row, out);
    cps_buf_str(out, "</tbody></table>\n");
    out->failed |= id.failed;
}

static void put_flaws(struct json_object *row, struct cps_buf *out)
{
    struct json_object *flaws = cps_json_get(row, "flaws");
    cps_buf_str(out, "<h4>Flaws</h4>\n<table><tbody>\n");
    for (size_t i = 0; i < cps_json_count(flaws); i++) {
        html_wrap(out, "<tr><th scope=\"row\">", cps_json_get_text(item(flaws, i), "case", ""),
                  "</th>");
        put_cell(out, cps_json_get_text(item(flaws, i), "verdict", ""));
        html_wrap(out, "<td>", cps_json_get_text(item(flaws, i), "why", ""), "</td></tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

static void put_protect(struct json_object *row, struct cps_buf *out)
{
    struct json_object *rows = cps_json_get(row, "protect");
    if (!cps_json_count(rows))
        return;
    cps_buf_str(out,
                "<h4>Writes to registers that CP_PROTECT forbids, by level</h4>\n<table><thead>"
                "<tr><th>packet</th>");
    for (unsigned k = 0; k < PROTECT_LEVELS; k++)
        html_wrap(out, "<th>", protect_level_word(k), "</th>");
    cps_buf_str(out, "<th></th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < cps_json_count(rows); i++) {
        html_wrap(out, "<tr><th scope=\"row\">", cps_json_get_text(item(rows, i), "packet", ""),
                  "</th>");
        for (unsigned k = 0; k < PROTECT_LEVELS; k++)
            put_cell(out, cps_json_get_text(item(rows, i), protect_level_word(k), ""));
        html_wrap(out, "<td>", cps_json_get_text(item(rows, i), "why", ""), "</td></tr>\n");
    }
    cps_buf_str(out, "</tbody></table>\n");
}

static void put_recovered(struct json_object *row, struct cps_buf *out)
{
    struct json_object *from = cps_json_get(row, "recovered");
    if (!from)
        return;
    cps_buf_printf(out,
                   "<tr><th scope=\"row\">words</th><td>%" PRId64 " of the dump, %" PRId64
                   " of the nearest, %" PRId64 " unknown</td></tr>\n",
                   cps_json_get_int(from, "hardware", 0), cps_json_get_int(from, "donor", 0),
                   cps_json_get_int(from, "unknown", 0));
    cps_buf_printf(out,
                   "<tr><th scope=\"row\">handlers</th><td>%" PRId64 " of %" PRId64
                   " are in the dump as a whole</td></tr>\n",
                   cps_json_get_int(from, "whole", 0), cps_json_get_int(from, "handlers", 0));
}

static void put_stream(struct json_object *row, struct cps_buf *out)
{
    CPS_BUF chip = {0};
    struct json_object *packets = cps_json_get(row, "packets");
    cps_buf_str(out, "<table><tbody>\n");
    put_pair(out, "format", cps_json_get_text(row, "format", ""));
    audit_chip(row, &chip);
    put_pair(out, "for", cps_buf_text(&chip));
    if (cps_json_get(row, "version"))
        cps_buf_printf(out,
                       "<tr><th scope=\"row\">firmware</th><td>version 0x%03" PRIx64 "</td></tr>\n",
                       cps_json_get_int(row, "version", 0));
    if (cps_json_get_text(row, "why", NULL))
        put_pair(out, "firmware", cps_json_get_text(row, "why", ""));
    put_recovered(row, out);
    put_nearest(row, out);
    cps_buf_str(out, "</tbody></table>\n");
    out->failed |= chip.failed;
    if (cps_json_get(row, "flaws"))
        put_flaws(row, out);
    if (!packets)
        return;
    cps_buf_str(out, "<h4>Packets</h4>\n<div class=\"few\"><table><tbody>\n");
    json_object_object_foreach(packets, name, number)
    {
        html_wrap(out, "<tr><th scope=\"row\">", name, "</th>");
        cps_buf_printf(out, "<td class=\"n\">%" PRId64 "</td></tr>\n",
                       json_object_get_int64(number));
    }
    cps_buf_str(out, "</tbody></table></div>\n");
}

static void put_file(struct json_object *row, size_t index, struct cps_buf *out)
{
    cps_buf_printf(out, "<section id=\"f%zu\">", index);
    html_wrap(out, "<h3>", cps_json_get_text(row, "name", ""), "</h3>\n");
    if (is_kind(row, "firmware")) {
        put_identity(row, out);
        put_flaws(row, out);
        put_protect(row, out);
    } else {
        put_stream(row, out);
    }
    cps_buf_str(out, "</section>\n");
}

/* Files that nothing is said of but why. */
static void put_others(struct json_object *files, struct cps_buf *out)
{
    unsigned count = 0;
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *row = item(files, i);
        if (!is_kind(row, "skipped") && !is_kind(row, "error"))
            continue;
        cps_buf_str(out, count++ ? "" : "<h2>Other files</h2>\n<table><tbody>\n");
        html_wrap(out, "<tr><th scope=\"row\">", cps_json_get_text(row, "name", ""), "</th>");
        html_wrap(out, "<td>", cps_json_get_text(row, "kind", ""), "</td>");
        html_wrap(out, "<td>", cps_json_get_text(row, "why", ""), "</td></tr>\n");
    }
    cps_buf_str(out, count ? "</tbody></table>\n" : "");
}

void audit_html(struct json_object *root, struct cps_buf *out)
{
    struct json_object *files = cps_json_get(root, "files");
    html_head(out, "cpscope audit");
    cps_buf_str(out, "<main>\n<h1>cpscope audit</h1>\n");
    cps_buf_printf(out,
                   "<p>%zu files: %" PRId64 " flaws, %" PRId64 " questions undecided, %" PRId64
                   " files that could not be read, %" PRId64 " that are none of these.</p>\n",
                   cps_json_count(files), cps_json_get_int(root, "flaws", 0),
                   cps_json_get_int(root, "undecided", 0), cps_json_get_int(root, "errors", 0),
                   cps_json_get_int(root, "skipped", 0));
    put_matrix(root, out);
    put_cases(cps_json_get(root, "cases"), out);
    cps_buf_str(out, "<h2>Files</h2>\n");
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *row = item(files, i);
        if (!is_kind(row, "skipped") && !is_kind(row, "error"))
            put_file(row, i, out);
    }
    put_others(files, out);
    cps_buf_str(out, "</main></body></html>\n");
}
