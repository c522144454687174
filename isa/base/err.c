/* SPDX-License-Identifier: MIT
 * The error value: construction and release. */
#include "isa/base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char nomem_message[] = "out of memory";
static struct cps_err nomem = {CPS_ERR_NOMEM, nomem_message};

struct cps_err *cps_err_nomem(void)
{
    return &nomem;
}

/* Formats "PREFIX" followed by the caller's text into one allocation. */
static CPS_PRINTF(3, 0) struct cps_err *format_error(enum cps_err_code code, const char *prefix,
                                                     const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    size_t skip = strlen(prefix);
    struct cps_err *err = malloc(sizeof(*err));
    char *message = length < 0 ? NULL : malloc(skip + (size_t)length + 1);
    if (!err || !message) {
        free(err);
        free(message);
        return cps_err_nomem();
    }
    memcpy(message, prefix, skip);
    vsnprintf(message + skip, (size_t)length + 1, format, args);
    *err = (struct cps_err){code, message};
    return err;
}

struct cps_err *cps_err_new(enum cps_err_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    struct cps_err *err = format_error(code, "", format, args);
    va_end(args);
    return err;
}

struct cps_err *cps_err_input(const char *file, uint64_t offset, const char *format, ...)
{
    CPS_FREE char *prefix = NULL;
    int length = snprintf(NULL, 0, "%s: offset 0x%" PRIx64 ": ", file, offset);
    prefix = malloc((size_t)length + 1);
    if (!prefix)
        return cps_err_nomem();
    snprintf(prefix, (size_t)length + 1, "%s: offset 0x%" PRIx64 ": ", file, offset);
    va_list args;
    va_start(args, format);
    struct cps_err *err = format_error(CPS_ERR_INPUT, prefix, format, args);
    va_end(args);
    return err;
}

struct cps_err *cps_err_os(const char *file, const char *what)
{
    return cps_err_new(CPS_ERR_OS, "%s: cannot %s: %s", file, what, strerror(errno));
}

void cps_err_free(struct cps_err *err)
{
    if (!err || err == &nomem)
        return;
    free(err->message);
    free(err);
}
