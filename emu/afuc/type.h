/* SPDX-License-Identifier: MIT
 * Types of what only afuc has: afuc.h. */
#ifndef CPS_AFUC_TYPE_H
#define CPS_AFUC_TYPE_H

#include <stdint.h>

#include "../../isa/base/cleanup.h"

CPS_C_BEGIN

/** Packets that hardware makes itself, out of turn. */
enum cps_inject {
    /** IN_PREEMPT: the driver's request to switch contexts. */
    CPS_INJECT_PREEMPT,
    /** IN_PREEMPT too, but with a driver behind it: the firmware switches to another ring, which is
     * empty, and back. a6xx and a7xx. */
    CPS_INJECT_SWITCH,
    /** IN_GMU_INTERRUPT: the power controller wants something. */
    CPS_INJECT_GMU,
};
/** What a translated loop works on. */
struct cps_native {
    /** General registers. */
    uint32_t *r;
    /** Ticks that it may take, and those it left. */
    uint64_t left;
    /** The carry of additions. */
    uint32_t carry;
};
/** Runs a loop until it is left or the ticks do not cover its next block; returns the dword of the
 * image to go on at. */
typedef uint32_t cps_native_loop(struct cps_native *state);
CPS_C_END

#endif
