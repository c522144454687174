/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol: editors drive a debugging session. */
#ifndef CPS_DAP_H
#define CPS_DAP_H

#include <stdio.h>

#include "tools/face/debugger/command.h"
#include "tools/run/play.h"

struct json_object;

/** What a session is opened from. */
struct dap_setup {
    struct cps_run_config config;
    const char *capture; /**< NULL: none */
    const char *symbols;
    const char *script; /**< of commands that run before the first stop; NULL: none */
    enum cps_scheme scheme;
};
/** Reads the arguments of `launch`, which texts of @p ret may point into. */
typedef struct cps_err *dap_options(struct json_object *arguments, struct dap_setup *ret);

/** Serves one client until it disconnects or the input ends. The session is open, or `launch` opens
 * it. @return NULL, or CPS_ERR_INPUT for a stream that is not the protocol */
CPS_MUST_USE struct cps_err *dap_serve(struct debugger *debugger, dap_options *options, FILE *in,
                                       FILE *out);

/** Editors that attach to a run: `run --listen`. */
struct attach_server;

/** Begins to listen, and prints where on stderr. @param path  of the socket; NULL or "": the usual
 * place @param waits  for the first editor, before the run begins
 * @return CPS_ERR_OS, CPS_ERR_INPUT: no such place, a run that lives has it, an input that cannot
 * be read twice */
CPS_MUST_USE struct cps_err *attach_server_open(const struct dap_setup *setup, const char *path,
                                                bool waits, struct attach_server **ret);
/** Lets editors in while the engine of @p play runs, which waits meanwhile; waits for the
 * first one, if the options say so. NULL is fine. */
void attach_server_begin(struct attach_server *server, struct play *play);
/** Removes the socket. NULL is fine. */
void attach_server_close(struct attach_server *server);
/** Lets editors in while the session of @p debugger, whose input is a device, goes on: they get
 * this session, one after the other, and it waits meanwhile. Until the program has ended, an editor
 * or a signal ends it. */
void attach_server_serve(struct attach_server *server, struct debugger *debugger);
/** For handlers of signals that end the process: removes the socket. */
void attach_unlink_all(void);

#endif
