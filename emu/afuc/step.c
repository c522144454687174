/* SPDX-License-Identifier: MIT
 * The interpreter with STEP events: after each instruction, the registers that it changed; with
 * counters, too, if there are any. */
#include "emu/afuc/ctrl.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/packet.h"
#include "emu/afuc/port.h"
#include "emu/afuc/queue.h"
#include "emu/afuc/run.h"

#include <string.h>

static void note_written(struct afuc_core *core, const struct afuc_uop *uop)
{
    core->written |= 1u << (uop->dst & 31);
    if (uop->flags & U_PRE)
        core->written |= 1u << (uop->s1 & 31);
}

static void count(struct afuc_core *core, const struct afuc_uop *uop, bool taken)
{
    if (!core->cover)
        return;
    core->cover[uop - core->uops].run++;
    core->cover[uop - core->uops].taken += taken;
}

#define AFUC_RUN afuc_run_watched_
#define AFUC_GO  handler[ip->take]
#define WATCH_BEGIN()         \
    uint32_t before[R_COUNT]; \
    memcpy(before, r, sizeof(before))
#define WATCH_STEP(goes)                                                                          \
    do {                                                                                          \
        note_written(core, ip);                                                                   \
        count(core, ip, goes);                                                                    \
        cps_tap_step_(&core->machine->engine.tap, core->who, (uint32_t)(ip - core->uops), before, \
                      r, 32);                                                                     \
        memcpy(before, r, sizeof(before));                                                        \
    } while (0)
#define WATCH_NEXT()      WATCH_STEP(false)
#define WATCH_TAKEN()     WATCH_STEP(true)
#define WATCH_BULK(most)  UINT64_C(0)
#define WATCH_TYPE4(most) UINT64_C(0)
#include "emu/afuc/body.h"
