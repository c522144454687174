/* SPDX-License-Identifier: MIT
 * The report for terminals: each firmware by itself, then one table of all files. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/shown.h"
#include "tools/explain/audit/audit.h"
#include "tools/explain/audit/protect.h"
#include "tools/explain/audit/verdict.h"
#include "trace/out/json.h"

static void put_padded(struct cps_buf *out, const char *text, unsigned width)
{
    size_t from = out->size;
    cps_shown_put_(out, text);
    cps_buf_str(out, " ");
    while (out->size - from <= width && !out->failed)
        cps_buf_str(out, " ");
}

void audit_chip(struct json_object *row, struct cps_buf *out)
{
    int64_t gpu = cps_json_get_int(row, "gpu_id", 0);
    int64_t chip = cps_json_get_int(row, "chip_id", 0);
    if (gpu && gpu < 1000)
        cps_buf_printf(out, "gpu %" PRId64, gpu);
    else if (gpu || chip)
        cps_buf_printf(out, "chip 0x%08" PRIx64, gpu ? gpu : chip);
    else
        cps_buf_str(out, "no chip that it names");
}

/* Ends a line, without the blanks of its columns. */
static void end_line(struct cps_buf *out)
{
    while (out->size && out->data[out->size - 1] == ' ')
        out->data[--out->size] = '\0';
    cps_buf_str(out, "\n");
}

static struct json_object *item(struct json_object *array, size_t i)
{
    return json_object_array_get_idx(array, i);
}

static void put_identity(struct json_object *row, struct cps_buf *out)
{
    struct json_object *parts = cps_json_get(row, "processors");
    cps_buf_printf(out, "  id         0x%03" PRIx64 " (%s), version 0x%03" PRIx64 ", %s\n",
                   cps_json_get_int(row, "id", 0), cps_json_get_text(row, "chip", "unknown"),
                   cps_json_get_int(row, "version", 0), cps_json_get_text(row, "generation", ""));
    cps_buf_printf(out, "  sha256     %s\n  handlers  ", cps_json_get_text(row, "sha256", ""));
    for (size_t i = 0; i < cps_json_count(parts); i++)
        cps_buf_printf(out, "%s %s %" PRId64, i ? "," : "",
                       cps_json_get_text(item(parts, i), "name", ""),
                       cps_json_get_int(item(parts, i), "handlers", 0));
    cps_buf_str(out, "\n");
    if (cps_json_get_text(row, "assumed", NULL)) {
        cps_buf_str(out, "  assumed    ");
        cps_shown_put_(out, cps_json_get_text(row, "assumed", ""));
        cps_buf_str(out, "\n");
    }
}

static void put_nearest(struct json_object *row, const char *what, struct cps_buf *out)
{
    struct json_object *nearest = cps_json_get(row, "nearest");
    if (!nearest)
        return;
    cps_buf_str(out, "  nearest    ");
    cps_shown_put_(out, cps_json_get_text(nearest, "name", ""));
    if (cps_json_get_bool(nearest, "same_contents", false))
        cps_buf_str(out, ": the same");
    else
        cps_buf_printf(out, ": %" PRId64 " of %" PRId64 " %s",
                       cps_json_get_int(nearest, "equal", 0), cps_json_get_int(nearest, "of", 0),
                       what);
    cps_buf_str(out, "\n");
}

static void put_flaws(struct json_object *row, struct cps_buf *out)
{
    struct json_object *flaws = cps_json_get(row, "flaws");
    if (cps_json_count(flaws))
        cps_buf_str(out, "  flaws\n");
    for (size_t i = 0; i < cps_json_count(flaws); i++) {
        cps_buf_str(out, "    ");
        put_padded(out, cps_json_get_text(item(flaws, i), "case", ""), 30);
        put_padded(out, cps_json_get_text(item(flaws, i), "verdict", ""), 15);
        cps_shown_put_(out, cps_json_get_text(item(flaws, i), "why", ""));
        end_line(out);
    }
}

static void put_protect(struct json_object *row, struct cps_buf *out)
{
    struct json_object *rows = cps_json_get(row, "protect");
    if (!cps_json_count(rows))
        return;
    cps_buf_str(out, "  CP_PROTECT, by level     ");
    for (unsigned k = 0; k < PROTECT_LEVELS; k++)
        put_padded(out, protect_level_word(k), 10);
    end_line(out);
    for (size_t i = 0; i < cps_json_count(rows); i++) {
        cps_buf_str(out, "    ");
        put_padded(out, cps_json_get_text(item(rows, i), "packet", ""), 22);
        for (unsigned k = 0; k < PROTECT_LEVELS; k++)
            put_padded(out, cps_json_get_text(item(rows, i), protect_level_word(k), ""), 10);
        cps_shown_put_(out, cps_json_get_text(item(rows, i), "why", ""));
        end_line(out);
    }
}

/* How many cases of a firmware have a verdict. */
static unsigned count(struct json_object *row, enum verdict verdict)
{
    struct json_object *flaws = cps_json_get(row, "flaws");
    unsigned found = 0;
    for (size_t i = 0; i < cps_json_count(flaws); i++)
        found += !strcmp(cps_json_get_text(item(flaws, i), "verdict", ""), verdict_word(verdict));
    return found;
}

