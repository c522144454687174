/* SPDX-License-Identifier: MIT
 * The built-in capture of `bench`: a stream whose mix of packets is that of real ones (mix.def). */
#ifndef CPS_BENCH_STREAM_H
#define CPS_BENCH_STREAM_H

#include "isa/base/buf.h"

/** Appends the capture as a .rd file, the same with every call. It names no GPU: any firmware of
 * a6xx or later may run it. @p ret  `failed` where memory was short */
void bench_stream(struct cps_buf *ret);

#endif
