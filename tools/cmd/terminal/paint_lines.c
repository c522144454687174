/* SPDX-License-Identifier: MIT
 * Finished texts, painted line by line as paint.def says: whoever makes them knows no colours. */
#include <stdio.h>
#include <string.h>

#include "isa/base/shown.h"
#include "tools/cmd/terminal/paint.h"
#include "tools/cmd/terminal/text.h"
#include "trace/out/through.h"

enum where { WHOLE, WORD, HEADING };

static const struct row {
    enum paint_text text;
    enum where where;
    const char *begin;
    enum paint paint;
} rows[] = {
#define LINE(text, where, begin, paint) {PAINT_##text, where, begin, PAINT_##paint},
#include "tools/cmd/terminal/paint.def"
};

static const char tail[] = " ; ";

/* Where an event's keyword begins: behind the name of a processor, which has no capitals. */
static size_t skip(enum paint_text text, const char *line, size_t size)
{
    size_t at = 0;
    while (at < size && line[at] == ' ')
        at++;
    while (text == PAINT_TRACE && at < size && line[at] >= 'a' && line[at] <= 'z')
        at++;
    while (at < size && line[at] == ' ')
        at++;
    return at;
}

static bool fits(const struct row *row, const char *line, size_t size, size_t at)
{
    size_t length = strlen(row->begin);
    if (size - at < length || memcmp(line + at, row->begin, length) != 0)
        return false;
    return row->where != HEADING || (at == 0 && size && line[size - 1] == ':');
}

static const struct row *find(enum paint_text text, const char *line, size_t size, size_t at)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].text == text && fits(&rows[i], line, size, at))
            return &rows[i];
    }
    return NULL;
}

/* Only our own codes are none of the text. */
static void add(const char *text, size_t size, struct cps_buf *out)
{
    cps_shown_add_(out, text, size, true);
}

static void add_painted(const char *text, size_t size, enum paint paint, struct cps_buf *out)
{
    if (!size)
        return;
    paint_begin(out, true, paint);
    add(text, size, out);
    paint_end(out, true);
}

/* Bytes of a line in front of its commentary. */
static size_t body(const char *line, size_t size, size_t from)
{
    size_t length = sizeof(tail) - 1;
    for (size_t i = from; i + length <= size; i++) {
        if (!memcmp(line + i, tail, length))
            return i;
    }
    return size;
}

static void paint_line(enum paint_text text, const char *line, size_t size, struct cps_buf *out)
{
    size_t at = skip(text, line, size);
    const struct row *row = find(text, line, size, at);
    size_t end = row && row->where != WORD ? size : at;
    while (row && row->where == WORD && end < size && line[end] != ' ')
        end++;
    size_t rest = body(line, size, end);
    add(line, at, out);
    if (row)
        add_painted(line + at, end - at, row->paint, out);
    add(line + end, rest - end, out);
    add_painted(line + rest, size - rest, PAINT_FAINT, out);
}

void paint_lines(enum paint_text text, const char *data, size_t size, struct cps_buf *out)
{
    while (size) {
        const char *end = memchr(data, '\n', size);
        size_t length = end ? (size_t)(end - data) : size;
        paint_line(text, data, length, out);
        cps_buf_str(out, end ? "\n" : "");
        length += end != NULL;
        data += length;
        size -= length;
    }
}

static void through(const void *context, const char *data, size_t size, struct cps_buf *out)
{
    paint_lines(*(const enum paint_text *)context, data, size, out);
}

void paint_output(const char *when, const char *path, enum paint_text text, struct cps_outfile *out)
{
    static const enum paint_text texts[] = {PAINT_TRACE, PAINT_DIFF, PAINT_CODE};
    bool on = false;
    bool is_stdout = !path || !strcmp(path, "-");
    if (is_stdout && paint_wanted(when, &on) && on)
        cps_outfile_through_(out, through, &texts[text]);
}

struct cps_err *paint_text(const char *when, enum paint_text text, const struct cps_buf *from)
{
    struct cps_outfile *out = NULL;
    bool on = false;
    if (!paint_wanted(when, &on) || !on || from->failed)
        return report_text(from);
    fflush(stdout); /* which escapes what is not ours, and ours */
    CPS_TRY(cps_outfile_open("-", &out));
    paint_output(when, "-", text, out);
    cps_outfile_write(out, cps_buf_text(from), from->size);
    return cps_outfile_commit(out);
}
