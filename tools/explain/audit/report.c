/* SPDX-License-Identifier: MIT
 * The report, as text or as a page: each file by itself, then one table of all. A page begins with
 * a table of all firmware by cases. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tools/explain/audit/audit.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/render/sheet.h"
#include "trace/out/json.h"

static struct json_object *item(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static const char *text(struct json_object *row, const char *key)
{
    return cps_json_get_text(row, key, "");
}

static int64_t number(struct json_object *row, const char *key)
{
    return cps_json_get_int(row, key, 0);
}

static bool is_kind(struct json_object *row, const char *kind)
{
    return !strcmp(text(row, "kind"), kind);
}

/* The style of a verdict, of those that reports have. */
static const char *style_of(const char *word)
{
    if (!strcmp(word, verdict_word(VERDICT_FLAW)) || !strcmp(word, "unchecked"))
        return "stopped";
    if (!strcmp(word, verdict_word(VERDICT_UNDECIDED)))
        return "differs";
    bool none = !strcmp(word, verdict_word(VERDICT_NOT_ABOUT)) || !strcmp(word, "-") ||
                !strcmp(word, "nothing");
    return none ? "skipped" : "pass";
}

/* For which GPU a capture or dump is: older ones have its number, newer ones the chip's id. */
static void put_chip(struct sheet *s, struct json_object *row, bool pair)
{
    int64_t gpu = number(row, "gpu_id");
    int64_t chip = gpu ? gpu : number(row, "chip_id");
    char said[48] = "no chip that it names";
    if (chip)
        snprintf(said, sizeof(said), gpu && gpu < 1000 ? "gpu %" PRId64 : "chip 0x%08" PRIx64,
                 chip);
    if (pair)
        sheet_pair(s, "for", "%s", said);
    else
        sheet_cell(s, NULL, said);
}

static void put_identity(struct sheet *s, struct json_object *row)
{
    struct json_object *parts = cps_json_get(row, "processors");
    CPS_BUF handlers = {0};
    for (size_t i = 0; i < cps_json_count(parts); i++)
        cps_buf_printf(&handlers, "%s%s %" PRId64, i ? ", " : "", text(item(parts, i), "name"),
                       number(item(parts, i), "handlers"));
    sheet_pair(s, "id", "0x%03" PRIx64 " (%s), version 0x%03" PRIx64 ", %s", number(row, "id"),
               cps_json_get_text(row, "chip", "unknown"), number(row, "version"),
               text(row, "generation"));
    sheet_pair(s, "sha256", "%s", text(row, "sha256"));
    sheet_pair(s, "handlers", "%s", tool_text(&handlers));
    if (*text(row, "assumed"))
        sheet_pair(s, "assumed", "%s", text(row, "assumed"));
}

/* What there is to be said of a dump's firmware, or why there is nothing. */
static void put_recovered(struct sheet *s, struct json_object *row)
{
    struct json_object *from = cps_json_get(row, "recovered");
    if (cps_json_get(row, "version"))
        sheet_pair(s, "firmware", "version 0x%03" PRIx64 " ran", number(row, "version"));
    if (from) {
        sheet_pair(s, "words",
                   "%" PRId64 " of the dump, %" PRId64 " of the nearest, %" PRId64 " unknown",
                   number(from, "hardware"), number(from, "donor"), number(from, "unknown"));
        sheet_pair(s, "handlers", "%" PRId64 " of %" PRId64 " are in the dump as a whole",
                   number(from, "whole"), number(from, "handlers"));
    }
    if (cps_json_get_text(row, "why", NULL))
        sheet_pair(s, "undecided", "%s", text(row, "why"));
}

static void put_nearest(struct sheet *s, struct json_object *row)
{
    struct json_object *nearest = cps_json_get(row, "nearest");
    if (nearest && cps_json_get_bool(nearest, "same_contents", false))
        sheet_pair(s, "nearest", "%s: the same", text(nearest, "name"));
    else if (nearest)
        sheet_pair(s, "nearest", "%s: %" PRId64 " of %" PRId64 " %s", text(nearest, "name"),
                   number(nearest, "equal"), number(nearest, "of"),
                   is_kind(row, "dump") ? "lines of the instruction cache are there"
                                        : "handlers do the same");
}

