/* SPDX-License-Identifier: MIT
 * Well-formed UTF-8, as RFC 3629 has it, without what documents may not hold. */
#include "tools/report/utf8.h"

#include <stdbool.h>
#include <stdint.h>

static size_t length_of(unsigned char first)
{
    return first < 0x80    ? 1
           : first < 0xc0  ? 0
           : first < 0xe0  ? 2
           : first < 0xf0  ? 3
           : first <= 0xf4 ? 4
                           : 0;
}

size_t utf8_length(const char *at)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *byte = (const unsigned char *)at;
    size_t length = length_of(byte[0]);
    uint32_t code = byte[0] & (0x7fu >> length);
    if (length == 1)
        return (byte[0] >= ' ' && byte[0] != 0x7f) || byte[0] == '\n' || byte[0] == '\t';
    for (size_t i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (byte[i] & 0x3f);
    }
    bool surrogate = code >= 0xd800 && code < 0xe000;
    bool none = code == 0xfffe || code == 0xffff || code > 0x10ffff;
    return code < least[length] || surrogate || none ? 0 : length;
}
