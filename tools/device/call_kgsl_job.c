/* SPDX-License-Identifier: MIT
 * KGSL's commands: jobs of contexts, in the order of their time stamps. */
#include "tools/device/kgsl.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "isa/base/list.h"

struct device_queue *kgsl_context(struct call *call, uint32_t id)
{
    return id ? device_queue_find(call->file, id) : NULL;
}

/* ---- what a job waits for ---- */

int kgsl_fence(struct call *call, uint32_t context, uint32_t timestamp, struct device_fence **ret)
{
    struct device_queue *queue = kgsl_context(call, context);
    if (!queue || (!queue->user_timestamps && (int32_t)(timestamp - queue->seqno) > 0))
        return -EINVAL;
    *ret = device_queue_fence(call->device, queue, timestamp);
    return *ret ? 0 : -ENOMEM;
}

int kgsl_fence_of_fd(struct call *call, int fd, struct device_fence **ret)
{
    int own = device_process_fd(call->message->process, fd);
    *ret = own < 0 ? NULL : device_sync_file_fence(call->device, own);
    if (own >= 0)
        close(own);
    return *ret ? 0 : -EINVAL;
}

static int read_point(struct call *call, const struct kgsl_sync_point *point,
                      struct device_fence **ret)
{
    struct kgsl_point_timestamp timestamp;
    int32_t fd = -1;
    switch (point->type) {
    case KGSL_POINT_TIMESTAMP:
        if (!kgsl_struct(call, point->priv, &timestamp, sizeof(timestamp), point->size))
            return -EFAULT;
        return kgsl_fence(call, timestamp.context, timestamp.timestamp, ret);
    case KGSL_POINT_FENCE:
        if (!kgsl_struct(call, point->priv, &fd, sizeof(fd), point->size))
            return -EFAULT;
        return kgsl_fence_of_fd(call, fd, ret);
    default:
        return -EINVAL;
    }
}

/* What @p wait waits for, too; nothing if one of them is none. */
static int read_points(struct call *call, struct device_fence *wait, uint64_t at, uint32_t size,
                       uint32_t count)
{
    struct kgsl_sync_point point;
    struct device_fence *all = device_fence_new(call->device, false);
    int status = all ? 0 : -ENOMEM;
    for (uint32_t i = 0; !status && i < count; i++) {
        struct device_fence *fence = NULL;
        status =
            kgsl_struct(call, at + (uint64_t)i * size, &point, sizeof(point), size) ? 0 : -EFAULT;
        if (!status)
            status = read_point(call, &point, &fence);
        if (!status && !device_fence_add(all, fence))
            status = -ENOMEM;
        device_fence_unref(fence);
    }
    if (!status && count && !device_fence_add(wait, all))
        status = -ENOMEM;
    device_fence_unref(all);
    return status;
}

/* ---- commands ---- */

static int read_cmds(struct call *call, struct device_job *job, const struct kgsl_command *args)
{
    struct kgsl_object cmd;
    if (!call_count_items(call, job, args->cmd_count))
        return -ENOMEM;
    job->cmd = calloc((size_t)args->cmd_count + 1, sizeof(*job->cmd));
    if (!job->cmd)
        return -ENOMEM;
    for (uint32_t i = 0; i < args->cmd_count; i++) {
        if (!kgsl_struct(call, args->cmds + (uint64_t)i * args->cmd_size, &cmd, sizeof(cmd),
                         args->cmd_size))
            return -EFAULT;
        uint64_t iova = cmd.gpuaddr + cmd.offset;
        if (!cmd.size || cmd.size % 4 || cmd.size / 4 > CALL_MAX_DWORDS || iova % 4 ||
            iova >= DEVICE_SPACE_END || cmd.size > DEVICE_SPACE_END - iova)
            return -EINVAL;
        job->cmd[job->cmd_count++] = (struct device_cmd){iova, (uint32_t)(cmd.size / 4)};
    }
    return 0;
}

/* Where the times of the job go; 0: nowhere, which is no error. */
static uint64_t profile_address(struct call *call, const struct kgsl_object *object)
{
    struct device_kgsl *kgsl = call->file->kgsl;
    const struct kgsl_memory *memory =
        object->id ? kgsl_find(kgsl, object->id) : kgsl_find_address(kgsl, object->gpuaddr);
    uint64_t start = memory ? kgsl_address(kgsl, memory) : 0;
    uint64_t at = object->id ? object->offset : object->gpuaddr - start;
    if (!start || at % 8 || at > memory->size || memory->size - at < sizeof(struct kgsl_profile))
        return 0;
    return start + at;
}

