/* SPDX-License-Identifier: MIT
 * Growable text. */
#include "isa/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/list.h"

void cps_buf_deinit(struct cps_buf *buf)
{
    free(buf->data);
    *buf = (struct cps_buf){0};
}

void cps_buf_clear(struct cps_buf *buf)
{
    buf->size = 0;
    if (buf->data)
        buf->data[0] = '\0';
}

static bool reserve(struct cps_buf *buf, size_t more)
{
    if (buf->capacity - buf->size > more)
        return true;
    bool good = more < SIZE_MAX - buf->size &&
                CPS_LIST_RESERVE(buf->data, buf->capacity, buf->size + more + 1);
    buf->failed = buf->failed || !good;
    return good;
}

void cps_buf_add(struct cps_buf *buf, const char *text, size_t size)
{
    if (!reserve(buf, size))
        return;
    memcpy(buf->data + buf->size, text, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
}

void cps_buf_str(struct cps_buf *buf, const char *text)
{
    cps_buf_add(buf, text, strlen(text));
}

void cps_buf_join(struct cps_buf *buf, const struct cps_buf *text)
{
    cps_buf_add(buf, cps_buf_text(text), text->size);
    buf->failed = buf->failed || text->failed;
}

void cps_buf_printf(struct cps_buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0 || !reserve(buf, (size_t)length))
        return;
    va_start(args, format);
    vsnprintf(buf->data + buf->size, (size_t)length + 1, format, args);
    va_end(args);
    buf->size += (size_t)length;
}

void cps_buf_hex(struct cps_buf *buf, unsigned long long value, unsigned digits)
{
    char text[18];
    unsigned at = sizeof(text);
    unsigned done = 0;
    while (value || done < digits) {
        text[--at] = "0123456789abcdef"[value & 15];
        value >>= 4;
        done++;
    }
    text[--at] = 'x';
    text[--at] = '0';
    cps_buf_add(buf, text + at, sizeof(text) - at);
}

void cps_buf_pad(struct cps_buf *buf, size_t line_start, size_t column)
{
    while (buf->size - line_start < column && !buf->failed)
        cps_buf_add(buf, " ", 1);
}

const char *cps_buf_text(const struct cps_buf *buf)
{
    return buf->data ? buf->data : "";
}
