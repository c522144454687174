/* SPDX-License-Identifier: MIT
 * Types of what only afuc has: afuc.h. */
#ifndef CPS_AFUC_TYPE_H
#define CPS_AFUC_TYPE_H

#include <stdint.h>

/** Packets that hardware makes itself, out of turn. */
enum cps_inject {
    CPS_INJECT_PREEMPT, /**< IN_PREEMPT: the driver's request to switch contexts */
    CPS_INJECT_GMU,     /**< IN_GMU_INTERRUPT: the power controller wants something */
};
/** What a translated loop works on. */
struct cps_native {
    uint32_t *r;   /**< general registers */
    uint64_t left; /**< ticks that it may take, and those it left */
    uint32_t carry;
};
/** Runs a loop until it is left or the ticks do not cover its next block; returns the dword of the
 * image to go on at. */
typedef uint32_t cps_native_loop(struct cps_native *state);

#endif
