/* SPDX-License-Identifier: MIT
 * Where an engine's events go: one sink, the kinds that it wants, a batch, and counts of all that
 * happened. No observer costs one store that the next event overwrites.
 *
 * It does not know what events mean, nor time. Private to emu/ and its tests. */
#ifndef CPS_TAP_H
#define CPS_TAP_H

#include "emu/engine.h"

/** Hands pending events to the sink. */
void cps_tap_flush_(struct cps_tap *tap);
/** Sends events of @p kinds to @p sink from now on; pending ones go to the old sink first. */
void cps_tap_set_(struct cps_tap *tap, struct cps_sink *sink, uint32_t kinds);

static inline bool cps_tap_wants_(const struct cps_tap *tap, unsigned kind)
{
    return tap->kinds >> kind & 1;
}

/** Records an event. Kinds that nobody wants are only counted. */
static inline void cps_tap_put_(struct cps_tap *tap, struct cps_event event, unsigned kind)
{
    tap->count[kind]++;
    if (!cps_tap_wants_(tap, kind))
        return;
    tap->event[tap->pending++] = event;
    if (CPS_UNLIKELY(tap->pending == CPS_TAP_BATCH))
        cps_tap_flush_(tap);
}

/** Whether bit @p number of @p bits was clear; it is set then: what is told once per place. */
static inline bool cps_tap_once_(uint32_t *bits, uint32_t number)
{
    uint32_t bit = UINT32_C(1) << (number & 31);
    bool first = !(bits[number / 32] & bit);
    bits[number / 32] |= bit;
    return first;
}

/**
 * Emits the STEP of an instruction of @p who at @p pc: registers that differ between @p before and
 * @p after, @p count of them and at most 32, two to a record. The caller looks whether anybody
 * wants STEPs.
 */
void cps_tap_step_(struct cps_tap *tap, unsigned who, uint32_t pc, const uint32_t *before,
                   const uint32_t *after, unsigned count);

#endif
