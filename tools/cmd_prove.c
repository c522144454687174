/* SPDX-License-Identifier: MIT
 * cpscope prove: which packet handlers of two revisions do the same, for every packet. */
#include <string.h>

#include "tools/opt.h"
#include "tools/play/cachedir.h"
#include "tools/prove/task.h"
#include "tools/report/report.h"
#include "tools/report/text.h"

int cmd_prove(const struct cps_options *opt);

static void find_cache(struct prove *prove, char *dir, size_t size)
{
    if (prove->opt->no_cache)
        return;
    struct cps_err *err = prove->opt->cache ? NULL : cache_default_dir(dir, size);
    if (err)
        report_note("going on without keeping results", err);
    else
        prove->cache = prove->opt->cache ? prove->opt->cache : dir;
    cps_err_free(err);
}

static struct cps_err *print(const struct prove *prove)
{
    CPS_BUF out = {0};
    if (prove->opt->output)
        CPS_TRY(prove_write(prove, prove->opt->output));
    if (prove->opt->json)
        return report_json(prove_results(prove));
    prove_table(prove, prove->opt->all, &out);
    return report_text(&out);
}

/* 0 is a promise: all that was asked for is equal on all paths. */
static int status_of(const struct prove *prove)
{
    if (prove->interrupted)
        return 130;
    if (prove_count(prove, VERDICT_DIFFERENT))
        return 1;
    return prove_count(prove, VERDICT_UNDECIDED) || prove_count(prove, VERDICT_BOUNDED) ? 4 : 0;
}

static struct cps_err *run(struct prove *prove, const struct cps_options *opt)
{
    char dir[4096];
    CPS_TRY(prove_open(prove, opt));
    find_cache(prove, dir, sizeof(dir));
    prove_recall(prove);
    CPS_TRY(prove_run(prove));
    return print(prove);
}

int cmd_prove(const struct cps_options *opt)
{
    struct prove prove = {0};
    if (opt->fw_count != 2)
        return report_usage("prove takes --fw OLD --fw NEW, and handlers to look at no others");
    struct cps_err *err = run(&prove, opt);
    int status = err ? report_error(err) : status_of(&prove);
    prove_close(&prove);
    return status;
}
