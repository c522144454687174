/* SPDX-License-Identifier: MIT
 * Sections of the page. Numbers stand in columns and columns in planes of bytes, since neighbours
 * there are alike: that is what makes them small. */
#include "tools/face/page/view.h"

#include <nettle/base64.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "isa/base/list.h"
#include "tools/cmd/terminal/oom.h"

void view_put(struct view_section *section, const void *data, size_t size)
{
    if (!size)
        return;
    tool_need(CPS_LIST_RESERVE(section->data, section->room, section->size + size));
    memcpy(section->data + section->size, data, size);
    section->size += size;
}

void view_put_column(struct view_section *section, size_t count, bool delta, const uint32_t *first,
                     size_t stride)
{
    uint32_t before = 0;
    if (!count)
        return;
    tool_need(CPS_LIST_RESERVE(section->data, section->room, section->size + 4 * count));
    uint8_t *plane = section->data + section->size;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = *(const uint32_t *)((const char *)first + i * stride);
        uint32_t shown = delta ? value - before : value;
        before = value;
        for (unsigned byte = 0; byte < 4; byte++)
            plane[byte * count + i] = (uint8_t)(shown >> 8 * byte);
    }
    section->size += 4 * count;
}

void view_base64(struct cps_buf *out, const uint8_t *data, size_t size)
{
    enum { PIECE = 3 * 1024 };
    char text[BASE64_ENCODE_RAW_LENGTH(PIECE)];
    for (size_t at = 0; at < size; at += PIECE) {
        size_t piece = size - at < PIECE ? size - at : PIECE;
        base64_encode_raw(text, piece, data + at);
        cps_buf_add(out, text, BASE64_ENCODE_RAW_LENGTH(piece));
    }
}

void view_section_put(struct view_section *section, const char *name, struct cps_buf *out)
{
    uLongf size = compressBound(section->size);
    CPS_FREE uint8_t *packed = tool_alloc(size, 1);
    tool_need(compress2(packed, &size, section->size ? section->data : (const Bytef *)"",
                        section->size, 9) == Z_OK);
    cps_buf_printf(out, "<script type=\"application/octet-stream\" id=\"d-%s\" data-n=\"%zu\">",
                   name, section->size);
    view_base64(out, packed, size);
    cps_buf_str(out, "</script>\n");
    free(section->data);
    *section = (struct view_section){0};
}

/* ---- the columns ---- */

static void put_packets(const struct view_run *run, struct view_section *to)
{
    const struct view_packet *p = run->packet;
    size_t count = run->packets;
    for (size_t i = 0; i < count; i++) {
        uint8_t level = (uint8_t)cps_event_sub(p[i].event);
        view_put(to, &level, 1);
    }
    view_put_column(to, count, true, &p->low, sizeof(*p));
    view_put_column(to, count, false, &p->high, sizeof(*p));
    view_put_column(to, count, false, &p->header, sizeof(*p));
    view_put_column(to, count, true, &p->submission, sizeof(*p));
    view_put_column(to, count + 1, true, &p->time, sizeof(*p));
    view_put_column(to, count + 1, true, &p->first, sizeof(*p));
    view_put_column(to, count + 1, true, &p->word, sizeof(*p));
    view_put_column(to, count, false, &p->layout, sizeof(*p));
}

/* Few addresses have more than 32 bits: pairs of a row and the rest. */
static void put_high(const struct view_run *run, struct view_section *to)
{
    for (size_t i = 0; i < run->rows; i++) {
        unsigned kind = cps_event_kind(run->row[i].event);
        uint64_t high = run->row[i].event->addr >> 32;
        if (!high || kind == CPS_EV_STEP || kind == CPS_EV_STEPX)
            continue;
        const uint32_t pair[2] = {(uint32_t)i, (uint32_t)high};
        for (unsigned byte = 0; byte < 8; byte++) {
            uint8_t at = (uint8_t)(pair[byte / 4] >> 8 * (byte % 4));
            view_put(to, &at, 1);
        }
    }
}

void view_columns(const struct view_run *run, struct cps_buf *out)
{
    const struct view_row *row = run->row;
    struct view_section section = {0};
    put_packets(run, &section);
    view_section_put(&section, "pk", out);
    view_put_column(&section, run->words, false, run->word, sizeof(*run->word));
    view_section_put(&section, "pay", out);
    if (row) {
        for (size_t i = 0; i < run->rows; i++)
            view_put(&section, &row[i].kind, 1);
        view_put_column(&section, run->rows, true, &row->pc, sizeof(*row));
        view_put_column(&section, run->rows, false, &row->addr, sizeof(*row));
        view_put_column(&section, run->rows, false, &row->value, sizeof(*row));
        put_high(run, &section);
    }
    view_section_put(&section, "ev", out);
}
