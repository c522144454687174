/* SPDX-License-Identifier: MIT
 * Errors are values: what every fallible function of every library returns.
 *
 * A function that can fail returns `struct cps_err *`: NULL when all is well, else an error that
 * the caller owns and releases with cps_err_free(). What it makes goes to its last parameter,
 * `ret`, which is untouched after an error. A caller that only wants to know whether it went well
 * compares with NULL and frees.
 *
 * Threads: an error is plain memory of its owner. The out-of-memory error is one constant object,
 * which nobody changes and cps_err_free() leaves alone. */
#ifndef CPS_ERR_H
#define CPS_ERR_H

#include <stdint.h>

#include "cleanup.h"

CPS_C_BEGIN

/** What kind of thing went wrong; decides the exit status of the command. */
enum cps_err_code {
    /** Out of memory, or a stated limit on memory was reached. */
    CPS_ERR_NOMEM,
    /** The operating system refused (open, read, write, rename). */
    CPS_ERR_OS,
    /** A file is truncated, corrupt or not what it must be. */
    CPS_ERR_INPUT,
    /** A text (assembly, PM4 text, a manifest) does not parse. */
    CPS_ERR_SYNTAX,
    /** Valid, but built without it or not modelled. */
    CPS_ERR_UNSUPPORTED,
    /** Two valid inputs that do not go together: firmware, capture, golden. */
    CPS_ERR_MISMATCH,
    /** What was asked for cannot be done with the files that were named. */
    CPS_ERR_USAGE,
};

/** One error. */
struct cps_err {
    /** What kind of thing went wrong. */
    enum cps_err_code code;
    /** For people: one or more lines of lower-case text without a final newline. They name the
     * file, the offset or line, what was found, and what was expected. Never NULL. */
    char *message;
};

/**
 * Makes an error; for functions of the caller's own that a library calls back.
 * @param code    any of CPS_ERR_*
 * @param format  as for printf(), with its arguments behind it
 * @return the error, never NULL: where memory is short that of cps_err_nomem(). The caller owns it
 */
CPS_PUBLIC struct cps_err *cps_err_new(enum cps_err_code code, const char *format, ...)
    CPS_PRINTF(2, 3);

/**
 * Makes an error of code CPS_ERR_INPUT about the contents of a file:
 * "FILE: offset 0xOFFSET: ...".
 * @param file    its name, which is copied
 * @param offset  bytes from its start
 * @param format  as for printf(), with its arguments behind it
 * @return the error, never NULL, as for cps_err_new()
 */
CPS_PUBLIC struct cps_err *cps_err_input(const char *file, uint64_t offset, const char *format, ...)
    CPS_PRINTF(3, 4);

/**
 * Makes an error of code CPS_ERR_OS from errno: "FILE: cannot WHAT: REASON".
 * @param file  its name, which is copied
 * @param what  the verb: "open"
 * @return the error, never NULL, as for cps_err_new()
 */
CPS_PUBLIC struct cps_err *cps_err_os(const char *file, const char *what);

/**
 * The out-of-memory error.
 * @return an error of code CPS_ERR_NOMEM, never NULL. It is constant, so that it cannot fail itself
 */
CPS_PUBLIC struct cps_err *cps_err_nomem(void);

/**
 * Releases an error.
 * @param err  that a function of the library returned; NULL and the out-of-memory error are fine
 */
CPS_PUBLIC void cps_err_free(struct cps_err *err);

/** Returns from the calling function, whose result is such a pointer, with the error of @p call, if
 * there is one. */
#define CPS_TRY(call)                       \
    do {                                    \
        struct cps_err *try_err_ = (call);  \
        if (CPS_UNLIKELY(try_err_ != NULL)) \
            return try_err_;                \
    } while (0)

CPS_C_END

#endif
