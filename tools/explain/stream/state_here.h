/* SPDX-License-Identifier: MIT
 * What the registers hold in the middle of a run, beside what they held behind the draw before:
 * for whoever has a run of its own, as the debugger has. */
#ifndef CPS_STATE_HERE_H
#define CPS_STATE_HERE_H

#include "tools/explain/stream/state.h"

struct state_here;

/** Events that it needs. */
#define STATE_HERE_KINDS \
    (1u << CPS_EV_REG | 1u << CPS_EV_PKT | 1u << CPS_EV_WORD | 1u << CPS_EV_SUBMIT)

/**
 * Begins.
 * @param names, buffers  of the run; they outlive @p ret. Buffers may be NULL
 * @param who             processor
 * @return NULL or CPS_ERR_NOMEM; the caller calls state_here_destroy()
 */
CPS_MUST_USE struct cps_err *state_here_create(struct cps_names *names, struct cps_buffers *buffers,
                                               unsigned who, struct state_here **ret);
/** What gets the run's events, from its start on. */
struct cps_sink *state_here_sink(struct state_here *here);
/** What was gathered: the last draw that began, the registers now, and as they were when the draw
 * before was done. It stays here's. */
const struct state_result *state_here_result(const struct state_here *here);
/** Whether that draw is still being made; else the registers are what the next one finds so far. */
bool state_here_in_draw(const struct state_here *here);
/** NULL is fine. */
void state_here_destroy(struct state_here *here);

#endif
