/* SPDX-License-Identifier: MIT
 * Names and values as lists, for messages. Not part of what is installed. */
#ifndef CPS_NAMES_WORDS_H
#define CPS_NAMES_WORDS_H

#include "isa/isa.h"

/** Appends all names of a space of few numbers, as " (A, B or C)"; nothing where it has none.
 * @param names  NULL: there are none */
void cps_names_words_(const struct cps_names *names, enum cps_space space, struct cps_buf *out);

/** The name that a register of a2xx to a4xx had; NULL if none had the number. */
const char *cps_name_old_(uint32_t number);

/** Appends "FIELD 0x31 -> 0x30, OTHER 0x1 -> missing" for the fields in which two values of a
 * register differ. @param a, b  one of them may be NULL: missing, and fields that are 0 are left
 * out
 * @return the bits that the fields with a name cover, whether they differ or not */
uint32_t cps_name_changed_(const struct cps_names *names, enum cps_space space, uint32_t number,
                           const uint32_t *a, const uint32_t *b, struct cps_buf *out);

#endif
