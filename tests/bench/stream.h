/* SPDX-License-Identifier: MIT
 * The built-in capture of `bench`: a stream whose mix of packets is that of real ones (mix.def). */
#ifndef CPS_BENCH_STREAM_H
#define CPS_BENCH_STREAM_H

#include "isa/base/buf.h"

/** Submissions of a capture that predictors of branches do not learn by heart, and of a small one.
 */
enum { BENCH_STREAM_LONG = 64, BENCH_STREAM_SHORT = 4 };

/** Appends a capture of so many submissions as a .rd file, the same with every call. It names no
 * GPU: any firmware of a6xx or later may run it. @p ret  `failed` where memory was short */
void bench_stream(unsigned submissions, struct cps_buf *ret);

#endif
