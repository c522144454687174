/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from: firmware, capture, options, and the program that
 * made them. An entry contains its key, so that one under another's name is no result. Files appear
 * whole or not at all, so that several processes and machines may share a directory. */
#ifndef CPS_CACHE_H
#define CPS_CACHE_H

#include "tools/run/cachedir.h"
#include "tools/run/record.h"

/** What a run is made from. Texts are the caller's. */
struct cache_run {
    const char *dir;
    const char *program; /**< hash of this program, since another one may run differently */
    const char *firmware_hash, *me_hash, *capture_hash;
    const char *names;  /**< digest of --rnn, "" without: texts of a run have names */
    const char *policy; /**< and whatever else shapes the run */
    uint64_t limit;
    uint32_t kinds;
};

/** Reads what a run gave. @param dwords  of the firmware's image
 * @return false if it is not there, damaged, of another key, or of another user */
bool cache_take_run(const struct cache_run *run, uint32_t dwords, struct record *ret);
/** Stores what a run gave. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_keep_run(const struct cache_run *run,
                                            const struct record *record, enum cps_gen gen);
/** Reads a list of texts about a run. @param about  which one: of its key it is a part
 * @return an array, which the caller releases, or NULL */
struct json_object *cache_take_texts(const struct cache_run *run, const char *about);
/** Stores @p texts. That it cannot is no error: it costs another look. */
void cache_keep_texts(const struct cache_run *run, const char *about, struct json_object *texts);

#endif
