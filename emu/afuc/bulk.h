/* SPDX-License-Identifier: MIT
 * Repetitions in one piece. Private to emu/afuc/. */
#ifndef CPS_AFUC_BULK_H
#define CPS_AFUC_BULK_H

#include "emu/afuc/gpu.h"

/** Repetitions of a UOP_BULK in one piece, at most @p budget of them; returns how many were made, 0
 * if it takes single ones. */
uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget);

/** Repetitions that take @p words words, at most 32,767 of them, @p group at a time, which is 1 to
 * 4: a division by a number that the compiler does not know is slow. */
static inline uint32_t bulk_turns_(uint32_t words, uint32_t group)
{
    static const uint32_t part[] = {0, 65536, 32768, 21846, 16384};
    return (uint32_t)((uint64_t)(words + group - 1) * part[group] >> 16);
}

/** Hands out the events of @p count words in consecutive registers. */
void bulk_events_(struct afuc_core *core, uint32_t offset, const uint32_t *word, uint32_t count,
                  unsigned path);

/** Counts them, too. */
static inline void bulk_noted_(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                               uint32_t count, unsigned path)
{
    struct cps_tap *tap = &core->machine->engine.tap;
    tap->count[CPS_EV_REG] += count;
    if (CPS_UNLIKELY(cps_tap_wants_(tap, CPS_EV_REG)))
        bulk_events_(core, offset, word, count, path);
}

#endif
