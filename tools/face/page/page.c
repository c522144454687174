/* SPDX-License-Identifier: MIT
 * The file: style, shell and script around the sections. The policy in its head is a promise:
 * nothing is fetched, and only this style and this script count. */
#include "tools/face/page/view.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>
#include <zlib.h>

#include "tools/cmd/render/html.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"
#include "view_page.h"

static const char style[] = VIEW_STYLE;
static const char shell[] = VIEW_SHELL;
static const char script[] = VIEW_SCRIPT;

static void put_base64(struct cps_buf *out, const void *data, size_t size)
{
    CPS_FREE char *text = tool_alloc(BASE64_ENCODE_RAW_LENGTH(size) + 1, 1);
    base64_encode_raw(text, size, data);
    cps_buf_add(out, text, BASE64_ENCODE_RAW_LENGTH(size));
}

/* 'sha256-...' of the text between the tags. */
static void put_hash(struct cps_buf *out, const char *text)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, strlen(text), (const uint8_t *)text);
    sha256_digest(&context, SHA256_DIGEST_SIZE, digest);
    cps_buf_str(out, "'sha256-");
    put_base64(out, digest, sizeof(digest));
    cps_buf_str(out, "'");
}

void view_page_begin(const char *title, struct cps_buf *out)
{
    cps_buf_str(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src ");
    put_hash(out, style);
    cps_buf_str(out, "; script-src ");
    put_hash(out, script);
    cps_buf_str(out, "; base-uri 'none'; form-action 'none'\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<meta name=\"color-scheme\" content=\"light dark\">\n");
    html_wrap(out, "<title>", title, "</title>\n<style>");
    cps_buf_str(out, style);
    cps_buf_str(out, "</style></head>\n");
    cps_buf_str(out, shell);
}

void view_page_end(struct cps_buf *out)
{
    cps_buf_str(out, "<script>");
    cps_buf_str(out, script);
    cps_buf_str(out, "</script></body></html>\n");
}

static void put_section(const char *name, const void *data, size_t size, struct cps_buf *out)
{
    uLongf packed_size = compressBound(size);
    CPS_FREE uint8_t *packed = tool_alloc(packed_size, 1);
    tool_need(compress2(packed, &packed_size, data, size, 9) == Z_OK);
    cps_buf_printf(out, "<script type=\"application/octet-stream\" id=\"d-%s\" data-n=\"%zu\">",
                   name, size);
    put_base64(out, packed, packed_size);
    cps_buf_str(out, "</script>\n");
}

void view_page_json(const char *name, struct json_object *value, struct cps_buf *out)
{
    CPS_BUF text = {0};
    cps_json_put(&text, tool_json(value), JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    json_object_put(value);
    put_section(name, tool_text(&text), text.size, out);
}

/* ---- columns ---- */

enum { KIND, SUB, WHO, PC, LOW, HIGH, VALUE, COLUMNS };

/* Events by kind, and of one kind in their order. */
static uint32_t *sort_events(const struct record *record)
{
    uint32_t *order = tool_alloc(record->count + 1, sizeof(*order));
    size_t count = 0;
    for (unsigned kind = 0; kind < CPS_EV_COUNT; kind++) {
        for (size_t i = 0; i < record->count; i++) {
            if (cps_event_kind(&record->event[i]) == kind)
                order[count++] = (uint32_t)i;
        }
    }
    return order;
}

/* Columns of bytes: kinds, in the order of the run, then the rest by kind. A number of 32 bits is
 * four of them, the lowest first, and PC the difference to the one before. Neighbours are alike
 * so: that is what makes them small. */
void view_page_events(const struct record *record, struct cps_buf *out)
{
    size_t count = record->count;
    CPS_FREE uint8_t *bytes = tool_alloc(count + 1, 3 + 4 * (COLUMNS - PC));
    CPS_FREE uint32_t *order = sort_events(record);
    uint8_t *plane = bytes;
    for (unsigned column = 0; column < COLUMNS; column++) {
        uint32_t before = 0;
        unsigned planes = column < PC ? 1 : 4;
        for (size_t i = 0; i < count; i++) {
            const struct cps_event *event = &record->event[column == KIND ? i : order[i]];
            const uint32_t values[COLUMNS] = {
                [KIND] = cps_event_kind(event), [SUB] = cps_event_sub(event),
                [WHO] = cps_event_who(event),   [PC] = cps_event_pc(event),
                [LOW] = (uint32_t)event->addr,  [HIGH] = (uint32_t)(event->addr >> 32),
                [VALUE] = event->value};
            uint32_t value = values[column];
            for (unsigned k = 0; k < planes; k++)
                plane[k * count + i] = (uint8_t)((value - before) >> 8 * k);
            before = column == PC ? value : 0;
        }
        plane += planes * count;
    }
    put_section("ev", bytes, (size_t)(plane - bytes), out);
}
