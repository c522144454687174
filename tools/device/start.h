/* SPDX-License-Identifier: MIT
 * Starts a program as a client of the device. */
#ifndef CPS_DEVICE_START_H
#define CPS_DEVICE_START_H

#include <fcntl.h>
#include <stdbool.h>
#include <sys/types.h>

#include "isa/base/err.h"

/** What to start. */
struct device_program {
    const char *folder; /**< the device's */
    const char *root;   /**< an arm64 root, whose programs run with qemu; NULL: a native program */
    char **argv;        /**< ends with NULL */
    bool debugged;      /**< the terminal is the debugger's: no input, and no SIGINT */
    bool to_stderr;     /**< its output goes there */
};

/**
 * Starts it.
 * @param pid    gets the process
 * @param pidfd  gets a descriptor that becomes readable when it has ended; the caller closes it
 * @return NULL or CPS_ERR_OS
 */
CPS_MUST_USE struct cps_err *device_program_start(const struct device_program *program, pid_t *pid,
                                                  int *pidfd);

/** The status of a shell for a program that @p ended as waitpid() says. */
int device_program_status(int ended);

#endif
