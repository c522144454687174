/* SPDX-License-Identifier: MIT
 * A log of mmiotrace as a run file: what the host did to HWSQ, without what it did to the rest.
 *
 * The first upload of code becomes the script, later ones writes. Reads become expectations where
 * what they give follows from the lines before: not while a script runs, as its time on hardware is
 * not known. */
#ifndef CPS_TOOLS_MMIO_H
#define CPS_TOOLS_MMIO_H

#include "isa/isa.h"
#include "isa/nv/nvchip.h"
#include "trace/capture/mmiotrace.h"

/** Most accesses of the engine's registers that are kept. */
#define MMIO_MAX_ACCESSES ((size_t)1 << 20)

/** What a log holds of the engine. */
struct mmio_log {
    struct cps_mmio_access *access; /**< of its registers, addresses counted from the first one */
    size_t count;
    const struct cps_nvchip *chip; /**< NULL: not known */
    bool by_register;              /**< register 0 named it, else the PCI id */
    uint32_t vendor, device;       /**< of the board */
    uint64_t others;               /**< accesses of its other registers */
    uint64_t foreign;              /**< accesses of something else */
    uint64_t odd;                  /**< accesses of the engine that are left out: not of a word */
    uint64_t lost;                 /**< line where the tracer first lost events; 0: it lost none */
};

/**
 * Reads a log.
 * @param gen  of HWSQ, as was asked for; 0: that of the log
 * @param ret  gets it; the caller frees ret->access in any case
 * @return NULL, what cps_mmiotrace_read_() returns, or CPS_ERR_INPUT if the chip is not known
 */
CPS_MUST_USE struct cps_err *mmio_read(struct cps_stream *stream, unsigned gen,
                                       struct mmio_log *ret);
/**
 * Appends the run file.
 * @param name  of the log
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_INPUT if there is no upload of code
 */
CPS_MUST_USE struct cps_err *mmio_compose(const struct mmio_log *log, enum cps_gen gen,
                                          const char *name, struct cps_buf *out);

#endif
