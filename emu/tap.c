/* SPDX-License-Identifier: MIT
 * Where an engine's events go. */
#include "emu/tap.h"

#include <string.h>

void cps_tap_flush_(struct cps_tap *tap)
{
    if (tap->sink && tap->pending)
        tap->sink->put(tap->sink, tap->event, tap->pending);
    tap->pending = 0;
}

void cps_tap_set_(struct cps_tap *tap, struct cps_sink *sink, uint32_t kinds)
{
    cps_tap_flush_(tap);
    tap->sink = sink;
    tap->kinds = sink ? kinds : 0;
}

/* The first register from @p reg on that differs; @p count if none does. Most do not. */
static unsigned change(const uint32_t *before, const uint32_t *now, unsigned count, unsigned reg)
{
    while (reg + 4 <= count && !memcmp(now + reg, before + reg, 16))
        reg += 4;
    while (reg < count && now[reg] == before[reg])
        reg++;
    return reg;
}

/* Takes the next registers that differ, at most two, as a STEP holds them: returns their bits, puts
 * the first one's new value into 31:0 of @p values and the second's into 63:32, and moves *reg
 * after them. */
static uint32_t changes(const uint32_t *before, const uint32_t *now, unsigned count, unsigned *reg,
                        uint64_t *values)
{
    uint32_t mask = 0;
    *values = 0;
    for (unsigned found = 0; found < 2; found++) {
        *reg = change(before, now, count, *reg);
        if (*reg >= count)
            break;
        mask |= UINT32_C(1) << *reg;
        *values |= (uint64_t)now[(*reg)++] << 32 * found;
    }
    return mask;
}

void cps_tap_step_(struct cps_tap *tap, unsigned who, uint32_t pc, const uint32_t *before,
                   const uint32_t *after, unsigned count)
{
    enum cps_event_kind kind = CPS_EV_STEP;
    unsigned reg = 0;
    do {
        uint64_t values = 0;
        uint32_t mask = changes(before, after, count, &reg, &values);
        if (mask || kind == CPS_EV_STEP)
            cps_tap_put_(tap, cps_event_make(kind, 0, who, pc, values, mask), kind);
        kind = CPS_EV_STEPX;
    } while (reg < count);
}
