/* SPDX-License-Identifier: MIT
 * cpscope device --step. */
#ifndef CPS_CMD_DEVICE_DEBUG_H
#define CPS_CMD_DEVICE_DEBUG_H

#include "tools/cmd/options/opt.h"
#include "tools/device/device.h"

/** Whether the options want a debugger as the GPU. */
bool device_has_debugger(const struct cps_options *opt);
/** Runs the program of the options with a debugger as the GPU. The program is killed when the
 * debugger is left before its end.
 * @param opt     with firmware and policies as `device` chooses them
 * @param device  configured; it is used up
 * @return the exit status: the debugger's, else the program's */
int device_debug(const struct cps_options *opt, struct device *device);

#endif
