/* SPDX-License-Identifier: MIT
 * Ioctls that make jobs, and wait for them. */
#include "tools/device/call.h"

#include <errno.h>
#include <stdlib.h>

#include "isa/base/list.h"

/* What goes into the job from the arrays of syncobjs, and where its fence goes. */
struct syncs {
    const struct msm_submit_syncobj *in, *out;
    uint32_t in_count, out_count;
    bool fd_in, fd_out;
};

static bool wait_too(struct device_job *job, struct device_fence *fence)
{
    bool good = fence && device_fence_add(job->wait, fence);
    device_fence_unref(fence);
    return good;
}

static int take_syncs(struct call *call, struct device_job *job, const struct syncs *syncs)
{
    for (uint32_t i = 0; i < syncs->in_count; i++) {
        struct device_syncobj *sync = device_syncobj_find(call->file, syncs->in[i].handle);
        if (!sync || !device_syncobj_has(sync, syncs->in[i].point))
            return -EINVAL;
        if (!wait_too(job, device_syncobj_fence(sync, syncs->in[i].point)))
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < syncs->out_count; i++) {
        if (!device_syncobj_find(call->file, syncs->out[i].handle))
            return -EINVAL;
    }
    if (!syncs->fd_in)
        return 0;
    struct device_fence *fence = device_sync_file_fence(call->device, call->message->fd[0]);
    return fence ? wait_too(job, fence) ? 0 : -ENOMEM : -EINVAL;
}

/* The job's fence goes to the client's syncobjs. A submission that fails leaves them unchanged, as
 * the kernel does: all that can fail comes first. */
static int give_syncs(struct call *call, struct device_job *job, const struct syncs *syncs)
{
    for (uint32_t i = 0; i < syncs->out_count; i++) {
        struct device_syncobj *sync = device_syncobj_find(call->file, syncs->out[i].handle);
        if (!device_syncobj_has_room(sync, syncs->out[i].point, i))
            return -ENOMEM;
    }
    if (syncs->fd_out) {
        call->message->answer_fd = device_sync_file_new(call->device, job->done);
        if (call->message->answer_fd < 0)
            return -ENOMEM;
    }
    for (uint32_t i = 0; i < syncs->in_count; i++) {
        if (syncs->in[i].flags & MSM_SYNCOBJ_RESET)
            device_syncobj_reset(device_syncobj_find(call->file, syncs->in[i].handle));
    }
    for (uint32_t i = 0; i < syncs->out_count; i++) {
        struct device_syncobj *sync = device_syncobj_find(call->file, syncs->out[i].handle);
        if (!device_syncobj_put(sync, syncs->out[i].point, job->done))
            return -ENOMEM;
    }
    return 0;
}

struct device_job *call_new_job(struct call *call, const struct device_queue *queue)
{
    struct device_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    *job = (struct device_job){.file = call->file,
                               .queue = queue->id,
                               .priority = queue->priority,
                               .preemptible = queue->flags & MSM_QUEUE_ALLOW_PREEMPT,
                               .wait = device_fence_new(call->device, false),
                               .done = device_fence_new(call->device, false)};
    if (job->wait && job->done) {
        job->wait->merged = true;
        return job;
    }
    device_job_free(call->device, job);
    return NULL;
}

bool call_count_items(struct call *call, struct device_job *job, size_t count)
{
    size_t *items = &call->device->use.items;
    if (count > DEVICE_MAX_ITEMS - *items)
        return false;
    *items += count;
    job->items += count;
    return true;
}

/* The buffers of a job without EN_VM_BIND: they keep their addresses until it ends. */
static int take_bos(struct call *call, struct device_job *job, const struct msm_submit *submit)
{
    const struct msm_submit_bo *bos = (const void *)call->message->array[0];
    uint32_t writer = call->file->context << 8 | (submit->queue & 0xff);
    uint64_t ignored;
    if (submit->bo_count > DEVICE_MAX_HANDLES)
        return -EINVAL;
    if (!call_count_items(call, job, submit->bo_count))
        return -ENOMEM;
    job->bo = calloc((size_t)submit->bo_count + 1, sizeof(struct device_bo *));
    if (!job->bo)
        return -ENOMEM;
    for (uint32_t i = 0; i < submit->bo_count; i++) {
        struct device_bo *bo = device_handle_bo(call->file, bos[i].handle);
        if (!bo)
            return -EINVAL;
        job->bo[job->bo_count++] = bo;
        bo->refs++;
        int status = call_get_iova(call, &call->file->handle[bos[i].handle - 1], &ignored);
        if (status)
            return status;
        if (submit->flags & MSM_SUBMIT_NO_IMPLICIT || bos[i].flags & MSM_BO_NO_IMPLICIT)
            continue;
        if (bo->written && bo->writer != writer && !device_fence_add(job->wait, bo->written))
            return -ENOMEM;
    }
    return 0;
}

