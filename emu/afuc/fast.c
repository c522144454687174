/* SPDX-License-Identifier: MIT
 * The interpreter with nobody watching. */
#include "emu/afuc/ctrl.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/packet.h"
#include "emu/afuc/port.h"
#include "emu/afuc/queue.h"
#include "emu/afuc/run.h"
#include "emu/afuc/bulk.h"
#include "emu/afuc/type4.h"

#define AFUC_RUN          afuc_run_
#define AFUC_GO           ip->go
#define WATCH_BEGIN()     ((void)0)
#define WATCH_NEXT()      ((void)0)
#define WATCH_TAKEN()     ((void)0)
#define WATCH_BULK(most)  afuc_bulk_(core, ip, most)
#define WATCH_TYPE4(most) afuc_type4_(core, ip, most)
#include "emu/afuc/body.h"

const void *const *afuc_handlers_(void)
{
    return (const void *const *)(uintptr_t)afuc_run_(NULL, 0);
}
