/* SPDX-License-Identifier: MIT
 * What each ioctl does: as the kernel's msm driver and DRM core (drivers/gpu/drm/msm, drm_syncobj.c
 * of Linux 6.17), with their error numbers. */
#include "tools/device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/list.h"

/* Address ranges that clients choose from (kernel: ADRENO_VM_START, adreno_private_vm_size()). */
#define VA_START UINT64_C(0x100000000)
#define VA_SIZE  UINT64_C(0xffff00000000)
/* The msm driver has three priorities of its scheduler for each of four rings. */
#define PRIORITIES 12u
#define PAGE       UINT64_C(4096)

struct call {
    struct device *device;
    struct device_file *file;
    struct device_message *message;
};

static int64_t nanoseconds(struct msm_timespec time)
{
    if (time.sec < 0 || time.nsec < 0)
        return 0;
    return time.sec > INT64_MAX / 1000000000 - 2 ? INT64_MAX - 1
                                                 : time.sec * 1000000000 + time.nsec;
}

/* Waits for what is not done yet, or says that it took too long. */
static int later(struct call *call, int64_t deadline, int timed_out)
{
    if (deadline <= device_now())
        return timed_out;
    call->message->deadline = deadline;
    return DEVICE_LATER;
}

/* ---- parameters ---- */

static int get_param(struct call *call, struct msm_param *param)
{
    const struct device_chip *chip = call->device->config.chip;
    if (param->pipe != MSM_PIPE_3D || param->len || param->pad)
        return -EINVAL;
    switch ((enum msm_param_number)param->param) {
    case MSM_GPU_ID:
        param->value = chip->gpu_id;
        return 0;
    case MSM_GMEM_SIZE:
        param->value = (uint64_t)chip->gmem_kib << 10;
        return 0;
    case MSM_CHIP_ID:
        param->value = chip->chip_id;
        return 0;
    case MSM_MAX_FREQ:
        param->value = 800000000;
        return 0;
    case MSM_TIMESTAMP:
        param->value = device_gpu_time(call->device);
        return 0;
    case MSM_GMEM_BASE:
        param->value = chip->gmem_base;
        return 0;
    case MSM_PRIORITIES:
        param->value = PRIORITIES;
        return 0;
    case MSM_PP_PGTABLE:
    case MSM_SUSPENDS:
    case MSM_AQE:
        param->value = 0;
        return 0;
    case MSM_FAULTS:
        param->value = call->file->faults;
        return 0;
    case MSM_VA_START:
        param->value = VA_START;
        return 0;
    case MSM_VA_SIZE:
        param->value = VA_SIZE;
        return 0;
    case MSM_HIGHEST_BANK_BIT:
        param->value = chip->bank_bit;
        return 0;
    case MSM_RAYTRACING:
        param->value = chip->raytracing;
        return 0;
    case MSM_UBWC_SWIZZLE:
        param->value = chip->swizzle;
        return 0;
    case MSM_MACROTILE_MODE:
        param->value = chip->macrotile;
        return 0;
    case MSM_UCHE_TRAP_BASE:
        param->value = UINT64_C(0x1fffffffff000);
        return 0;
    case MSM_HAS_PRR:
        param->value = 1;
        return 0;
    case MSM_SYSPROF:
    case MSM_COMM:
    case MSM_CMDLINE:
    case MSM_EN_VM_BIND:
        break;
    }
    return -EINVAL;
}

static int set_text(struct call *call, const struct msm_param *param)
{
    struct device_file *file = call->file;
    const char *text = (const char *)call->message->array[DEVICE_MAX_ARRAYS];
    if (!param->len || param->len > DEVICE_MAX_TEXT || !text)
        return -EINVAL;
    char *copy = strndup(text, param->len);
    if (!copy)
        return -ENOMEM;
    if (param->param == MSM_CMDLINE) {
        free(file->cmdline);
        file->cmdline = copy;
        return 0;
    }
    strncpy(file->comm, copy, sizeof(file->comm) - 1);
    free(copy);
    return 0;
}

