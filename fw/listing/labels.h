/* SPDX-License-Identifier: MIT
 * The user's labels in a listing: of all symbols those with which it assembles to the same words.
 * Private to fw/. */
#ifndef CPS_LISTING_LABELS_H
#define CPS_LISTING_LABELS_H

#include "fw/fw.h"

/** Labels of one part, by dword. Zero-initialised is none. */
struct cps_listing_labels {
    const struct cps_fw_symbol **list; /**< into fw->debug.symbols */
    size_t count;
};

/**
 * Chooses the labels of a part. Left out are what no label can be called, what would be taken for
 * a packet's handler, what the listing itself may call another place, and all but the first of
 * equal names.
 * @param names  the assembler's own
 */
CPS_MUST_USE struct cps_err *cps_listing_labels_init_(const struct cps_fw *fw, uint32_t part,
                                                      const struct cps_names *names,
                                                      struct cps_listing_labels *ret);
void cps_listing_labels_deinit_(struct cps_listing_labels *labels);
/** The first label at @p dword, or NULL; the others of the same place follow it in the list. */
const struct cps_fw_symbol *const *cps_listing_labels_find_(const struct cps_listing_labels *labels,
                                                            uint32_t dword);

#endif
