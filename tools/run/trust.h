/* SPDX-License-Identifier: MIT
 * Whose a file is. Nothing is run, and no code is loaded, from where another user could have put it
 * (docs/security.md). */
#ifndef CPS_TRUST_H
#define CPS_TRUST_H

#include <stdbool.h>
#include <sys/stat.h>

#include "isa/base/err.h"

/** Whether only this user and root can change what is there: it is theirs, and nobody else may
 * write it. Of a folder where everyone may add and nobody remove what is another's (/tmp), names
 * are safe that are theirs. */
bool trust_stat(const struct stat *info);
/**
 * Follows @p path to its end, and looks at each folder on the way: what only this user and root can
 * change stays what it is.
 * @return NULL, or CPS_ERR_OS that names what another user could change
 */
CPS_MUST_USE struct cps_err *trust_path(const char *path);
/**
 * Finds a program as the shell does, in those folders of PATH that are trusted.
 * @param what  it is, for the error
 * @param ret   gets its path, to be freed
 * @return NULL, or CPS_ERR_UNSUPPORTED: there is none
 */
CPS_MUST_USE struct cps_err *trust_program(const char *name, const char *what, char **ret);

#endif
