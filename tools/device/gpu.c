/* SPDX-License-Identifier: MIT
 * The GPU: an engine whose memory is that of the clients' buffers. Each command buffer of a job is
 * one submission of the run; what the run says of it is what `cpscope run` would say of a capture.
 *
 * A wait on memory is no end: the engine stops in it, and goes on at the same instruction when
 * something has changed. What has not changed for as long as the kernel would wait is a hang. */
#include "tools/device/device.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu/afuc/afuc.h"
#include "emu/mem.h"
#include "isa/base/list.h"
#include "isa/base/within.h"
#include "tools/device/poison.h"
#include "tools/device/record.h"
#include "tools/run/launch.h"

/* Ticks between two looks at clients: one or two milliseconds. */
#define SLICE (UINT64_C(1) << 18)

#define MILLISECOND INT64_C(1000000)
/* How many times the time of a hang all waits of a job may last, if each of them ends. */
#define MOST_WAITS 20

/* ---- jobs ---- */

static void fail(struct device *device, struct cps_err *err)
{
    if (err && device->failed)
        cps_err_free(err);
    else if (err)
        device->failed = err;
}

/* A time of the job, for those that asked for it. */
static void tell_time(struct device *device, size_t member)
{
    const struct device_job *job = device->gpu.job;
    uint64_t ticks = job->profile ? device_gpu_time(device) : 0;
    if (job->profile)
        device_space_write(&job->file->space, job->profile + member, &ticks, sizeof(ticks));
}

static void end_job(struct device *device, bool hung)
{
    struct device_gpu *gpu = &device->gpu;
    tell_time(device, offsetof(struct kgsl_profile, retired));
    struct cps_err *err = gpu->record ? device_record_end(gpu->record, gpu->fence) : NULL;
    if (err && err->code == CPS_ERR_INPUT)
        device->late = cps_err_first_(device->late, err); /* the recording ends, not the device */
    else
        fail(device, err);
    gpu->record = NULL;
    gpu->space = NULL;
    gpu->hung = hung || gpu->fault;
    gpu->state = GPU_ENDED;
}

/* The next command buffer of the job that has something to run, and behind the last one what the
 * driver writes to learn that the job has ended. @p ring  where to */
static struct cps_err *feed_next(struct device *device, unsigned ring)
{
    struct device_gpu *gpu = &device->gpu;
    struct device_job *job = gpu->job;
    bool runs = false;
    while (!runs && gpu->next_cmd < job->cmd_count) {
        const struct device_cmd *cmd = &job->cmd[gpu->next_cmd++];
        const struct cps_item item = {.kind = CPS_ITEM_SUBMIT,
                                      .stream = {.iova = cmd->iova,
                                                 .dwords = cmd->dwords,
                                                 .context = job->file->context,
                                                 .ring = ring}};
        uint64_t end = cmd->iova + 4 * (uint64_t)cmd->dwords;
        for (uint64_t at = cmd->iova - cmd->iova % DEVICE_PAGE; at < end; at += DEVICE_PAGE)
            device_gpu_note_page(gpu, at);
        if (gpu->record)
            device_record_stream(gpu->record, cmd->iova, cmd->dwords);
        CPS_TRY(play_feed_submission(gpu->play, &item, &runs));
    }
    if (runs)
        return NULL;
    if (gpu->next_cmd > job->cmd_count) {
        end_job(device, false);
        return NULL;
    }
    gpu->next_cmd++;
    const struct cps_item fence = {
        .kind = CPS_ITEM_FENCE,
        .fence = {.seqno = ++gpu->fence, .context = job->file->context, .ring = ring}};
    gpu->own_fence = gpu->fence;
    return cps_engine_feed(gpu->play->engine, &fence);
}

/* All memory that the context has: large buffers are mostly holes. */
static void record_memory(struct device *device)
{
    const struct device_space *space = device->gpu.space;
    struct device_record *record = device->gpu.record;
    for (size_t i = 0; i < space->count; i++) {
        uint64_t at = 0;
        uint64_t iova = 0;
        uint64_t size = 0;
        const uint8_t *data = NULL;
        while ((data = device_mapping_next(&space->list[i], &at, &iova, &size)))
            device_record_memory(record, iova, data, size);
    }
}

