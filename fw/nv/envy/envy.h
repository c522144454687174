/* SPDX-License-Identifier: MIT
 * Code of HWSQ and VP1 as envytools writes it: the listing of envydis, and sources of envyas. A
 * table of its own, as names and operands are others than those of the project. Private to it.
 *
 * Facts: envytools, envydis/ and easm/ (MIT). */
#ifndef CPS_ENVY_H
#define CPS_ENVY_H

#include "isa/isa.h"

/**
 * Appends the listing that `envydis -n` prints, without colours: address, bytes or word, marks of
 * what branches (B) and calls (C) lead to, the instruction, and what of it is unknown.
 * @param gen    of HWSQ or VP1
 * @param bytes  of the code; those after the last whole word of VP1 are left out
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_envy_listing_(enum cps_gen gen, const void *bytes, size_t size,
                                               struct cps_buf *out);
/**
 * Assembles a source of envyas, or such a listing. A line of a listing whose instruction is as its
 * bytes have it becomes those bytes; one that was changed, what it says.
 * @param name  of the source, for messages
 * @param gen   of HWSQ or VP1
 * @param ret   gets the bytes appended, section by section
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_SYNTAX ("FILE:LINE: ...")
 */
CPS_MUST_USE struct cps_err *cps_envy_assemble_(const char *name, const char *text, size_t size,
                                                enum cps_gen gen, struct cps_buf *ret);

#endif
