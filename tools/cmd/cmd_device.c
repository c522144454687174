/* SPDX-License-Identifier: MIT
 * cpscope device: a program runs on a virtual GPU, whose command processor executes real firmware.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "isa/base/within.h"
#include "tools/cmd/cmd_run.h"
#include "tools/cmd/device_debug.h"
#include "tools/cmd/terminal/report.h"
#include "emu/afuc/afuc.h"
#include "tools/device/device.h"
#include "tools/device/poison.h"
#include "tools/device/record.h"
#include "tools/device/start.h"
#include "tools/run/coredump.h"
#include "trace/out/json.h"
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
    struct cps_err *failed;
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

/* ---- hang dumps ---- */

enum { MOST = 64 << 20, MOST_DUMPS = 64 };

struct buffer_list {
    const struct device_gpu *gpu;
    size_t room; /* bytes that may still be dumped */
    size_t page; /* the next one of the process */
};

static bool runs_in(const struct device_job *job, const struct device_mapping *mapping)
{
    for (size_t i = 0; i < job->cmd_count; i++) {
        if (job->cmd[i].iova - mapping->iova < mapping->size)
            return true;
    }
    return false;
}

/* Pages in a row that the job reads of its process. */
static bool next_pages(struct buffer_list *list, struct coredump_buffer *ret)
{
    const struct device_gpu *gpu = list->gpu;
    size_t from = list->page;
    if (from == gpu->page_count)
        return false;
    do {
        list->page++;
    } while (list->page < gpu->page_count &&
             gpu->page[list->page] == gpu->page[list->page - 1] + DEVICE_PAGE);
    *ret = (struct coredump_buffer){.iova = gpu->page[from],
                                    .size = (list->page - from) * DEVICE_PAGE,
                                    .name = "process",
                                    .name_size = strlen("process"),
                                    .dumped = true};
    return true;
}

/* Buffers of the address space; with contents the streams, and others as long as the dump is no
 * larger than a person wants. */
static bool next_buffer(void *context, size_t index, struct coredump_buffer *ret)
{
    struct buffer_list *list = context;
    const struct device_job *job = list->gpu->job;
    const struct device_space *space = &job->file->space;
    if (index >= space->count)
        return next_pages(list, ret);
    const struct device_mapping *mapping = &space->list[index];
    const char *name = mapping->bo ? mapping->bo->name : NULL;
    bool small = mapping->size <= list->room;
    bool dumped = (mapping->bo || mapping->process) &&
                  (small || (runs_in(job, mapping) && mapping->size <= MOST));
    *ret = (struct coredump_buffer){.iova = mapping->iova,
                                    .size = mapping->size,
                                    .flags = mapping->bo ? mapping->bo->flags : 0,
                                    .name = name,
                                    .name_size = name ? strlen(name) : 0,
                                    .dumped = dumped};
    list->room -= dumped && mapping->size <= list->room ? (size_t)mapping->size : 0;
    return true;
}

static struct cps_err *write_dump(struct session *session, const char *stop, const char *path)
{
    const struct device *device = &session->device;
    const struct device_gpu *gpu = &device->gpu;
    const struct device_file *file = gpu->job->file;
    struct cps_engine *engine = gpu->play->engine;
    struct cps_afuc *machine = cps_afuc_of(engine);
    struct cps_position at = cps_afuc_position(machine, 0, CPS_LEVEL_RB);
    struct buffer_list list = {gpu, 32 << 20, 0};
    struct cps_outfile *out = NULL;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct coredump_ring ring = {
        .iova = at.iova,
        .dwords = at.dwords,
        .wptr = cps_afuc_ring_end_(machine, 0),
        .last_fence = gpu->fence + (gpu->next_cmd <= gpu->job->cmd_count),
        .retired_fence = cps_afuc_fence(machine, cps_afuc_ring(machine))};
    const struct coredump_fault fault = {.ttbr0 = file->context,
                                         .iova = gpu->fault & ~DEVICE_FAULTED,
                                         .type = "TRANSLATION",
                                         .source = "CP",
                                         .header = gpu->fault_by.header,
                                         .packet = gpu->fault_by.packet,
                                         .level = hang_level(engine->gen, gpu->fault_by.level)};
    const struct coredump_config config = {.comm = file->comm,
                                           .cmdline = file->cmdline,
                                           .seconds = now.tv_sec,
                                           .nanoseconds = (uint32_t)now.tv_nsec,
                                           .gpu_id = device->config.chip->gpu_id,
                                           .chip_id = (uint32_t)device->config.chip->chip_id,
                                           .ticks = engine->clock - gpu->began,
                                           .begin = gpu->ring_began,
                                           .fault = gpu->fault ? &fault : NULL,
                                           .stop = stop,
                                           .ring = &ring,
                                           .ring_count = 1,
                                           .context = &list,
                                           .buffer = next_buffer};
    CPS_TRY(cps_outfile_open(path, &out));
    struct cps_err *err = coredump_write(engine, &config, out);
    if (!err)
        return cps_outfile_commit(out);
    cps_outfile_abort(out);
    return err;
}

