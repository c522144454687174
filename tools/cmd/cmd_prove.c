/* SPDX-License-Identifier: MIT
 * cpscope prove: which packet handlers of two revisions do the same, for every packet. */

#include "tools/cmd/options/opt.h"
#include "tools/run/cachedir.h"
#include "tools/explain/fuzz/fuzz.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"

int cmd_prove(const struct cps_options *opt);

/* The traces of a stream, which `check` holds later firmware against: what `run` writes. */
static struct cps_err *write_goldens(const struct prove *prove, const char *dir,
                                     struct json_object *result)
{
    CPS_BUF name = {0};
    CPS_BUF stream = {0};
    struct json_object *witness = cps_json_get(result, "witness");
    if (!witness)
        return NULL;
    prove_file_name(result, &name);
    cps_buf_printf(&stream, "%s/%s.pm4", dir, tool_text(&name));
    for (unsigned i = 0; i < 2; i++) {
        struct cps_run_config config = *prove->config;
        CPS_BUF golden = {0};
        stage_firmware(&prove->stage, i, config.fw);
        config.fw_count = config.fw[1] ? 2 : 1;
        config.inject = cps_json_get_text(witness, "inject", NULL);
        cps_buf_printf(&golden, "%s/%s.%s.txt", dir, name.data, i ? "new" : "old");
        CPS_TRY(trace_case(&config, config.limit, tool_text(&stream), tool_text(&golden)));
    }
    return NULL;
}

/* 0 is a promise: all that was asked for is equal on all paths. A promise that execution breaks is
 * a defect of the program. */
static int status_of(const struct prove *prove)
{
    if (prove->interrupted)
        return 130;
    if (prove_contradictions(prove))
        return 5;
    if (prove_count(prove, VERDICT_DIFFERENT))
        return 1;
    size_t equal = prove_count(prove, VERDICT_SAME_CODE) + prove_count(prove, VERDICT_EQUAL);
    return equal < prove->tasks ? 4 : 0;
}

static struct cps_err *run(struct prove *prove, const struct cps_options *opt)
{
    struct cache_choice cache;
    CPS_BUF out = {0};
    CPS_TRY(prove_open(prove));
    CPS_TRY(cache_choose(opt->cache, !opt->no_cache, &cache, NULL));
    prove->cache = *cache.dir ? cache.dir : NULL;
    prove_recall(prove);
    CPS_TRY(prove_run(prove));
    if (opt->output)
        CPS_TRY(prove_write(prove, opt->output));
    for (size_t i = 0; i < prove->tasks && opt->output; i++)
        CPS_TRY(write_goldens(prove, opt->output, prove->task[i].result));
    if (opt->json)
        return report_json(prove_results(prove));
    prove_table(prove, opt->all, &out);
    return report_text(&out);
}

int cmd_prove(const struct cps_options *opt)
{
    struct prove prove = {.config = &opt->run,
                          .name = (const char *const *)opt->arg,
                          .names = opt->arg_count,
                          .jobs = opt->jobs > 0 ? (unsigned)opt->jobs : 1,
                          .runs =
                              opt->cross_check < 0 ? CROSSCHECK_RUNS : (unsigned)opt->cross_check};
    if (opt->run.fw_count < 2 || opt->run.fw_count > 3)
        return report_usage(
            "prove takes --fw OLD --fw NEW, and names of handlers to check only those");
    struct cps_err *err = run(&prove, opt);
    int status = err ? report_error(err) : status_of(&prove);
    prove_close(&prove);
    return status;
}
