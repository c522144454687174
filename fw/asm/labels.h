/* SPDX-License-Identifier: MIT
 * The labels of an assembly source: collected in the first pass, looked up in the second. Private
 * to fw/. */
#ifndef CPS_ASM_LABELS_H
#define CPS_ASM_LABELS_H

#include "fw/fw.h"

struct cps_asm_label {
    const char *name; /**< in the source, not terminated */
    size_t length;
    unsigned section; /**< each section has its own labels */
    uint32_t offset;  /**< dwords from the start of the section */
    uint32_t place;   /**< dwords from the start of the image */
    uint32_t line;    /**< where it is defined */
};

/** Zero-initialised is empty. */
struct cps_asm_labels {
    struct cps_asm_label *list;
    size_t count;
};

void cps_asm_labels_deinit_(struct cps_asm_labels *labels);
/** Adds a label; false when out of memory. Look-ups need cps_asm_labels_sort_() first. */
bool cps_asm_labels_add_(struct cps_asm_labels *labels, struct cps_asm_label label);
void cps_asm_labels_sort_(struct cps_asm_labels *labels);
/** The label of this name in @p section, the first one if it is defined twice; or NULL. */
const struct cps_asm_label *cps_asm_labels_find_(const struct cps_asm_labels *labels,
                                                 unsigned section, const char *name, size_t length);

#endif
