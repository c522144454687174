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