static void put_packets(struct sheet *s, struct json_object *row)
{
    struct json_object *packets = cps_json_get(row, "packets");
    CPS_BUF line = {0};
    if (packets) {
        json_object_object_foreach(packets, name, count)
        {
            cps_buf_printf(&line, "%s%s %" PRId64, line.size ? " " : "", name,
                           json_object_get_int64(count));
        }
    }
    sheet_pair(s, "packets", "%s", tool_text(&line));
}

static void put_flaws(struct sheet *s, struct json_object *flaws)
{
    static const unsigned width[] = {30, 15, 0};
    if (!cps_json_count(flaws))
        return;
    sheet_table(s, NULL, width);
    sheet_row(s, 2, true);
    sheet_cell(s, NULL, "flaws");
    sheet_end_row(s);
    for (size_t i = 0; i < cps_json_count(flaws); i++) {
        const char *verdict = text(item(flaws, i), "verdict");
        sheet_row(s, 4, false);
        sheet_cell(s, NULL, text(item(flaws, i), "case"));
        sheet_cell(s, style_of(verdict), verdict);
        sheet_cell(s, NULL, text(item(flaws, i), "why"));
        sheet_end_row(s);
    }
    sheet_end_table(s);
}

static void put_protect(struct sheet *s, struct json_object *rows)
{
    static const unsigned head[] = {24, 10, 10, 10, 10, 10};
    static const unsigned width[] = {22, 10, 10, 10, 10, 10, 0};
    if (!cps_json_count(rows))
        return;
    sheet_table(s, NULL, head);
    sheet_row(s, 2, true);
    sheet_cell(s, NULL, "CP_PROTECT, by level");
    for (unsigned k = 0; k < PROTECT_LEVELS; k++)
        sheet_cell(s, NULL, protect_level_word(k));
    sheet_end_row(s);
    s->width = width;
    for (size_t i = 0; i < cps_json_count(rows); i++) {
        sheet_row(s, 4, false);
        sheet_cell(s, NULL, text(item(rows, i), "packet"));
        for (unsigned k = 0; k < PROTECT_LEVELS; k++) {
            const char *way = text(item(rows, i), protect_level_word(k));
            sheet_cell(s, style_of(way), way);
        }
        sheet_cell(s, NULL, text(item(rows, i), "why"));
        sheet_end_row(s);
    }
    sheet_end_table(s);
}

static void put_file(struct sheet *s, struct json_object *row, size_t index)
{
    bool firmware = is_kind(row, "firmware");
    CPS_BUF title = {0};
    if (is_kind(row, "skipped") || is_kind(row, "error"))
        return;
    cps_buf_printf(&title, "%s: %s", text(row, "name"),
                   firmware ? "firmware" : text(row, "format"));
    sheet_part(s, index, tool_text(&title));
    sheet_table(s, NULL, NULL);
    if (firmware)
        put_identity(s, row);
    else
        put_chip(s, row, true);
    if (is_kind(row, "dump"))
        put_recovered(s, row);
    put_nearest(s, row);
    if (is_kind(row, "capture"))
        put_packets(s, row);
    sheet_end_table(s);
    put_flaws(s, cps_json_get(row, "flaws"));
    put_protect(s, cps_json_get(row, "protect"));
    sheet_end_part(s);
}

/* How many cases have a verdict. */
static int64_t count(struct json_object *flaws, enum verdict verdict)
{
    int64_t found = 0;
    for (size_t i = 0; i < cps_json_count(flaws); i++)
        found += !strcmp(text(item(flaws, i), "verdict"), verdict_word(verdict));
    return found;
}

static void put_line(struct sheet *s, struct json_object *row)
{
    struct json_object *flaws = cps_json_get(row, "flaws");
    sheet_row(s, 0, false);
    sheet_cell(s, NULL, text(row, "name"));
    sheet_cell(s, NULL, text(row, "kind"));
    if (flaws) {
        bool dump = is_kind(row, "dump");
        sheet_cellf(s, dump ? "gpu %03" PRId64 : "0x%03" PRIx64,
                    number(row, dump ? "gpu_id" : "id"));
        sheet_cellf(s, "0x%03" PRIx64, number(row, "version"));
        sheet_cell(s, NULL, dump ? "a6xx" : text(row, "generation"));
        sheet_cellf(s, "%" PRId64, count(flaws, VERDICT_FLAW) + number(row, "unchecked"));
        sheet_cellf(s, "%" PRId64, count(flaws, VERDICT_UNDECIDED) + number(row, "undecided"));
        sheet_cell(s, NULL, cps_json_get_text(cps_json_get(row, "nearest"), "name", "-"));
    } else if (cps_json_get_text(row, "why", NULL)) {
        sheet_cell(s, NULL, text(row, "why"));
    } else if (cps_json_get(row, "gpu_id")) {
        put_chip(s, row, false);
    }
    sheet_end_row(s);
}

