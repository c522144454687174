/* SPDX-License-Identifier: MIT
 * Where this user's cache lies, and what its entries are called by. */
#ifndef CPS_CACHEDIR_H
#define CPS_CACHEDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/buf.h"
#include "isa/base/err.h"

/** The directory to use without --cache: $XDG_CACHE_HOME/cpscope or .cache/cpscope of the user's
 * home. @return NULL, or CPS_ERR_OS: there is none, and never a folder that others share */
CPS_MUST_USE struct cps_err *cache_default_dir(char *ret, size_t size);
/** Where a command keeps its results, and the program that they are of: another build may give
 * others.
 */
struct cache_choice {
    char dir[4096];   /**< --cache, else the default; "": nowhere */
    char program[65]; /**< digest of this program; "": as `dir` */
};

/** Chooses. That nothing can be kept is no error: work goes on without.
 * @param dir  of --cache; NULL: the default. @param wanted  false: nowhere
 * @param lost  gets why nothing can be kept, else is left alone; NULL: it is told on stderr
 * @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *cache_choose(const char *dir, bool wanted, struct cache_choice *ret,
                                          struct cps_err **lost);
/** An entry lies at DIR/KE/KEY.SUFFIX; its key is a digest of all that it follows from.
 * @return false if nothing is stored (@p dir is "") or the path is too long */
bool cache_path(const char *dir, const char *key, const char *suffix, char ret[4096]);
/** Whether a file is there and may be believed: a regular one of this user's, that no other user
 * may write to. */
bool cache_is_ours(const char *path);
/** Makes room for an entry at @p path: its directories, and away with what is no regular file,
 * which would be written through. */
void cache_prepare(char *path);
/** Lets only its owner write an entry that is whole, whatever the umask: else it is not believed.
 */
void cache_seal(const char *path);
/** The text of an entry, to be freed; NULL: there is none that may be believed. */
char *cache_read(const char *path, size_t limit);
/** Stores a text. @return an error that the caller may show and go on after */
CPS_MUST_USE struct cps_err *cache_write(char *path, const struct cps_buf *text);
/** Creates the directories above the last slash of @p path. */
void cache_make_dirs(char *path, unsigned mode);
/** Removes files of @p dir whose names end with @p ending and that nobody wrote for a day: what a
 * process left that was killed. */
void cache_sweep(const char *dir, const char *ending);
/** The 64 digits of a SHA-256. */
void cache_digits(const uint8_t digest[32], char ret[65]);
/** Digest of a text, 64 digits. */
void cache_hash(const char *text, size_t size, char ret[65]);

#endif
