/* SPDX-License-Identifier: MIT
 * Jobs: submissions, which the GPU runs one at a time, and changes of address spaces, which need no
 * GPU. A job begins when what it waits for is done and all jobs of its queue before it have begun;
 * of those that may begin, the one of the highest priority (the lowest number) and then the oldest
 * does (kernel: drm_sched, a run queue for each priority). */
#include "tools/device/device.h"

#include <stdlib.h>

struct device_queue *device_queue_find(struct device_file *file, uint32_t id)
{
    for (size_t i = 0; i < file->queue_count; i++) {
        if (file->queue[i].id == id)
            return &file->queue[i];
    }
    return NULL;
}

void device_job_add(struct device *device, struct device_job *job)
{
    struct device_job **end = &device->jobs;
    while (*end)
        end = &(*end)->next;
    *end = job;
    job->number = device->next_job++;
    job->file->jobs++;
    device->job_count++;
    for (size_t i = 0; i < job->bo_count; i++)
        job->bo[i]->jobs++;
}

/* Addresses of a buffer whose handle was closed while a job had it. */
static void unmap_closed(struct device *device, struct device_file *file, struct device_bo *bo)
{
    struct device_space *space = &file->space;
    bo->closing = false;
    for (size_t i = 0; i < file->handle_count; i++) {
        if (file->handle[i].bo == bo)
            return;
    }
    for (size_t i = space->count; i-- > 0;) {
        if (space->list[i].bo == bo)
            device_space_unmap(device, space, space->list[i].iova, space->list[i].size);
    }
}

void device_job_free(struct device *device, struct device_job *job)
{
    if (!job)
        return;
    for (size_t i = 0; i < job->bo_count; i++)
        device_bo_unref(device, job->bo[i]);
    for (size_t i = 0; i < job->bind_count; i++)
        device_bo_unref(device, job->bind_bo[i]);
    device_fence_unref(job->wait);
    if (job->done)
        job->done->done =
            true; /* who got it from a submission that failed does not wait for ever */
    device_fence_unref(job->done);
    device->use.items -= job->items;
    free(job->bo);
    free(job->bind);
    free(job->bind_bo);
    free(job->cmd);
    free(job);
}

void device_job_end(struct device *device, struct device_job *job)
{
    struct device_queue *queue = device_queue_find(job->file, job->queue);
    for (size_t i = 0; i < job->bo_count; i++) {
        job->bo[i]->jobs--;
        if (job->bo[i]->closing && !job->bo[i]->jobs)
            unmap_closed(device, job->file, job->bo[i]);
    }
    job->file->jobs--;
    device->job_count--;
    if (queue)
        queue->retired = job->seqno;
    device->counts.jobs++;
    device_job_free(device, job);
}

static bool same_queue(const struct device_job *a, const struct device_job *b)
{
    return a->file == b->file && a->queue == b->queue;
}

/* Whether a job of the same queue has to begin first. */
static bool has_older(const struct device *device, const struct device_job *job)
{
    const struct device_job *other = device->jobs;
    while (other != job && !same_queue(other, job))
        other = other->next;
    return other != job;
}

static struct device_job *take_job(struct device *device, struct device_job *job)
{
    struct device_job **at = &device->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    job->next = NULL;
    return job;
}

/* The job that begins next: @p binds  of those that change address spaces. */
static struct device_job *next_job(struct device *device, bool binds)
{
    struct device_job *best = NULL;
    for (struct device_job *job = device->jobs; job; job = job->next) {
        if (!job->bind_count == binds || (job->wait && !device_fence_done(job->wait)) ||
            has_older(device, job))
            continue;
        if (!best || job->priority < best->priority)
            best = job;
    }
    return best ? take_job(device, best) : NULL;
}

/* As the kernel: after a failed operation the address space is unusable. */
static void bind(struct device *device, struct device_job *job)
{
    struct device_file *file = job->file;
    for (size_t i = 0; i < job->bind_count; i++) {
        const struct msm_vm_bind_op *op = &job->bind[i];
        int status = op->op == MSM_UNMAP
                         ? device_space_unmap(device, &file->space, op->iova, op->range)
                         : device_space_map(device, &file->space, op->iova, op->range,
                                            job->bind_bo[i], op->offset);
        file->broken |= status != 0;
    }
    device->counts.binds += job->bind_count;
}

/* The job that the GPU has ended. Whoever hung is guilty: his context alone learns of it. */
static void take_ended(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    struct device_job *job = gpu->job;
    struct device_file *file = job->file;
    struct device_queue *queue = device_queue_find(file, job->queue);
    file->faults += gpu->hung;
    file->broken |= gpu->hung && file->vm_bind;
    if (queue)
        queue->faults += gpu->hung;
    gpu->job = NULL;
    gpu->state = GPU_IDLE;
    device_job_end(device, job);
    if (!file->refs)
        device_file_unref(device, file);
}

void device_schedule(struct device *device)
{
    struct device_job *job = NULL;
    do {
        if (device->gpu.state == GPU_ENDED)
            take_ended(device);
        while ((job = next_job(device, true))) {
            bind(device, job);
            device_job_end(device, job);
        }
        job = device->gpu.state == GPU_IDLE ? next_job(device, false) : NULL;
        if (job)
            device_gpu_begin(device, job);
    } while (job && device->gpu.state == GPU_ENDED);
}

void device_jobs_drop(struct device *device, struct device_file *file)
{
    struct device_job **at = &device->jobs;
    while (*at) {
        struct device_job *job = *at;
        if (job->file != file) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->next = NULL;
        device_job_end(device, job);
    }
}
