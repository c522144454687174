/* SPDX-License-Identifier: MIT
 * Positions of the protocol: a line, and characters that are units of UTF-16, or bytes. */
#include <string.h>

#include "isa/base/list.h"
#include "tools/face/lsp/private.h"

/* Behind the line end at @p at: "\n", "\r\n" or "\r"; 0: there is none. */
static size_t behind_end(const char *text, size_t size, size_t at)
{
    if (text[at] == '\n')
        return at + 1;
    if (text[at] != '\r')
        return 0;
    return at + 1 < size && text[at + 1] == '\n' ? at + 2 : at + 1;
}

static void add_line(struct lsp_document *d, size_t start)
{
    tool_need(CPS_LIST_RESERVE(d->line, d->line_room, d->lines + 1));
    d->line[d->lines++] = start;
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
    struct lsp_block block = {0};
    d->lines = d->blocks = 0;
    add_line(d, 0);
    for (size_t at = 0, next; at < d->text.size; at = next ? next : at + 1) {
        next = behind_end(cps_buf_text(&d->text), d->text.size, at);
        if (next)
            add_line(d, next);
    }
    tool_need(CPS_LIST_RESERVE(d->block, d->block_room, d->text.size / LSP_BLOCK + 1));
    while (block.at <= d->text.size) {
        if (block.at >= d->blocks * LSP_BLOCK)
            d->block[d->blocks++] = block;
        if (block.at == d->text.size)
            return;
        size_t size = character_size(d, block.at);
        block.at += size;
        block.units += size == 4 ? 2 : 1;
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
        if (left < units_of(l, size)) /* inside of a character: in front of it */
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

/* Units of the text before a place; inside of a character: before the next one. */
static size_t units_before(const struct lsp *l, const struct lsp_document *d, size_t offset)
{
    while (offset < d->text.size && ((unsigned char)d->text.data[offset] & 0xc0) == 0x80)
        offset++;
    if (l->utf8)
        return offset;
    struct lsp_block from = d->block[offset / LSP_BLOCK];
    while (from.at < offset) {
        size_t size = character_size(d, from.at);
        from.units += units_of(l, size);
        from.at += size;
    }
    return from.units;
}

static void put_position(const struct lsp *l, const struct lsp_document *d, struct json_object *to,
                         const char *key, size_t offset)
{
    struct json_object *position = cps_json_new_object(to, key);
    size_t line = lsp_line_of(d, offset);
    size_t character = units_before(l, d, offset) - units_before(l, d, d->line[line]);
    cps_json_uint(position, "line", line);
    cps_json_uint(position, "character", character);
}

void lsp_put_range(const struct lsp *l, const struct lsp_document *d, struct json_object *to,
                   const char *key, size_t from, size_t end)
{
    struct json_object *range = cps_json_new_object(to, key);
    put_position(l, d, range, "start", from);
    put_position(l, d, range, "end", end);
}
