/* SPDX-License-Identifier: MIT
 * What registers hold and queues hand out: origin.h. */
#ifndef CPS_ORIGIN_WORD_H
#define CPS_ORIGIN_WORD_H

#include "emu/afuc/origin/state.h"

struct flow origin_general_value_(struct origin *o, struct tick *t, unsigned number);
struct flow origin_read_(struct origin *o, struct tick *t, unsigned number);
void origin_fifo_put_(struct tag_fifo *fifo, uint32_t node);
/** Makes the tags of a FIFO as many as its words are, behind a tick. */
void origin_fifo_match_(struct origin *o, struct tag_fifo *tags, const struct fifo *fifo);

/** A general register of a core. */
uint32_t origin_general_(struct origin *origin, unsigned core, unsigned number);

#endif
