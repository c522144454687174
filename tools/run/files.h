/* SPDX-License-Identifier: MIT
 * Where files are that a user names without saying where: by their SHA-256, or firmware by name. */
#ifndef CPS_FILES_H
#define CPS_FILES_H

#include <stdbool.h>
#include <sys/stat.h>
#include "isa/base/err.h"

/** Room for a path. */
#define FILES_PATH 4096
/** Where the system has vendor firmware. */
#define FILES_FW_DIR   "/lib/firmware/qcom"
#define FILES_FW_CACHE "firmware" /* in the directory of cache_default_dir() */
#define FILES_MOST     16

/** Paths, in order. */
struct file_paths {
    const char *path[FILES_MOST];
    unsigned count;
};

/**
 * Looks for the file with digest @p sha256 below @p dirs (@p count of them, links not followed, 8
 * levels deep): first those called @p name, then all of them.
 * @return false if there is none
 */
bool files_find(const char *name, const char *sha256, const char *const *dirs, size_t count,
                char ret[FILES_PATH]);
/**
 * Digest of the regular files in @p dir, 4 levels deep, that are called *@p ending: of their paths
 * there and their contents.
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_OS: one cannot be read
 */
CPS_MUST_USE struct cps_err *files_digest(const char *dir, const char *ending, char ret[65]);
/**
 * Where firmware is that is named without a folder and is not here: in @p dirs, where the system
 * has it, or in the user's cache, as it is or compressed.
 * @param path  room for what is found
 * @return @p path, or @p name if there is nothing to look for or to find
 */
const char *files_firmware(const struct file_paths *dirs, const char *name, char path[FILES_PATH]);
/** The same of a name that a file gives, whose folder comes first: there it would be @p here.
 * @return @p path or @p here */
const char *files_firmware_beside(const struct file_paths *dirs, const char *here, const char *name,
                                  char path[FILES_PATH]);

/** Whether @p path is a file that neither blocks nor goes on for ever. */
bool files_is_regular(const char *path);
/** Whether both are there and the same regular file, whatever they are called. */
bool files_are_same(const char *a, const char *b);
/** What a file was when it was looked at: whoever reads it twice sees whether it changed. */
struct files_stamp {
    unsigned long long device, inode, size, changed, changed_ns;
};
/** Looks; all zeros where there is no file. */
void files_stamp(const char *path, struct files_stamp *ret);
/** @return CPS_ERR_INPUT if the file is no more what it was. What is no regular file never changes
 */
CPS_MUST_USE struct cps_err *files_check_stamp(const char *path, const struct files_stamp *stamp);
/**
 * Reads a text.
 * @param limit  most bytes that there may be
 * @param ret    gets it, to be freed
 * @return NULL, CPS_ERR_NOMEM, CPS_ERR_OS, or CPS_ERR_INPUT: too large, or a NUL in it, which would
 * hide what follows
 */
CPS_MUST_USE struct cps_err *files_text(const char *path, size_t limit, char **ret);
/** The next line of a text, which is cut there: without its end. @p at  moves behind it; NULL: at
 * the end. */
char *files_line(char **at);

/* ---- Whose a file is. Nothing is run, and no code is loaded, from where another user could have
 * put it (docs/security.md). ---- */

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
