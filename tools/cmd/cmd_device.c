/* SPDX-License-Identifier: MIT
 * cpscope device: a program runs on a virtual GPU, whose command processor executes real firmware.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "tools/cmd/cmd_run.h"
#include "tools/cmd/terminal/report.h"
#include "tools/device/device.h"
#include "tools/device/start.h"
#include "tools/run/files.h"
#include "tools/run/interrupt.h"

int cmd_device(const struct cps_options *opt);

struct session {
    struct run_source source; /* first */
    const struct cps_options *opt;
    struct device device;
    char folder[128];
    pid_t pid;
    int pidfd;
    int ended; /* as waitpid() says it */
};

static int list_chips(void)
{
    const struct device_chip *chip = NULL;
    for (size_t i = 0; (chip = device_chip_at(i)); i++)
        printf("%-6s 0x%08" PRIx32 "  %s%s%s\n", chip->name, (uint32_t)chip->chip_id,
               chip->firmware[0], chip->firmware[1] ? " " : "",
               chip->firmware[1] ? chip->firmware[1] : "");
    return 0;
}

void device_hang(struct device *device, const char *why)
{
    const struct device_file *file = device->gpu.job->file;
    report_aside("hang of %s: %s", file->comm, why);
}

static struct cps_err *serve(struct session *session)
{
    struct device *device = &session->device;
    const struct device_program program = {
        .folder = session->folder, .root = session->opt->root, .argv = session->opt->arg};
    char socket[160];
    bool ended = false;
    CPS_TRY(device_gpu_boot(device));
    CPS_TRY(device_folder_make(session->folder, sizeof(session->folder)));
    snprintf(socket, sizeof(socket), "%s/%s", session->folder, DEVICE_SOCKET);
    CPS_TRY(device_listen(device, socket));
    CPS_TRY(device_program_start(&program, &session->pid, &session->pidfd));
    CPS_TRY(device_serve(device, session->pidfd, &ended));
    if (waitpid(session->pid, &session->ended, ended ? 0 : WNOHANG) == session->pid)
        session->pid = 0;
    return NULL;
}

static struct cps_err *run_session(struct run_source *source, struct play *play)
{
    struct session *session = (struct session *)source;
    struct interrupt taken;
    session->device.gpu.play = play;
    interrupt_take(&taken);
    struct cps_err *err = serve(session);
    device_deinit(&session->device);
    interrupt_give_back(&taken);
    device_folder_remove(session->folder);
    play->boot_only = !play->submissions; /* the program asked for nothing */
    play->stop = play->engine ? CPS_STOP_IDLE : play->stop;
    cps_engine_end(play->engine, play->stop);
    return err;
}

/* Firmware of the chip, where the options name none. */
static int choose_firmware(struct cps_options *opt, const struct device_chip *chip,
                           char path[2][FILES_PATH])
{
    for (unsigned i = 0; i < 2 && chip->firmware[i] && opt->run.fw_count == i; i++)
        opt->run.fw[opt->run.fw_count++] =
            files_firmware(&opt->fw_path, chip->firmware[i], path[i]);
    return 0;
}

/* What the run's own policies are unless the options say something else. */
static struct cps_err *choose_policy(struct cps_options *opt)
{
    struct cps_run_config *run = &opt->run;
    if (run->policy_count == CPS_RUN_MAX_POLICY)
        return cps_err_new(CPS_ERR_USAGE, "--policy: at most %d of them", CPS_RUN_MAX_POLICY - 1);
    memmove(run->policy + 1, run->policy, run->policy_count * sizeof(*run->policy));
    run->policy[0] = (struct cps_run_policy){NULL, DEVICE_POLICY};
    run->policy_count++;
    return NULL;
}

static void print_counts(const struct session *session)
{
    const struct device_counts *counts = &session->device.counts;
    report_aside("%" PRIu64 " submissions of %" PRIu64 " open files, %" PRIu64
                 " waits on memory, %" PRIu64 " hangs",
                 counts->submits, counts->files, counts->waits, counts->hangs);
}

/* The program's own status, else that of the run. */
static int status_of(const struct session *session, int status)
{
    if (status)
        return status;
    if (WIFSIGNALED(session->ended))
        return 128 + WTERMSIG(session->ended);
    if (WIFEXITED(session->ended) && WEXITSTATUS(session->ended))
        return WEXITSTATUS(session->ended);
    return session->device.counts.hangs ? 4 : 0;
}

int cmd_device(const struct cps_options *given)
{
    static char path[2][FILES_PATH];
    struct cps_options opt = *given;
    const char *name = opt.run.chip ? opt.run.chip : "a750";
    const struct device_chip *chip = device_chip_find(name);
    if (!strcmp(name, "list"))
        return list_chips();
    if (!chip)
        return report_usage("--chip %s: no such chip; --chip list prints them", name);
    if (!opt.arg_count)
        return report_usage("device needs a program to run: -- PROGRAM [ARG]...");
    opt.run.chip = NULL;
    opt.arg[opt.arg_count] = NULL; /* in argv, which has room for it */
    int status = report_result(choose_policy(&opt));
    if (status)
        return status;
    choose_firmware(&opt, chip, path);
    struct session session = {.source = {.name = "device", .run = run_session},
                              .opt = &opt,
                              .device = {.config = {.chip = chip,
                                                    .hang_after = (int64_t)opt.hang_after * 1000000,
                                                    .no_vm_bind = opt.old_kernel},
                                         .gpu.off = opt.idle,
                                         .listener = -1},
                              .pidfd = -1};
    device_gpu_host(&session.device, &session.source.host);
    status = run_source(&opt, &session.source);
    if (session.pidfd >= 0)
        close(session.pidfd);
    print_counts(&session);
    return status_of(&session, status);
}