/* From now on others wait for this job before they use what it writes. */
static void mark_written(struct call *call, struct device_job *job, const struct msm_submit *submit)
{
    const struct msm_submit_bo *bos = (const void *)call->message->array[0];
    for (size_t i = 0; i < job->bo_count; i++) {
        if (!(bos[i].flags & MSM_BO_WRITE))
            continue;
        device_fence_unref(job->bo[i]->written);
        job->bo[i]->written = device_fence_ref(job->done);
        job->bo[i]->writer = call->file->context << 8 | (submit->queue & 0xff);
    }
}

static int take_cmds(struct call *call, struct device_job *job, const struct msm_submit *submit)
{
    const struct msm_submit_cmd *cmds = (const void *)call->message->array[1];
    if (submit->cmd_count > DEVICE_MAX_CMDS)
        return -EINVAL;
    if (!call_count_items(call, job, submit->cmd_count))
        return -ENOMEM;
    job->cmd = calloc((size_t)submit->cmd_count + 1, sizeof(*job->cmd));
    if (!job->cmd)
        return -ENOMEM;
    for (uint32_t i = 0; i < submit->cmd_count; i++) {
        struct msm_submit_cmd cmd = cmds[i];
        uint64_t iova = cmd.iova;
        if (cmd.type < MSM_CMD_BUF || cmd.type > MSM_CMD_CTX_RESTORE || cmd.size % 4)
            return -EINVAL;
        if (!call->file->vm_bind) {
            const struct device_bo *bo = cmd.index < job->bo_count ? job->bo[cmd.index] : NULL;
            if (!bo || cmd.relocs || cmd.offset % 4 || cmd.offset > bo->size ||
                cmd.size > bo->size - cmd.offset)
                return -EINVAL;
            const struct msm_submit_bo *bos = (const void *)call->message->array[0];
            iova = call->file->handle[bos[cmd.index].handle - 1].iova + cmd.offset;
        }
        if (iova % 4 || cmd.size / 4 > CALL_MAX_DWORDS || iova >= DEVICE_SPACE_END ||
            cmd.size > DEVICE_SPACE_END - iova)
            return -EINVAL;
        if (cmd.type != MSM_CMD_IB_TARGET)
            job->cmd[job->cmd_count++] = (struct device_cmd){iova, cmd.size / 4};
    }
    return 0;
}

static int take_seqno(struct device_queue *queue, struct msm_submit *submit)
{
    uint32_t next = queue->seqno + 1;
    if (submit->flags & MSM_SUBMIT_FENCE_SN_IN)
        next = submit->fence;
    if ((int32_t)(next - queue->seqno) <= 0)
        return -EINVAL;
    submit->fence = queue->seqno = next;
    return 0;
}

static int add_job(struct call *call, struct device_job *job, struct device_queue *queue,
                   const struct syncs *syncs, int status)
{
    if (!status)
        status = give_syncs(call, job, syncs);
    if (status) {
        device_job_free(call->device, job);
        return status;
    }
    job->seqno = queue->seqno;
    device_job_add(call->device, job);
    return 0;
}

/* A client that submits faster than the GPU runs waits, as for room on a ring. What is stuck behind
 * fences that nobody signals does not make it wait for ever. */
int call_wait_for_room(struct call *call)
{
    const int64_t most = INT64_C(4000000000);
    const struct device_message *message = call->message;
    if (call->file->jobs < DEVICE_MAX_JOBS && call->device->job_count < 4 * DEVICE_MAX_JOBS)
        return 0;
    return call_later(call, message->begun ? message->deadline : device_now() + most, -ENOMEM);
}

/* Makes a job of a queue for submissions, or of one that @p binds. */
static int open_job(struct call *call, struct device_queue *queue, bool binds,
                    const struct syncs *syncs, struct device_job **ret)
{
    if (call->file->broken)
        return -EPIPE;
    if (!queue)
        return -ENOENT;
    if (!(queue->flags & MSM_QUEUE_VM_BIND) == binds)
        return -EINVAL;
    int status = call_wait_for_room(call);
    if (status)
        return status;
    *ret = call_new_job(call, queue);
    return *ret ? take_syncs(call, *ret, syncs) : -ENOMEM;
}

