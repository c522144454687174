/* SPDX-License-Identifier: MIT
 * cpscope device --step: the debugger of `cpscope step` is the GPU of a program. */
#include "tools/cmd/device_debug.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/cmd/cmd_step.h"
#include "tools/cmd/terminal/report.h"
#include "tools/device/start.h"
#include "tools/device/step.h"
#include "tools/run/interrupt.h"

struct program {
    struct device_step step; /* first; its `live` is first in it */
    const struct cps_options *opt;
    char folder[128];
    pid_t pid;
};

/* The firmware is loaded: the program starts, and waits with its first question. */
static struct cps_err *start_program(struct session_live *live, struct session *session)
{
    struct program *program = (struct program *)live;
    struct device *device = program->step.device;
    const struct device_chip *chip = device->config.chip;
    const struct device_program start = {.folder = program->folder,
                                         .root = program->opt->root,
                                         .argv = program->opt->arg,
                                         .debugged =
                                             !program->opt->listen && !program->opt->listen_wait,
                                         .to_stderr = program->opt->dap};
    char socket[160];
    live->session = session;
    session->play.gpu = chip->gpu_id ? chip->gpu_id : chip->chip_id & UINT32_MAX;
    CPS_TRY(play_check_gpu(&session->play));
    CPS_TRY(device_folder_make(program->folder, sizeof(program->folder), device->config.kgsl));
    snprintf(socket, sizeof(socket), "%s/%s", program->folder, DEVICE_SOCKET);
    CPS_TRY(device_listen(device, socket));
    return device_program_start(&start, &program->pid, &program->step.child);
}

static int end_program(struct program *program)
{
    int ended = 0;
    if (program->pid <= 0)
        return 0;
    if (!program->step.ended)
        kill(program->pid, SIGKILL);
    waitpid(program->pid, &ended, 0);
    close(program->step.child);
    return program->step.ended ? device_program_status(ended) : 0;
}

bool device_has_debugger(const struct cps_options *opt)
{
    return opt->step || opt->dap || opt->script || opt->batch || opt->screen || opt->listen ||
           opt->listen_wait;
}

int device_debug(const struct cps_options *opt, struct device *device)
{
    struct program program = {.step.live.open = start_program, .step.child = -1, .opt = opt};
    struct interrupt taken;
    if (opt->output || opt->poison || opt->record || opt->record_dir || opt->launch || opt->idle)
        return report_usage("the debugger (--step, --listen, --dap) has no -o, --poison, --record, "
                            "--record-dir, --launch or --idle");
    interrupt_take(&taken);
    device_step_init(&program.step, device);
    int status = step_session(opt, NULL, &program.step.live);
    int failed = report_result(device_step_deinit(&program.step));
    device_deinit(device);
    int ended = end_program(&program);
    device_folder_remove(program.folder);
    interrupt_give_back(&taken);
    return interrupted ? 128 + interrupted : status ? status : failed ? failed : ended;
}
