/* SPDX-License-Identifier: MIT
 * The place of a first divergence, for reports that show both sides beside each other: what the
 * packet did, and the handlers that did it. Lines begin with two characters that say what is
 * special about them. */
#ifndef CPS_DIFFPLACE_H
#define CPS_DIFFPLACE_H

#include "tools/cmd/render/html.h"
#include "tools/explain/diff/diffreport.h"

/** What names the place: firmware, processor, packet and both program counters. Many captures
 * diverge in few places. */
void diff_place_key(const struct diff_report *report, struct cps_buf *out);
/** {"handler", "label_a", "label_b", "code_a", "code_b"}: both handlers, or as much of them as lies
 * around the place. The codes have a line for each other's line; a side without firmware is "". */
struct json_object *diff_place(const struct diff_report *report);
/** Packet and events of one side around the first difference. @p right  side b instead of a */
void diff_place_packet(const struct diff_report *report, bool right, struct cps_buf *out);

#endif