static int set_param(struct call *call, const struct msm_param *param)
{
    struct device_file *file = call->file;
    if (param->pipe != MSM_PIPE_3D)
        return -EINVAL;
    switch (param->param) {
    case MSM_SYSPROF:
        return param->value <= 2 ? 0 : -EINVAL;
    case MSM_COMM:
    case MSM_CMDLINE:
        return set_text(call, param);
    case MSM_EN_VM_BIND:
        if (call->device->config.no_vm_bind)
            return -EINVAL;
        if (file->handle_count)
            return -EBUSY;
        file->vm_bind = param->value;
        return 0;
    default:
        return -EINVAL;
    }
}

/* ---- buffers ---- */

static int gem_new(struct call *call, struct msm_gem_new *new)
{
    if (!new->size || new->size > DEVICE_MAX_MEMORY || new->flags & ~(uint32_t)MSM_BO_ALL_FLAGS)
        return -EINVAL;
    struct device_bo *bo = device_bo_new(call->device, new->size, new->flags, -1);
    new->handle = bo ? device_handle_new(call->file, bo) : 0;
    if (bo && !new->handle)
        device_bo_unref(call->device, bo);
    return new->handle ? 0 : -ENOMEM;
}

static int set_iova(struct call *call, struct device_handle *handle, uint64_t iova)
{
    struct device *device = call->device;
    struct device_space *space = &call->file->space;
    uint64_t size = handle->bo->size;
    if (call->file->vm_bind)
        return -EINVAL;
    if (handle->iova && iova == handle->iova)
        return 0;
    if (handle->iova && handle->bo->jobs)
        return -EBUSY;
    if (handle->iova)
        device_space_unmap(device, space, handle->iova, size);
    handle->iova = 0;
    if (!iova)
        return 0;
    if (iova < VA_START || iova - VA_START > VA_SIZE || size > VA_SIZE - (iova - VA_START))
        return -EINVAL;
    int status = device_space_map(device, space, iova, size, handle->bo, 0);
    handle->iova = status ? 0 : iova;
    return status;
}

/* The address of a buffer; one that has none gets it here. */
static int get_iova(struct call *call, struct device_handle *handle, uint64_t *ret)
{
    struct device_file *file = call->file;
    if (file->vm_bind)
        return -EINVAL;
    if (!handle->iova) {
        uint64_t iova = file->next_iova;
        if (handle->bo->size > VA_START + VA_SIZE - iova)
            return -ENOSPC;
        int status = set_iova(call, handle, iova);
        if (status)
            return status;
        file->next_iova = iova + handle->bo->size;
    }
    *ret = handle->iova;
    return 0;
}

static int get_bytes(struct call *call, struct msm_gem_info *info, const void *bytes, uint32_t size)
{
    uint32_t room = call->message->size[DEVICE_MAX_ARRAYS];
    if (info->value && room < size)
        return -EINVAL;
    if (info->value && size)
        memcpy(call->message->array[DEVICE_MAX_ARRAYS], bytes, size);
    info->len = size;
    return 0;
}

static int set_name(struct call *call, struct device_bo *bo, uint32_t size)
{
    if (size >= 32)
        return -EINVAL;
    char *name = strndup((const char *)call->message->array[DEVICE_MAX_ARRAYS], size);
    if (!name)
        return -ENOMEM;
    free(bo->name);
    bo->name = name;
    return 0;
}

static int set_metadata(struct call *call, struct device_bo *bo, uint32_t size)
{
    if (size > 128)
        return -EOVERFLOW;
    uint8_t *copy = malloc(size + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, call->message->array[DEVICE_MAX_ARRAYS], size);
    free(bo->metadata);
    bo->metadata = copy;
    bo->metadata_size = size;
    return 0;
}

