/* SPDX-License-Identifier: MIT
 * The firmware that ran when a hang dump was taken, as a listing. */
#ifndef CPS_DUMP_LISTING_H
#define CPS_DUMP_LISTING_H

#include "isa/base/buf.h"
#include "tools/cmd/options/opt.h"

/**
 * Lists what the dump @p opt->from holds of its firmware. With a firmware file (the first argument)
 * that is the whole image, with what is not the hardware's own marked; else the lines of the
 * instruction cache, with the holes between them.
 * @param out  gets the text
 */
CPS_MUST_USE struct cps_err *dump_listing(const struct cps_options *opt, struct cps_buf *out);

#endif
