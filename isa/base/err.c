/* SPDX-License-Identifier: MIT
 * The error value: construction and release. */
#include "isa/base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/shown.h"
#include "isa/base/within.h"

static char nomem_message[] = "out of memory";
static struct cps_err nomem = {CPS_ERR_NOMEM, nomem_message};

struct cps_err *cps_err_nomem(void)
{
    return &nomem;
}

/* Takes the text over. */
static struct cps_err *create(enum cps_err_code code, struct cps_buf *text)
{
    struct cps_err *err = text->failed || !text->data ? NULL : malloc(sizeof(*err));
    if (!err)
        return cps_err_nomem();
    *err = (struct cps_err){code, CPS_TAKE(text->data)};
    return err;
}

/* "PREFIX" followed by the caller's text. Names of files and what is in them are part of
 * messages, which are shown on terminals. */
static CPS_PRINTF(3, 0) struct cps_err *format_error(enum cps_err_code code, const char *prefix,
                                                     const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    CPS_FREE char *message = length < 0 ? NULL : malloc((size_t)length + 1);
    CPS_BUF text = {0};
    if (!message)
        return cps_err_nomem();
    vsnprintf(message, (size_t)length + 1, format, args);
    cps_shown_put_(&text, prefix);
    cps_shown_put_(&text, message);
    return create(code, &text);
}

struct cps_err *cps_err_vnew_(enum cps_err_code code, const char *format, va_list args)
{
    return format_error(code, "", format, args);
}

struct cps_err *cps_err_first_(struct cps_err *first, struct cps_err *second)
{
    if (first)
        cps_err_free(second);
    return first ? first : second;
}

struct cps_err *cps_err_lines_(enum cps_err_code code, const char *lines)
{
    CPS_BUF text = {0};
    cps_shown_add_(&text, lines, strlen(lines), true);
    return create(code, &text);
}

struct cps_err *cps_err_within_(struct cps_err *err, const char *format, ...)
{
    CPS_BUF text = {0};
    if (!err || err->code == CPS_ERR_NOMEM)
        return err;
    va_list args;
    va_start(args, format);
    struct cps_err *place = format_error(err->code, "", format, args);
    va_end(args);
    cps_buf_printf(&text, "%s: %s", place->message, err->message);
    struct cps_err *ret = place->code == CPS_ERR_NOMEM ? place : create(err->code, &text);
    if (ret != place)
        cps_err_free(place);
    cps_err_free(err);
    return ret;
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
    CPS_BUF prefix = {0};
    cps_buf_printf(&prefix, "%s: offset 0x%" PRIx64 ": ", file, offset);
    if (prefix.failed)
        return cps_err_nomem();
    va_list args;
    va_start(args, format);
    struct cps_err *err = format_error(CPS_ERR_INPUT, cps_buf_text(&prefix), format, args);
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
