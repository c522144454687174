/* SPDX-License-Identifier: MIT
 * Results of runs by what they were made from: firmware, capture, options, and the program that
 * made them; and by the code that they executed, where that is the same in another firmware. An
 * entry says its key, so that one under another's name is no result. Files appear whole or not at
 * all, so that several processes and machines may share a directory. */
#ifndef CPS_CACHE_H
#define CPS_CACHE_H

#include "tools/run/cachedir.h"
#include "tools/run/record.h"

/** What a run is made from. Texts are the caller's. */
struct cache_run {
    const char *dir;
    const char *program; /**< hash of this program, since another one may run otherwise */
    const char *firmware_hash, *me_hash, *capture_hash;
    const char *names;  /**< digest of --rnn, "" without: texts of a run have names */
    const char *policy; /**< and whatever else shapes the run */
    uint64_t limit;
    uint32_t kinds;
};

/** Gets what a run gave. @param dwords  of the firmware's image
 * @return false if it is not there, damaged, of another key, or of another user */
bool cache_take(const struct cache_run *run, uint32_t dwords, struct record *ret);
/** Gets what the run of another firmware gave that this one's would give, too: all that it looked
 * at is the same. @param base  where the runs of @p fw begin */
bool cache_take_same(const struct cache_run *run, const struct same_base *base,
                     const struct cps_fw *fw, struct record *ret);
/** Keeps what a run gave, for both. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_keep(const struct cache_run *run, const struct same_base *base,
                                        const struct record *record, enum cps_gen gen);

/** Gets a text about a run. @param about  which one: of the run's key it is a part */
bool cache_take_text(const struct cache_run *run, const char *about, struct cps_buf *ret);
/** Keeps a text about a run. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_keep_text(const struct cache_run *run, const char *about,
                                             const char *text);

/* Between the files of this. */

/** A key: 64 digits. */
struct cache_key {
    char text[65];
};

/** The key of a run; @p firmware is its hash, or that of where its runs begin. */
CPS_MUST_USE struct cps_err *cache_key_(const struct cache_run *run, const char *firmware,
                                        struct cache_key *ret);
bool cache_get_(const char *dir, const struct cache_key *key, uint32_t dwords, struct record *ret);
/** Lets others find the result @p key, if it is known what it looked at. */
CPS_MUST_USE struct cps_err *cache_note_same_(const struct cache_run *run,
                                              const struct same_base *base,
                                              const struct cache_key *key,
                                              const struct same_code *code);
/** Where an entry lies, with the ending ".cpt" or ".code"; false if that is too long. */
bool cache_path_(const char *dir, const struct cache_key *key, const char *ending, char ret[4096]);
/** Whether a file is there and may be believed: this user's, and no other may write to it. */
bool cache_is_ours_(const char *path);

#endif
