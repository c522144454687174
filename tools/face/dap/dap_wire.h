/* SPDX-License-Identifier: MIT
 * Messages of the Debug Adapter Protocol on a pair of streams: a header with the length, then JSON.
 * A thread of its own reads, so that a request can interrupt a run. */
#ifndef CPS_DAP_WIRE_H
#define CPS_DAP_WIRE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "isa/base/err.h"

struct json_object;
struct dap_wire;

/**
 * Starts reading. @param name  of the input, for messages @param in  descriptor @param interrupt
 * set to 1 when a request arrives that ends a run: pause, disconnect, terminate, restart; or when
 * the input ends
 */
CPS_MUST_USE struct cps_err *dap_wire_open(const char *name, int in, FILE *out,
                                           atomic_int *interrupt, struct dap_wire **ret);
/** Ends without waiting for more input. */
void dap_wire_close(struct dap_wire *wire);
/** Waits for the next message, which the caller releases. *ret is NULL at the end of the input.
 * @return CPS_ERR_INPUT for what is not the protocol: offset, what was expected */
CPS_MUST_USE struct cps_err *dap_wire_next(struct dap_wire *wire, struct json_object **ret);
/** The same, not beyond @p until of CLOCK_MONOTONIC.
 * @return CPS_ERR_OS too: it has passed, whatever has come */
CPS_MUST_USE struct cps_err *
dap_wire_next_until(struct dap_wire *wire, const struct timespec *until, struct json_object **ret);
/** The next message if one is there; *ret is NULL if not, or at the end of the input. */
CPS_MUST_USE struct cps_err *dap_wire_try(struct dap_wire *wire, struct json_object **ret);
/** While set, every message interrupts, not only those that end a run; also one that waits.
 * Behind it those that wait interrupt the next run only if they end one. */
void dap_wire_listen(struct dap_wire *wire, bool listen);
/** Whether the input has ended and all of it was taken. */
bool dap_wire_ended(struct dap_wire *wire);
/** Sends and releases @p message, to which it adds "seq". @return CPS_ERR_NOMEM, and nothing sent,
 * if it is not all there: the client waits for it, so the session is over */
CPS_MUST_USE struct cps_err *dap_wire_send(struct dap_wire *wire, struct json_object *message);
/** The same of one that has its "seq" already. */
CPS_MUST_USE struct cps_err *dap_wire_pass(struct dap_wire *wire, struct json_object *message);

#endif