/* What the kernel would do: a line in its log, and a dump. */
static void tell_hang(struct device *device, const char *what, const char *why)
{
    struct session *session = (struct session *)((char *)device - offsetof(struct session, device));
    char path[FILES_PATH];
    uint64_t number = device->counts.hangs + device->counts.faults;
    report_aside("%s of %s: %s\n", what, device->gpu.job->file->comm, why);
    if (!session->opt->dumps || number > MOST_DUMPS)
        return;
    snprintf(path, sizeof(path), "%s/%s-%" PRIu64 ".devcore", session->opt->dumps, what, number);
    struct cps_err *err = write_dump(session, strcmp(what, "hang") ? NULL : why, path);
    if (!err)
        report_aside("dump: %s\n", path);
    session->failed = cps_err_first_(session->failed, err);
}

static void tell_poisoned(struct device *device, const char *why)
{
    (void)device;
    report_aside("poison: %s\n", why);
}

/* ---- the session ---- */

/* A folder that files go to while the program runs. */
static struct cps_err *check_folder(const char *option, const char *path)
{
    struct stat info;
    if (!path ||
        (stat(path, &info) == 0 && S_ISDIR(info.st_mode) && access(path, W_OK | X_OK) == 0))
        return NULL;
    return cps_err_new(CPS_ERR_OS, "%s %s: expected a folder that can be written", option, path);
}

/* Recording begins when the engine is there: its policies go into the file. */
static struct cps_err *open_record(struct session *session)
{
    const struct play *play = session->device.gpu.play;
    const struct device_chip *chip = session->device.config.chip;
    if (!session->opt->record)
        return NULL;
    return device_record_open(session->opt->record, (uint32_t)chip->chip_id, chip->gpu_id,
                              &play->policy, play->gen, &session->device.record);
}

static struct cps_err *serve(struct session *session)
{
    struct device *device = &session->device;
    const struct cps_options *opt = session->opt;
    const struct device_program program = {.folder = session->folder,
                                           .root = opt->root,
                                           .argv = opt->arg,
                                           .to_stderr = opt->json ||
                                                        (opt->output && !strcmp(opt->output, "-"))};
    char socket[160];
    bool ended = false;
    CPS_TRY(device_gpu_boot(device));
    CPS_TRY(open_record(session));
    CPS_TRY(device_folder_make(session->folder, sizeof(session->folder), session->opt->kgsl));
    snprintf(socket, sizeof(socket), "%s/%s", session->folder, DEVICE_SOCKET);
    CPS_TRY(device_listen(device, socket));
    CPS_TRY(device_program_start(&program, &session->pid, &session->pidfd));
    CPS_TRY(device_serve(device, session->pidfd, &ended));
    if (!ended && interrupted) /* from a terminal it has had the signal, too */
        kill(session->pid, interrupted);
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
    struct cps_err *err = cps_err_first_(serve(session), session->failed);
    if (err && session->pid > 0) {
        kill(session->pid, SIGTERM);
        waitpid(session->pid, &session->ended, 0);
        session->pid = 0;
    }
    err = cps_err_first_(err, session->device.late);
    device_deinit(&session->device);
    err = cps_err_first_(err, device_record_close(session->device.record));
    interrupt_give_back(&taken);
    device_folder_remove(session->folder);
    play->boot_only = !play->submissions; /* the program asked for nothing */
    play->stop = play->engine ? CPS_STOP_IDLE : play->stop;
    cps_engine_end(play->engine, play->stop);
    return err;
}

/* Firmware of the chip, where the options name none. */
static struct cps_err *choose_firmware(struct cps_options *opt, const struct device_chip *chip,
                                       char path[2][FILES_PATH])
{
    for (unsigned i = 0; i < 2 && chip->firmware[i] && opt->run.fw_count == i; i++) {
        opt->run.fw[i] = files_firmware(&opt->fw_path, chip->firmware[i], path[i]);
        opt->run.fw_count++;
        if (access(opt->run.fw[i], R_OK) != 0)
            return cps_err_new(CPS_ERR_INPUT,
                               "%s: not found; tools/firmware.sh fetches Debian's firmware, --fw "
                               "and --fw-path name other places",
                               chip->firmware[i]);
    }
    return NULL;
}

/* What the run's own policies are unless the options say something else. */
static struct cps_err *choose_policy(struct cps_options *opt)
{
    struct cps_run_config *run = &opt->run;
    if (run->policy_count == CPS_RUN_MAX_POLICY)
        return cps_err_new(CPS_ERR_USAGE, "--policy: at most %d of them", CPS_RUN_MAX_POLICY - 1);
    memmove(run->policy + 1, run->policy, run->policy_count * sizeof(*run->policy));
    /* The demo's firmware has none of the kernel's own packets. */
    run->policy[0] = (struct cps_run_policy){NULL, run->demo ? "ring=calls" : DEVICE_POLICY};
    run->policy_count++;
    return NULL;
}

