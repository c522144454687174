/* SPDX-License-Identifier: MIT
 * ascii85 as the kernel's devcoredump has it: a group is one dword as a number, so no byte order,
 * no delimiters and no short last group. Private to trace/. */
#ifndef CPS_ASCII85_H
#define CPS_ASCII85_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A decoder between two pieces of text. Zero-initialised it stands at the start of a group. */
struct cps_ascii85 {
    uint32_t value; /**< of the characters of the open group, modulo 2^32 */
    unsigned count; /**< characters of the open group, 0..4 */
};

/** Takes one character; @p whole says that it ended a group. False for a bad one. */
static inline bool cps_ascii85_take_(struct cps_ascii85 *decoder, char c, bool *whole)
{
    bool zero = c == 'z' && !decoder->count;
    *whole = zero || decoder->count == 4;
    if (zero)
        return true;
    if (c < '!' || c > 'u')
        return false;
    decoder->value = decoder->value * 85u + (uint32_t)(c - '!');
    decoder->count++;
    return true;
}

/**
 * Decodes characters until @p size of them are used, @p room words are made, or one comes that is
 * not of the alphabet ('!'..'u', and 'z' at the start of a group for a zero dword).
 *
 * @param[out] used  characters consumed. If fewer than @p size and fewer than @p room words were
 *                   made, the next character is a bad one
 * @return number of words stored in @p words
 */
static inline size_t cps_ascii85_decode_(struct cps_ascii85 *decoder, const char *text, size_t size,
                                         uint32_t *words, size_t room, size_t *used)
{
    size_t made = 0;
    size_t at = 0;
    bool whole = false;
    while (at < size && made < room && cps_ascii85_take_(decoder, text[at], &whole)) {
        at++;
        if (whole) {
            words[made++] = decoder->value;
            *decoder = (struct cps_ascii85){0};
        }
    }
    *used = at;
    return made;
}

#endif
