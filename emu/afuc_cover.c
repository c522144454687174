/* SPDX-License-Identifier: MIT
 * The interpreter with counters: how often each instruction ran, and how often it branched. */
#include "machine.h"

#define AFUC_RUN      afuc_run_counted_
#define WATCH_BEGIN() struct cps_cover *const cover = core->cover
#define WATCH_NEXT()  cover[ip - base].run++
#define WATCH_TAKEN() (cover[ip - base].run++, cover[ip - base].taken++)
#include "afuc_body.h"
