/* SPDX-License-Identifier: MIT
 * The interpreter with STEP events: after each instruction, the registers that it changed. */
#include "emu/afuc/machine.h"

#include <string.h>

/* Emits the changed registers, two to a record. */
static void report_step(struct afuc_core *core, uint32_t pc, const uint32_t *before)
{
    const uint32_t *now = core->s.r;
    enum cps_event_kind kind = CPS_EV_STEP;
    unsigned reg = 0;
    do {
        uint64_t values = 0;
        uint32_t mask = cps_event_changes(before, now, 32, &reg, &values);
        if (mask || kind == CPS_EV_STEP)
            machine_event_(core->machine, kind, 0, core->who, pc, values, mask);
        kind = CPS_EV_STEPX;
    } while (reg < 32);
}

static void note_written(struct afuc_core *core, const struct afuc_uop *uop)
{
    core->written |= 1u << (uop->dst & 31);
    if (uop->flags & U_PRE)
        core->written |= 1u << (uop->s1 & 31);
}

#define AFUC_RUN  afuc_run_watched_
#define AFUC_UOPS core->uops
#define AFUC_GO   handler[ip->code]
#define WATCH_BEGIN()         \
    uint32_t before[R_COUNT]; \
    memcpy(before, r, sizeof(before))
#define WATCH_NEXT()                                      \
    do {                                                  \
        note_written(core, ip);                           \
        report_step(core, (uint32_t)(ip - base), before); \
        memcpy(before, r, sizeof(before));                \
    } while (0)
#define WATCH_TAKEN()    WATCH_NEXT()
#define WATCH_BULK(most) UINT64_C(0)
#include "emu/afuc/body.h"
