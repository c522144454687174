/* SPDX-License-Identifier: MIT
 * A file with given contents, for tests of what opens files. */
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** In memory where that is possible: what is committed to a disk takes its time. */
static inline const char *scratch_folder(void)
{
    return access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm" : "/tmp";
}

/** Makes the file and puts its path into @p path; the caller removes it. */
static inline const char *scratch_file(char path[64], const char *contents)
{
    snprintf(path, 64, "%s/cpscope-test-XXXXXX", scratch_folder());
    int file = mkstemp(path);
    if (file < 0 || write(file, contents, strlen(contents)) != (ssize_t)strlen(contents))
        abort();
    close(file);
    return path;
}

#endif