static int gem_info(struct call *call, struct msm_gem_info *info)
{
    struct device_bo *bo = device_handle_bo(call->file, info->handle);
    if (info->pad)
        return -EINVAL;
    if (!bo)
        return -ENOENT;
    struct device_handle *handle = &call->file->handle[info->handle - 1];
    switch ((enum msm_info)info->info) {
    case MSM_INFO_OFFSET:
        info->value = (uint64_t)info->handle << 32;
        return 0;
    case MSM_INFO_IOVA:
        return get_iova(call, handle, &info->value);
    case MSM_INFO_SET_IOVA:
        return set_iova(call, handle, info->value);
    case MSM_INFO_FLAGS:
        info->value = bo->flags;
        return 0;
    case MSM_INFO_SET_NAME:
        return set_name(call, bo, info->len);
    case MSM_INFO_NAME:
        return get_bytes(call, info, bo->name, bo->name ? (uint32_t)strlen(bo->name) + 1 : 0);
    case MSM_INFO_SET_METADATA:
        return set_metadata(call, bo, info->len);
    case MSM_INFO_METADATA:
        return get_bytes(call, info, bo->metadata, bo->metadata_size);
    }
    return -EINVAL;
}

static int cpu_prep(struct call *call, const struct msm_cpu_prep *prep)
{
    const struct device_bo *bo = device_handle_bo(call->file, prep->handle);
    if (!bo)
        return -ENOENT;
    if (!bo->jobs)
        return 0;
    return prep->op & MSM_PREP_NOSYNC ? -EBUSY
                                      : later(call, nanoseconds(prep->timeout), -ETIMEDOUT);
}

static int prime_to_fd(struct call *call, const struct drm_prime *prime)
{
    const struct device_bo *bo = device_handle_bo(call->file, prime->handle);
    if (!bo)
        return -ENOENT;
    call->message->answer_fd = bo->memfd;
    call->message->keep_fd = true;
    return 0;
}

static int prime_to_handle(struct call *call, struct drm_prime *prime)
{
    struct device_file *file = call->file;
    struct device_bo *bo = device_bo_of_fd(call->device, call->message->fd[0]);
    if (!bo)
        return -EINVAL;
    for (size_t i = 0; i < file->handle_count; i++) {
        if (file->handle[i].bo == bo) {
            device_bo_unref(call->device, bo);
            prime->handle = (uint32_t)i + 1;
            return 0;
        }
    }
    prime->handle = device_handle_new(file, bo);
    if (!prime->handle)
        device_bo_unref(call->device, bo);
    return prime->handle ? 0 : -ENOMEM;
}

/* ---- syncobjs ---- */

static int syncobj_create(struct call *call, struct drm_syncobj_new *new)
{
    struct device_syncobj *sync = device_syncobj_new();
    if (new->flags & ~(uint32_t)DRM_SYNCOBJ_SIGNALED) {
        device_syncobj_unref(sync);
        return -EINVAL;
    }
    struct device_fence *fence = new->flags ? device_fence_new(true) : NULL;
    bool good = sync && (!new->flags || (fence && device_syncobj_put(sync, 0, fence)));
    device_fence_unref(fence);
    new->handle = good ? device_syncobj_handle(call->file, sync) : 0;
    if (!new->handle)
        device_syncobj_unref(sync);
    return new->handle ? 0 : -ENOMEM;
}

static int syncobj_destroy(struct call *call, const struct drm_handle *handle)
{
    struct device_syncobj *sync = device_syncobj_find(call->file, handle->handle);
    if (!sync)
        return -EINVAL;
    call->file->syncobj[handle->handle - 1] = NULL;
    device_syncobj_unref(sync);
    return 0;
}

static int export_syncobj(struct device *device, struct device_syncobj *sync)
{
    struct stat info;
    if (sync->memfd >= 0)
        return 0;
    if (device->exported_count >= DEVICE_MAX_SYNC_FILES ||
        !CPS_LIST_ROOM(device->exported, device->exported_count))
        return -ENOMEM;
    sync->memfd = memfd_create("cpscope-syncobj", MFD_CLOEXEC);
    if (sync->memfd < 0 || fstat(sync->memfd, &info) != 0)
        return -EMFILE;
    sync->inode = info.st_ino;
    sync->refs++;
    device->exported[device->exported_count++] = sync;
    return 0;
}

