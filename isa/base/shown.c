/* SPDX-License-Identifier: MIT
 * Text out of files, for where people see it. */
#include "isa/base/shown.h"

#include <string.h>

static size_t length_of(unsigned char first)
{
    return first < 0x80    ? 1
           : first < 0xc0  ? 0
           : first < 0xe0  ? 2
           : first < 0xf0  ? 3
           : first <= 0xf4 ? 4
                           : 0;
}

size_t cps_utf8_(const char *at, uint32_t *ret)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)at;
    size_t length = length_of(byte[0]);
    uint32_t code = length == 1 ? byte[0] : byte[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3f);
    }
    *ret = code;
    bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[length] || surrogate || code > 0x10ffff ? 0 : length;
}

/* Unicode 15: C0, DEL and C1; line and paragraph separators; marks, embeddings, overrides and
 * isolates of direction; what is no character. */
static bool is_hidden(uint32_t code)
{
    return code < ' ' || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
           code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xfeff || (code & 0xfffe) == 0xfffe;
}

size_t cps_shown_(const char *at)
{
    uint32_t code = 0;
    size_t length = cps_utf8_(at, &code);
    return length && !is_hidden(code) ? length : 0;
}

size_t cps_shown_plain_(const char *text, size_t size, bool lines)
{
    size_t at = 0;
    while (at < size && ((text[at] >= ' ' && text[at] <= '~') ||
                         (lines && (text[at] == '\n' || text[at] == '\t'))))
        at++;
    return at;
}

void cps_shown_add_(struct cps_buf *out, const char *text, size_t size, bool lines)
{
    for (size_t at = 0; at < size;) {
        size_t length = cps_shown_plain_(text + at, size - at, lines);
        char one[5] = {0};
        if (!length) {
            memcpy(one, text + at, size - at < 4 ? size - at : 4);
            length = cps_shown_(one);
        }
        if (length)
            cps_buf_add(out, text + at, length);
        else
            cps_buf_printf(out, "\\x%02x", (unsigned char)*one);
        at += length ? length : 1;
    }
}

void cps_shown_put_(struct cps_buf *out, const char *text)
{
    cps_shown_add_(out, text, strlen(text), false);
}
