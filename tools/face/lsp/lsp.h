/* SPDX-License-Identifier: MIT
 * The language server: assembly and PM4 text for editors, in the Language Server Protocol. */
#ifndef CPS_LSP_H
#define CPS_LSP_H

#include <stdio.h>

#include "tools/run/run.h"

struct json_object;

/** The options of the command line with those that a client names. Texts of @p ret may point into
 * @p named; NULL: none are. */
typedef struct cps_err *lsp_options(const void *context, struct json_object *named,
                                    struct cps_run_config *ret);
/**
 * Serves one client until it sends `exit` or @p in ends.
 * @param options  gives chip or engine, and the folder of names
 * @param status   gets 0 if the client sent `shutdown` before, else 1, as the protocol wants it
 * @return NULL, CPS_ERR_OS, CPS_ERR_NOMEM, or CPS_ERR_INPUT for what is not the protocol
 */
CPS_MUST_USE struct cps_err *lsp_serve(lsp_options *options, const void *context, FILE *in,
                                       FILE *out, int *status);

#endif
