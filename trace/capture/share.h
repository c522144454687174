/* SPDX-License-Identifier: MIT
 * How far a file was read, for people who wait. */
#ifndef CPS_SHARE_H
#define CPS_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/capture/stream.h"

/** How many of a stream's stored bytes were read, threads that are ahead included; of memory 0 of
 * 0. Any thread may ask. @return false, and nothing, for what has no size: a pipe */
bool cps_stream_share_(const struct cps_stream *stream, uint64_t *at, uint64_t *size);

#endif