/* The first object that is to have the times of the job: when it was queued, begins and ends. */
static int read_objects(struct call *call, struct device_job *job, const struct kgsl_command *args)
{
    struct kgsl_object object;
    for (uint32_t i = 0; i < args->object_count; i++) {
        if (!kgsl_struct(call, args->objects + (uint64_t)i * args->object_size, &object,
                         sizeof(object), args->object_size))
            return -EFAULT;
        if (object.flags & KGSL_OBJECT_PROFILE && args->flags & KGSL_COMMAND_PROFILING &&
            !job->profile)
            job->profile = profile_address(call, &object);
    }
    return 0;
}

static void tell_queued(struct call *call, const struct device_job *job)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const uint64_t times[] = {(uint64_t)now.tv_sec, (uint64_t)now.tv_nsec,
                              device_gpu_time(call->device)};
    for (unsigned i = 0; job->profile && i < 3; i++) /* each in its page */
        device_space_write(&call->file->space, job->profile + 8 * i, &times[i], 8);
}

/* The time stamp of the next job. */
static int take_timestamp(struct device_queue *context, uint32_t *timestamp)
{
    if (!context->user_timestamps) {
        *timestamp = ++context->seqno;
        return 0;
    }
    if ((int32_t)(*timestamp - context->seqno) <= 0)
        return -ERANGE;
    context->seqno = *timestamp;
    return 0;
}

/* What a context's next job waits for; it may exist without a job. */
static struct device_fence *next_wait(struct call *call, struct device_queue *context)
{
    if (!context->next_wait)
        context->next_wait = device_fence_new(call->device, false);
    if (context->next_wait)
        context->next_wait->merged = true;
    return context->next_wait;
}

/* Gives the job what the context waits for, and adds it. */
static int add_job(struct call *call, struct device_queue *context, struct device_job *job,
                   uint32_t *timestamp, int status)
{
    if (!status && context->next_wait && !device_fence_add(job->wait, context->next_wait))
        status = -ENOMEM;
    if (!status)
        status = take_timestamp(context, timestamp);
    if (status) {
        device_job_free(call->device, job);
        return status;
    }
    device_fence_unref(context->next_wait);
    context->next_wait = NULL;
    job->seqno = context->seqno;
    tell_queued(call, job);
    device_job_add(call->device, job);
    return 0;
}

static int open_context(struct call *call, uint32_t id, struct device_queue **ret)
{
    *ret = kgsl_context(call, id);
    if (!*ret)
        return -EINVAL;
    return (*ret)->faults ? -EDEADLK : call_wait_for_room(call);
}

int kgsl_command(struct call *call, struct kgsl_command *args)
{
    struct device_queue *context = NULL;
    if (args->cmd_count > KGSL_MAX_LIST || args->object_count > KGSL_MAX_LIST ||
        args->sync_count > KGSL_MAX_POINTS)
        return -EINVAL;
    int status = open_context(call, args->context, &context);
    if (status)
        return status;
    bool marker = args->flags & KGSL_COMMAND_MARKER;
    bool syncs = !marker && (args->flags & KGSL_COMMAND_SYNC || args->sync_count);
    bool runs = !marker && !(args->flags & KGSL_COMMAND_SYNC) && args->cmd_count;
    if (syncs) {
        struct device_fence *wait = next_wait(call, context);
        status = wait ? read_points(call, wait, args->syncs, args->sync_size, args->sync_count)
                      : -ENOMEM;
        if (status || !runs) { /* nothing counts the time stamp */
            args->timestamp = 0;
            return status;
        }
    }
    if (runs && args->cmd_count > DEVICE_MAX_CMDS)
        return -ENOMEM;
    struct device_job *job = call_new_job(call, context);
    if (!job)
        return -ENOMEM;
    if (runs)
        status = read_cmds(call, job, args);
    if (!status)
        status = read_objects(call, job, args);
    return add_job(call, context, job, &args->timestamp, status);
}

/* ---- virtual buffers ---- */

