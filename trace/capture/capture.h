/* SPDX-License-Identifier: MIT
 * A capture as a sequence of items, whatever file format it came from.
 *
 * A reader pulls bytes from a cps_stream and calls back for each item in file order. It holds at
 * most one buffer's contents at a time and never the file. It does not know machines: whoever
 * receives the items builds memory from them.
 *
 * Threads: a reader has no state beside its arguments, which belong to it while it runs. The sink
 * is called in the thread of the caller.
 *
 * To add a capture format:
 *   1. a row in capture.c: name, function that recognises the first bytes, function that reads;
 *   2. a reader that makes only these items, in an order that keeps their rules;
 *   3. a builder in tests/lib/make.py (a second writer), tables of damaged inputs, a fuzz target.
 */
#ifndef CPS_CAPTURE_H
#define CPS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"
#include "stream.h"
#include "../event/item.h"

CPS_C_BEGIN

/** Limits that keep hostile files bounded. Zero means the default. */
struct cps_capture_limits {
    /** Bytes of the largest single section; default 1 GiB. */
    uint64_t buffer_bytes;
    /** Bytes of all contents together; default 1 TiB. */
    uint64_t total_bytes;
};

/**
 * Reads a whole capture, whose format is decided by its first bytes.
 * @param stream  where from; it stands at the end of what was read
 * @param limits  NULL: the defaults
 * @param sink    gets the items; what they point to is valid during its call only
 * @return NULL when the file ended cleanly; CPS_ERR_NOMEM; CPS_ERR_OS; CPS_ERR_INPUT naming file
 *         and offset for anything else (the items before the defect have been delivered); or the
 *         error of @p sink, whose call was the last one
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_capture_read(struct cps_stream *stream,
                                                         const struct cps_capture_limits *limits,
                                                         struct cps_item_sink *sink);

/**
 * The name of a format: "rd", "devcoredump", "kgsl snapshot", "pm4 text".
 * @param data  the first bytes of a file, decompressed
 * @param size  how many; 32 are enough
 * @return constant text, or NULL if it is none of them
 */
CPS_PUBLIC const char *cps_capture_format(const uint8_t *data, size_t size);

/**
 * Whether a format holds the state of a GPU at a hang, rather than submissions.
 * @param data  the first bytes of a file, decompressed
 * @param size  how many; 32 are enough
 * @return false also for what is no capture
 */
CPS_PUBLIC bool cps_capture_is_hang(const uint8_t *data, size_t size);

CPS_C_END

#endif
