/* SPDX-License-Identifier: MIT
 * Output that is whole or absent: written without a name, or under a temporary one beside the
 * target, which it replaces when it is complete. Nobody else can read it before. Errors are kept
 * and reported once, at the end.
 *
 * Threads: one at a time may use an output. */
#ifndef CPS_OUTFILE_H
#define CPS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

/** An output that is being written. */
struct cps_outfile;

/**
 * Starts to write a file. What is no regular file (a pipe, a device, /dev/stdout) is written in
 * place and never replaced; a FIFO is waited for ten seconds to have a reader. Of a link, what it
 * points to is replaced. A file that is there keeps its mode, and its owner where that can be.
 * @param path  of the target; "-" is stdout, which cannot be taken back
 * @param ret   gets the output, which cps_outfile_commit() or cps_outfile_abort() ends
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_OS: no such directory, no permission
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_open(const char *path,
                                                         struct cps_outfile **ret);
/**
 * Appends bytes; after an error the rest is dropped.
 * @param out   the output
 * @param data  @p size bytes
 * @param size  bytes
 */
CPS_PUBLIC void cps_outfile_write(struct cps_outfile *out, const void *data, size_t size);
/**
 * Whether cps_outfile_patch() can: what is written in place has gone.
 * @param out  the output
 */
CPS_PUBLIC bool cps_outfile_patchable(const struct cps_outfile *out);
/**
 * Replaces the first bytes, which were written before.
 * @param out   the output; cps_outfile_patchable()
 * @param data  @p size bytes
 * @param size  bytes, at most as many as were written
 */
CPS_PUBLIC void cps_outfile_patch(struct cps_outfile *out, const void *data, size_t size);
/**
 * Flushes, syncs and renames.
 * @param out  the output; freed in any case
 * @return NULL, or the first CPS_ERR_OS (disk full, no permission); then nothing is left behind
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_commit(struct cps_outfile *out);
/**
 * Writes a file in one go, whole or not at all.
 * @param path  of the target
 * @param data  @p size bytes
 * @param size  bytes
 * @return NULL, CPS_ERR_NOMEM or CPS_ERR_OS
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_whole(const char *path, const void *data,
                                                          size_t size);
/**
 * Removes what was written.
 * @param out  the output, which is freed; NULL is fine
 */
CPS_PUBLIC void cps_outfile_abort(struct cps_outfile *out);
/**
 * Removes the temporary names of all outputs of the process: for the handler of a signal that ends
 * it. The outputs are of no more use.
 */
CPS_PUBLIC void cps_outfile_unlink_all(void);

CPS_C_END

#endif
