/* SPDX-License-Identifier: MIT
 * Feeding a machine, and looking at it: driver.c, inspect.c. Private to emu/afuc/. */
#ifndef CPS_AFUC_OPS_H
#define CPS_AFUC_OPS_H

#include "emu/afuc/machine.h"

struct cps_err *machine_feed_(struct cps_engine *engine, const struct cps_item *item);
struct cps_where machine_where_(const struct cps_engine *engine, unsigned core);
bool machine_get_(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
bool machine_set_(struct cps_engine *engine, struct cps_place place, uint64_t value);
void machine_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);

#endif
