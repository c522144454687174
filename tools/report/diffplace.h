/* SPDX-License-Identifier: MIT
 * The place of a first divergence, for reports that show both sides beside each other: what the
 * packet did, and the handlers that did it. Lines begin with two characters that say what is
 * special about them. */
#ifndef CPS_DIFFPLACE_H
#define CPS_DIFFPLACE_H

#include "tools/report/diffreport.h"

/** Columns 0 and 1 of a line. */
enum {
    PLACE_HERE = '>',    /**< column 0: the first difference arises here */
    PLACE_CHANGED = '!', /**< column 1: other code on the other side, or none */
    PLACE_TARGET = '~',  /**< column 1: the same instruction, which branches elsewhere */
};

/** What names the place: firmware, processor, packet and both program counters. Many captures
 * diverge in few places. */
void diff_place_key(const struct diff_report *report, struct cps_buf *out);
/** {"handler", "label_a", "label_b", "code_a", "code_b"}: both handlers, or as much of them as lies
 * around the place. The codes have a line for each other's line; a side without firmware is "". */
struct json_object *diff_place(const struct diff_report *report);
/** Packet and events of one side around the first difference. @p right  side b instead of a */
void diff_place_packet(const struct diff_report *report, bool right, struct cps_buf *out);

#endif
