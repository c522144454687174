/* SPDX-License-Identifier: MIT
 * Writes `.rd` from a capture of any format.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_RD_WRITE_H
#define CPS_RD_WRITE_H

#include "capture.h"
#include "../out/outfile.h"

CPS_C_BEGIN

/**
 * Reads a capture and writes it as `.rd`.
 * @param in    the capture
 * @param out   where to; the caller commits it
 * @param name  of the output: ".gz" and ".zst" at its end ask for compression. `.zst` is a sequence
 *              of frames of at most 4 MiB of sections each, so that it can be read from the middle
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS or CPS_ERR_INPUT as cps_capture_read(), or
 *         CPS_ERR_UNSUPPORTED when built without what the compression needs; CPS_ERR_INPUT also for
 *         the first defect that did not stop the reader: then everything else has been written
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_write(struct cps_stream *in, struct cps_outfile *out,
                                                     const char *name);

CPS_C_END

#endif
