/* SPDX-License-Identifier: MIT
 * Rows of .def files as aligned columns, or as JSON. */
#include "tools/cmd/options/help_table.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "isa/isa.h"
#include "trace/out/json.h"

enum { MOST_COLUMNS = 16, GAP = 2, INDENT = 4, LEAST_TEXT = 30, NARROW = 40, USUAL = 80 };

/* How the preprocessor writes what a macro stands for: TEXT_OF(NULL). */
#define TEXT(...)    #__VA_ARGS__
#define TEXT_OF(...) TEXT(__VA_ARGS__)

/* The end of a C expression or string that begins at @p at: a comma outside of both, or NUL. */
static const char *cell_end(const char *at)
{
    unsigned depth = 0;
    bool text = false;
    for (; *at && (text || depth || *at != ','); at++) {
        if (*at == '\\' && at[1])
            at++;
        else if (*at == '"')
            text = !text;
        else if (!text && strchr("([{", *at))
            depth++;
        else if (!text && strchr(")]}", *at))
            depth--;
    }
    return at;
}

/* Appends what a cell says: of strings their contents, joined as the compiler joins them. */
static void put_contents(const char *at, const char *end, struct cps_buf *out)
{
    bool strings = *at == '"';
    bool text = false;
    for (; at < end; at++) {
        if (*at == '"')
            text = !text;
        else if (*at == '\\' && at + 1 < end)
            cps_buf_add(out, ++at, 1);
        else if (text || !strings)
            cps_buf_add(out, at, 1);
    }
}

static bool holds(const struct help_table *table, uint64_t mask, enum cps_gen gen)
{
    return mask & (table->of ? cps_gen_bit(gen) : cps_gen_mask(gen));
}

/* Whether the mask has all generations of an instruction set. */
static bool whole(const struct help_table *table, uint64_t mask, const struct cps_isa *isa)
{
    for (enum cps_gen gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        if (cps_gen_isa(gen) == isa && !holds(table, mask, gen))
            return false;
    }
    return true;
}

static void put_gens(const struct help_table *table, uint64_t mask, struct cps_buf *out)
{
    const struct cps_isa *last = NULL;
    size_t start = out->size;
    for (enum cps_gen gen = CPS_GEN_NONE + 1; gen < CPS_GEN_COUNT; gen++) {
        const struct cps_isa *isa = cps_gen_isa(gen);
        bool all = whole(table, mask, isa);
        if ((table->of && isa != cps_gen_isa(table->of)) || !holds(table, mask, gen) ||
            (all && isa == last))
            continue;
        const char *name = table->of ? cps_gen_row(gen)->word : cps_gen_name(gen);
        cps_buf_str(out, out->size > start ? " " : "");
        cps_buf_str(out, !all ? name : table->of ? "all" : cps_isa_name(isa));
        last = isa;
    }
}

/* The name of a column; NULL behind the last one. */
static const char *heading(const struct help_table *table, unsigned column, size_t *length)
{
    const char *at = table->head;
    for (; column && *at; column--) {
        at += strcspn(at, " ");
        at += strspn(at, " ");
    }
    *length = strcspn(at, " ");
    return *length ? at : NULL;
}

/* Which of the row's masks a column has, counted from 0; -1: none. */
static int mask_of(const struct help_table *table, unsigned column)
{
    int mask = -1;
    size_t length = 0;
    const char *name = heading(table, 0, &length);
    for (unsigned i = 0; i <= column && name; name = heading(table, ++i, &length)) {
        if (*name == '#')
            mask++;
        if (i == column)
            return *name == '#' ? mask : -1;
    }
    return -1;
}

/* The argument of a row that a column shows; AS in a row is the one in front. */
static const char *argument(const char *at, unsigned column, const char **end)
{
    const char *before = at;
    *end = cell_end(at);
    for (; column && **end; column--) {
        before = at;
        at = *end + 1 + strspn(*end + 1, " ");
        *end = cell_end(at);
    }
    if (*end - at == 2 && !memcmp(at, "AS", 2)) {
        at = before;
        *end = cell_end(at);
    }
    return column ? *end : at;
}

