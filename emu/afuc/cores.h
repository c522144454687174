/* SPDX-License-Identifier: MIT
 * Processors among each other: handlers of ctrl.def. Private to emu/afuc/. */
#ifndef CPS_AFUC_CORES_H
#define CPS_AFUC_CORES_H

#include "emu/afuc/machine.h"

/** CNTL of another processor: bit 0 starts it. */
void cores_start_bv_(const struct cps_access *at);
void cores_start_lpac_(const struct cps_access *at);
void cores_start_dde_br_(const struct cps_access *at);
void cores_start_dde_bv_(const struct cps_access *at);
void cores_lock_(const struct cps_access *at);
/** Events that BR and BV have completed. */
uint32_t cores_read_completed_(const struct cps_access *at);
void cores_write_completed_(const struct cps_access *at);
/** Scratch of all processors. */
uint32_t cores_read_shared_(const struct cps_access *at);
void cores_write_shared_(const struct cps_access *at);

#endif
