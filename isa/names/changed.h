/* SPDX-License-Identifier: MIT
 * Two values of a register, field by field. Private to cpscope, and no part of the library. */
#ifndef CPS_NAMES_CHANGED_H
#define CPS_NAMES_CHANGED_H

#include "isa/isa.h"

/** Appends "FIELD 0x31 -> 0x30, OTHER 0x1 -> missing" for the fields in which two values of a
 * register differ. @param a, b  one of them may be NULL: missing, and fields that are 0 are left
 * out
 * @return the bits that the fields with a name cover, whether they differ or not */
uint32_t cps_name_changed_(const struct cps_names *names, enum cps_space space, uint32_t number,
                           const uint32_t *a, const uint32_t *b, struct cps_buf *out);

#endif