static int syncobj_to_fd(struct call *call, const struct drm_syncobj_fd *args)
{
    struct device_syncobj *sync = device_syncobj_find(call->file, args->handle);
    struct device_message *message = call->message;
    uint64_t point = args->flags & DRM_SYNCOBJ_TIMELINE ? args->point : 0;
    if (!sync)
        return -ENOENT;
    if (!(args->flags & DRM_SYNCOBJ_SYNC_FILE)) {
        int status = export_syncobj(call->device, sync);
        message->answer_fd = status ? -1 : sync->memfd;
        message->keep_fd = true;
        return status;
    }
    if (!device_syncobj_has(sync, point))
        return -EINVAL;
    struct device_fence *fence = device_syncobj_fence(sync, point);
    message->answer_fd = fence ? device_sync_file_new(call->device, fence) : -1;
    device_fence_unref(fence);
    return message->answer_fd < 0 ? -ENOMEM : 0;
}

static int syncobj_to_handle(struct call *call, struct drm_syncobj_fd *args)
{
    struct device *device = call->device;
    struct stat info, own;
    int fd = call->message->fd[0];
    if (args->flags & DRM_SYNCOBJ_SYNC_FILE) {
        struct device_syncobj *sync = device_syncobj_find(call->file, args->handle);
        struct device_fence *fence = sync ? device_sync_file_fence(device, fd) : NULL;
        uint64_t point = args->flags & DRM_SYNCOBJ_TIMELINE ? args->point : 0;
        if (!fence)
            return sync ? -EINVAL : -ENOENT;
        bool good = device_syncobj_put(sync, point, fence);
        device_fence_unref(fence);
        return good ? 0 : -ENOMEM;
    }
    if (fstat(fd, &info) != 0)
        return -EBADF;
    for (size_t i = 0; i < device->exported_count; i++) {
        struct device_syncobj *sync = device->exported[i];
        if (sync->inode != info.st_ino || fstat(sync->memfd, &own) != 0 ||
            own.st_dev != info.st_dev)
            continue;
        args->handle = device_syncobj_handle(call->file, sync);
        sync->refs += args->handle != 0;
        return args->handle ? 0 : -ENOMEM;
    }
    return -EINVAL;
}

/* Waits for syncobjs; @p points is NULL for binary ones. */
static int wait_for(struct call *call, uint32_t count, uint32_t flags, int64_t deadline,
                    const uint64_t *points, uint32_t *first)
{
    const uint32_t known = DRM_WAIT_ALL | DRM_WAIT_FOR_SUBMIT | DRM_WAIT_AVAILABLE | 8u;
    uint32_t ready = 0;
    if (!count || flags & ~known)
        return -EINVAL;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t handle;
        memcpy(&handle, call->message->array[0] + 4 * (size_t)i, sizeof(handle));
        const struct device_syncobj *sync = device_syncobj_find(call->file, handle);
        if (!sync)
            return -ENOENT;
        uint64_t point = points ? points[i] : 0;
        bool there = device_syncobj_has(sync, point);
        if (!there && !(flags & (DRM_WAIT_FOR_SUBMIT | DRM_WAIT_AVAILABLE)))
            return -EINVAL;
        bool done = flags & DRM_WAIT_AVAILABLE ? there : device_point_done(sync, point);
        if (done && !ready++)
            *first = i;
    }
    if (flags & DRM_WAIT_ALL ? ready == count : ready != 0)
        return 0;
    return later(call, deadline, -ETIME);
}

static int syncobj_wait(struct call *call, struct drm_syncobj_wait_ *wait)
{
    return wait_for(call, wait->count, wait->flags, wait->timeout, NULL, &wait->first);
}

static int timeline_wait(struct call *call, struct drm_syncobj_timeline_wait_ *wait)
{
    /* Pieces are padded to 8 bytes. */
    return wait_for(call, wait->count, wait->flags, wait->timeout,
                    (const uint64_t *)(const void *)call->message->array[1], &wait->first);
}

/* Does something with each syncobj of a list. */
static int each_syncobj(struct call *call, uint32_t count, const uint64_t *points, bool signals)
{
    struct device_fence *fence = signals ? device_fence_new(true) : NULL;
    int status = count ? signals && !fence ? -ENOMEM : 0 : -EINVAL;
    for (uint32_t i = 0; i < count && !status; i++) {
        uint32_t handle;
        memcpy(&handle, call->message->array[0] + 4 * (size_t)i, sizeof(handle));
        struct device_syncobj *sync = device_syncobj_find(call->file, handle);
        if (!sync)
            status = -ENOENT;
        else if (!signals)
            device_syncobj_reset(sync);
        else if (!device_syncobj_put(sync, points ? points[i] : 0, fence))
            status = -ENOMEM;
    }
    device_fence_unref(fence);
    return status;
}

