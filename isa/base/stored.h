/* SPDX-License-Identifier: MIT
 * The bytes of a file, stdin or memory as they are stored, hashed as they pass. One at a time may
 * use it. Private: not installed. */
#ifndef CPS_STORED_H
#define CPS_STORED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"

struct cps_stored;

/** As cps_stream_open(); @p name stays the caller's and must outlive it. */
CPS_MUST_USE struct cps_err *cps_stored_open_(const char *path, const char *name,
                                              struct cps_stored **ret);
/** As cps_stream_open_memory(). */
CPS_MUST_USE struct cps_err *cps_stored_open_memory_(const void *data, size_t size,
                                                     struct cps_stored **ret);
/** NULL is fine. */
void cps_stored_close_(struct cps_stored *stored);

/** As cps_stream_share_(). */
bool cps_stored_share_(const struct cps_stored *stored, uint64_t *at, uint64_t *size);

/** The next bytes, which stay the next ones: 4 at least, fewer only at the end. */
CPS_MUST_USE struct cps_err *cps_stored_peek_(struct cps_stored *stored, const uint8_t **data,
                                              size_t *size);
/** The next bytes, as many as are at hand, valid until the next call; none at the end. */
CPS_MUST_USE struct cps_err *cps_stored_next_(struct cps_stored *stored, const uint8_t **data,
                                              size_t *size);
/** Puts the next bytes into @p to, at most @p room; none at the end. */
CPS_MUST_USE struct cps_err *cps_stored_read_(struct cps_stored *stored, uint8_t *to, size_t room,
                                              size_t *size);

/** Hashes all bytes: to be called before the first ones were taken.
 * @return false for what is no regular file */
bool cps_stored_hash_(struct cps_stored *stored);
bool cps_stored_hashes_(const struct cps_stored *stored);
/** Lets a thread read and hash ahead of cps_stored_next_(), once there proves to be enough to do.
 */
void cps_stored_ahead_(struct cps_stored *stored);
/** Reads to the end, and gives the hash of everything as 64 digits and a NUL. */
CPS_MUST_USE struct cps_err *cps_stored_sha256_(struct cps_stored *stored, char ret[65]);

#endif
