/* SPDX-License-Identifier: MIT
 * The Debug Adapter Protocol. */
#include "dap.h"

struct cps_err *dap_serve(struct repl *repl, FILE *in, FILE *out)
{
    (void)repl;
    (void)in;
    (void)out;
    return cps_err_new(CPS_ERR_UNSUPPORTED, "--dap is not there yet");
}
