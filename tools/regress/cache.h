/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from: firmware, capture, options, and the program that
 * made them. An entry says its key, so that one under another's name is no result. Files appear
 * whole or not at all, so that several processes and machines may share a directory. */
#ifndef CPS_CACHE_H
#define CPS_CACHE_H

#include "tools/play/cachedir.h"
#include "tools/play/record.h"

/** A key: 64 digits. */
struct cache_key {
    char text[65];
};

/** The key of a run. @param program  hash of this program, since another one may run otherwise */
CPS_MUST_USE struct cps_err *cache_key_of(const char *program, const char *firmware_hash,
                                          const char *me_hash, const char *capture_hash,
                                          const char *policy, uint64_t limit, uint32_t kinds,
                                          struct cache_key *ret);
/** Gets what a run gave. @param dwords  of the firmware's image
 * @return false if it is not there, damaged, of another key, or of another user */
bool cache_get(const char *dir, const struct cache_key *key, uint32_t dwords, struct record *ret);
/** Keeps what a run gave. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_put(const char *dir, const struct cache_key *key,
                                       const struct record *record, enum cps_gen gen);

#endif
