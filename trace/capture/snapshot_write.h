/* SPDX-License-Identifier: MIT
 * Writes a snapshot, as the vendor's kernel (KGSL) does, from a dump of any format.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_SNAPSHOT_WRITE_H
#define CPS_SNAPSHOT_WRITE_H

#include "capture.h"
#include "../out/outfile.h"
#include "../../isa/base/buf.h"

CPS_C_BEGIN

/**
 * Reads a dump of a hang and writes it as a snapshot, which reads back as the same items: chip,
 * texts, rings, buffers, registers and blocks. docs/formats.md says how.
 * @param in    the dump
 * @param out   where to; the caller commits it
 * @param left  gets the names of the sections that readers only name, and that are left out
 *              therefore, with ", " between them; the caller's
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS or CPS_ERR_INPUT as cps_capture_read(), or
 *         CPS_ERR_UNSUPPORTED for what a snapshot has no place for: submissions, sizes that it has
 *         not enough bits for
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_snapshot_write(struct cps_stream *in, struct cps_outfile *out, struct cps_buf *left);

CPS_C_END

#endif
