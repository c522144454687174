/* SPDX-License-Identifier: MIT
 * ascii85 to dwords, in pieces of any size. */
#include "trace/capture/ascii85.h"

#include <stdbool.h>

#define GROUP 5

/* Takes one character; @p whole says that it ended a group. False for a bad one. */
static bool take(struct cps_ascii85 *decoder, char c, bool *whole)
{
    bool zero = c == 'z' && !decoder->count;
    *whole = zero || decoder->count == GROUP - 1;
    if (zero)
        return true;
    if (c < '!' || c > 'u')
        return false;
    decoder->value = decoder->value * 85u + (uint32_t)(c - '!');
    decoder->count++;
    return true;
}

size_t cps_ascii85_decode_(struct cps_ascii85 *decoder, const char *text, size_t size,
                           uint32_t *words, size_t room, size_t *used)
{
    size_t made = 0;
    size_t at = 0;
    bool whole = false;
    while (at < size && made < room && take(decoder, text[at], &whole)) {
        at++;
        if (whole) {
            words[made++] = decoder->value;
            *decoder = (struct cps_ascii85){0};
        }
    }
    *used = at;
    return made;
}
