/* SPDX-License-Identifier: MIT
 * Logs of the kernel's mmiotrace, version 20070824: what a driver reads and writes on a PCI bus.
 * It does not know what is at an address. Private to the project.
 *
 * Source: the kernel's Documentation/trace/mmiotrace.rst, and the lines as its trace_mmiotrace.c
 * writes them.
 *
 * Threads: a reader has no state beside its arguments. */
#ifndef CPS_MMIOTRACE_H
#define CPS_MMIOTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"
#include "trace/capture/stream.h"

/** Base address registers of a device, the ROM's counted. */
#define CPS_MMIO_BARS 7u

/** A device of the bus: a line PCIDEV. */
struct cps_mmio_device {
    uint32_t vendor, device;
    uint64_t bar[CPS_MMIO_BARS];  /**< start, with the kind of region in bits 3:0 */
    uint64_t size[CPS_MMIO_BARS]; /**< bytes */
};
/** A read or a write. */
struct cps_mmio_access {
    bool write;
    bool unknown;     /**< the tracer could not tell which, nor the value; its size counts as 1 */
    unsigned size;    /**< bytes: 1, 2, 4 or 8 */
    uint64_t ns;      /**< when */
    uint64_t address; /**< on the bus */
    uint64_t value;
    uint64_t line; /**< from 1 */
};
/** What a reader calls; each may end the reading with an error. Members may not be NULL. */
struct cps_mmio_sink {
    struct cps_err *(*device)(struct cps_mmio_sink *sink, const struct cps_mmio_device *device);
    struct cps_err *(*access)(struct cps_mmio_sink *sink, const struct cps_mmio_access *access);
    /** The tracer lost events here, as it says itself. */
    struct cps_err *(*lost)(struct cps_mmio_sink *sink, uint64_t line);
};

/** Whether a file that begins with some bytes is such a log. */
bool cps_mmiotrace_recognise_(const uint8_t *data, size_t size);
/**
 * Reads a whole log.
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT, CPS_ERR_SYNTAX ("FILE:LINE: ..."), or the
 *         error of @p sink
 */
CPS_MUST_USE struct cps_err *cps_mmiotrace_read_(struct cps_stream *stream,
                                                 struct cps_mmio_sink *sink);

#endif