static void put_counts(void *context, struct json_object *root)
{
    const struct session *session = context;
    const struct device_counts *counts = &session->device.counts;
    struct json_object *to = cps_json_new_object(root, "device");
    double seconds = (double)counts->nanoseconds / 1e9;
    CPS_BUF text = {0};
    cps_json_text(to, "chip", session->device.config.chip->name);
    cps_json_int(to, "program_status", device_program_status(session->ended));
    cps_json_uint(to, "open_files", counts->files);
    cps_json_uint(to, "submissions", counts->submits);
    cps_json_uint(to, "buffers", counts->buffers);
    cps_json_uint(to, "binds", counts->binds);
    cps_json_uint(to, "waits_on_memory", counts->waits);
    cps_json_uint(to, "preemptions", counts->preemptions);
    cps_json_uint(to, "hangs", counts->hangs);
    cps_json_uint(to, "faults", counts->faults);
    if (session->device.poison) {
        cps_json_uint(to, "poison_findings", counts->poisoned);
        cps_json_uint(to, "poison_unwritten_words", counts->unwritten);
    }
    cps_json_uint(to, "milliseconds_in_firmware", (uint64_t)counts->nanoseconds / 1000000);
    cps_buf_printf(&text,
                   "%s: %" PRIu64 " submissions of %" PRIu64 " open files, %.1f s in firmware; "
                   "%" PRIu64 " waits on memory, %" PRIu64 " preemptions, %" PRIu64
                   " hangs, %" PRIu64 " faults",
                   session->device.config.chip->name, counts->submits, counts->files, seconds,
                   counts->waits, counts->preemptions, counts->hangs, counts->faults);
    if (session->device.poison)
        cps_buf_printf(
            &text, ", %" PRIu64 " findings of poison, %" PRIu64 " words read that nothing wrote",
            counts->poisoned, counts->unwritten);
    cps_json_buf(root, ".device", &text);
    cps_buf_deinit(&text);
}

/* The program's own status, else that of the run. */
static int status_of(struct run_source *source, int status)
{
    const struct session *session = (const struct session *)source;
    if (status)
        return status;
    if (session->pid > 0 && interrupted)
        return 128 + interrupted;
    status = device_program_status(session->ended);
    return status ? status
           : session->device.counts.hangs || session->device.counts.faults ||
                   session->device.counts.poisoned
               ? 4
               : 0;
}

int cmd_device(const struct cps_options *given)
{
    static char path[2][FILES_PATH];
    struct cps_options opt = *given;
    const char *name = opt.run.chip ? opt.run.chip : opt.run.demo ? "a630" : "a750";
    const struct device_chip *chip = device_chip_find(name);
    if (!strcmp(name, "list"))
        return list_chips();
    if (!chip)
        return report_usage("--chip %s: no such chip; --chip list prints them", name);
    if (!opt.arg_count)
        return report_usage("device needs a program to run: -- PROGRAM [ARG]...");
    opt.run.chip = NULL;
    opt.arg[opt.arg_count] = NULL; /* in argv, which has room for it */
    struct cps_err *err = choose_policy(&opt);
    if (!err)
        err = check_folder("--dumps", opt.dumps);
    if (!err)
        err = check_folder("--record-dir", opt.record_dir);
    if (!err && !opt.run.demo)
        err = choose_firmware(&opt, chip, path);
    int status = report_result(err);
    if (status)
        return status;
    struct session session = {.source = {.name = "device", .status = status_of, .run = run_session},
                              .opt = &opt,
                              .device = {.config = {.chip = chip,
                                                    .hang_after = (int64_t)opt.hang_after * 1000000,
                                                    .record_folder = opt.record_dir,
                                                    .kgsl = opt.kgsl,
                                                    .no_vm_bind = opt.old_kernel},
                                         .gpu.off = opt.idle,
                                         .hang = tell_hang,
                                         .poisoned = tell_poisoned,
                                         .listener = -1},
                              .pidfd = -1};
    if (device_has_debugger(&opt)) {
        status = device_debug(&opt, &session.device);
        int failed = report_result(session.failed);
        return status ? status : failed;
    }
    struct device_poison *poison = opt.poison ? device_poison_new(&session.device) : NULL;
    if (opt.poison && !poison)
        return report_error(cps_err_nomem());
    if (poison) {
        session.device.poison = poison;
        session.source.watcher = device_poison_sink(poison);
        session.source.kinds = device_poison_kinds();
    }
    device_gpu_host(&session.device, &session.source.host);
    session.source.summary = (struct summary_source){&session, put_counts};
    status = run_source(&opt, &session.source);
    device_poison_free(poison);
    if (session.pidfd >= 0)
        close(session.pidfd);
    return status;
}
