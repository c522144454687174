/* SPDX-License-Identifier: MIT
 * Names as lists, for messages. Not part of what is installed. */
#ifndef CPS_NAMES_WORDS_H
#define CPS_NAMES_WORDS_H

#include "isa/isa.h"

/** Appends all names of a space of few numbers, as " (A, B or C)"; nothing where it has none.
 * @param names  NULL: there are none */
void cps_names_words_(const struct cps_names *names, enum cps_space space, struct cps_buf *out);

/** The name that a register of a2xx to a4xx had; NULL if none had the number. */
const char *cps_name_old_(uint32_t number);

#endif
