/* SPDX-License-Identifier: MIT
 * Causes of differences over all captures: which places of changed code make how many of them
 * behave otherwise. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"
#include "tools/explain/regress/results.h"
#include "tools/cmd/render/html.h"
#include "trace/out/json.h"

/* A cause of one pair, or of all pairs of its firmware. */
struct row {
    const char *firmware, *cause, *first;
    int64_t differences;
    size_t captures;
};

struct rows {
    struct row *row;
    size_t count;
};

static bool add(struct rows *rows, struct json_object *pair)
{
    struct json_object *causes = cps_json_get(pair, "causes");
    for (size_t i = 0; i < cps_json_count(causes); i++) {
        struct json_object *cause = json_object_array_get_idx(causes, i);
        if (!CPS_LIST_ROOM(rows->row, rows->count))
            return false;
        rows->row[rows->count++] =
            (struct row){result_text(pair, "firmware"), result_text(cause, "cause"),
                         result_text(cause, "first"), cps_json_get_int(cause, "differences", 0), 1};
    }
    return true;
}

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

static void join(struct rows *rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++) {
        struct row *last = kept ? &rows->row[kept - 1] : NULL;
        const struct row *row = &rows->row[i];
        if (last && !strcmp(last->firmware, row->firmware) && !strcmp(last->cause, row->cause)) {
            last->differences += row->differences;
            last->captures++;
        } else {
            rows->row[kept++] = *row;
        }
    }
    rows->count = kept;
}

static void put_table(struct cps_buf *out, const struct rows *rows)
{
    cps_buf_str(out, "<h2>Why it differs</h2>\n<div class=\"few\" tabindex=\"0\"><table id="
                     "\"causes\"><thead><tr><th>cause</th><th>firmware</th><th>captures</th>"
                     "<th>differences</th><th>the first</th></tr></thead>\n");
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->row[i];
        html_wrap(out, "<tr><td>", row->cause, "</td>");
        html_wrap(out, "<td>", row->firmware, "</td>");
        cps_buf_printf(out, "<td class=\"n\">%zu</td><td class=\"n\">%" PRId64 "</td>",
                       row->captures, row->differences);
        html_wrap(out, "<td>", row->first, "</td></tr>\n");
    }
    cps_buf_str(out, "</table></div>\n");
}

void html_causes_overview(struct cps_buf *out, struct json_object *results)
{
    struct json_object *pairs = cps_json_get(results, "pairs");
    struct rows rows = {0};
    for (size_t i = 0; !out->failed && i < cps_json_count(pairs); i++)
        out->failed = !add(&rows, json_object_array_get_idx(pairs, i));
    if (!out->failed && rows.count) {
        qsort(rows.row, rows.count, sizeof(*rows.row), by_name);
        join(&rows);
        qsort(rows.row, rows.count, sizeof(*rows.row), by_captures);
        put_table(out, &rows);
    }
    free(rows.row);
}
