/* SPDX-License-Identifier: MIT
 * The interpreter with nobody watching. */
#include "emu/afuc/machine.h"

#define AFUC_RUN         afuc_run_
#define AFUC_UOPS        core->hot
#define AFUC_GO          ip->go
#define WATCH_BEGIN()    ((void)0)
#define WATCH_NEXT()     ((void)0)
#define WATCH_TAKEN()    ((void)0)
#define WATCH_BULK(most) afuc_bulk_(core, ip, most)
#include "emu/afuc/body.h"

void afuc_link_(struct afuc_uop *uop)
{
    uop->go = ((const void *const *)(uintptr_t)afuc_run_(NULL, 0))[uop->code];
}
