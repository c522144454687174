/* SPDX-License-Identifier: MIT
 * The holes of a recovered firmware that a replay comes by: where the words were put in or taken
 * out is tried, and the replay that comes closest to the hardware decides. */
#ifndef CPS_PLAY_HOLES_H
#define CPS_PLAY_HOLES_H

#include "tools/run/replay.h"

/** Changes the engine and the firmware of @p replay, whose feed has all items. Does nothing where
 * the firmware was not recovered. */
CPS_MUST_USE struct cps_err *holes_fill(struct replay *replay);

#endif
