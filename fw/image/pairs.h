/* SPDX-License-Identifier: MIT
 * Which words of two images are the same ones. Not installed. */
#ifndef CPS_FW_PAIRS_H
#define CPS_FW_PAIRS_H

#include "fw/fw.h"

/** The partner of a word that has none. */
#define CPS_FW_ALONE UINT32_MAX

/** The words of one processor's images, [0] of the first firmware and [1] of the other. */
struct cps_fw_pairs {
    uint32_t count[2];    /**< words before the packet table */
    uint32_t *partner[2]; /**< by dword: where the other image has the word, unchanged or changed,
                             or CPS_FW_ALONE; owned */
};

/**
 * Aligns the images of a processor as cps_fw_compare() does, but for the numbers of control
 * registers, which may be others: firmware numbers its variables anew.
 * @param part  its index in both
 * @param ret   gets them; the caller calls cps_fw_pairs_deinit_() in any case
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_fw_pairs_(const struct cps_fw *a, const struct cps_fw *b,
                                           unsigned part, struct cps_fw_pairs *ret);
void cps_fw_pairs_deinit_(struct cps_fw_pairs *pairs);

/**
 * Aligns two lists: first at runs of words that each has once, then between them so that as many as
 * possible have a partner.
 * @param a        @p a_count keys; equal keys are equal words
 * @param b        @p b_count
 * @param partner  gets for each of @p a the index in @p b, increasing, or CPS_FW_ALONE
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_MUST_USE struct cps_err *cps_align_(const uint64_t *a, uint32_t a_count, const uint64_t *b,
                                        uint32_t b_count, uint32_t *partner);
/** The same by their longest common subsequence alone, for short lists: of @p a_count and @p
 * b_count up to 4,000; longer ones stay unaligned. */
CPS_MUST_USE struct cps_err *cps_align_exact_(const uint64_t *a, uint32_t a_count,
                                              const uint64_t *b, uint32_t b_count,
                                              uint32_t *partner);

#endif
