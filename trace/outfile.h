/* SPDX-License-Identifier: MIT
 * Output that is whole or absent: written under a temporary name beside the target, renamed when
 * complete. Errors are kept and reported once, at the end. */
#ifndef CPS_OUTFILE_H
#define CPS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "../isa/base/err.h"

CPS_C_BEGIN

struct cps_outfile;

/** Starts writing @p path; "-" is stdout, which cannot be taken back. A target that is no regular
 * file (a pipe, /dev/null) is written in place. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_open(const char *path,
                                                         struct cps_outfile **ret);
/** Appends; after an error the rest is dropped. */
CPS_PUBLIC void cps_outfile_write(struct cps_outfile *out, const void *data, size_t size);
/** Whether cps_outfile_patch() can: what is written in place has gone. */
CPS_PUBLIC bool cps_outfile_patchable(const struct cps_outfile *out);
/** Replaces the first @p size bytes, which were written before. */
CPS_PUBLIC void cps_outfile_patch(struct cps_outfile *out, const void *data, size_t size);
/** Flushes, syncs and renames; frees @p out in any case.
 * @return NULL, or the first CPS_ERR_OS (disk full, no permission); then nothing is left behind */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_commit(struct cps_outfile *out);
/** Writes a file of @p size bytes, whole or not at all. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_outfile_whole(const char *path, const void *data,
                                                          size_t size);
/** Removes what was written and frees @p out; NULL is fine. */
CPS_PUBLIC void cps_outfile_abort(struct cps_outfile *out);

CPS_C_END

#endif
