/* SPDX-License-Identifier: MIT
 * Writes `.rd` from a capture of any format. */
#ifndef CPS_RD_WRITE_H
#define CPS_RD_WRITE_H

#include "capture.h"
#include "../outfile.h"

CPS_C_BEGIN

/**
 * Reads the capture @p in and writes it as `.rd` into @p out; does not commit.
 * @param name  of the output: ".gz" and ".zst" at its end ask for compression. `.zst` is a sequence
 *              of frames of at most 4 MiB of sections each, so that it can be read from the middle
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_rd_write(struct cps_stream *in, struct cps_outfile *out,
                                                     const char *name);

CPS_C_END

#endif
