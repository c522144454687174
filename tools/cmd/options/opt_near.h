/* SPDX-License-Identifier: MIT
 * What somebody may have meant. */
#ifndef CPS_OPT_NEAR_H
#define CPS_OPT_NEAR_H

#include <stddef.h>

/** The word of a list that is meant by one that is none of them. */
struct near {
    const char *word; /**< @p length bytes; NULL: none is near */
    size_t length;
    unsigned distance;
};

/** Takes @p word for what was meant by @p said if nothing nearer was taken: letters that are added,
 * left out, other or exchanged count one each. At most one, of words from five letters on two. */
void near_try(const char *said, size_t said_length, const char *word, size_t length,
              struct near *ret);
/** ", did you mean 'WORD'?" in a buffer of the size; "" if none is near. @return @p out */
const char *near_text(const struct near *near, const char *prefix, char *out, size_t size);

#endif
