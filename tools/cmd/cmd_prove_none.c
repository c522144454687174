/* SPDX-License-Identifier: MIT
 * cpscope prove, built without z3. */
#include "tools/cmd/options/opt.h"
#include "tools/cmd/terminal/report.h"

int cmd_prove(const struct cps_options *opt);

int cmd_prove(const struct cps_options *opt)
{
    (void)opt;
    return report_error(cps_err_new(CPS_ERR_UNSUPPORTED, "prove needs z3, which this program was "
                                                         "built without: -Dsmt=enabled"));
}
