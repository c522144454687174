/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: editors drive a debugging session. */
#ifndef CPS_DAP_H
#define CPS_DAP_H

#include <stdio.h>
#include <time.h>

#include "tools/cmd/options/opt.h"
#include "tools/face/debugger/command.h"

/** Serves one client until it disconnects or the input ends. The session is open. @return NULL, or
 * CPS_ERR_INPUT for a stream that is not the protocol */
CPS_MUST_USE struct cps_err *dap_serve(struct debugger *debugger, FILE *in, FILE *out);

/** A run that clients attach to: they get a session of their own that stands where the run does,
 * so that nothing they do is seen in what the run writes. */
struct dap_run {
    const struct cps_options *opt; /**< of the run; every input can be read again */
    uint64_t clock;                /**< of its engine */
    bool attached;                 /**< set when a client did */
    bool ended;                    /**< set when one has asked for the end of the run */
    int socket;                    /**< of the client that is served */
    struct timespec patience_ends; /**< by then it has attached, or is let go */
};
/** The same for a client that comes through a socket, until it lets go or is gone, or has not
 * attached in 5 s.
 * @return CPS_ERR_NOMEM and the like: that of a client is none */
CPS_MUST_USE struct cps_err *dap_serve_run(struct dap_run *run, int socket);

#endif
