/* SPDX-License-Identifier: MIT
 * Lines of a stream, through a buffer of fixed size. */
#include "trace/capture/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Makes sure that a byte is at hand; at the end of the file there is none. */
static struct cps_err *refill(struct cps_lines *l)
{
    if (l->at < l->end)
        return NULL;
    l->at = l->end = 0;
    return cps_stream_read(l->stream, l->bytes, sizeof(l->bytes), &l->end);
}

static struct cps_err *cut_short(struct cps_lines *l)
{
    l->ended = true;
    if (l->may_end) {
        l->started = false;
        return NULL;
    }
    return cps_err_input(cps_stream_name(l->stream), l->offset,
                         "line is cut short at 0x%llx, expected the rest of it",
                         (unsigned long long)l->at_offset);
}

void cps_lines_take_(struct cps_lines *l, size_t size)
{
    l->at += size;
    l->at_offset += size;
}

struct cps_err *cps_lines_start_(struct cps_lines *l)
{
    if (l->started || l->done)
        return NULL;
    CPS_TRY(refill(l));
    l->started = l->at < l->end;
    l->done = !l->started;
    l->number += l->started;
    l->offset = l->at_offset;
    l->indent = 0;
    while (l->at < l->end && (l->bytes[l->at] == ' ' || l->bytes[l->at] == '\t')) {
        l->indent += l->indent < UINT16_MAX;
        cps_lines_take_(l, 1);
        CPS_TRY(refill(l));
    }
    if (!l->started || l->at < l->end)
        return NULL;
    l->done = l->may_end;
    return cut_short(l);
}

struct cps_err *cps_lines_piece_(struct cps_lines *l, const char **text, size_t *ret)
{
    CPS_TRY(refill(l));
    const char *from = l->bytes + l->at;
    const char *end = memchr(from, '\n', l->end - l->at);
    *text = from;
    *ret = end ? (size_t)(end - from) : l->end - l->at;
    return NULL;
}

struct cps_err *cps_lines_end_(struct cps_lines *l, bool *blank)
{
    const char *text = NULL;
    size_t size = 1;
    *blank = true;
    while (size) {
        CPS_TRY(cps_lines_piece_(l, &text, &size));
        for (size_t i = 0; i < size && *blank; i++)
            *blank = is_blank(text[i]);
        cps_lines_take_(l, size);
    }
    if (l->at == l->end)
        return cut_short(l);
    cps_lines_take_(l, 1);
    l->started = false;
    return NULL;
}

struct cps_err *cps_lines_text_(struct cps_lines *l)
{
    const char *text = NULL;
    size_t size = 1;
    bool blank = true;
    l->size = 0;
    while (size) {
        CPS_TRY(cps_lines_piece_(l, &text, &size));
        size_t room = sizeof(l->text) - 1 - l->size;
        size = size < room ? size : room;
        memcpy(l->text + l->size, text, size);
        l->size += size;
        cps_lines_take_(l, size);
    }
    CPS_TRY(cps_lines_end_(l, &blank));
    l->cut = !blank;
    while (l->size && is_blank(l->text[l->size - 1]))
        l->size--;
    l->text[l->size] = '\0';
    return NULL;
}

struct cps_err *cps_lines_long_(struct cps_lines *l, size_t most, struct cps_buf *ret)
{
    const char *text = NULL;
    size_t size = 1;
    size_t done = 0;
    bool blank = true;
    while (size) {
        CPS_TRY(cps_lines_piece_(l, &text, &size));
        done += size;
        if (done > most)
            return cps_err_input(cps_stream_name(l->stream), l->offset,
                                 "line of more than %zu bytes, expected its end", most);
        cps_buf_add(ret, text, size);
        cps_lines_take_(l, size);
    }
    return ret->failed ? cps_err_nomem() : cps_lines_end_(l, &blank);
}

bool cps_lines_number_(const char **at, int base, uint64_t most, uint64_t *ret)
{
    char *end = NULL;
    *at += strspn(*at, " ");
    if (**at == '-' || **at == '+' || **at == '\0')
        return false;
    errno = 0;
    unsigned long long value = strtoull(*at, &end, base);
    if (end == *at || !strchr(" ;", *end) || value > most || errno)
        return false;
    *at = end;
    *ret = value;
    return true;
}
