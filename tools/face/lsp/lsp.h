/* SPDX-License-Identifier: MIT
 * The language server: assembly and PM4 text for editors, in the Language Server Protocol. */
#ifndef CPS_LSP_H
#define CPS_LSP_H

#include <stdio.h>

#include "tools/cmd/options/opt.h"

/**
 * Serves one client until it says `exit` or @p in ends.
 * @param opt     the options of `cpscope lsp`; the client may say others
 * @param status  gets 0 if the client said `shutdown` before, else 1, as the protocol wants it
 * @return NULL, CPS_ERR_OS, CPS_ERR_NOMEM, or CPS_ERR_INPUT for what is not the protocol
 */
CPS_MUST_USE struct cps_err *lsp_serve(const struct cps_options *opt, FILE *in, FILE *out,
                                       int *status);

#endif