/* The recording of the job's context. Names of processes are texts of clients. */
static struct device_record *record_of(struct device *device, struct device_file *file)
{
    const struct device_chip *chip = device->config.chip;
    const struct play *play = device->gpu.play;
    char comm[sizeof(file->comm)];
    char path[4096];
    if (!device->config.record_folder || file->record)
        return file->record ? file->record : device->record;
    memcpy(comm, file->comm, sizeof(comm));
    for (char *at = comm; *at; at++)
        *at = isalnum((unsigned char)*at) ? *at : '_';
    snprintf(path, sizeof(path), "%s/%s-%ld-%" PRIu32 ".rd.gz", device->config.record_folder, comm,
             (long)file->pid, file->context);
    fail(device, device_record_open(path, (uint32_t)chip->chip_id, chip->gpu_id, &play->policy,
                                    play->gen, &file->record));
    return file->record;
}

static void begin_record(struct device *device, const struct device_job *job)
{
    struct device_gpu *gpu = &device->gpu;
    gpu->record = record_of(device, job->file);
    if (!gpu->record)
        return;
    device_record_begin(gpu->record, job->file->context, job->file->comm);
    record_memory(device);
}

/* ---- preemption ----
 *
 * The kernel has a ring for each group of priorities, and a job goes into the ring of its group.
 * Here it goes into the ring that the firmware reads, if that has no job, and else into a free one:
 * a switch is made only to interrupt a job, and to go on with it. There are as many rings as
 * groups, so that one is free. What runs in which order is the same. */

static uint32_t group_of(const struct device_job *job)
{
    return job->priority / DEVICE_PRIORITIES_OF_RING * DEVICE_PRIORITIES_OF_RING;
}

static struct device_run run_of(const struct device_gpu *gpu)
{
    return (struct device_run){.job = gpu->job,
                               .next_cmd = gpu->next_cmd,
                               .fence = gpu->own_fence,
                               .ticks = gpu->play->engine->clock - gpu->began,
                               .fault = gpu->fault,
                               .fault_by = gpu->fault_by,
                               .fault_told = gpu->fault_told};
}

static void take_run(struct device_gpu *gpu, const struct device_run *run)
{
    gpu->job = run->job;
    gpu->space = run->job ? &run->job->file->space : NULL;
    gpu->next_cmd = run->next_cmd;
    gpu->own_fence = run->fence;
    gpu->began = gpu->play->engine->clock - run->ticks;
    gpu->fault = run->fault;
    gpu->fault_by = run->fault_by;
    gpu->fault_told = run->fault_told;
}

/* The interrupted job that goes on first; NULL: there is none. */
static struct device_run *first_interrupted(struct device_gpu *gpu)
{
    struct device_run *first = NULL;
    for (unsigned i = 0; i < CPS_AFUC_RINGS; i++) {
        struct device_run *run = &gpu->other[i];
        if (run->job && (!first || run->job->priority < first->job->priority))
            first = run;
    }
    return first;
}

uint32_t device_gpu_limit(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    const struct device_run *first = first_interrupted((struct device_gpu *)gpu);
    bool records = device->record || device->config.record_folder;
    if (gpu->state == GPU_IDLE)
        return first ? group_of(first->job) : UINT32_MAX;
    if (!gpu->job || gpu->state == GPU_ENDED || gpu->switches || records || gpu->debugger ||
        !gpu->job->preemptible || !cps_afuc_has_rings(cps_afuc_of(gpu->play->engine)))
        return 0;
    return group_of(gpu->job);
}

static void ask(struct device *device, unsigned ring, bool within)
{
    struct device_gpu *gpu = &device->gpu;
    gpu->switches = cps_afuc_switch(cps_afuc_of(gpu->play->engine), ring, within);
    gpu->within = within;
    gpu->target = ring;
    gpu->state = GPU_RUNS;
}

