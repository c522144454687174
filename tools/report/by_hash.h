/* SPDX-License-Identifier: MIT
 * Files by their SHA-256, wherever a user keeps them. */
#ifndef CPS_FIND_H
#define CPS_FIND_H

#include <stdbool.h>
#include <stddef.h>

/** Room for a path. */
#define FIND_PATH 4096

/**
 * Looks for the file with digest @p sha256 below @p dirs (@p count of them, links not followed, 8
 * levels deep): first those called @p name, then all of them.
 * @return false if there is none
 */
bool find_file(const char *name, const char *sha256, const char *const *dirs, size_t count,
               char ret[FIND_PATH]);

#endif
