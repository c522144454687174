/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from: firmware, capture, options, and the version of
 * traces. Files appear whole or not at all, so that several processes and machines may share a
 * directory. */
#ifndef CPS_CACHE_H
#define CPS_CACHE_H

#include "tools/play/cachedir.h"
#include "tools/play/record.h"

/** Change it whenever the same inputs may give another trace. */
#define CACHE_TRACE_VERSION 3

/** A key: 64 digits. */
struct cache_key {
    char text[65];
};

struct cache_key cache_key_of(const char *firmware_hash, const char *me_hash,
                              const char *capture_hash, const char *policy, uint64_t limit,
                              uint32_t kinds);
/** Gets what a run gave. @return false if it is not there, or damaged */
bool cache_get(const char *dir, const struct cache_key *key, struct record *ret);
/** Keeps what a run gave. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_put(const char *dir, const struct cache_key *key,
                                       const struct record *record, enum cps_gen gen);

#endif
