/* SPDX-License-Identifier: MIT
 * The input of a fuzz target as a file without a name, for what reads files. */
#ifndef CPS_MEMFILE_H
#define CPS_MEMFILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/** One file for all inputs, which holds @p data now and stands at its start. */
static inline FILE *memfile(const uint8_t *data, size_t size)
{
    static FILE *file;
    if (!file)
        file = fdopen(memfd_create("fuzz", 0), "w+"); /* memory: disks are slow when others build */
    if (!file || ftruncate(fileno(file), 0))
        abort();
    rewind(file);
    if ((size && fwrite(data, 1, size, file) != size) || fflush(file) ||
        lseek(fileno(file), 0, SEEK_SET))
        abort();
    return file;
}

/** The path that opens it. */
static inline const char *memfile_path(FILE *file)
{
    static char path[64];
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
    return path;
}

#endif