void help_cell(const struct help_table *table, size_t row, unsigned column, struct cps_buf *out)
{
    const struct help_row *from = &table->rows[row];
    const char *end = NULL;
    const char *at = argument(from->cells, column, &end);
    int mask = mask_of(table, column);
    CPS_BUF cell = {0};
    if (mask >= 0)
        put_gens(table, from->gens[mask], &cell);
    else
        put_contents(at, end, &cell);
    const char *text = cps_buf_text(&cell);
    out->failed = out->failed || cell.failed;
    bool none = !strcmp(text, TEXT_OF(NULL)) || !strcmp(text, "NA") || (mask >= 0 && !*text);
    cps_buf_str(out, none ? "-" : text);
}

/* The name of a column, or the cell of a row: row SIZE_MAX is the head. */
static void put_field(const struct help_table *table, size_t row, unsigned column,
                      struct cps_buf *out)
{
    size_t length = 0;
    if (row != SIZE_MAX) {
        help_cell(table, row, column, out);
        return;
    }
    const char *name = heading(table, column, &length);
    bool mask = name && *name == '#';
    cps_buf_add(out, name ? name + mask : "", length - mask);
}

static size_t width_of(const struct help_table *table, unsigned column, bool *failed)
{
    size_t width = 0;
    for (size_t row = 0; row <= table->count; row++) {
        CPS_BUF field = {0};
        put_field(table, row - 1, column, &field);
        *failed = *failed || field.failed;
        if (field.size > width)
            width = field.size;
    }
    return width;
}

/* Where the columns of a table stand. */
struct places {
    unsigned count;
    unsigned breaks; /* a bit per column that begins a line */
    size_t from[MOST_COLUMNS];
};

static struct places place_columns(const struct help_table *table, unsigned width, bool *failed)
{
    struct places ret = {0};
    size_t length = 0;
    size_t at = 0;
    while (ret.count < MOST_COLUMNS && heading(table, ret.count, &length))
        ret.count++;
    for (unsigned i = 0; i < ret.count; i++) {
        size_t wanted = width_of(table, i, failed);
        if (i + 1 == ret.count && wanted > LEAST_TEXT)
            wanted = LEAST_TEXT;
        if (i && at + wanted > width) {
            at = INDENT;
            ret.breaks |= 1u << i;
        }
        ret.from[i] = at;
        at += wanted + GAP;
    }
    return ret;
}

size_t help_put_words(const char *text, size_t line, size_t from, unsigned width,
                      struct cps_buf *out)
{
    for (bool first = true; *text; first = false) {
        size_t length = strcspn(text, " ");
        if (!first && out->size - line + 1 + length > width) {
            cps_buf_str(out, "\n");
            line = out->size;
            first = true;
        }
        if (out->size - line < from)
            cps_buf_printf(out, "%*s", (int)(from - (out->size - line)), "");
        cps_buf_str(out, first ? "" : " ");
        cps_buf_add(out, text, length);
        text += length + strspn(text + length, " ");
    }
    return line;
}

static void put_row(const struct help_table *table, size_t row, const struct places *places,
                    unsigned width, struct cps_buf *out)
{
    size_t line = out->size;
    for (unsigned i = 0; i < places->count; i++) {
        CPS_BUF field = {0};
        put_field(table, row, i, &field);
        out->failed = out->failed || field.failed;
        if (places->breaks >> i & 1 && field.size) {
            cps_buf_str(out, "\n");
            line = out->size;
        }
        line = help_put_words(cps_buf_text(&field), line, places->from[i],
                              i + 1 < places->count ? UINT32_MAX : width, out);
    }
    cps_buf_str(out, "\n");
}

void help_layout(const struct help_table *table, unsigned width, struct cps_buf *out)
{
    struct places places = place_columns(table, width, &out->failed);
    cps_buf_printf(out, "%s: %s\n\n", table->name, table->title);
    for (size_t row = 0; row <= table->count; row++)
        put_row(table, row - 1, &places, width, out);
}

unsigned help_width(void)
{
    struct winsize size = {0};
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col >= NARROW;
    return known ? size.ws_col : USUAL;
}

struct json_object *help_json(const struct help_table *table)
{
    struct json_object *rows = json_object_new_array();
    for (size_t row = 0; row < table->count; row++) {
        struct json_object *object = json_object_new_object();
        size_t length = 0;
        for (unsigned column = 0; heading(table, column, &length); column++) {
            CPS_BUF name = {0};
            CPS_BUF cell = {0};
            put_field(table, SIZE_MAX, column, &name);
            help_cell(table, row, column, &cell);
            cell.failed = cell.failed || name.failed;
            cps_json_buf(object, cps_buf_text(&name), &cell);
        }
        cps_json_append(rows, object);
    }
    return rows;
}
