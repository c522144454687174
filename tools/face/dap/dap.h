/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: editors drive a debugging session. */
#ifndef CPS_DAP_H
#define CPS_DAP_H

#include <stdio.h>

#include "tools/face/debugger/command.h"
#include "tools/run/play.h"

/** Serves one client until it disconnects or the input ends. The session is open. @return NULL, or
 * CPS_ERR_INPUT for a stream that is not the protocol */
CPS_MUST_USE struct cps_err *dap_serve(struct debugger *debugger, FILE *in, FILE *out);

/** Editors that attach to a run: `run --listen`. */
struct attach_server;

/** Begins to listen if the options ask for it, and prints where on stderr; else *ret stays NULL.
 * @return CPS_ERR_OS, CPS_ERR_INPUT: no such place, a run that lives has it, an input that cannot
 * be read twice */
CPS_MUST_USE struct cps_err *attach_server_open(const struct cps_options *opt,
                                                struct attach_server **ret);
/** Lets editors in while the engine of @p play runs, which stands still as long; waits for the
 * first one, if the options say so. NULL is fine. */
void attach_server_begin(struct attach_server *server, struct play *play);
/** Removes the socket. NULL is fine. */
void attach_server_close(struct attach_server *server);
/** For handlers of signals that end the process: removes the socket. */
void attach_unlink_all(void);

#endif
