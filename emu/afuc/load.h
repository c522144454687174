/* SPDX-License-Identifier: MIT
 * Decoded images. Private to emu/afuc/. */
#ifndef CPS_AFUC_LOAD_H
#define CPS_AFUC_LOAD_H

#include "emu/afuc/core.h"

/** Decodes an image; @p go stays the caller's, as @p control does, which may be NULL: the rows of
 * control registers. */
CPS_MUST_USE struct cps_err *afuc_load_(const uint32_t *words, uint32_t count, enum cps_gen gen,
                                        const void *const *go, const struct cps_reg_index *control,
                                        struct afuc_image **ret);
/** Decodes @p word as dword @p pc of @p image, which nobody else may share. */
void afuc_patch_(struct afuc_image *image, uint32_t pc, uint32_t word, enum cps_gen gen);
void afuc_image_unref_(struct afuc_image *image);
/** Chooses how dwords @p first to @p last are taken: link.c. What is behind them is linked. */
void afuc_link_(struct afuc_image *image, uint32_t first, uint32_t last);
/** How many dwords in front of one are taken in one piece with it at most. */
#define AFUC_LINK_REACH 3u

#endif
