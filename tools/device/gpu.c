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
#include "tools/device/record.h"

/* Ticks between two looks at clients: one or two milliseconds. */
#define SLICE (UINT64_C(1) << 18)
/* Addresses of clients are below: the ring and the firmware's image lie higher. */
#define CLIENT_END (UINT64_C(1) << 48)

#define MILLISECOND INT64_C(1000000)
/* How many times the time of a hang all waits of a job may last, if each of them ends. */
#define MOST_WAITS 20

int64_t device_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- memory ---- */

static bool read_page(void *context, uint64_t iova, uint8_t *to)
{
    struct device *device = context;
    struct device_gpu *gpu = &device->gpu;
    if (!gpu->space || iova >= CLIENT_END)
        return false;
    struct device_mapping *mapping = device_space_find(gpu->space, iova);
    if (!mapping) {
        gpu->fault = gpu->fault ? gpu->fault : iova;
        return false;
    }
    const uint8_t *data = mapping->bo ? device_bo_data(mapping->bo) : NULL;
    if (data)
        memcpy(to, data + mapping->offset + (iova - mapping->iova), CPS_HOST_PAGE);
    else
        memset(to, 0, CPS_HOST_PAGE);
    if (gpu->record)
        device_record_read(gpu->record, iova, to);
    return !mapping->bo || data;
}

static bool write_memory(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct device *device = context;
    struct device_gpu *gpu = &device->gpu;
    struct device_mapping *mapping = device_space_find(gpu->space, iova);
    if (!mapping || size > mapping->size - (iova - mapping->iova))
        return false;
    if (!mapping->bo)
        return true;
    uint8_t *data = device_bo_data(mapping->bo);
    if (!data || mapping->bo->flags & MSM_BO_GPU_READONLY)
        return false;
    memcpy(data + mapping->offset + (iova - mapping->iova), from, size);
    if (gpu->record)
        device_record_wrote(gpu->record, iova, from, size);
    return true;
}

/* The always-on counter of hardware: 19.2 MHz. */
static uint64_t read_clock(void *context)
{
    (void)context;
    int64_t now = device_now();
    return (uint64_t)(now / 10000 * 192 + now % 10000 * 192 / 10000);
}

void device_gpu_host(struct device *device, struct cps_host *ret)
{
    *ret = (struct cps_host){
        .context = device, .read = read_page, .write = write_memory, .clock = read_clock};
}

/* ---- jobs ---- */

static void fail(struct device *device, struct cps_err *err)
{
    if (err && device->failed)
        cps_err_free(err);
    else if (err)
        device->failed = err;
}

static void end_job(struct device *device, bool hung)
{
    struct device_gpu *gpu = &device->gpu;
    if (gpu->record)
        fail(device, device_record_end(gpu->record, gpu->fence));
    gpu->record = NULL;
    gpu->space = NULL;
    gpu->hung = hung || gpu->fault;
    gpu->state = GPU_ENDED;
}

/* The next command buffer of the job that has something to run, and behind the last one what the
 * driver writes to learn that the job has ended. */
