/* SPDX-License-Identifier: MIT
 * Which format a capture is in. */
#include "trace/capture/formats.h"

#include <string.h>

static const struct format {
    const char *name;
    bool hang; /* it holds the state of a GPU at a crash, not submissions */
    bool (*recognise)(const uint8_t *data, size_t size);
    struct cps_err *(*read)(struct cps_stream *stream, const struct cps_capture_limits *limits,
                            struct cps_item_sink *sink);
} formats[] = {
    {"devcoredump", true, cps_devcore_recognise_, cps_devcore_read_},
    {"kgsl snapshot", true, cps_snapshot_recognise_, cps_snapshot_read_},
    {"pm4 text", false, cps_pm4text_recognise_, cps_pm4text_read_},
    {"rd", false, cps_rd_recognise_, cps_rd_read_},
};

static const struct format *find_format(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (formats[i].recognise(data, size))
            return &formats[i];
    }
    return NULL;
}

const char *cps_capture_format(const uint8_t *data, size_t size)
{
    const struct format *format = find_format(data, size);
    return format ? format->name : NULL;
}

bool cps_capture_is_hang(const uint8_t *data, size_t size)
{
    const struct format *format = find_format(data, size);
    return format && format->hang;
}

struct cps_err *cps_capture_read(struct cps_stream *stream, const struct cps_capture_limits *limits,
                                 struct cps_item_sink *sink)
{
    struct cps_capture_limits set = limits ? *limits : (struct cps_capture_limits){0};
    const uint8_t *data = NULL;
    size_t size = 0;
    set.buffer_bytes = set.buffer_bytes ? set.buffer_bytes : UINT64_C(1) << 30;
    set.total_bytes = set.total_bytes ? set.total_bytes : UINT64_C(1) << 40;
    CPS_TRY(cps_stream_peek(stream, 32, &data, &size));
    const struct format *format = find_format(data, size);
    if (!format)
        return cps_err_input(
            cps_stream_name(stream), 0,
            size ? "not a capture, expected .rd sections, a dump of a hang or PM4 text"
                 : "empty file, expected a capture");
    return format->read(stream, &set, sink);
}

/* ---- what readers share ---- */

struct cps_err *cps_reading_give_(struct cps_reading *r, struct cps_item *item)
{
    item->offset = r->offset;
    return r->sink->item(r->sink, item);
}

struct cps_err *cps_reading_note_(struct cps_reading *r, const char *text)
{
    struct cps_item item = {.kind = CPS_ITEM_NOTE, .text = {text, strlen(text), false}};
    return cps_reading_give_(r, &item);
}

struct cps_err *cps_reading_header_(struct cps_reading *r, uint8_t header[8], bool *more)
{
    size_t got = 0;
    r->offset = cps_stream_offset(r->stream);
    CPS_TRY(cps_stream_read(r->stream, header, 8, &got));
    *more = got > 0;
    return !got || got == 8
               ? NULL
               : cps_err_input(cps_stream_name(r->stream), r->offset,
                               "section header of %zu bytes is cut short, expected 8", got);
}

struct cps_err *cps_reading_truncated_(const struct cps_reading *r)
{
    return cps_err_input(cps_stream_name(r->stream), r->offset,
                         "section %s of %u bytes is cut short at 0x%llx, expected all of it",
                         r->label, r->size, (unsigned long long)cps_stream_offset(r->stream));
}

struct cps_err *cps_reading_pass_(struct cps_reading *r)
{
    uint64_t passed = 0;
    CPS_TRY(cps_stream_skip(r->stream, r->left, &passed));
    bool all = passed == r->left;
    r->left = 0;
    return all ? NULL : cps_reading_truncated_(r);
}

struct cps_err *cps_reading_contents_(struct cps_reading *r, uint64_t iova, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        size_t want = size - done < sizeof(r->bytes) ? (size_t)(size - done) : sizeof(r->bytes);
        size_t got = 0;
        const uint8_t *data = NULL;
        CPS_TRY(cps_stream_view_(r->stream, r->bytes, want, &data, &got));
        r->left -= (uint32_t)got;
        if (got < want)
            return cps_reading_truncated_(r);
        struct cps_item item = {
            .kind = CPS_ITEM_DATA,
            .buffer = {.iova = iova + done,
                       .size = got,
                       .data = data,
                       .at = r->has_places ? cps_stream_offset(r->stream) - got + 1 : 0}};
        CPS_TRY(cps_reading_give_(r, &item));
        done += got;
    }
    return NULL;
}
