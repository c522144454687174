/* SPDX-License-Identifier: MIT
 * What an output makes of bytes before they go out. */
#ifndef CPS_THROUGH_H
#define CPS_THROUGH_H

#include "isa/base/buf.h"
#include "trace/out/outfile.h"

/** Appends to @p out what is written in place of @p data. */
typedef void cps_through_fn(const void *context, const char *data, size_t size,
                            struct cps_buf *out);
/** Lets everything that is written from now on go through a function: as much at a time as
 * cps_outfile_write() gets, in whichever thread. Not for outputs that are patched. */
void cps_outfile_through_(struct cps_outfile *out, cps_through_fn *through, const void *context);

#endif
