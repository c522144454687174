/* SPDX-License-Identifier: MIT
 * The puller. Private to emu/nv/. */
#ifndef CPS_NV_PFIFO_PULL_H
#define CPS_NV_PFIFO_PULL_H

#include "emu/nv/pfifo.h"

/** Whether there is a command that may be taken. */
bool pfifo_has_command_(const struct nv *e);
/** Takes one; false if none was: PGRAPH is on another channel, or it led to an error. */
bool pfifo_pull_(struct nv *e);

#endif
