/* SPDX-License-Identifier: MIT
 * Files as they are meant: the stored bytes of a file, stdin or memory, decompressed block by block
 * (gzip, zstd, xz). Firmware, captures and traces are all opened here. One at a time may use it.
 * Private: not installed. */
#ifndef CPS_SOURCE_H
#define CPS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"

/** Most bytes of a block. */
#define SOURCE_BYTES 262144u

struct cps_source;

/** As cps_stream_open() and cps_stream_open_memory(). */
CPS_MUST_USE struct cps_err *cps_source_open_(const char *path, struct cps_source **ret);
CPS_MUST_USE struct cps_err *cps_source_open_memory_(const char *name, const void *data,
                                                     size_t size, struct cps_source **ret);
/** NULL is fine. */
void cps_source_close_(struct cps_source *source);
const char *cps_source_name_(const struct cps_source *source);
/** As cps_stream_share_(). */
bool cps_source_share_(const struct cps_source *source, uint64_t *at, uint64_t *size);
/** Whether blocks cost more than a copy: they are decompressed or hashed. */
bool cps_source_works_(const struct cps_source *source);

/**
 * Puts the next block into @p to, which has room for SOURCE_BYTES.
 * @param[out] size  its bytes; 0 at the end, and behind an error
 * @return NULL, or CPS_ERR_OS / CPS_ERR_INPUT for a corrupt or cut compressed file
 */
CPS_MUST_USE struct cps_err *cps_source_next_(struct cps_source *source, uint8_t *to, size_t *size);

/** Hashes the stored bytes as they pass, from the first one: to be called before the first block.
 * @return false for what is no regular file */
bool cps_source_hash_(struct cps_source *source);
/** Reads to the end of the file, and gives the hash of all of it as 64 digits and a NUL. There are
 * no blocks afterwards. */
CPS_MUST_USE struct cps_err *cps_source_sha256_(struct cps_source *source, char ret[65]);

/**
 * Reads a whole file, decompressed.
 * @param path   of it, or "-" for stdin
 * @param limit  most bytes that there may be, decompressed
 * @param data   gets them in one allocation, with a NUL behind them, which the caller frees
 * @param ret    gets how many
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT, also when there are more than @p limit,
 *         or CPS_ERR_UNSUPPORTED
 */
CPS_MUST_USE struct cps_err *cps_source_all_(const char *path, size_t limit, uint8_t **data,
                                             size_t *ret);

#endif
