/* SPDX-License-Identifier: MIT
 * Bytes from a file, stdin, memory, gzip, zstd or xz behind one refill: nothing above knows where
 * they come from. Compression is recognised by its magic bytes, never by a name.
 *
 * Threads: one at a time may use a stream; different streams are independent.
 * cps_stream_read_in_thread() lets the library use a thread of its own for one. */
#ifndef CPS_STREAM_H
#define CPS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

/** A stream that is being read. */
struct cps_stream;

/**
 * Opens a file. A FIFO, socket or device is waited for 10 seconds without a byte; stdin as long as
 * it takes.
 * @param path  of it, or "-" for stdin
 * @param ret   gets the stream, which the caller closes
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_OS (directories and unreadable files)
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_open(const char *path, struct cps_stream **ret);
/**
 * Opens memory as if it was a file, compressed or not.
 * @param name  for messages; copied
 * @param data  @p size bytes, which stay the caller's and must outlive the stream
 * @param size  bytes
 * @param ret   gets the stream, which the caller closes
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *
cps_stream_open_memory(const char *name, const void *data, size_t size, struct cps_stream **ret);
/**
 * Closes a stream.
 * @param stream  which; NULL is fine
 */
CPS_PUBLIC void cps_stream_close(struct cps_stream *stream);

/**
 * Lets a second thread read and decompress ahead, once there proves to be enough to do; what is
 * read, and where errors come, stays the same. It ends with the stream, and until then the process
 * must not fork().
 * @param stream  which
 */
CPS_PUBLIC void cps_stream_read_in_thread(struct cps_stream *stream);

/**
 * Hashes the file as it is stored while it is read, so that it is read once.
 * @param stream  from which nothing was read or peeked yet
 * @return false for what is no regular file: it has no hash
 */
CPS_PUBLIC bool cps_stream_hash(struct cps_stream *stream);
/**
 * The SHA-256 of the whole file, as cps_sha256_file() gives it. What was not read yet is passed
 * over: this is the last one to read.
 * @param stream  one for which cps_stream_hash() was true
 * @param ret     gets 64 lower-case digits and a NUL
 * @return NULL, or CPS_ERR_OS when the rest cannot be read
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_sha256(struct cps_stream *stream, char ret[65]);

/**
 * The name for messages: the path, or "(stdin)".
 * @param stream  which
 * @return never NULL; valid as long as the stream
 */
CPS_PUBLIC const char *cps_stream_name(const struct cps_stream *stream);
/**
 * Sets where names of a text come from that are not built in.
 * @param stream   which; what reads it as PM4 text asks for them
 * @param rnn_dir  as of cps_names_create(); it must outlive the stream; or NULL, as at first
 */
CPS_PUBLIC void cps_stream_set_rnn(struct cps_stream *stream, const char *rnn_dir);
/**
 * What cps_stream_set_rnn() has set.
 * @param stream  which
 * @return NULL for nothing
 */
CPS_PUBLIC const char *cps_stream_rnn(const struct cps_stream *stream);
/**
 * How much was consumed so far.
 * @param stream  which
 * @return decompressed bytes
 */
CPS_PUBLIC uint64_t cps_stream_offset(const struct cps_stream *stream);

/**
 * Reads bytes.
 * @param stream  where from
 * @param data    gets up to @p size decompressed bytes
 * @param size    bytes
 * @param ret     gets how many; fewer than @p size only at the end of the file
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT for a corrupt or cut compressed file, or
 *         CPS_ERR_UNSUPPORTED when built without what the compression needs
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_read(struct cps_stream *stream, void *data,
                                                        size_t size, size_t *ret);
/**
 * Looks at bytes without consuming them.
 * @param stream  where
 * @param size    bytes, at most 4096
 * @param data    gets where they are, until the next call
 * @param ret     gets how many; fewer than @p size only at the end of the file
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS or CPS_ERR_INPUT, as cps_stream_read()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_peek(struct cps_stream *stream, size_t size,
                                                        const uint8_t **data, size_t *ret);
/**
 * Passes over bytes.
 * @param stream  which
 * @param size    bytes
 * @param ret     gets how many there were; fewer than @p size only at the end of the file
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS or CPS_ERR_INPUT, as cps_stream_read()
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_skip(struct cps_stream *stream, uint64_t size,
                                                        uint64_t *ret);
/**
 * Reads the rest of a stream.
 * @param stream  which
 * @param limit   most bytes that there may be
 * @param data    gets them in one allocation, with a NUL behind them, which the caller frees
 * @param ret     gets how many
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_INPUT, also when there are more than @p limit
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_read_all(struct cps_stream *stream, size_t limit,
                                                            uint8_t **data, size_t *ret);

/**
 * As cps_stream_read_all(), with the whole of a file that cps_stream_open() opens.
 * @param path   of the file, or "-" for stdin
 * @param limit  most bytes that there may be
 * @param data   gets them in one allocation, with a NUL behind them, which the caller frees
 * @param ret    gets how many
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, CPS_ERR_INPUT or CPS_ERR_UNSUPPORTED
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_stream_read_file(const char *path, size_t limit,
                                                             uint8_t **data, size_t *ret);

/**
 * SHA-256 of a file as it is stored (before decompression).
 * @param path  of the file
 * @param ret   gets 64 lower-case digits and a NUL; "unknown" for what is not a regular file
 * (stdin, a pipe): it cannot be read twice
 * @return NULL, CPS_ERR_NOMEM or CPS_ERR_OS
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_sha256_file(const char *path, char ret[65]);

CPS_C_END

#endif