static int syncobj_query(struct call *call, const struct drm_syncobj_points *query)
{
    for (uint32_t i = 0; i < query->count; i++) {
        uint32_t handle;
        memcpy(&handle, call->message->array[0] + 4 * (size_t)i, sizeof(handle));
        struct device_syncobj *sync = device_syncobj_find(call->file, handle);
        if (!sync)
            return -ENOENT;
        uint64_t reached = sync->reached;
        bool open = false;
        for (size_t k = 0; k < sync->count; k++) {
            open |= !device_fence_done(sync->list[k].fence);
            if (!open || query->flags & DRM_QUERY_LAST_SUBMITTED)
                reached = sync->list[k].point;
        }
        memcpy(call->message->array[1] + 8 * (size_t)i, &reached, sizeof(reached));
    }
    return query->count ? 0 : -EINVAL;
}

static int syncobj_transfer(struct call *call, const struct drm_syncobj_transfer_ *args)
{
    struct device_syncobj *from = device_syncobj_find(call->file, args->from);
    struct device_syncobj *to = device_syncobj_find(call->file, args->to);
    if (!from || !to)
        return -ENOENT;
    if (!device_syncobj_has(from, args->from_point))
        return args->flags & DRM_WAIT_FOR_SUBMIT ? later(call, INT64_MAX - 1, -ETIME) : -EINVAL;
    struct device_fence *fence = device_syncobj_fence(from, args->from_point);
    bool good = fence && device_syncobj_put(to, args->to_point, fence);
    device_fence_unref(fence);
    return good ? 0 : -ENOMEM;
}

static int sync_merge(struct call *call)
{
    struct device_message *message = call->message;
    struct device_fence *a = device_sync_file_fence(call->device, message->fd[0]);
    struct device_fence *b = device_sync_file_fence(call->device, message->fd[1]);
    struct device_fence *both = device_fence_new(false);
    int status = a && b ? -ENOMEM : -EINVAL;
    if (a && b && both && device_fence_add(both, a) && device_fence_add(both, b)) {
        message->answer_fd = device_sync_file_new(call->device, both);
        status = message->answer_fd < 0 ? -ENOMEM : 0;
    }
    device_fence_unref(a);
    device_fence_unref(b);
    device_fence_unref(both);
    return status;
}

/* ---- jobs ---- */

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

