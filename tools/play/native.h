/* SPDX-License-Identifier: MIT
 * Firmware loops as machine code: the source that emu/ writes, compiled by the system's C compiler
 * and kept in the cache by its digest. */
#ifndef CPS_NATIVE_H
#define CPS_NATIVE_H

#include "emu/afuc/afuc.h"

/**
 * Compiles, or finds, the loops of the machine's cores and lets it run them.
 *
 * @param[out] ret  what native_close() takes when the machine and its clones are gone; NULL if the
 *                  firmware has no such loops
 * @return NULL, or CPS_ERR_OS (cache directory) / CPS_ERR_UNSUPPORTED (no compiler): the machine
 *         then interprets as before
 */
CPS_MUST_USE struct cps_err *native_open(struct cps_afuc *machine, void **ret);
void native_close(void *native);

/** Removes what the compiler works with: for the handler of a signal that ends the process. */
void native_abandon(void);

#endif
