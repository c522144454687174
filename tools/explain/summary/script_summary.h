/* SPDX-License-Identifier: MIT
 * The summary of a run without firmware: what a script, or a host, did. */
#ifndef CPS_SCRIPT_SUMMARY_H
#define CPS_SCRIPT_SUMMARY_H

#include "tools/run/account.h"
#include "tools/run/play.h"

/** As summary_print(). */
CPS_MUST_USE struct cps_err *
script_summary(const struct play *play, const struct play_account *account, int status, bool json);

#endif
