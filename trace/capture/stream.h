/* SPDX-License-Identifier: MIT
 * Bytes from a file, stdin, gzip or zstd behind one refill: nothing above knows where they come
 * from. Compression is recognised by its magic bytes, never by a name. */
#ifndef CPS_STREAM_H
#define CPS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

struct cps_stream;

/** Opens @p path, or stdin for "-". Directories and unreadable files are CPS_ERR_OS. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_open(const char *path, struct cps_stream **ret);
/** A stream over @p size bytes of the caller's memory; @p name is for messages. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_stream_open_memory(const char *name, const void *data, size_t size, struct cps_stream **ret);
CPS_PUBLIC void cps_stream_close(struct cps_stream *stream);

/** Lets a second thread read and decompress ahead, once there proves to be enough to do; what is
 * read, and where errors come, stays the same. It ends with the stream, and until
 * then the process must not fork(). */
CPS_PUBLIC void cps_stream_ahead(struct cps_stream *stream);

/** Hashes the file as it is stored while it is read, so that it is read once. To be called before
 * anything is read or peeked. @return false for what is no regular file: it has no hash */
CPS_PUBLIC bool cps_stream_hash(struct cps_stream *stream);
/** After cps_stream_hash(): the SHA-256 of the whole file, as cps_sha256_file() gives it. What was
 * not read yet is passed over: this is the last one to read. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_sha256(struct cps_stream *stream, char ret[65]);

/** The name for messages: the path, or "(stdin)". */
CPS_PUBLIC const char *cps_stream_name(const struct cps_stream *stream);
/** Decompressed bytes consumed so far. */
CPS_PUBLIC uint64_t cps_stream_offset(const struct cps_stream *stream);

/**
 * Reads up to @p size decompressed bytes.
 * @param[out] ret  bytes read; fewer than @p size only at the end of the file
 * @return NULL, or CPS_ERR_OS / CPS_ERR_INPUT for a corrupt or cut compressed file
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_read(struct cps_stream *stream, void *data,
                                                        size_t size, size_t *ret);
/** Looks at up to @p size (at most 4096) bytes without consuming them. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_peek(struct cps_stream *stream, size_t size,
                                                        const uint8_t **data, size_t *ret);
/** Skips @p size bytes; @p ret is how many there were. */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_skip(struct cps_stream *stream, uint64_t size,
                                                        uint64_t *ret);
/**
 * Reads the rest of the stream into one allocation that the caller frees, at most @p limit bytes.
 * @return NULL, or CPS_ERR_INPUT when there are more
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_read_all(struct cps_stream *stream, size_t limit,
                                                            uint8_t **data, size_t *ret);

/**
 * SHA-256 of the file at @p path as it is stored (before decompression), as 64 lower-case digits
 * and a NUL. For what is not a regular file (stdin, a pipe) @p ret becomes "unknown": it cannot be
 * read twice.
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_sha256_file(const char *path, char ret[65]);

CPS_C_END

#endif