static void put_packets(struct json_object *row, struct cps_buf *out)
{
    struct json_object *packets = cps_json_get(row, "packets");
    cps_buf_str(out, "  packets   ");
    if (packets) {
        json_object_object_foreach(packets, name, number)
        {
            cps_buf_printf(out, " %s %" PRId64, name, json_object_get_int64(number));
        }
    }
    cps_buf_str(out, "\n");
}

static void put_chip(struct json_object *row, struct cps_buf *out)
{
    cps_buf_str(out, "  for        ");
    audit_chip(row, out);
    cps_buf_str(out, "\n");
}

/* What there is to be said of a dump's firmware, or why there is nothing. */
static void put_recovered(struct json_object *row, struct cps_buf *out)
{
    struct json_object *from = cps_json_get(row, "recovered");
    if (from)
        cps_buf_printf(out,
                       "  words      %" PRId64 " of the dump, %" PRId64 " of the nearest, %" PRId64
                       " unknown\n  handlers   %" PRId64 " of %" PRId64
                       " are in the dump as a whole\n",
                       cps_json_get_int(from, "hardware", 0), cps_json_get_int(from, "donor", 0),
                       cps_json_get_int(from, "unknown", 0), cps_json_get_int(from, "whole", 0),
                       cps_json_get_int(from, "handlers", 0));
    if (!cps_json_get_text(row, "why", NULL))
        return;
    cps_buf_str(out, "  undecided  ");
    cps_shown_put_(out, cps_json_get_text(row, "why", ""));
    cps_buf_str(out, "\n");
}

static void put_file(struct json_object *row, struct cps_buf *out)
{
    const char *kind = cps_json_get_text(row, "kind", "");
    bool firmware = !strcmp(kind, "firmware");
    bool dump = !strcmp(kind, "dump");
    if (!firmware && !dump && strcmp(kind, "capture"))
        return;
    cps_shown_put_(out, cps_json_get_text(row, "name", ""));
    cps_buf_printf(out, ": %s\n", firmware ? kind : cps_json_get_text(row, "format", kind));
    if (firmware)
        put_identity(row, out);
    else
        put_chip(row, out);
    if (dump && cps_json_get(row, "version"))
        cps_buf_printf(out, "  firmware   version 0x%03" PRIx64 " ran\n",
                       cps_json_get_int(row, "version", 0));
    if (dump)
        put_recovered(row, out);
    put_nearest(row, dump ? "lines of the instruction cache are there" : "handlers do the same",
                out);
    put_flaws(row, out);
    put_protect(row, out);
    if (!firmware && !dump)
        put_packets(row, out);
    cps_buf_str(out, "\n");
}

static void put_line(struct json_object *row, unsigned width, struct cps_buf *out)
{
    const char *kind = cps_json_get_text(row, "kind", "");
    put_padded(out, cps_json_get_text(row, "name", ""), width);
    put_padded(out, kind, 10);
    if (!strcmp(kind, "firmware")) {
        int64_t open = cps_json_get_int(row, "undecided", 0);
        cps_buf_printf(out, "0x%03" PRIx64 "   0x%03" PRIx64 "   %-7s %-7" PRId64 " %-10" PRId64,
                       cps_json_get_int(row, "id", 0), cps_json_get_int(row, "version", 0),
                       cps_json_get_text(row, "generation", ""),
                       count(row, VERDICT_FLAW) + cps_json_get_int(row, "unchecked", 0),
                       count(row, VERDICT_UNDECIDED) + open);
        cps_shown_put_(out, cps_json_get_text(cps_json_get(row, "nearest"), "name", "-"));
    } else if (cps_json_get(row, "flaws")) {
        cps_buf_printf(out, "gpu %03" PRId64 " 0x%03" PRIx64 "   a6xx    %-7u %-10u",
                       cps_json_get_int(row, "gpu_id", 0), cps_json_get_int(row, "version", 0),
                       count(row, VERDICT_FLAW), count(row, VERDICT_UNDECIDED));
        cps_shown_put_(out, cps_json_get_text(cps_json_get(row, "nearest"), "name", "-"));
    } else if (cps_json_get_text(row, "why", NULL)) {
        cps_shown_put_(out, cps_json_get_text(row, "why", ""));
    } else if (cps_json_get(row, "gpu_id")) {
        audit_chip(row, out);
    }
    cps_buf_str(out, "\n");
}

void audit_text(struct json_object *root, struct cps_buf *out)
{
    struct json_object *files = cps_json_get(root, "files");
    unsigned width = 4;
    for (size_t i = 0; i < cps_json_count(files); i++) {
        size_t length = strlen(cps_json_get_text(item(files, i), "name", ""));
        width = length > width && length < 80 ? (unsigned)length : width;
        put_file(item(files, i), out);
    }
    put_padded(out, "file", width);
    cps_buf_str(out, "kind       id      version generation flaws undecided nearest\n");
    for (size_t i = 0; i < cps_json_count(files); i++)
        put_line(item(files, i), width, out);
    cps_buf_printf(out,
                   "%zu files: %" PRId64 " flaws, %" PRId64 " questions undecided, %" PRId64
                   " files that could not be read, %" PRId64 " that are none of these\n",
                   cps_json_count(files), cps_json_get_int(root, "flaws", 0),
                   cps_json_get_int(root, "undecided", 0), cps_json_get_int(root, "errors", 0),
                   cps_json_get_int(root, "skipped", 0));
}
