/* SPDX-License-Identifier: MIT
 * Files that are read: every one is opened here, so that none hangs and none is without an end.
 *
 * A FIFO, a socket or a terminal that is named is waited for, but only for a while: a name out of a
 * list or a directory may be anything. "-" is stdin, which is waited for as long as it takes:
 * whoever asks for it knows what is at its other end. It does not know what the bytes mean. */
#ifndef CPS_INFILE_H
#define CPS_INFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"

/** How long a file that is none is waited for without a byte, in seconds. */
#define CPS_INFILE_PATIENCE 10

/** A file that is open for reading. */
struct cps_infile {
    const char *name; /**< for messages; the caller's, must outlive it */
    int fd;           /**< -1: not open */
    bool regular;     /**< holds the same whenever it is read */
    bool patient;     /**< stdin */
};

/**
 * Opens a file, or stdin for "-".
 * @param path  must outlive @p ret
 * @return NULL, or CPS_ERR_OS; directories are none
 */
CPS_MUST_USE struct cps_err *cps_infile_open_(const char *path, struct cps_infile *ret);
/**
 * Reads what is there, at least a byte.
 * @param size  room at @p data, in bytes
 * @param ret   gets how many; 0 only at the end
 * @return NULL, or CPS_ERR_OS, also when nothing came for CPS_INFILE_PATIENCE seconds
 */
CPS_MUST_USE struct cps_err *cps_infile_read_(const struct cps_infile *file, void *data,
                                              size_t size, size_t *ret);
/** Closes it; one that is not open is fine. */
void cps_infile_close_(struct cps_infile *file);

#endif
