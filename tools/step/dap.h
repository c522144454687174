/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: editors drive a debugging session. */
#ifndef CPS_DAP_H
#define CPS_DAP_H

#include <stdio.h>

#include "tools/debug/command.h"

/** Serves one client until it disconnects or the input ends. The session is open. @return NULL, or
 * CPS_ERR_INPUT for a stream that is not the protocol */
CPS_MUST_USE struct cps_err *dap_serve(struct debugger *debugger, FILE *in, FILE *out);

#endif