/* The job is put into a free ring, and the firmware is asked for that. */
static void interrupt(struct device *device, struct device_job *job)
{
    struct device_gpu *gpu = &device->gpu;
    const struct device_run interrupted = run_of(gpu);
    struct device_space *space = gpu->space;
    const struct device_run fresh = {.job = job};
    bool waits = gpu->state == GPU_WAITS;
    unsigned ring = 0;
    while (ring == gpu->ring || gpu->other[ring].job)
        ring++;
    take_run(gpu, &fresh);
    fail(device, feed_next(device, ring));
    gpu->other[ring] = run_of(gpu);
    take_run(gpu, &interrupted);
    gpu->space = space;
    gpu->refused = 0;
    gpu->asked = gpu->play->engine->clock;
    ask(device, ring, waits);
}

bool device_gpu_resume(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    const struct device_run *first = first_interrupted(gpu);
    gpu->refused = 0;
    if (!first) /* a debugger's GPU has no engine of ours, and interrupts nothing */
        return false;
    gpu->asked = gpu->play->engine->clock;
    ask(device, (unsigned)(first - gpu->other), false);
    return true;
}

static void end_switch(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    const struct cps_afuc *machine = cps_afuc_of(gpu->play->engine);
    const struct device_run left = run_of(gpu);
    unsigned ring = gpu->ring;
    take_run(gpu, &gpu->other[gpu->target]);
    gpu->other[gpu->target].job = NULL;
    gpu->switches = false;
    gpu->ring = gpu->target;
    if (left.job && left.fence && cps_afuc_fence(machine, ring) == left.fence) {
        device_job_finish(device, left.job, left.fault); /* it ended before the switch */
    } else if (left.job) {
        gpu->other[ring] = left;
        device->counts.preemptions++;
    }
}

/* After a run of the engine: whether the firmware has switched. */
static void follow(struct device *device)
{
    enum { MOST_REFUSALS = 64 };
    struct device_gpu *gpu = &device->gpu;
    struct cps_afuc *machine = cps_afuc_of(gpu->play->engine);
    if (!gpu->switches || cps_afuc_switches(machine))
        return;
    if (cps_afuc_ring(machine) == gpu->target)
        end_switch(device);
    else if (++gpu->refused < MOST_REFUSALS)
        ask(device, gpu->target, gpu->within);
}

static void begin_job(struct device *device, struct device_job *job)
{
    struct device_gpu *gpu = &device->gpu;
    const struct cps_item reset = {.kind = CPS_ITEM_RESET};
    gpu->job = job;
    gpu->space = &job->file->space;
    gpu->state = GPU_RUNS;
    gpu->next_cmd = 0;
    gpu->own_fence = 0;
    gpu->fault = 0;
    gpu->waited = 0;
    gpu->fault_told = false;
    gpu->page_count = 0;
    tell_time(device, offsetof(struct kgsl_profile, submitted));
    if (gpu->debugger) {
        gpu->state = GPU_HELD;
        return;
    }
    if (gpu->off) {
        end_job(device, false);
        return;
    }
    gpu->began = gpu->play->engine->clock;
    gpu->ring_began = cps_afuc_ring_end_(cps_afuc_of(gpu->play->engine), 0);
    begin_record(device, job);
    if (!first_interrupted(gpu))
        fail(device, cps_engine_feed(gpu->play->engine, &reset));
    fail(device, feed_next(device, gpu->ring));
}

void device_gpu_begin(struct device *device, struct device_job *job)
{
    device->counts.submits++;
    if (device->gpu.job)
        interrupt(device, job);
    else
        begin_job(device, job);
}

static struct cps_err *check_boot(struct play *play)
{
    CPS_BUF why = {0};
    if (play->stop == CPS_STOP_IDLE)
        return NULL;
    play_explain(play, play->engine, play->stop, &why);
    return cps_err_new(CPS_ERR_INPUT, "%s: the firmware does not boot: %s", play->fw->name,
                       cps_buf_text(&why));
}

struct cps_err *device_gpu_boot(struct device *device)
{
    struct play *play = device->gpu.play;
    const struct device_chip *chip = device->config.chip;
    const struct cps_item item = {.kind = CPS_ITEM_CHIP,
                                  .chip = {chip->gpu_id, chip->chip_id & UINT32_MAX}};
    CPS_TRY(device_chip_check(chip, play));
    CPS_TRY(play_item(play, &item));
    play_boot(play);
    return check_boot(play);
}

/* ---- hangs ---- */

