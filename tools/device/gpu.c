/* SPDX-License-Identifier: MIT
 * The GPU: an engine whose memory is that of the clients' buffers. Each command buffer of a job is
 * one submission of the run; what the run says of it is what `cpscope run` would say of a capture.
 *
 * A wait on memory is no end: the engine stops in it, and goes on at the same instruction when
 * something has changed. What has not changed for as long as the kernel would wait is a hang. */
#include "tools/device/device.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "emu/afuc/afuc.h"
#include "tools/device/record.h"

/* Ticks between two looks at clients: one or two milliseconds. */
#define SLICE (UINT64_C(1) << 18)
/* Addresses of clients are below: the ring and the firmware's image lie higher. */
#define CLIENT_END  (UINT64_C(1) << 48)
#define MILLISECOND INT64_C(1000000)

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
    if (gpu->record)
        device_record_touched(gpu->record, iova);
    if (data)
        memcpy(to, data + mapping->offset + (iova - mapping->iova), CPS_HOST_PAGE);
    else
        memset(to, 0, CPS_HOST_PAGE);
    return !mapping->bo || data;
}

static bool write_memory(void *context, uint64_t iova, const uint8_t *from, uint32_t size)
{
    struct device *device = context;
    struct device_mapping *mapping = device_space_find(device->gpu.space, iova);
    if (!mapping || size > mapping->size - (iova - mapping->iova))
        return false;
    if (!mapping->bo)
        return true;
    uint8_t *data = device_bo_data(mapping->bo);
    if (!data || mapping->bo->flags & MSM_BO_GPU_READONLY)
        return false;
    memcpy(data + mapping->offset + (iova - mapping->iova), from, size);
    return true;
}

void device_gpu_host(struct device *device, struct cps_host *ret)
{
    *ret = (struct cps_host){.context = device, .read = read_page, .write = write_memory};
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
    gpu->hung = hung;
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
    enum { SMALL = 64 << 10 };
    const struct device_space *space = device->gpu.space;
    struct device_record *record = device->gpu.record;
    for (size_t i = 0; i < space->count; i++) {
        const struct device_mapping *mapping = &space->list[i];
        const uint8_t *data = mapping->bo ? device_bo_data(mapping->bo) : NULL;
        uint64_t end = mapping->offset + mapping->size;
        uint64_t at = mapping->offset;
        while (data && at < end) {
            off_t from = (off_t)at;
            off_t to = (off_t)end;
            if (mapping->size > SMALL) {
                from = lseek(mapping->bo->memfd, from, SEEK_DATA);
                if (from < 0 || (uint64_t)from >= end)
                    break;
                to = lseek(mapping->bo->memfd, from, SEEK_HOLE);
                to = to < from || (uint64_t)to > end ? (off_t)end : to;
            }
            device_record_memory(record, mapping->iova + ((uint64_t)from - mapping->offset),
                                 data + from, (uint64_t)(to - from));
            at = (uint64_t)to;
        }
    }
}

static void begin_record(struct device *device, const struct device_job *job)
{
    struct device_gpu *gpu = &device->gpu;
    gpu->record = device->record;
    if (!gpu->record)
        return;
    device_record_begin(gpu->record, job->file->context, job->file->comm, 0);
    record_memory(device);
    for (size_t i = 0; i < job->cmd_count; i++)
        device_record_stream(gpu->record, job->cmd[i].iova, job->cmd[i].dwords);
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
    device->counts.submits++;
    if (gpu->off) {
        end_job(device, false);
        return;
    }
    gpu->began = gpu->play->engine->clock;
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
    end_job(device, true);
}

static void wait(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    int64_t now = device_now();
    if (gpu->state != GPU_WAITS) {
        gpu->state = GPU_WAITS;
        gpu->waits_since = now;
        gpu->retry_after = MILLISECOND;
        device->counts.waits++;
    } else if (now - gpu->waits_since > device->config.hang_after) {
        recover(device, CPS_STOP_DEADLOCK);
        return;
    }
    gpu->retry_at = now + gpu->retry_after;
    gpu->retry_after *= gpu->retry_after < 16 * MILLISECOND ? 2 : 1;
}

void device_gpu_run(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    bool runs =
        gpu->state == GPU_RUNS || (gpu->state == GPU_WAITS && device_now() >= gpu->retry_at);
    if (!runs)
        return;
    enum cps_stop stop = cps_engine_run(gpu->play->engine, SLICE);
    switch (stop) {
    case CPS_STOP_IDLE:
        gpu->state = GPU_RUNS;
        fail(device, feed_next(device));
        return;
    case CPS_STOP_BUDGET:
        gpu->state = GPU_RUNS;
        return;
    case CPS_STOP_DEADLOCK:
        wait(device);
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

void device_gpu_drop(struct device *device)
{
    if (device->gpu.job)
        end_job(device, false);
}

int device_gpu_timeout(const struct device *device)
{
    const struct device_gpu *gpu = &device->gpu;
    if (gpu->state == GPU_IDLE)
        return -1;
    if (gpu->state == GPU_ENDED)
        return 0;
    int64_t left = gpu->state == GPU_WAITS ? gpu->retry_at - device_now() : 0;
    return left > 0 ? (int)(left / MILLISECOND) + 1 : 0;
}

uint64_t device_gpu_time(const struct device *device)
{
    return device->gpu.play->engine->clock;
}
