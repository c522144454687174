/* SPDX-License-Identifier: MIT
 * Decoded images. Private to emu/afuc/. */
#ifndef CPS_AFUC_LOAD_H
#define CPS_AFUC_LOAD_H

#include "emu/afuc/core.h"

/** Decodes an image; @p go stays the caller's. */
CPS_MUST_USE struct cps_err *afuc_load_(const uint32_t *words, uint32_t count, enum cps_gen gen,
                                        const void *const *go, struct afuc_image **ret);
/** Decodes @p word as dword @p pc of @p image, which nobody else may share. */
void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen);
void afuc_image_unref_(struct afuc_image *image);
/** Sets `go` by `code`. */
static inline void afuc_link_(const struct afuc_image *image, struct afuc_uop *uop)
{
    uop->go = image->go[uop->code];
}

#endif
