/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#ifndef CPS_SUMMARY_H
#define CPS_SUMMARY_H

#include "rig.h"

void summary_print(const struct rig *rig, bool json);

#endif
