/* SPDX-License-Identifier: MIT
 * Which words of two lists are the same ones, in their order: as people read differences. Private
 * to fw/. */
#ifndef CPS_FW_ALIGN_H
#define CPS_FW_ALIGN_H

#include <stddef.h>
#include <stdint.h>

#include "isa/base/err.h"

/** The partner of a word that has none. */
#define CPS_ALIGN_NONE UINT32_MAX

/**
 * Aligns two lists: first at runs of words that each has once, then between them so that as many as
 * possible have a partner.
 * @param a        @p a_count keys; equal keys are equal words
 * @param b        @p b_count
 * @param partner  gets for each of @p a the index in @p b, increasing, or CPS_ALIGN_NONE
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_align_(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                                        uint32_t b_count, uint32_t *partner);

#endif
