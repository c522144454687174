/* SPDX-License-Identifier: MIT
 * The interpreter with counters: how often each instruction ran, and how often it branched. */
#include "emu/afuc/ctrl.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/packet.h"
#include "emu/afuc/port.h"
#include "emu/afuc/queue.h"
#include "emu/afuc/run.h"
#include "emu/afuc/bulk.h"

static uint64_t counted_bulk(struct afuc_core *core, const struct afuc_uop *uop,
                             struct cps_cover *cover, uint64_t most)
{
    uint64_t done = afuc_bulk_(core, uop, most);
    cover[uop - core->uops].run += done;
    return done;
}

#define AFUC_RUN          afuc_run_counted_
#define AFUC_GO           handler[ip->take]
#define WATCH_BEGIN()     struct cps_cover *const cover = core->cover
#define WATCH_NEXT()      cover[ip - core->uops].run++
#define WATCH_TAKEN()     (cover[ip - core->uops].run++, cover[ip - core->uops].taken++)
#define WATCH_BULK(most)  counted_bulk(core, ip, cover, most)
#define WATCH_TYPE4(most) UINT64_C(0)
#include "emu/afuc/body.h"