/* As on hardware without stalls: the access reads zeros or is lost, and the firmware goes on. */
static void tell_fault(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    char why[256];
    char freed[160];
    uint64_t iova = gpu->fault & ~DEVICE_FAULTED;
    uint32_t word = 0;
    bool writes = gpu->space && device_space_word(gpu->space, iova, &word);
    bool found = gpu->job && device_freed_find(device, gpu->job, iova, freed, sizeof(freed));
    snprintf(why, sizeof(why), "the processor %s memory 0x%016" PRIx64 ", which %s%s%s",
             writes ? "writes" : "reads", iova, writes ? "it may not write" : "is not mapped",
             found ? ": " : "", found ? freed : "");
    gpu->fault_told = true;
    device->counts.faults++;
    device->hang(device, "fault", why);
}

/* Jobs in other rings have to begin again. */
static void forget_rings(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    for (unsigned i = 0; i < CPS_AFUC_RINGS; i++) {
        if (gpu->other[i].job)
            device_job_again(device, gpu->other[i].job);
        gpu->other[i].job = NULL;
    }
    gpu->ring = 0;
    gpu->switches = false;
}

/* Firmware that is idle and does not switch hangs, too. */
static unsigned reason_of(enum cps_stop stop)
{
    return cps_stop_reason(stop == CPS_STOP_IDLE ? CPS_STOP_DEADLOCK : stop);
}

/* What the kernel does: the job is guilty, the others go on, on a processor that starts anew. */
static void recover(struct device *device, enum cps_stop stop)
{
    struct device_gpu *gpu = &device->gpu;
    CPS_BUF why = {0};
    if (!gpu->job)
        end_switch(device);
    bool fenced = gpu->next_cmd > gpu->job->cmd_count;
    const struct cps_item item = {.kind = CPS_ITEM_RECOVER, .recover = {.reason = reason_of(stop)}};
    if (gpu->switches)
        cps_buf_str(&why, "the switch to another ring does not end: ");
    play_explain(gpu->play, gpu->play->engine, stop, &why);
    device->counts.hangs++;
    device->hang(device, "hang", cps_buf_text(&why));
    forget_rings(device);
    if (gpu->record)
        device_record_hang(gpu->record, item.recover.reason,
                           gpu->play->engine->clock - gpu->play->ring_clock, fenced);
    gpu->fence += !fenced; /* it would have had the next number */
    struct cps_err *err = play_recover(gpu->play, &item);
    fail(device, err ? err : check_boot(gpu->play));
    end_job(device, true);
}

static void add_word(struct device_waits *waits, uint64_t iova)
{
    if (waits->count < sizeof(waits->iova) / sizeof(waits->iova[0]))
        waits->iova[waits->count++] = iova & ~UINT64_C(3);
}

void device_waits_find(struct cps_engine *engine, struct device_waits *ret)
{
    struct cps_wait wait;
    ret->count = 0;
    for (unsigned i = 0; i < engine->cores; i++) {
        if (!cps_afuc_waits_(cps_afuc_of(engine), i, &wait) || wait.what != CPS_WAIT_MEMORY)
            continue;
        add_word(ret, wait.address);
        if (wait.mask > UINT32_MAX)
            add_word(ret, wait.address + 4);
        if (wait.second)
            add_word(ret, wait.second);
    }
}

/* A wait on memory of a client may end; on anything else nobody can end it. */
static void wait(struct device *device, enum cps_stop stop)
{
    struct device_gpu *gpu = &device->gpu;
    struct device_waits *waits = &gpu->waits;
    unsigned known = 0;
    device_waits_find(gpu->play->engine, waits);
    for (unsigned i = 0; i < waits->count; i++) {
        waits->iova[known] = waits->iova[i];
        if (device_space_word(gpu->space, waits->iova[i], &waits->value[known]))
            /* What the firmware saw: the client may have written it since. */
            waits->value[known++] = cps_mem_read(gpu->play->engine->mem, waits->iova[i], NULL);
    }
    waits->count = known;
    if (!known || gpu->waited > MOST_WAITS * device->config.hang_after) {
        recover(device, stop);
        return;
    }
    gpu->state = GPU_WAITS;
    gpu->waits_since = device_now();
    device->counts.waits++;
}

