/* SPDX-License-Identifier: MIT
 * Writes a snapshot, as the vendor's kernel (KGSL) does, from a dump of any format: for tests.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_SNAPSHOT_WRITE_H
#define CPS_SNAPSHOT_WRITE_H

#include "isa/base/buf.h"
#include "trace/capture/capture.h"
#include "trace/out/outfile.h"

/** A row INDEXED of snapshot.def. */
struct snapshot_indexed {
    uint32_t index, data; /* registers */
    unsigned first, last; /* generations */
    const char *name;
};

/** A row CLUSTER. */
struct snapshot_cluster {
    unsigned version;
    uint32_t id;
    const char *name;
};

/** The row of a block of this generation, or of any where it is 0; NULL: there is none. */
const struct snapshot_indexed *snapshot_find_indexed(const char *name, unsigned generation);
/** The row of a cluster, whose names are of one version each; NULL: there is none. */
const struct snapshot_cluster *snapshot_find_cluster(const char *name);
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
CPS_MUST_USE struct cps_err *cps_snapshot_write(struct cps_stream *in, struct cps_outfile *out,
                                                struct cps_buf *left);

#endif
