/* SPDX-License-Identifier: MIT
 * cpscope lsp: a language server on stdin and stdout. */
#include <string.h>

#include "isa/isa.h"
#include "tools/face/lsp/lsp.h"
#include "tools/cmd/json_options.h"
#include "tools/cmd/terminal/report.h"

int cmd_lsp(const struct cps_options *opt);

/* They are named as on the command line, and come after those. */
static struct cps_err *take_options(const void *context, struct json_object *named,
                                    struct cps_run_config *ret)
{
    struct cps_options opt = *(const struct cps_options *)context;
    CPS_TRY(json_options_take("initializationOptions", OPT_SHIFT_LSP, named, &opt));
    *ret = opt.run;
    return NULL;
}

int cmd_lsp(const struct cps_options *opt)
{
    int status = 0;
    if (opt->arg_count)
        return report_usage("lsp takes no file: an editor speaks to it through stdin and stdout");
    if (opt->run.engine && !strcmp(opt->run.engine, cps_isa_name(&cps_isa_pfifo)))
        return report_usage("%s has no code to assemble", opt->run.engine);
    struct cps_err *err = lsp_serve(take_options, opt, stdin, stdout, &status);
    return err ? report_error(err) : status;
}
