/* SPDX-License-Identifier: MIT
 * Editors that attach to a run: `run --listen`. */
#ifndef CPS_ATTACH_SERVER_H
#define CPS_ATTACH_SERVER_H

#include "tools/cmd/options/opt.h"
#include "tools/run/play.h"

struct attach_server;

/** Begins to listen if the options ask for it, in a thread of its own, which refuses a second
 * client, and prints where on stderr; else *ret stays NULL.
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
