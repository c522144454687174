/* SPDX-License-Identifier: MIT
 * Jobs: submissions, which the GPU runs one at a time, and changes of address spaces, which need no
 * GPU. A job begins when what it waits for is done and all jobs of its queue before it have begun;
 * of those that may begin, the one of the highest priority (the lowest number) and then the oldest
 * does (kernel: drm_sched, a run queue for each priority). */
#include "tools/device/poison.h"

#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"

struct device_queue *device_queue_find(struct device_file *file, uint32_t id)
{
    for (size_t i = 0; i < file->queue_count; i++) {
        if (file->queue[i].id == id)
            return &file->queue[i];
    }
    return NULL;
}

struct device_fence *device_queue_fence(struct device *device, struct device_queue *queue,
                                        uint32_t seqno)
{
    if ((int32_t)(queue->retired - seqno) >= 0)
        return device_fence_new(device, true);
    for (size_t i = 0; i < queue->point_count; i++) {
        if (queue->point[i].seqno == seqno)
            return device_fence_ref(queue->point[i].fence);
    }
    if (queue->point_count >= DEVICE_MAX_POINTS || device->use.points >= DEVICE_MAX_ALL_POINTS ||
        !CPS_LIST_ROOM(queue->point, queue->point_count))
        return NULL;
    struct device_fence *fence = device_fence_new(device, false);
    if (!fence)
        return NULL;
    queue->point[queue->point_count++] = (struct device_queue_point){seqno, fence};
    device->use.points++;
    return device_fence_ref(fence);
}

/* Fences of jobs up to `retired`, or @p all of them. */
static void reach_points(struct device_queue *queue, bool all)
{
    for (size_t i = queue->point_count; i-- > 0;) {
        struct device_queue_point point = queue->point[i];
        if (!all && (int32_t)(queue->retired - point.seqno) < 0)
            continue;
        point.fence->done = true;
        point.fence->device->use.points--;
        device_fence_unref(point.fence);
        queue->point[i] = queue->point[--queue->point_count];
    }
}

void device_queue_close(struct device_file *file, struct device_queue *queue)
{
    size_t at = (size_t)(queue - file->queue);
    reach_points(queue, true);
    free(queue->point);
    device_fence_unref(queue->next_wait);
    memmove(queue, queue + 1, (--file->queue_count - at) * sizeof(*queue));
}

void device_job_again(struct device *device, struct device_job *job)
{
    for (struct device_job *other = device->jobs; other; other = other->next)
        other->first &= other->file != job->file || other->queue != job->queue;
    job->first = true;
    job->next = device->jobs;
    device->jobs = job;
}

static bool same_queue(const struct device_job *a, const struct device_job *b)
{
    return a->file == b->file && a->queue == b->queue;
}

void device_job_add(struct device *device, struct device_job *job)
{
    struct device_job **end = &device->jobs;
    job->first = true;
    for (; *end; end = &(*end)->next)
        job->first &= !same_queue(*end, job);
    *end = job;
    device_poison_submit(device->poison, job);
    job->number = device->next_job++;
    job->file->jobs++;
    device->job_count++;
    for (size_t i = 0; i < job->bo_count; i++)
        job->bo[i]->jobs++;
}

/* Addresses of buffers whose handles were closed while a job had them. */
static void unmap_closed(struct device *device, const struct device_job *job)
{
    for (struct device_file *file = device->files; file; file = file->next) {
        bool *kept = calloc(file->handle_count + 1, sizeof(*kept));
        for (size_t i = 0; kept && i < file->handle_count; i++) {
            struct device_bo *bo = file->handle[i].bo;
            kept[i] = bo && bo->closing;
            if (kept[i])
                bo->closing = false;
        }
        if (kept)
            device_space_unmap_closed(device, &file->space);
        for (size_t i = 0; kept && i < file->handle_count; i++) {
            if (kept[i])
                file->handle[i].bo->closing = true;
        }
        free(kept);
    }
    for (size_t i = 0; i < job->bo_count; i++)
        job->bo[i]->closing &= job->bo[i]->jobs != 0;
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
    device_snapshot_unref(job->snapshot);
    free(job->bo);
    free(job->bind);
    free(job->bind_bo);
    free(job->cmd);
    free(job);
}

void device_job_end(struct device *device, struct device_job *job)
{
    struct device_queue *queue = device_queue_find(job->file, job->queue);
    bool closed = false;
    for (size_t i = 0; i < job->bo_count; i++)
        closed |= !--job->bo[i]->jobs && job->bo[i]->closing;
    if (closed)
        unmap_closed(device, job);
    job->file->jobs--;
    device->job_count--;
    if (queue) {
        queue->retired = job->seqno;
        reach_points(queue, false);
    }
    device->counts.jobs++;
    device_job_free(device, job);
}

