/* SPDX-License-Identifier: MIT
 * What somebody may have meant: the distance of two words. */
#include "tools/cmd/options/opt_near.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 40, SHORT = 4 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The optimal string alignment of two words of at most MOST letters. */
static unsigned distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned row[3][MOST + 1];
    for (unsigned j = 0; j <= b_length; j++)
        row[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *now = row[i % 3];
        const unsigned *last = row[(i + 2) % 3];
        now[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            now[j] = least(last[j - 1] + (a[i - 1] != b[j - 1]), least(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], row[(i + 1) % 3][j - 2] + 1);
        }
    }
    return row[a_length % 3][b_length];
}

void near_try(const char *said, size_t said_length, const char *word, size_t length,
              struct near *ret)
{
    if (!said_length || said_length > MOST || !length || length > MOST)
        return;
    unsigned found = distance(said, said_length, word, length);
    unsigned most = said_length > SHORT ? 2 : 1;
    if (found > most || found >= length || (ret->word && found >= ret->distance))
        return;
    *ret = (struct near){word, length, found};
}

const char *near_text(const struct near *near, const char *prefix, char *out, size_t size)
{
    *out = '\0';
    if (near->word)
        snprintf(out, size, "; did you mean %s%.*s?", prefix, (int)near->length, near->word);
    return out;
}
