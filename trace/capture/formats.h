/* SPDX-License-Identifier: MIT
 * The capture formats, for capture.c. Private to trace/. */
#ifndef CPS_FORMATS_H
#define CPS_FORMATS_H

#include "trace/capture/capture.h"

#define CPS_BLOCK_LIMIT (1u << 20) /* dwords of one block that are kept */

/**
 * As cps_stream_read(), without a copy where @p size bytes lie behind each other.
 * @param room       for @p size bytes, at least 1
 * @param[out] data  where they are, until the next call; @p room perhaps
 */
CPS_MUST_USE struct cps_err *cps_stream_view_(struct cps_stream *stream, uint8_t *room, size_t size,
                                              const uint8_t **data, size_t *ret);

bool cps_rd_recognise_(const uint8_t *data, size_t size);
CPS_MUST_USE struct cps_err *cps_rd_read_(struct cps_stream *stream,
                                          const struct cps_capture_limits *limits,
                                          struct cps_item_sink *sink);
bool cps_devcore_recognise_(const uint8_t *data, size_t size);
CPS_MUST_USE struct cps_err *cps_devcore_read_(struct cps_stream *stream,
                                               const struct cps_capture_limits *limits,
                                               struct cps_item_sink *sink);
bool cps_snapshot_recognise_(const uint8_t *data, size_t size);
CPS_MUST_USE struct cps_err *cps_snapshot_read_(struct cps_stream *stream,
                                                const struct cps_capture_limits *limits,
                                                struct cps_item_sink *sink);
bool cps_pm4text_recognise_(const uint8_t *data, size_t size);
CPS_MUST_USE struct cps_err *cps_pm4text_read_(struct cps_stream *stream,
                                               const struct cps_capture_limits *limits,
                                               struct cps_item_sink *sink);

#endif
