/* SPDX-License-Identifier: MIT
 * Editors that attach to a run: `run --listen`. */
#ifndef CPS_GUEST_H
#define CPS_GUEST_H

#include "tools/run/play.h"

struct guest;

/** Begins to listen if the options ask for it, and says where on stderr; else *ret stays NULL.
 * @return CPS_ERR_OS, CPS_ERR_INPUT: no such place, an input that cannot be read twice */
CPS_MUST_USE struct cps_err *guest_open(const struct cps_options *opt, struct guest **ret);
/** Lets editors in while the engine of @p play runs, which stands still as long; waits for the
 * first one, if the options say so. NULL is fine. */
void guest_begin(struct guest *guest, struct play *play);
/** NULL is fine. */
void guest_close(struct guest *guest);

#endif
