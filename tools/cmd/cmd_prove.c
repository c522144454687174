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
static struct cps_err *write_goldens(const struct prove *prove, const struct prove_task *task)
{
    CPS_BUF name = {0};
    CPS_BUF stream = {0};
    struct json_object *witness = cps_json_get(task->result, "witness");
    if (!witness)
        return NULL;
    prove_file_name(task->result, &name);
    cps_buf_printf(&stream, "%s/%s.pm4", prove->opt->output, tool_text(&name));
    for (unsigned i = 0; i < 2; i++) {
        struct cps_run_config config = prove->opt->run;
        CPS_BUF golden = {0};
        stage_firmware(&prove->stage, i, config.fw);
        config.fw_count = config.fw[1] ? 2 : 1;
        config.inject = cps_json_get_text(witness, "inject", NULL);
        cps_buf_printf(&golden, "%s/%s.%s.txt", prove->opt->output, name.data, i ? "new" : "old");
        CPS_TRY(trace_case(&config, config.limit, tool_text(&stream), tool_text(&golden)));
    }
    return NULL;
}

static struct cps_err *write_all(const struct prove *prove)
{
    CPS_TRY(prove_write(prove, prove->opt->output));
    for (size_t i = 0; i < prove->tasks; i++)
        CPS_TRY(write_goldens(prove, &prove->task[i]));
    return NULL;
}

static struct cps_err *print(const struct prove *prove)
{
    CPS_BUF out = {0};
    if (prove->opt->output)
        CPS_TRY(write_all(prove));
    if (prove->opt->json)
        return report_json(prove_results(prove));
    prove_table(prove, prove->opt->all, &out);
    return report_text(&out);
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
    return prove_count(prove, VERDICT_UNDECIDED) || prove_count(prove, VERDICT_BOUNDED) ||
                   prove_count(prove, VERDICT_WAITS)
               ? 4
               : 0;
}

static struct cps_err *run(struct prove *prove, const struct cps_options *opt)
{
    struct cache_choice cache;
    CPS_TRY(prove_open(prove, opt));
    CPS_TRY(cache_choose(opt->cache, !opt->no_cache, &cache));
    prove->cache = *cache.dir ? cache.dir : NULL;
    prove_recall(prove);
    CPS_TRY(prove_run(prove));
    return print(prove);
}

int cmd_prove(const struct cps_options *opt)
{
    struct prove prove = {0};
    if (opt->run.fw_count < 2 || opt->run.fw_count > 3)
        return report_usage("prove takes --fw OLD --fw NEW, and handlers to look at no others");
    struct cps_err *err = run(&prove, opt);
    int status = err ? report_error(err) : status_of(&prove);
    prove_close(&prove);
    return status;
}