static struct device_job *take_job(struct device *device, struct device_job *job)
{
    struct device_job **at = &device->jobs;
    while (*at != job)
        at = &(*at)->next;
    *at = job->next;
    struct device_job *after = job->next;
    while (after && !same_queue(after, job))
        after = after->next;
    if (after)
        after->first = true;
    job->next = NULL;
    return job;
}

/* The job that begins next: @p binds  of those that change address spaces; @p limit  of priorities
 * below it. */
static struct device_job *next_job(struct device *device, bool binds, uint32_t limit)
{
    struct device_job *best = NULL;
    for (struct device_job *job = device->jobs; job; job = job->next) {
        if (!job->first || !job->bind_count == binds || job->priority >= limit ||
            (job->wait && !device_fence_done(job->wait)) ||
            device_poison_holds(device->poison, job))
            continue;
        if (!best || job->priority < best->priority)
            best = job;
    }
    return best ? take_job(device, best) : NULL;
}

int device_bind(struct device *device, struct device_space *space, const struct msm_vm_bind_op *op,
                struct device_bo *bo)
{
    return op->op == MSM_UNMAP
               ? device_space_unmap(device, space, op->iova, op->range)
               : device_space_map(device, space, op->iova, op->range, bo, op->offset);
}

/* Changes an address space, as far as @p room goes. As the kernel: after a failed operation the
 * address space is unusable. @return whether that was all */
static bool bind(struct device *device, struct device_job *job, size_t *room)
{
    struct device_file *file = job->file;
    for (; job->bind_next < job->bind_count && *room; --*room) {
        size_t i = job->bind_next++;
        const struct msm_vm_bind_op *op = &job->bind[i];
        if (op->op == MSM_UNMAP)
            device_freed_note(file, op->iova, op->range, "VM_BIND");
        file->broken |= device_bind(device, &file->space, op, job->bind_bo[i]) != 0;
    }
    device->counts.binds += job->bind_next == job->bind_count ? job->bind_count : 0;
    return job->bind_next == job->bind_count;
}

/* A change moves what lies behind it, so thousands of them take their time: clients are answered in
 * between. The others of its queue come after it. */
static void change_spaces(struct device *device)
{
    size_t room = 512;
    struct device_job *job = NULL;
    device->changing = false;
    while (!device->changing && (job = next_job(device, true, UINT32_MAX))) {
        if (bind(device, job, &room)) {
            device_job_end(device, job);
            continue;
        }
        job->next = device->jobs;
        device->jobs = job;
        device->changing = true;
        for (job = job->next; job; job = job->next)
            job->first &= !same_queue(job, device->jobs);
    }
}

/* Whoever hung is guilty: his context alone learns of it. */
void device_job_finish(struct device *device, struct device_job *job, bool hung)
{
    struct device_file *file = job->file;
    struct device_queue *queue = device_queue_find(file, job->queue);
    file->faults += hung;
    file->broken |= hung && file->vm_bind;
    if (queue)
        queue->faults += hung;
    uint32_t id = job->queue;
    device_job_end(device, job);
    if (hung && file->kgsl)
        device_jobs_drop(device, file, id); /* the context is invalid */
    if (!file->refs)
        device_file_unref(device, file);
}

/* The job that the GPU has ended. */
static void take_ended(struct device *device)
{
    struct device_gpu *gpu = &device->gpu;
    struct device_job *job = gpu->job;
    gpu->job = NULL;
    gpu->state = gpu->switches ? GPU_RUNS : GPU_IDLE;
    device_job_finish(device, job, gpu->hung);
}

void device_schedule(struct device *device)
{
    struct device_job *job = NULL;
    do {
        if (device->gpu.state == GPU_ENDED)
            take_ended(device);
        change_spaces(device);
        job = next_job(device, false, device_gpu_limit(device));
        if (job)
            device_gpu_begin(device, job);
        else if (device->gpu.state == GPU_IDLE)
            device_gpu_resume(device);
    } while (job && device->gpu.state == GPU_ENDED);
}

void device_jobs_drop(struct device *device, struct device_file *file, int64_t queue)
{
    struct device_job **at = &device->jobs;
    while (*at) {
        struct device_job *job = *at;
        if (job->file != file || (queue != DEVICE_ALL_QUEUES && job->queue != queue)) {
            at = &job->next;
            continue;
        }
        *at = job->next;
        job->next = NULL;
        device_job_end(device, job);
    }
}
