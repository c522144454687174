/* SPDX-License-Identifier: MIT
 * Remarks behind the instructions of a listing: which GPU or pipe register a constant selects.
 * Knows the straight line only; forgets at labels and behind calls. Private to fw/. */
#ifndef CPS_ANNOTATE_H
#define CPS_ANNOTATE_H

#include "fw/fw.h"

/** Constants that the registers hold, as far as the straight line tells. */
struct cps_notes {
    const struct cps_names *names;
    uint32_t value[32];
    uint32_t known;       /**< bit n: value[n] is valid */
    unsigned forget_in;   /**< instructions until a call has changed everything; 0: none pending */
    uint32_t selector[2]; /**< control registers that take a GPU register offset */
    unsigned selector_count;
};

void cps_notes_init_(struct cps_notes *notes, const struct cps_names *names);
/** Control may come from elsewhere: nothing is known any more. */
void cps_notes_forget_(struct cps_notes *notes);
/** Appends the remark on @p insn, if there is one, and takes note of what it does. */
void cps_notes_add_(struct cps_notes *notes, const struct cps_insn *insn, struct cps_buf *out);

#endif
