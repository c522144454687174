/* SPDX-License-Identifier: MIT
 * A file without a name, for forms that cannot be written from their start to their end. It lies in
 * TMPDIR, and goes with the process. Private to trace/. */
#ifndef CPS_SPOOL_H
#define CPS_SPOOL_H

#include "trace/out/outfile.h"

struct cps_spool {
    int fd;
    int failed;      /**< errno of the first failure, or 0 */
    char path[4096]; /**< its name, while it has one */
};

/** Makes the file, which still has its name, for others to open. On error there is nothing to be
 * closed. */
CPS_MUST_USE struct cps_err *cps_spool_open_(struct cps_spool *spool);
/** Takes the name away; where that fails, cps_spool_close_() tries again. */
void cps_spool_forget_(struct cps_spool *spool);
/** Appends bytes; after an error the rest is dropped. */
void cps_spool_write_(struct cps_spool *spool, const void *data, size_t size);
/** Appends the whole contents to an output. @return NULL, or what failed first */
CPS_MUST_USE struct cps_err *cps_spool_copy_(struct cps_spool *spool, struct cps_outfile *out);
void cps_spool_close_(struct cps_spool *spool);

#endif