static void put_all(struct sheet *s, struct json_object *files)
{
    static const char *const heads[] = {"file",       "kind",  "id",        "version",
                                        "generation", "flaws", "undecided", "nearest"};
    unsigned head[8] = {4, 10, 7, 7, 10, 5, 9, 0};
    unsigned width[8] = {4, 10, 7, 7, 7, 7, 9, 0};
    for (size_t i = 0; i < cps_json_count(files); i++) {
        size_t length = strlen(text(item(files, i), "name"));
        width[0] = length > width[0] && length < 80 ? (unsigned)length : width[0];
    }
    head[0] = width[0];
    sheet_table(s, "files", head);
    sheet_row(s, 0, true);
    for (unsigned i = 0; i < 8; i++)
        sheet_cell(s, NULL, heads[i]);
    sheet_end_row(s);
    s->width = width;
    for (size_t i = 0; i < cps_json_count(files); i++)
        put_line(s, item(files, i));
    sheet_end_table(s);
}

static void put_matrix(struct sheet *s, struct json_object *files, struct json_object *cases)
{
    sheet_table(s, "matrix", NULL);
    sheet_row(s, 0, true);
    sheet_cell(s, NULL, "firmware");
    sheet_cell(s, NULL, "version");
    for (size_t i = 0; i < cps_json_count(cases); i++)
        sheet_cell(s, NULL, text(item(cases, i), "name"));
    sheet_end_row(s);
    for (size_t i = 0; i < cps_json_count(files); i++) {
        struct json_object *row = item(files, i);
        struct json_object *flaws = cps_json_get(row, "flaws");
        char anchor[32];
        if (!is_kind(row, "firmware"))
            continue;
        snprintf(anchor, sizeof(anchor), "#f%zu", i);
        sheet_row(s, 0, false);
        sheet_link(s, NULL, anchor, text(row, "name"));
        sheet_cellf(s, "0x%03" PRIx64 " 0x%03" PRIx64, number(row, "id"), number(row, "version"));
        for (size_t k = 0; k < cps_json_count(flaws); k++)
            sheet_cell(s, style_of(text(item(flaws, k), "verdict")),
                       text(item(flaws, k), "verdict"));
        sheet_end_row(s);
    }
    sheet_end_table(s);
}

static void put_cases(struct sheet *s, struct json_object *cases)
{
    static const char *const heads[] = {"case", "a firmware has the flaw if", "known as",
                                        "evidence"};
    static const char *const keys[] = {"name", "flaw", "known_as", "evidence"};
    sheet_table(s, NULL, NULL);
    sheet_row(s, 0, true);
    for (unsigned k = 0; k < 4; k++)
        sheet_cell(s, NULL, heads[k]);
    sheet_end_row(s);
    for (size_t i = 0; i < cps_json_count(cases); i++) {
        sheet_row(s, 0, false);
        for (unsigned k = 0; k < 4; k++)
            sheet_cell(s, NULL, text(item(cases, i), keys[k]));
        sheet_end_row(s);
    }
    sheet_end_table(s);
}

void audit_put(struct json_object *root, bool page, struct cps_buf *out)
{
    struct sheet s = {.out = out, .page = page};
    struct json_object *files = cps_json_get(root, "files");
    sheet_begin(&s, "cpscope audit");
    if (page) {
        put_matrix(&s, files, cps_json_get(root, "cases"));
        put_cases(&s, cps_json_get(root, "cases"));
    }
    for (size_t i = 0; i < cps_json_count(files); i++)
        put_file(&s, item(files, i), i);
    put_all(&s, files);
    cps_buf_printf(out,
                   "%s%zu files: %" PRId64 " flaws, %" PRId64 " questions undecided, %" PRId64
                   " files that could not be read, %" PRId64 " that are none of these%s\n",
                   page ? "<p>" : "", cps_json_count(files), number(root, "flaws"),
                   number(root, "undecided"), number(root, "errors"), number(root, "skipped"),
                   page ? ".</p>" : "");
    sheet_end(&s);
}
