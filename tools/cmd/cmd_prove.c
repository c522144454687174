/* SPDX-License-Identifier: MIT
 * cpscope prove: which packet handlers of two revisions do the same, for every packet. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cmd/options/opt.h"
#include "tools/run/cachedir.h"
#include "tools/explain/prove/task.h"
#include "tools/cmd/terminal/report.h"
#include "tools/cmd/terminal/text.h"

int cmd_prove(const struct cps_options *opt);
int cmd_run(const struct cps_options *opt);

/* The trace of a stream, which `check` holds later firmware against: what `run` writes. Its summary
 * is nobody's business here. */
static struct cps_err *write_golden(const struct prove *prove, struct json_object *witness,
                                    unsigned side, char *stream, const char *golden)
{
    int status = 0;
    struct cps_options run = *prove->opt;
    stage_firmware(&prove->stage, side, run.fw);
    run.fw_count = run.fw[1] ? 2 : 1;
    run.inject = cps_json_get_text(witness, "inject", NULL);
    run.arg = &stream;
    run.arg_count = 1;
    run.output = golden;
    run.json = run.all = false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        bool quiet = dup2(null, STDOUT_FILENO) >= 0 && dup2(null, STDERR_FILENO) >= 0;
        _exit(quiet ? cmd_run(&run) : 3);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return cps_err_os(golden, "write");
    bool good = WIFEXITED(status) && WEXITSTATUS(status) != 2 && WEXITSTATUS(status) != 3;
    return good ? NULL : cps_err_new(CPS_ERR_OS, "%s: the trace was not written", golden);
}

static struct cps_err *write_goldens(const struct prove *prove, const struct prove_task *task)
{
    char stream[4096];
    char golden[4096];
    CPS_BUF name = {0};
    struct json_object *witness = cps_json_get(task->result, "witness");
    if (!witness)
        return NULL;
    prove_file_name(task->result, &name);
    for (unsigned i = 0; i < 2; i++) {
        int a =
            snprintf(stream, sizeof(stream), "%s/%s.pm4", prove->opt->output, cps_buf_text(&name));
        int b = snprintf(golden, sizeof(golden), "%s/%s.%s.txt", prove->opt->output,
                         cps_buf_text(&name), i ? "new" : "old");
        if (name.failed || a >= (int)sizeof(stream) || b >= (int)sizeof(golden))
            return cps_err_new(CPS_ERR_INPUT, "%s: the path is too long", prove->opt->output);
        CPS_TRY(write_golden(prove, witness, i, stream, golden));
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
    CPS_TRY(cache_choose(opt, true, &cache));
    prove->cache = *cache.dir ? cache.dir : NULL;
    prove_recall(prove);
    CPS_TRY(prove_run(prove));
    return print(prove);
}

int cmd_prove(const struct cps_options *opt)
{
    struct prove prove = {0};
    if (opt->fw_count < 2 || opt->fw_count > 3)
        return report_usage("prove takes --fw OLD --fw NEW, and handlers to look at no others");
    struct cps_err *err = run(&prove, opt);
    int status = err ? report_error(err) : status_of(&prove);
    prove_close(&prove);
    return status;
}
