/* SPDX-License-Identifier: MIT
 * The state at a draw as text for people: `cpscope state`, and the debugger. */
#ifndef CPS_STATE_TEXT_H
#define CPS_STATE_TEXT_H

#include "tools/explain/stream/state_rows.h"

/** "draw 7 of sqe: CP_DRAW_INDX_OFFSET ..., submission 0, ib2 0x1000": the launch of a state. */
void state_text_launch(const struct state_result *result, struct cps_buf *out);
/** "120 registers have a value: 3 changed (*), ...". */
void state_text_counts(const uint32_t counts[STATE_GONE + 1], struct cps_buf *out);
/**
 * Appends the rows, block by block.
 * @param result        whose buffers addresses lie in, and the submission
 * @param only_changed  leaves out what is as it was
 * @param counts        gets how many rows there are of each mark, also of those left out
 */
void state_text(const struct state_pair *pair, const struct state_result *result, bool only_changed,
                struct cps_buf *out, uint32_t counts[STATE_GONE + 1]);

#endif