static bool has_changed(struct device_gpu *gpu)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < gpu->waits.count; i++) {
        if (!device_space_word(gpu->space, gpu->waits.iova[i], &value) ||
            value != gpu->waits.value[i])
            return true;
    }
    return false;
}

/* Whether a wait is over, or has lasted too long. */
static void look_again(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    int64_t waited = device_now() - gpu->waits_since;
    if (has_changed(gpu)) {
        gpu->waited += waited;
        gpu->state = GPU_RUNS;
        if (gpu->record)
            device_record_resume(gpu->record);
    } else if (waited > device->config.hang_after) {
        recover(device, CPS_STOP_DEADLOCK);
    }
}

/* Ticks that a job may still run: as long as the kernel lets one run, on processors of 1 GHz with
 * an instruction a cycle. Ticks, so that the same job ends at the same place. */
static uint64_t ticks_left(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    enum { TICKS = 1 << 20 };
    uint64_t most = (uint64_t)(device->config.hang_after / MILLISECOND) * TICKS;
    uint64_t ran = gpu->play->engine->clock - gpu->began;
    return ran > most ? 0 : most + 1 - ran;
}

/* Whether the firmware was asked to switch and does not: after a quarter of that, as the kernel's
 * preempt timer has 10 seconds. The job that runs is guilty. */
static bool switches_too_long(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    uint64_t most = (uint64_t)(device->config.hang_after / MILLISECOND) << 22;
    return gpu->switches && gpu->play->engine->clock - gpu->asked > most;
}

void device_gpu_run(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    if (gpu->state == GPU_WAITS)
        look_again(device);
    if (gpu->state != GPU_RUNS)
        return;
    int64_t from = device_now();
    /* A recording has what clients write while the firmware waits, not while it runs. */
    enum cps_stop stop =
        cps_engine_run(gpu->play->engine, gpu->record ? ticks_left(device) : SLICE);
    device->counts.nanoseconds += device_now() - from;
    follow(device);
    if (gpu->fault && !gpu->fault_told)
        tell_fault(device);
    switch (stop) {
    case CPS_STOP_IDLE:
        gpu->state = GPU_RUNS;
        if (gpu->job)
            fail(device, feed_next(device, gpu->ring));
        else
            recover(device, stop); /* the firmware does not switch */
        return;
    case CPS_STOP_BUDGET:
        if (!ticks_left(device) || switches_too_long(device))
            recover(device, stop);
        return;
    case CPS_STOP_DEADLOCK:
        if (gpu->switches && gpu->job && !gpu->within)
            ask(device, gpu->target, true);
        else if (gpu->job)
            wait(device, stop);
        else
            recover(device, stop);
        return;
    case CPS_STOP_NOMEM:
        fail(device, cps_err_nomem());
        return;
    case CPS_STOP_FAULT:
    case CPS_STOP_BAD_PACKET:
        if (gpu->play->engine->work_failed)
            fail(device, launch_failed(gpu->play->launch));
        else
            recover(device, stop);
        return;
    }
}

void device_gpu_end(struct device *device, bool hung)
{
    end_job(device, hung);
}

void device_gpu_drop(struct device *device)
{
    for (unsigned i = 0; i < CPS_AFUC_RINGS; i++) {
        struct device_job *job = device->gpu.other[i].job;
        device->gpu.other[i].job = NULL;
        if (job)
            device_job_finish(device, job, false);
    }
    device->gpu.switches = false;
    device->gpu.record = NULL; /* what has not ended is left out of a recording */
    if (device->gpu.job)
        end_job(device, false);
}

int device_gpu_timeout(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    if (gpu->state == GPU_ENDED)
        return 0;
    if (gpu->debugger)
        return gpu->debugger->timeout;
    if (gpu->state == GPU_IDLE)
        return device->poison && device->jobs ? 5 : -1;
    return gpu->state == GPU_WAITS ? 1 : 0; /* clients write memory without a word */
}

uint64_t device_gpu_time(const struct device *device)
{
    struct device_debugger *debugger = device->gpu.debugger;
    return debugger ? debugger->time(debugger)
                    : cps_afuc_clock(cps_afuc_of(device->gpu.play->engine));
}
