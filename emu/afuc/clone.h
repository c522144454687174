/* SPDX-License-Identifier: MIT
 * Copies of machines, and their end. Private to emu/afuc/. */
#ifndef CPS_AFUC_CLONE_H
#define CPS_AFUC_CLONE_H

#include "emu/engine.h"

struct cps_err *machine_clone_(struct cps_engine *from, struct cps_engine **ret);
struct cps_err *machine_restore_(struct cps_engine *engine, struct cps_engine *original);
void machine_destroy_(struct cps_engine *engine);

#endif