/* The job's fence goes to those who want it; nothing fails behind this but a descriptor. */
static int give_syncs(struct call *call, struct device_job *job, const struct syncs *syncs)
{
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

static struct device_job *new_job(struct call *call, const struct device_queue *queue)
{
    struct device_job *job = calloc(1, sizeof(*job));
    if (!job)
        return NULL;
    *job = (struct device_job){.file = call->file,
                               .queue = queue->id,
                               .priority = queue->priority,
                               .wait = device_fence_new(false),
                               .done = device_fence_new(false)};
    if (job->wait && job->done) {
        job->wait->merged = true;
        return job;
    }
    device_job_free(call->device, job);
    return NULL;
}

/* The buffers of a job without EN_VM_BIND: they keep their addresses until it ends. */
static int take_bos(struct call *call, struct device_job *job, const struct msm_submit *submit)
{
    const struct msm_submit_bo *bos = (const void *)call->message->array[0];
    uint32_t writer = call->file->context << 8 | (submit->queue & 0xff);
    uint64_t ignored;
    if (submit->bo_count > DEVICE_MAX_HANDLES)
        return -EINVAL;
    job->bo = calloc((size_t)submit->bo_count + 1, sizeof(struct device_bo *));
    if (!job->bo)
        return -ENOMEM;
    for (uint32_t i = 0; i < submit->bo_count; i++) {
        struct device_bo *bo = device_handle_bo(call->file, bos[i].handle);
        if (!bo)
            return -EINVAL;
        job->bo[job->bo_count++] = bo;
        bo->refs++;
        int status = get_iova(call, &call->file->handle[bos[i].handle - 1], &ignored);
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
        if (iova % 4)
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
    if (!status && call->device->job_count >= DEVICE_MAX_JOBS)
        status = -ENOMEM;
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

static int submit_job(struct call *call, struct msm_submit *submit)
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
    if (call->file->broken)
        return -EPIPE;
    if (!queue)
        return -ENOENT;
    if (queue->flags & MSM_QUEUE_VM_BIND)
        return -EINVAL;
    struct device_job *job = new_job(call, queue);
    if (!job)
        return -ENOMEM;
    int status = take_syncs(call, job, &syncs);
    if (!status && !call->file->vm_bind)
        status = take_bos(call, job, submit);
    if (!status)
        status = take_cmds(call, job, submit);
    if (!status)
        status = take_seqno(queue, submit);
    if (!status)
        mark_written(call, job, submit);
    return add_job(call, job, queue, &syncs, status);
}

static int check_bind(struct call *call, const struct msm_vm_bind_op *op, struct device_bo **ret)
{
    struct device_bo *bo = op->op == MSM_MAP ? device_handle_bo(call->file, op->handle) : NULL;
    if (op->op > MSM_MAP_NULL || op->pad || op->flags > 1 || op->iova % PAGE || op->range % PAGE ||
        !op->range || (op->op == MSM_MAP) != (bo != NULL))
        return -EINVAL;
    if (op->iova < VA_START || op->iova - VA_START > VA_SIZE ||
        op->range > VA_SIZE - (op->iova - VA_START))
        return -EINVAL;
    if (bo && (op->offset % PAGE || op->offset > bo->size || op->range > bo->size - op->offset))
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

static int vm_bind(struct call *call, struct msm_vm_bind *args)
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
    if (call->file->broken)
        return -EPIPE;
    if (!queue || !(queue->flags & MSM_QUEUE_VM_BIND))
        return queue ? -EINVAL : -ENOENT;
    struct device_job *job = new_job(call, queue);
    if (!job)
        return -ENOMEM;
    int status = take_syncs(call, job, &syncs);
    if (!status)
        status = take_binds(call, job, args);
    queue->seqno += !status;
    return add_job(call, job, queue, &syncs, status);
}

static int wait_fence(struct call *call, const struct msm_wait_fence *wait)
{
    const struct device_queue *queue = device_queue_find(call->file, wait->queue);
    if (!queue)
        return -ENOENT;
    if ((int32_t)(wait->fence - queue->seqno) > 0)
        return -EINVAL;
    if ((int32_t)(queue->retired - wait->fence) >= 0)
        return 0;
    return later(call, nanoseconds(wait->timeout), -ETIMEDOUT);
}

/* ---- queues ---- */

static int queue_new(struct call *call, struct msm_queue *args)
{
    struct device_file *file = call->file;
    bool binds = args->flags & MSM_QUEUE_VM_BIND;
    if (args->flags & ~(uint32_t)(MSM_QUEUE_ALLOW_PREEMPT | MSM_QUEUE_VM_BIND) ||
        args->priority >= PRIORITIES || (binds && !file->vm_bind))
        return -EINVAL;
    if (file->queue_count >= DEVICE_MAX_QUEUES || !CPS_LIST_ROOM(file->queue, file->queue_count))
        return -ENOMEM;
    args->id = file->next_queue++;
    file->queue[file->queue_count++] =
        (struct device_queue){.id = args->id, .flags = args->flags, .priority = args->priority};
    return 0;
}

static int queue_close(struct call *call, const struct drm_handle *args)
{
    struct device_file *file = call->file;
    struct device_queue *queue = args->handle ? device_queue_find(file, args->handle) : NULL;
    if (!queue)
        return -ENOENT;
    size_t at = (size_t)(queue - file->queue);
    memmove(queue, queue + 1, (--file->queue_count - at) * sizeof(*queue));
    return 0;
}

static int queue_query(struct call *call, struct msm_queue_query *query)
{
    const struct device_queue *queue = device_queue_find(call->file, query->id);
    if (query->pad || query->param)
        return -EINVAL;
    if (!queue)
        return -ENOENT;
    uint32_t size = query->len < sizeof(queue->faults) ? query->len : sizeof(queue->faults);
    memcpy(call->message->array[0], &queue->faults, size);
    query->len = sizeof(queue->faults);
    return 0;
}

static int get_cap(struct drm_cap *cap)
{
    enum { DUMB_BUFFER = 1, TIMESTAMP_MONOTONIC = 6 };
    switch (cap->capability) {
    case DRM_CAP_PRIME_:
        cap->value = 3;
        return 0;
    case DRM_CAP_SYNCOBJ_:
    case DRM_CAP_SYNCOBJ_TIMELINE_:
    case TIMESTAMP_MONOTONIC:
        cap->value = 1;
        return 0;
    case DUMB_BUFFER:
        cap->value = 0;
        return 0;
    default:
        return -EINVAL;
    }
}

static int madvise_(struct call *call, struct msm_madvise *args)
{
    if (args->advice > 1)
        return -EINVAL;
    args->retained = 1;
    return device_handle_bo(call->file, args->handle) ? 0 : -ENOENT;
}

/* The message's memory has room for a whole structure, aligned to 8 bytes. */
int device_call(struct device *device, struct device_file *file, struct device_message *message)
{
    struct call call = {device, file, message};
    void *args = message->structure;
    const struct drm_syncobj_list *list = args;
    const struct drm_syncobj_points *points = args;
    const void *values = message->array[1];
    switch ((enum device_row)message->head.row) {
    case DEVICE_GEM_CLOSE:
        return device_handle_close(device, file, ((struct drm_handle *)args)->handle);
    case DEVICE_GET_CAP:
        return get_cap(args);
    case DEVICE_PRIME_TO_FD:
        return prime_to_fd(&call, args);
    case DEVICE_PRIME_TO_HANDLE:
        return prime_to_handle(&call, args);
    case DEVICE_SYNCOBJ_CREATE:
        return syncobj_create(&call, args);
    case DEVICE_SYNCOBJ_DESTROY:
        return syncobj_destroy(&call, args);
    case DEVICE_SYNCOBJ_TO_FD:
        return syncobj_to_fd(&call, args);
    case DEVICE_SYNCOBJ_TO_HANDLE:
        return syncobj_to_handle(&call, args);
    case DEVICE_SYNCOBJ_WAIT:
        return syncobj_wait(&call, args);
    case DEVICE_SYNCOBJ_RESET:
        return each_syncobj(&call, list->count, NULL, false);
    case DEVICE_SYNCOBJ_SIGNAL:
        return each_syncobj(&call, list->count, NULL, true);
    case DEVICE_SYNCOBJ_TIMELINE_WAIT:
        return timeline_wait(&call, args);
    case DEVICE_SYNCOBJ_QUERY:
        return syncobj_query(&call, args);
    case DEVICE_SYNCOBJ_TRANSFER:
        return syncobj_transfer(&call, args);
    case DEVICE_SYNCOBJ_TIMELINE_SIGNAL:
        return each_syncobj(&call, points->count, values, true);
    case DEVICE_GET_PARAM:
        return get_param(&call, args);
    case DEVICE_SET_PARAM:
        return set_param(&call, args);
    case DEVICE_GEM_NEW:
        return gem_new(&call, args);
    case DEVICE_GEM_INFO:
        return gem_info(&call, args);
    case DEVICE_CPU_PREP:
        return cpu_prep(&call, args);
    case DEVICE_CPU_FINI:
        return device_handle_bo(file, ((struct msm_cpu_fini *)args)->handle) ? 0 : -ENOENT;
    case DEVICE_SUBMIT:
        return submit_job(&call, args);
    case DEVICE_WAIT_FENCE:
        return wait_fence(&call, args);
    case DEVICE_MADVISE:
        return madvise_(&call, args);
    case DEVICE_QUEUE_NEW:
        return queue_new(&call, args);
    case DEVICE_QUEUE_CLOSE:
        return queue_close(&call, args);
    case DEVICE_QUEUE_QUERY:
        return queue_query(&call, args);
    case DEVICE_VM_BIND:
        return vm_bind(&call, args);
    case DEVICE_SYNC_MERGE:
        return sync_merge(&call);
    case DEVICE_ROWS:
        break;
    }
    return -ENOTTY;
}
