/* SPDX-License-Identifier: MIT
 * Sections of the page. Numbers stand in columns and columns in planes of bytes, since neighbours
 * there are alike: that is what makes them small. */
#include "tools/face/page/view.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "isa/base/list.h"
#include "isa/base/shown.h"
#include "trace/out/json.h"

static bool reserve(struct view_section *section, size_t size)
{
    if (!CPS_LIST_RESERVE(section->data, section->room, section->size + size))
        section->failed = true;
    return !section->failed;
}

void view_put(struct view_section *section, const void *data, size_t size)
{
    if (!size || !reserve(section, size))
        return;
    memcpy(section->data + section->size, data, size);
    section->size += size;
}

void view_put_column(struct view_section *section, size_t count, bool delta,
                     uint32_t (*get)(const void *context, size_t i), const void *context)
{
    uint32_t before = 0;
    if (!count || !reserve(section, 4 * count))
        return;
    uint8_t *plane = section->data + section->size;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = get(context, i);
        uint32_t shown = delta ? value - before : value;
        before = value;
        for (unsigned byte = 0; byte < 4; byte++)
            plane[byte * count + i] = (uint8_t)(shown >> 8 * byte);
    }
    section->size += 4 * count;
}

void view_base64(struct cps_buf *out, const uint8_t *data, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 1024];
    size_t used = 0;
    for (size_t i = 0; i < size; i += 3) {
        uint32_t left = (uint32_t)(size - i < 3 ? size - i : 3);
        uint32_t bits = (uint32_t)data[i] << 16 | (left > 1 ? (uint32_t)data[i + 1] << 8 : 0) |
                        (left > 2 ? data[i + 2] : 0u);
        line[used++] = digits[bits >> 18];
        line[used++] = digits[bits >> 12 & 63];
        line[used++] = left > 1 ? digits[bits >> 6 & 63] : '=';
        line[used++] = left > 2 ? digits[bits & 63] : '=';
        if (used == sizeof(line)) {
            cps_buf_add(out, line, used);
            used = 0;
        }
    }
    cps_buf_add(out, line, used);
}

struct cps_err *view_section_put(struct view_section *section, const char *name,
                                 struct cps_buf *out)
{
    uLongf size = compressBound(section->size);
    CPS_FREE uint8_t *packed = malloc(size);
    bool good = !section->failed && packed &&
                compress2(packed, &size, section->size ? section->data : (const Bytef *)"",
                          section->size, 9) == Z_OK;
    if (good) {
        cps_buf_printf(out, "<script type=\"application/octet-stream\" id=\"d-%s\" data-n=\"%zu\">",
                       name, section->size);
        view_base64(out, packed, size);
        cps_buf_str(out, "</script>\n");
    }
    free(section->data);
    *section = (struct view_section){0};
    return good && !out->failed ? NULL : cps_err_nomem();
}

struct json_object *view_text(const char *text)
{
    CPS_BUF safe = {0};
    cps_shown_put_(&safe, text);
    return safe.failed ? NULL : json_object_new_string(cps_buf_text(&safe));
}

/* ---- the columns ---- */

#define PACKET_COLUMN(name, expression)                                        \
    static uint32_t packet_##name(const void *context, size_t i)               \
    {                                                                          \
        const struct view_packet *p = (const struct view_packet *)context + i; \
        return expression;                                                     \
    }

PACKET_COLUMN(low, (uint32_t)p->event->addr)
PACKET_COLUMN(high, (uint32_t)(p->event->addr >> 32))
PACKET_COLUMN(header, p->event->value)
PACKET_COLUMN(submission, p->submission)
PACKET_COLUMN(time, p->time)
PACKET_COLUMN(first, p->first)
PACKET_COLUMN(word, p->word)
PACKET_COLUMN(layout, p->layout)

static uint32_t number_of(const void *context, size_t i)
{
    return ((const uint32_t *)context)[i];
}

static uint32_t pc_of(const void *context, size_t i)
{
    const struct cps_event *const *row = context;
    return cps_event_pc(row[i]);
}

static void put_packets(const struct view_run *run, struct view_section *to)
{
    for (size_t i = 0; i < run->packets; i++) {
        uint8_t level = (uint8_t)cps_event_sub(run->packet[i].event);
        view_put(to, &level, 1);
    }
    view_put_column(to, run->packets, true, packet_low, run->packet);
    view_put_column(to, run->packets, false, packet_high, run->packet);
    view_put_column(to, run->packets, false, packet_header, run->packet);
    view_put_column(to, run->packets, true, packet_submission, run->packet);
    view_put_column(to, run->packets + 1, true, packet_time, run->packet);
    view_put_column(to, run->packets + 1, true, packet_first, run->packet);
    view_put_column(to, run->packets + 1, true, packet_word, run->packet);
    view_put_column(to, run->packets, false, packet_layout, run->packet);
}

/* Few addresses have more than 32 bits: pairs of a row and the rest. */
static void put_high(const struct view_run *run, struct view_section *to)
{
    for (size_t i = 0; i < run->rows; i++) {
        unsigned kind = cps_event_kind(run->row[i]);
        uint64_t high = run->row[i]->addr >> 32;
        if (!high || kind == CPS_EV_STEP || kind == CPS_EV_STEPX)
            continue;
        const uint32_t pair[2] = {(uint32_t)i, (uint32_t)high};
        for (unsigned byte = 0; byte < 8; byte++) {
            uint8_t at = (uint8_t)(pair[byte / 4] >> 8 * (byte % 4));
            view_put(to, &at, 1);
        }
    }
}

struct cps_err *view_columns(const struct view_run *run, struct cps_buf *out)
{
    struct view_section section = {0};
    put_packets(run, &section);
    CPS_TRY(view_section_put(&section, "pk", out));
    view_put_column(&section, run->words, false, number_of, run->word);
    CPS_TRY(view_section_put(&section, "pay", out));
    view_put(&section, run->kind, run->rows);
    view_put_column(&section, run->rows, true, pc_of, run->row);
    view_put_column(&section, run->rows, false, number_of, run->addr);
    view_put_column(&section, run->rows, false, number_of, run->value);
    put_high(run, &section);
    return view_section_put(&section, "ev", out);
}
