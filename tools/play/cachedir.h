/* SPDX-License-Identifier: MIT
 * Where this user's cache lies, and what its entries are called by. */
#ifndef CPS_CACHEDIR_H
#define CPS_CACHEDIR_H

#include <stddef.h>

/** The directory to use without --cache: $XDG_CACHE_HOME/cpscope or ~/.cache/cpscope. */
void cache_default_dir(char *ret, size_t size);
/** Creates the directories above the last slash of @p path. */
void cache_make_dirs(char *path, unsigned mode);
/** Digest of a text, 64 digits. */
void cache_hash(const char *text, size_t size, char ret[65]);

#endif
