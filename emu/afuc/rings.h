/* SPDX-License-Identifier: MIT
 * What the driver does to switch between two rings, for `--inject switch`: the ring of the run, and
 * one that holds nothing but the end of a submission. Private to emu/afuc/. */
#ifndef CPS_AFUC_RINGS_H
#define CPS_AFUC_RINGS_H

#include "emu/afuc/machine.h"

/** Puts words behind what the ring holds, as the driver does before it moves the write pointer. */
bool machine_ring_(struct cps_afuc *machine, const uint32_t *words, unsigned count);
/** The same with LPAC's ring. */
bool machine_ring_lpac_(struct cps_afuc *machine, const uint32_t *words, unsigned count);
/** Behind CP_ME_INIT: the records of both rings, and where the firmware finds the first's. */
void rings_prepare_(struct cps_afuc *machine);
/** Packets in front of and behind the streams of a submission.
 * @return how many packets */
uint32_t rings_begin_(struct cps_afuc *machine);
void rings_end_(struct cps_afuc *machine);
/** The driver asks for the other ring. False if there is none. */
bool rings_request_(struct cps_afuc *machine);
/** All processors wait; true if the driver switches back. */
bool rings_idle_(struct cps_afuc *machine);
/** The firmware has left its routine. */
void rings_returned_(struct afuc_core *core);
/** Writes of the CP_RB_* registers. */
void rings_write_base_(const struct cps_access *at);
void rings_write_rptr_(const struct cps_access *at);
void rings_write_wptr_(const struct cps_access *at);
uint32_t rings_read_base_(const struct cps_access *at);
uint32_t rings_read_pointer_(const struct cps_access *at);

#endif
