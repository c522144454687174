/* SPDX-License-Identifier: MIT
 * Errors are values: what every fallible function of every library returns. */
#ifndef CPS_ERR_H
#define CPS_ERR_H

#include <stdint.h>

#include "cleanup.h"

CPS_C_BEGIN

/** What kind of thing went wrong; decides the exit status of the command. */
enum cps_err_code {
    CPS_ERR_NOMEM,       /**< out of memory, or a stated limit on memory was reached */
    CPS_ERR_OS,          /**< the operating system refused (open, read, write, rename) */
    CPS_ERR_INPUT,       /**< a file is truncated, corrupt or not what it must be */
    CPS_ERR_SYNTAX,      /**< a text (assembly, PM4 text, a manifest) does not parse */
    CPS_ERR_UNSUPPORTED, /**< valid, but built without it or not modelled */
    CPS_ERR_MISMATCH,    /**< two valid inputs that do not go together: firmware, capture, golden */
};

/**
 * One error. A fallible function returns NULL when all is well, else an error that the caller
 * owns and releases with cps_err_free(). Out-parameters come last, are named `ret` and are
 * untouched on error.
 *
 * `message` is one or more lines of lower-case text without a final newline: file, offset or
 * line, what was found, what was expected.
 */
struct cps_err {
    enum cps_err_code code;
    char *message;
};

/** Makes an error from a printf-like format. Never returns NULL. */
CPS_PUBLIC struct cps_err *cps_err_new(enum cps_err_code code, const char *format, ...)
    CPS_PRINTF(2, 3);

/** An error in the contents of @p file at byte @p offset: "FILE: offset 0xOFFSET: ...". */
CPS_PUBLIC struct cps_err *cps_err_input(const char *file, uint64_t offset, const char *format, ...)
    CPS_PRINTF(3, 4);

/** An error of the operating system, from errno: "FILE: cannot WHAT: REASON". */
CPS_PUBLIC struct cps_err *cps_err_os(const char *file, const char *what);

/** The out-of-memory error: static, so that it cannot fail itself. */
CPS_PUBLIC struct cps_err *cps_err_nomem(void);

/** Releases an error; NULL and the static out-of-memory error are fine. */
CPS_PUBLIC void cps_err_free(struct cps_err *err);

/** Returns from the calling function with the error of @p call, if there is one. */
#define CPS_TRY(call)                       \
    do {                                    \
        struct cps_err *try_err_ = (call);  \
        if (CPS_UNLIKELY(try_err_ != NULL)) \
            return try_err_;                \
    } while (0)

CPS_C_END

#endif
