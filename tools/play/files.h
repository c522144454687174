/* SPDX-License-Identifier: MIT
 * Where files are that a user names without saying where: by their SHA-256, or firmware by name. */
#ifndef CPS_FILES_H
#define CPS_FILES_H

#include "tools/opt.h"

/** Room for a path. */
#define FILES_PATH 4096

/**
 * Looks for the file with digest @p sha256 below @p dirs (@p count of them, links not followed, 8
 * levels deep): first those called @p name, then all of them.
 * @return false if there is none
 */
bool files_find(const char *name, const char *sha256, const char *const *dirs, size_t count,
                char ret[FILES_PATH]);
/** Firmware of @p opt that is not here is looked for where --search and the system have it; a path
 * that is found is put into @p path, which the options then point to. */
void files_firmware(struct cps_options *opt, char path[OPT_MAX_FW][FILES_PATH]);

#endif
