/* SPDX-License-Identifier: MIT
 * What each ioctl does: as the kernel's msm driver and DRM core (drivers/gpu/drm/msm, drm_syncobj.c
 * of Linux 6.17), with their error numbers. */
#include "tools/device/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/list.h"

/* The msm driver has three priorities of its scheduler for each of four rings. */
#define PRIORITIES 12u

int64_t call_nanoseconds(struct msm_timespec time)
{
    const int64_t second = 1000000000;
    if (time.sec < 0 || time.nsec < 0)
        return 0;
    if (time.sec > INT64_MAX / second - 2)
        return INT64_MAX - 1;
    return time.sec * second + (time.nsec < second ? time.nsec : second - 1);
}

int64_t device_deadline(const struct device *device, const struct device_message *message,
                        int64_t deadline)
{
    if (!device->gpu.debugger)
        return deadline;
    if (message->begun && message->deadline > deadline)
        deadline = message->deadline;
    bool passed = device->paused && deadline > device->paused && deadline <= device->resumed;
    return passed ? deadline + (device->resumed - device->paused) : deadline;
}

/* Waits for what is not done yet, or says that it took too long. */
int call_later(struct call *call, int64_t deadline, int timed_out)
{
    deadline = device_deadline(call->device, call->message, deadline);
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
        param->value = DEVICE_VA_START;
        return 0;
    case MSM_VA_SIZE:
        param->value = DEVICE_VA_SIZE;
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
        param->value = DEVICE_TRAP_BASE;
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
    device_text_clean(copy);
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
    if (iova < DEVICE_VA_START || iova - DEVICE_VA_START > DEVICE_VA_SIZE ||
        size > DEVICE_VA_SIZE - (iova - DEVICE_VA_START))
        return -EINVAL;
    if (device_space_used(space, iova, size))
        return -ENOSPC;
    int status = device_space_map(device, space, iova, size, handle->bo, 0);
    handle->iova = status ? 0 : iova;
    return status;
}

/* The address of a buffer; one that has none gets it here. */
int call_get_iova(struct call *call, struct device_handle *handle, uint64_t *ret)
{
    struct device_file *file = call->file;
    if (file->vm_bind)
        return -EINVAL;
    if (!handle->iova) {
        uint64_t iova = 0;
        int status =
            device_space_room(&file->space, DEVICE_VA_START, DEVICE_VA_START + DEVICE_VA_SIZE,
                              handle->bo->size, &file->next_iova, &iova);
        if (!status)
            status = set_iova(call, handle, iova);
        if (status)
            return status;
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
    device_text_clean(name);
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
        return call_get_iova(call, handle, &info->value);
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
    return prep->op & MSM_PREP_NOSYNC
               ? -EBUSY
               : call_later(call, call_nanoseconds(prep->timeout), -ETIMEDOUT);
}

static int prime_to_fd(struct call *call, const struct drm_prime *prime)
{
    const struct device_bo *bo = device_handle_bo(call->file, prime->handle);
    if (!bo)
        return -ENOENT;
    call->message->answer_fd = device_bo_export(bo);
    return call->message->answer_fd < 0 ? -EMFILE : 0;
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
    device_queue_close(file, queue);
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
        return call_syncobj_create(&call, args);
    case DEVICE_SYNCOBJ_DESTROY:
        return call_syncobj_destroy(&call, args);
    case DEVICE_SYNCOBJ_TO_FD:
        return call_syncobj_to_fd(&call, args);
    case DEVICE_SYNCOBJ_TO_HANDLE:
        return call_syncobj_to_handle(&call, args);
    case DEVICE_SYNCOBJ_WAIT:
        return call_syncobj_wait(&call, args);
    case DEVICE_SYNCOBJ_RESET:
        return call_each_syncobj(&call, list->count, NULL, false);
    case DEVICE_SYNCOBJ_SIGNAL:
        return call_each_syncobj(&call, list->count, NULL, true);
    case DEVICE_SYNCOBJ_TIMELINE_WAIT:
        return call_timeline_wait(&call, args);
    case DEVICE_SYNCOBJ_QUERY:
        return call_syncobj_query(&call, args);
    case DEVICE_SYNCOBJ_TRANSFER:
        return call_syncobj_transfer(&call, args);
    case DEVICE_SYNCOBJ_TIMELINE_SIGNAL:
        return call_each_syncobj(&call, points->count, values, true);
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
        return call_submit_job(&call, args);
    case DEVICE_WAIT_FENCE:
        return call_wait_fence(&call, args);
    case DEVICE_MADVISE:
        return madvise_(&call, args);
    case DEVICE_QUEUE_NEW:
        return queue_new(&call, args);
    case DEVICE_QUEUE_CLOSE:
        return queue_close(&call, args);
    case DEVICE_QUEUE_QUERY:
        return queue_query(&call, args);
    case DEVICE_VM_BIND:
        return call_vm_bind(&call, args);
    case DEVICE_SYNC_MERGE:
        return call_sync_merge(&call);
    default:
        break;
    }
    return -ENOTTY;
}
