/* SPDX-License-Identifier: MIT
 * Positions of the protocol: a line, and characters that are units of UTF-16, or bytes. */
#include <string.h>

#include "isa/base/list.h"
#include "tools/face/lsp/private.h"

/* After the line end at @p at: "\n", "\r\n" or "\r"; 0: there is none. */
static size_t behind_end(const char *text, size_t size, size_t at)
{
    if (text[at] == '\n')
        return at + 1;
    if (text[at] != '\r')
        return 0;
    return at + 1 < size && text[at + 1] == '\n' ? at + 2 : at + 1;
}

/* Bytes of the character that begins at @p at. */
static size_t character_size(const struct lsp_document *d, size_t at)
{
    unsigned char first = (unsigned char)d->text.data[at];
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    return size > d->text.size - at ? d->text.size - at : size;
}

void lsp_index(struct lsp_document *d)
{
    const char *text = cps_buf_text(&d->text);
    size_t next = 0;
    *d->last = (struct lsp_mark){0};
    d->lines = 0;
    for (size_t at = 0; at <= d->text.size; at = next ? next : at + 1) {
        if (at == 0 || next) {
            tool_need(CPS_LIST_RESERVE(d->line, d->line_room, d->lines + 1));
            d->line[d->lines++] = at;
        }
        next = at < d->text.size ? behind_end(text, d->text.size, at) : 0;
    }
}

size_t lsp_line_of(const struct lsp_document *d, size_t offset)
{
    size_t low = 0;
    size_t high = d->lines;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (d->line[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static size_t end_of_line(const struct lsp_document *d, size_t line)
{
    const char *text = cps_buf_text(&d->text);
    size_t end = line + 1 < d->lines ? d->line[line + 1] : d->text.size;
    if (line + 1 < d->lines) {
        end--;
        if (end > d->line[line] && text[end] == '\n' && text[end - 1] == '\r')
            end--;
    }
    return end;
}

size_t lsp_line_end(const struct lsp_document *d, size_t offset)
{
    return end_of_line(d, lsp_line_of(d, offset));
}

/* Units that it counts as. */
static size_t units_of(const struct lsp *l, size_t size)
{
    return l->utf8 ? size : size == 4 ? 2 : 1;
}

static bool get_number(struct json_object *from, const char *key, uint64_t *ret)
{
    struct json_object *value = cps_json_member(from, key, json_type_int);
    int64_t number = value ? json_object_get_int64(value) : -1;
    *ret = (uint64_t)number;
    return number >= 0;
}

bool lsp_offset(const struct lsp *l, const struct lsp_document *d, struct json_object *position,
                size_t *ret)
{
    uint64_t line = 0;
    uint64_t left = 0;
    if (!get_number(position, "line", &line) || !get_number(position, "character", &left))
        return false;
    *ret = d->text.size;
    if (line >= d->lines)
        return true;
    size_t end = end_of_line(d, (size_t)line);
    size_t at = d->line[line];
    while (at < end && left) {
        size_t size = character_size(d, at);
        if (left < units_of(l, size)) /* inside of a character: before it */
            break;
        left -= units_of(l, size);
        at += size;
    }
    *ret = at;
    return true;
}

bool lsp_range(const struct lsp *l, const struct lsp_document *d, struct json_object *range,
               size_t ret[2])
{
    return lsp_offset(l, d, cps_json_get(range, "start"), &ret[0]) &&
           lsp_offset(l, d, cps_json_get(range, "end"), &ret[1]) && ret[0] <= ret[1];
}

/* Units of the line before a place; inside of a character: before the next one. Places of an answer
 * are near each other: counting goes on where it ended. */
static size_t units_before(const struct lsp *l, const struct lsp_document *d, size_t line,
                           size_t offset)
{
    while (offset < d->text.size && ((unsigned char)d->text.data[offset] & 0xc0) == 0x80)
        offset++;
    if (l->utf8)
        return offset - d->line[line];
    struct lsp_mark *at = d->last;
    if (at->line != line)
        *at = (struct lsp_mark){line, d->line[line], 0};
    while (at->at < offset) {
        size_t size = character_size(d, at->at);
        at->units += units_of(l, size);
        at->at += size;
    }
    while (at->at > offset) {
        size_t end = at->at--;
        while (((unsigned char)d->text.data[at->at] & 0xc0) == 0x80)
            at->at--;
        at->units -= units_of(l, end - at->at);
    }
    return at->units;
}

void lsp_put_range(const struct lsp *l, const struct lsp_document *d, struct json_object *to,
                   const char *key, size_t from, size_t end)
{
    struct json_object *range = cps_json_new_object(to, key);
    const size_t offsets[2] = {from, end};
    for (unsigned i = 0; i < 2; i++) {
        size_t line = lsp_line_of(d, offsets[i]);
        doc_put(cps_json_new_object(range, i ? "end" : "start"), "line=%zu character=%zu", line,
                units_before(l, d, line, offsets[i]));
    }
}