static struct cps_err *feed_next(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    struct device_job *job = gpu->job;
    bool runs = false;
    while (!runs && gpu->next_cmd < job->cmd_count) {
        const struct device_cmd *cmd = &job->cmd[gpu->next_cmd++];
        const struct cps_item item = {
            .kind = CPS_ITEM_SUBMIT,
            .stream = {.iova = cmd->iova, .dwords = cmd->dwords, .context = job->file->context}};
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
    const struct cps_item fence = {.kind = CPS_ITEM_FENCE,
                                   .fence = {++gpu->fence, job->file->context}};
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
    device_record_begin(gpu->record, job->file->context, job->file->comm, 0);
    record_memory(device);
}

void device_gpu_begin(struct device *device, struct device_job *job)
{
    struct device_gpu *gpu = &device->gpu;
    const struct cps_item reset = {.kind = CPS_ITEM_RESET};
    gpu->job = job;
    gpu->space = &job->file->space;
    gpu->state = GPU_RUNS;
    gpu->next_cmd = 0;
    gpu->fault = 0;
    gpu->waited = 0;
    gpu->fault_told = false;
    device->counts.submits++;
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
    fail(device, cps_engine_feed(gpu->play->engine, &reset));
    fail(device, feed_next(device));
}

struct cps_err *device_gpu_boot(struct device *device)
{
    struct play *play = device->gpu.play;
    const struct device_chip *chip = device->config.chip;
    const struct cps_item item = {.kind = CPS_ITEM_CHIP,
                                  .chip = {chip->gpu_id, chip->chip_id & UINT32_MAX}};
    CPS_TRY(play_item(play, &item));
    play_boot(play);
    if (play->stop == CPS_STOP_IDLE)
        return NULL;
    CPS_BUF why = {0};
    play_explain(play, play->engine, play->stop, &why);
    return cps_err_new(CPS_ERR_INPUT, "%s: the firmware does not boot: %s", play->fw->name,
                       cps_buf_text(&why));
}

/* ---- hangs ---- */

/* As on hardware without stalls: the access reads zeros or is lost, and the firmware goes on. */
static void tell_fault(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    char why[96];
    snprintf(why, sizeof(why), "the processor reads memory 0x%016" PRIx64 ", which is not mapped",
             gpu->fault);
    gpu->fault_told = true;
    device->counts.faults++;
    device->hang(device, why);
}

/* What the kernel does: the job is guilty, the others go on, on a processor that starts anew. */
static void recover(struct device *device, enum cps_stop stop)
{
    struct device_gpu *gpu = &device->gpu;
    CPS_BUF why = {0};
    play_explain(gpu->play, gpu->play->engine, stop, &why);
    device->counts.hangs++;
    device->hang(device, cps_buf_text(&why));
    struct cps_err *err = play_restart(gpu->play);
    fail(device, err ? err : device_gpu_boot(device));
    gpu->fence += gpu->next_cmd <= gpu->job->cmd_count; /* it would have had the next number */
    end_job(device, true);
    gpu->fence = 0; /* of the new processor's ring */
}

/* The word that the engine waits for, as it is now. */
static bool read_word(struct device *device, uint64_t iova, uint64_t *ret)
{
    const struct device_mapping *mapping = device_space_find(device->gpu.space, iova);
    const uint8_t *data = mapping && mapping->bo ? device_bo_data(mapping->bo) : NULL;
    uint32_t word;
    if (!data)
        return false;
    memcpy(&word, data + mapping->offset + (iova - mapping->iova) / 4 * 4, sizeof(word));
    *ret = word;
    return true;
}

/* A wait on memory of a client may end; on anything else nobody can end it. */
static void wait(struct device *device, enum cps_stop stop)
{
    struct device_gpu *gpu = &device->gpu;
    struct cps_wait wait = {0};
    uint64_t word = 0;
    bool waits = gpu->waited <= MOST_WAITS * device->config.hang_after &&
                 cps_engine_waits_for(gpu->play->engine, stop, &wait) &&
                 wait.what == CPS_WAIT_MEMORY && read_word(device, wait.address, &word);
    if (!waits) {
        recover(device, stop);
        return;
    }
    gpu->state = GPU_WAITS;
    gpu->waits_at = wait.address;
    gpu->waits_with = word;
    gpu->waits_since = device_now();
    device->counts.waits++;
}

/* Whether a wait is over, or has lasted too long. */
static void look_again(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    uint64_t word = 0;
    int64_t waited = device_now() - gpu->waits_since;
    if (!read_word(device, gpu->waits_at, &word) || word != gpu->waits_with) {
        gpu->waited += waited;
        gpu->state = GPU_RUNS;
        if (gpu->record)
            device_record_resume(gpu->record);
    } else if (waited > device->config.hang_after) {
        recover(device, CPS_STOP_DEADLOCK);
    }
}

/* Whether a job has run for so long that it will not end: about 40 seconds, if --hang-after is as
 * it is by default. Ticks, so that the same job ends at the same place. */
static bool runs_too_long(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    uint64_t most = (uint64_t)(device->config.hang_after / MILLISECOND) << 24;
    return gpu->play->engine->clock - gpu->began > most;
}

void device_gpu_run(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    if (gpu->state == GPU_WAITS)
        look_again(device);
    if (gpu->state != GPU_RUNS)
        return;
    int64_t from = device_now();
    enum cps_stop stop = cps_engine_run(gpu->play->engine, SLICE);
    device->counts.nanoseconds += device_now() - from;
    if (gpu->fault && !gpu->fault_told)
        tell_fault(device);
    switch (stop) {
    case CPS_STOP_IDLE:
        gpu->state = GPU_RUNS;
        fail(device, feed_next(device));
        return;
    case CPS_STOP_BUDGET:
        if (runs_too_long(device))
            recover(device, stop);
        return;
    case CPS_STOP_DEADLOCK:
        wait(device, stop);
        return;
    case CPS_STOP_NOMEM:
        fail(device, cps_err_nomem());
        return;
    case CPS_STOP_FAULT:
    case CPS_STOP_BAD_PACKET:
        recover(device, stop);
        return;
    }
}

void device_gpu_end(struct device *device, bool hung)
{
    device->counts.hangs += hung;
    end_job(device, hung);
}

void device_gpu_drop(struct device *device)
{
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
        return -1;
    return gpu->state == GPU_WAITS ? 1 : 0; /* clients write memory without a word */
}

uint64_t device_gpu_time(const struct device *device)
{
    struct device_debugger *debugger = device->gpu.debugger;
    return debugger ? debugger->time(debugger)
                    : cps_afuc_clock(cps_afuc_of(device->gpu.play->engine));
}