int call_submit_job(struct call *call, struct msm_submit *submit)
{
    struct device_queue *queue = device_queue_find(call->file, submit->queue);
    const struct syncs syncs = {.in = (const void *)call->message->array[2],
                                .out = (const void *)call->message->array[3],
                                .in_count = submit->in_count,
                                .out_count = submit->out_count,
                                .fd_in = submit->flags & MSM_SUBMIT_FENCE_FD_IN,
                                .fd_out = submit->flags & MSM_SUBMIT_FENCE_FD_OUT};
    if ((submit->flags & 0xffff) != MSM_PIPE_3D || submit->flags & MSM_SUBMIT_SUDO || submit->pad)
        return -EINVAL;
    struct device_job *job = NULL;
    int status = open_job(call, queue, false, &syncs, &job);
    if (!job)
        return status;
    if (!status && !call->file->vm_bind)
        status = take_bos(call, job, submit);
    if (!status)
        status = take_cmds(call, job, submit);
    uint32_t seqno = queue->seqno;
    if (!status)
        status = take_seqno(queue, submit);
    status = add_job(call, job, queue, &syncs, status);
    if (status)
        queue->seqno = seqno;
    else
        mark_written(call, job, submit);
    return status;
}

static int check_bind(struct call *call, const struct msm_vm_bind_op *op, struct device_bo **ret)
{
    struct device_bo *bo = op->op == MSM_MAP ? device_handle_bo(call->file, op->handle) : NULL;
    if (op->op > MSM_MAP_NULL || op->pad || op->flags > 1 || op->iova % DEVICE_PAGE ||
        op->range % DEVICE_PAGE || !op->range || (op->op == MSM_MAP) != (bo != NULL))
        return -EINVAL;
    if (op->iova < DEVICE_VA_START || op->iova - DEVICE_VA_START > DEVICE_VA_SIZE ||
        op->range > DEVICE_VA_SIZE - (op->iova - DEVICE_VA_START))
        return -EINVAL;
    if (bo &&
        (op->offset % DEVICE_PAGE || op->offset > bo->size || op->range > bo->size - op->offset))
        return -EINVAL;
    *ret = bo;
    return 0;
}

static int take_binds(struct call *call, struct device_job *job, const struct msm_vm_bind *args)
{
    const struct msm_vm_bind_op *ops =
        args->op_count == 1 ? &args->op : (const void *)call->message->array[DEVICE_MAX_ARRAYS];
    if (!args->op_count || args->op_count > DEVICE_MAX_MAPPINGS)
        return -EINVAL;
    if (!call_count_items(call, job, args->op_count))
        return -ENOMEM;
    job->bind = calloc(args->op_count, sizeof(*job->bind));
    job->bind_bo = calloc(args->op_count, sizeof(struct device_bo *));
    if (!job->bind || !job->bind_bo)
        return -ENOMEM;
    for (uint32_t i = 0; i < args->op_count; i++) {
        int status = check_bind(call, &ops[i], &job->bind_bo[i]);
        if (status)
            return status;
        job->bind[i] = ops[i];
        job->bind_count++;
        if (job->bind_bo[i])
            job->bind_bo[i]->refs++;
    }
    return 0;
}

int call_vm_bind(struct call *call, struct msm_vm_bind *args)
{
    struct device_queue *queue = device_queue_find(call->file, args->queue);
    const struct syncs syncs = {.in = (const void *)call->message->array[0],
                                .out = (const void *)call->message->array[1],
                                .in_count = args->in_count,
                                .out_count = args->out_count,
                                .fd_in = args->flags & MSM_BIND_FENCE_FD_IN,
                                .fd_out = args->flags & MSM_BIND_FENCE_FD_OUT};
    if (!call->file->vm_bind || args->flags & ~3u)
        return -EINVAL;
    struct device_job *job = NULL;
    int status = open_job(call, queue, true, &syncs, &job);
    if (!job)
        return status;
    if (!status)
        status = take_binds(call, job, args);
    queue->seqno += !status;
    int added = add_job(call, job, queue, &syncs, status);
    queue->seqno -= !status && added;
    return added;
}

int call_wait_fence(struct call *call, const struct msm_wait_fence *wait)
{
    const struct device_queue *queue = device_queue_find(call->file, wait->queue);
    if (!queue)
        return -ENOENT;
    if ((int32_t)(wait->fence - queue->seqno) > 0)
        return -EINVAL;
    if ((int32_t)(queue->retired - wait->fence) >= 0)
        return 0;
    return call_later(call, call_nanoseconds(wait->timeout), -ETIMEDOUT);
}
