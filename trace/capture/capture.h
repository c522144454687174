/* SPDX-License-Identifier: MIT
 * A capture as a sequence of items, whatever file format it came from.
 *
 * A reader pulls bytes from a cps_stream and calls back for each item in file order. It holds at
 * most one buffer's contents at a time and never the file. It does not know machines: whoever
 * receives the items builds memory from them.
 *
 * To add a capture format:
 *   1. a row in capture.c: name, function that recognises the first bytes, function that reads;
 *   2. a reader that makes only these items, in an order that keeps their rules;
 *   3. a builder in tests/make.c (a second writer), tables of damaged inputs, a fuzz target.
 */
#ifndef CPS_CAPTURE_H
#define CPS_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"
#include "trace/capture/stream.h"

/** What a capture says, in order. */
enum cps_item_kind {
    CPS_ITEM_SECTION, /**< section: raw section of the container, before what it means */
    CPS_ITEM_CHIP,    /**< chip: which GPU made it; may come more than once, the first counts */
    CPS_ITEM_TEXT,    /**< text: test name, process, fence */
    CPS_ITEM_RESET,   /**< a new submission begins: every buffer of the one before is gone */
    CPS_ITEM_BUFFER,  /**< buffer: address and size are known, contents are not */
    CPS_ITEM_DATA,    /**< buffer: contents of (part of) a buffer */
    CPS_ITEM_SUBMIT,  /**< stream: run these dwords at level IB1 */
    CPS_ITEM_NOTE,    /**< text: a defect that does not stop the reading ("warning: ...") */
    /* State of a GPU at a crash; there are no submissions in such a capture. */
    CPS_ITEM_RING,     /**< ring: its position; what it holds follows as CPS_ITEM_DATA */
    CPS_ITEM_REGISTER, /**< reg: one register's value */
    CPS_ITEM_BLOCK,    /**< block: words read through an address and data register pair */
};

/** One item; only the member of its kind is valid, only during the callback. */
struct cps_item {
    enum cps_item_kind kind;
    uint64_t offset; /**< byte offset in the (decompressed) file, for messages */
    struct {
        const char *name; /**< static text: "GPUADDR", "ringbuffer"; NULL for an unknown type */
        uint32_t type;    /**< another for each name */
        uint64_t size;    /**< bytes of payload, 0 where the format does not say */
    } section;
    struct {
        uint32_t gpu_id;  /**< decimal marketing number (630), 0 when unknown */
        uint64_t chip_id; /**< core.major.minor.patch in 31:0, 0 when unknown */
    } chip;
    struct {
        const char *bytes; /**< not NUL-terminated, no control characters removed */
        size_t size;
    } text;
    struct {
        uint64_t iova;       /**< bytes */
        uint64_t size;       /**< bytes */
        const uint8_t *data; /**< CPS_ITEM_DATA: `size` bytes, else NULL */
    } buffer;
    struct {
        uint64_t iova; /**< bytes */
        uint32_t dwords;
    } stream;
    struct {
        uint32_t id;            /**< as the file says; may come twice */
        uint64_t iova;          /**< bytes */
        uint64_t size;          /**< bytes */
        uint32_t rptr, wptr;    /**< dwords from the start of the ring */
        uint32_t last_fence;    /**< newest one submitted */
        uint32_t retired_fence; /**< newest one completed */
    } ring;
    struct {
        uint32_t offset; /**< register number, in dwords */
        uint32_t value;
        const char *section; /**< "registers", "registers-gmu", or the cluster's name */
        int context;         /**< of banked registers in clusters, else -1 */
    } reg;
    struct {
        const char *name;      /**< the present name where older kernels had another */
        const uint32_t *words; /**< NULL when there are none */
        size_t count;          /**< words present; those missing at the end are zero or unknown */
        size_t size;           /**< dwords that the file states */
    } block;
};

/** Receives items. An error it returns stops the reader, which hands it on. */
struct cps_item_sink {
    struct cps_err *(*item)(struct cps_item_sink *sink, const struct cps_item *item);
};

/** Limits that keep hostile files bounded. Zero means the default. */
struct cps_capture_limits {
    uint64_t buffer_bytes; /**< largest single section, default 1 GiB */
    uint64_t total_bytes;  /**< sum of all contents, default 1 TiB */
};

/**
 * Reads a whole capture from @p stream, whose format is decided by its first bytes.
 *
 * @return NULL when the file ended cleanly; CPS_ERR_INPUT naming file and offset for anything
 *         else (the items before the defect have been delivered), or the error of @p sink
 */
CPS_MUST_USE CPS_PUBLIC struct cps_err *cps_capture_read(struct cps_stream *stream,
                                                         const struct cps_capture_limits *limits,
                                                         struct cps_item_sink *sink);

/** Name of the format that starts with these bytes ("rd", "devcoredump", "pm4 text"), or NULL. */
CPS_PUBLIC const char *cps_capture_format(const uint8_t *data, size_t size);

#endif
