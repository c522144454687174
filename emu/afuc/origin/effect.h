/* SPDX-License-Identifier: MIT
 * What the events of a tick say: origin.h. */
#ifndef CPS_ORIGIN_EFFECT_H
#define CPS_ORIGIN_EFFECT_H

#include "emu/afuc/origin/state.h"

/** Takes the tick's events: the node of each goes to whoever wants it. */
void origin_reads_(struct origin *o, struct tick *t);
void origin_writes_(struct origin *o, struct tick *t);
void origin_host_event_(struct origin *o, const struct cps_event *event);
/** Streams, groups and words that the tick has sent on. */
void origin_calls_(struct origin *o, struct tick *t);

#endif
