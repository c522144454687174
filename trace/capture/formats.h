/* SPDX-License-Identifier: MIT
 * The capture formats, for capture.c, what their readers share, and how far they are. Private to
 * trace/ and tools/. */
#ifndef CPS_FORMATS_H
#define CPS_FORMATS_H

#include "trace/capture/capture.h"

#define CPS_BLOCK_LIMIT (1u << 20) /* dwords of one block that are kept */

/** A capture that is being read. */
struct cps_reading {
    struct cps_stream *stream;
    const struct cps_capture_limits *limits;
    struct cps_item_sink *sink;
    uint64_t offset;      /**< of the section or line at hand */
    uint64_t total;       /**< bytes of contents so far */
    const char *label;    /**< name of the section */
    uint32_t type;        /**< of the section */
    uint32_t size;        /**< of the section, as messages have it */
    uint32_t left;        /**< bytes of its payload that are not read yet */
    bool has_places;      /**< contents say where in the file they are */
    uint8_t bytes[65536]; /**< for pieces of contents */
};

/** Hands an item to the sink, with the offset of the section or line. */
CPS_MUST_USE struct cps_err *cps_reading_give_(struct cps_reading *r, struct cps_item *item);
CPS_MUST_USE struct cps_err *cps_reading_note_(struct cps_reading *r, const char *text);
/** Begins with the 8 bytes of a section's header; @p more is false at the end of the file. */
CPS_MUST_USE struct cps_err *cps_reading_header_(struct cps_reading *r, uint8_t header[8],
                                                 bool *more);
/** The error that the section is cut short. */
CPS_MUST_USE struct cps_err *cps_reading_truncated_(const struct cps_reading *r);
/** Passes over what is left of the section. */
CPS_MUST_USE struct cps_err *cps_reading_pass_(struct cps_reading *r);
/** Hands out the next @p size bytes of the section as contents of @p iova. */
CPS_MUST_USE struct cps_err *cps_reading_contents_(struct cps_reading *r, uint64_t iova,
                                                   uint64_t size);

/**
 * As cps_stream_read(), without a copy where @p size bytes lie behind each other.
 * @param room       for @p size bytes, at least 1
 * @param[out] data  where they are, until the next call; @p room perhaps
 */
CPS_MUST_USE struct cps_err *cps_stream_view_(struct cps_stream *stream, uint8_t *room, size_t size,
                                              const uint8_t **data, size_t *ret);

/** How many of a stream's stored bytes were read, threads that are ahead included; of memory 0 of
 * 0. Any thread may ask. @return false, and nothing, for what has no size: a pipe */
bool cps_stream_share_(const struct cps_stream *stream, uint64_t *at, uint64_t *size);

/** Gets an error: line from 1, column in bytes from 0, which may be that of the line's end. */
typedef void cps_pm4text_error_fn(void *context, unsigned line, size_t column, const char *message);

/**
 * Reads a whole text for who edits it: goes on behind errors.
 * @param text     @p size bytes, which stay the caller's
 * @param size     bytes
 * @param rnn_dir  of names, as of cps_names_create()
 * @param each     gets the errors
 * @param context  its first argument
 * @param sink     gets the items of the lines without errors, as cps_capture_read() gives them
 * @return NULL, CPS_ERR_NOMEM, or the error of @p sink
 */
CPS_MUST_USE struct cps_err *cps_pm4text_check_(const char *text, size_t size, const char *rnn_dir,
                                                cps_pm4text_error_fn *each, void *context,
                                                struct cps_item_sink *sink);

/* Each format: whether a file that begins so is one, and its reader. */
#define FORMAT(name)                                                                         \
    bool cps_##name##_recognise_(const uint8_t *data, size_t size);                          \
    CPS_MUST_USE struct cps_err *cps_##name##_read_(struct cps_stream *stream,               \
                                                    const struct cps_capture_limits *limits, \
                                                    struct cps_item_sink *sink);
FORMAT(rd)
FORMAT(devcore)
FORMAT(snapshot)
FORMAT(pm4text)
#undef FORMAT

#endif