static int read_bind(struct call *call, const struct kgsl_memory *target,
                     const struct kgsl_bind *bind, struct msm_vm_bind_op *op, struct device_bo **bo)
{
    const struct kgsl_memory *child = kgsl_find(call->file->kgsl, bind->child);
    bool unbinds = bind->op == KGSL_UNBIND;
    if (!bind->size || bind->size % DEVICE_PAGE || bind->offset % DEVICE_PAGE ||
        bind->offset > target->size || bind->size > target->size - bind->offset)
        return -EINVAL;
    if (!child && (bind->child || !unbinds))
        return -ENOENT;
    *op = (struct msm_vm_bind_op){
        .op = MSM_MAP, .iova = target->gpuaddr + bind->offset, .range = bind->size};
    if (unbinds) {
        op->op = target->flags & KGSL_NO_MAP_ZERO ? MSM_UNMAP : MSM_MAP_NULL;
        return child && (child->flags & KGSL_VBO || bind->child_offset) ? -EINVAL : 0;
    }
    if (bind->op != KGSL_BIND || !child->bo || bind->child_offset % DEVICE_PAGE ||
        bind->child_offset > child->size || bind->size > child->size - bind->child_offset)
        return -EINVAL;
    op->offset = bind->child_offset;
    *bo = child->bo;
    return 0;
}

static int read_binds(struct call *call, struct device_job *job, uint32_t id, uint64_t at,
                      uint64_t size, uint64_t count)
{
    const struct kgsl_memory *target = kgsl_find(call->file->kgsl, id);
    struct kgsl_bind bind;
    if (!count)
        return -EINVAL;
    if (!target)
        return -ENOENT;
    if (!(target->flags & KGSL_VBO))
        return -EINVAL;
    if (count > DEVICE_MAX_MAPPINGS || !call_count_items(call, job, count))
        return -ENOMEM;
    job->bind = calloc(count, sizeof(*job->bind));
    job->bind_bo = calloc(count, sizeof(struct device_bo *));
    if (!job->bind || !job->bind_bo)
        return -ENOMEM;
    for (uint64_t i = 0; i < count; i++) {
        if (!kgsl_struct(call, at + i * size, &bind, sizeof(bind), size))
            return -EFAULT;
        int status = read_bind(call, target, &bind, &job->bind[i], &job->bind_bo[i]);
        if (status)
            return status;
        job->bind_count++;
        if (job->bind_bo[i])
            job->bind_bo[i]->refs++;
    }
    return 0;
}

/* Ends before it answers; so what is asynchronous has ended, too. */
int kgsl_bind_ranges(struct call *call, struct kgsl_bind_ranges *args)
{
    struct device_file *file = call->file;
    struct device_queue none = {0};
    if (!args->range_size) {
        args->range_size = sizeof(struct kgsl_bind);
        return 0;
    }
    if (args->flags & KGSL_BIND_FENCE_OUT && !(args->flags & KGSL_BIND_ASYNC))
        return -EINVAL;
    struct device_job *job = call_new_job(call, &none);
    if (!job)
        return -ENOMEM;
    int status = read_binds(call, job, args->id, args->ranges, args->range_size, args->count);
    if (!status && args->flags & KGSL_BIND_FENCE_OUT) {
        job->done->done = true;
        call->message->answer_fd = device_sync_file_new(call->device, job->done);
        status = call->message->answer_fd < 0 ? -EMFILE : 0;
    }
    for (size_t i = 0; !status && i < job->bind_count; i++)
        status = device_bind(call->device, &file->space, &job->bind[i], job->bind_bo[i]);
    device_job_free(call->device, job);
    return status;
}

int kgsl_aux_command(struct call *call, struct kgsl_aux_command *args)
{
    struct device_queue *context = NULL;
    struct kgsl_aux aux;
    struct kgsl_aux_bind bind;
    if (args->cmd_count != 1 || !(args->flags & (KGSL_AUX_BIND | KGSL_AUX_TIMELINE)) ||
        args->sync_count > KGSL_MAX_POINTS)
        return -EINVAL;
    int status = open_context(call, args->context, &context);
    if (status)
        return status;
    if (!kgsl_struct(call, args->cmds, &aux, sizeof(aux), args->cmd_size))
        return -EFAULT;
    if (aux.type != KGSL_AUX_BIND)
        return -EINVAL;
    if (!kgsl_struct(call, aux.priv, &bind, sizeof(bind), aux.size))
        return -EFAULT;
    struct device_job *job = call_new_job(call, context);
    if (!job)
        return -ENOMEM;
    if (args->flags & KGSL_COMMAND_SYNC)
        status = read_points(call, job->wait, args->syncs, args->sync_size, args->sync_count);
    /* It waits for all that the context has. */
    struct device_fence *last = device_queue_fence(call->device, context, context->seqno);
    if (!status && (!last || !device_fence_add(job->wait, last)))
        status = -ENOMEM;
    device_fence_unref(last);
    if (!status)
        status = read_binds(call, job, bind.target, bind.ranges, bind.range_size, bind.count);
    return add_job(call, context, job, &args->timestamp, status);
}
