/* SPDX-License-Identifier: MIT
 * Ioctls of syncobjs and sync files. */
#include "tools/device/call.h"

#include <errno.h>
#include <string.h>

int call_syncobj_create(struct call *call, struct drm_syncobj_new *new)
{
    struct device_syncobj *sync = device_syncobj_new(call->device);
    if (new->flags & ~(uint32_t)DRM_SYNCOBJ_SIGNALED) {
        device_syncobj_unref(sync);
        return -EINVAL;
    }
    struct device_fence *fence = new->flags ? device_fence_new(call->device, true) : NULL;
    bool good = sync && (!new->flags || (fence && device_syncobj_put(sync, 0, fence)));
    device_fence_unref(fence);
    new->handle = good ? device_syncobj_handle(call->file, sync) : 0;
    if (!new->handle)
        device_syncobj_unref(sync);
    return new->handle ? 0 : -ENOMEM;
}

int call_syncobj_destroy(struct call *call, const struct drm_handle *handle)
{
    struct device_syncobj *sync = device_syncobj_find(call->file, handle->handle);
    if (!sync)
        return -EINVAL;
    call->file->syncobj[handle->handle - 1] = NULL;
    if (handle->handle - 1 < call->file->free_syncobj)
        call->file->free_syncobj = handle->handle - 1;
    device_syncobj_unref(sync);
    return 0;
}

int call_syncobj_to_fd(struct call *call, const struct drm_syncobj_fd *args)
{
    struct device_syncobj *sync = device_syncobj_find(call->file, args->handle);
    struct device_message *message = call->message;
    uint64_t point = args->flags & DRM_SYNCOBJ_TIMELINE ? args->point : 0;
    if (!sync)
        return -ENOENT;
    if (!(args->flags & DRM_SYNCOBJ_SYNC_FILE)) {
        message->answer_fd = device_syncobj_export(call->device, sync);
        return message->answer_fd < 0 ? -EMFILE : 0;
    }
    if (!device_syncobj_has(sync, point))
        return -EINVAL;
    struct device_fence *fence = device_syncobj_fence(sync, point);
    message->answer_fd = fence ? device_sync_file_new(call->device, fence) : -1;
    device_fence_unref(fence);
    return message->answer_fd < 0 ? -ENOMEM : 0;
}

int call_syncobj_to_handle(struct call *call, struct drm_syncobj_fd *args)
{
    struct device *device = call->device;
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
    struct device_syncobj *sync = device_syncobj_of_fd(device, fd);
    if (!sync)
        return -EINVAL;
    args->handle = device_syncobj_handle(call->file, sync);
    if (!args->handle)
        device_syncobj_unref(sync);
    return args->handle ? 0 : -ENOMEM;
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
        struct device_syncobj *sync = device_syncobj_find(call->file, handle);
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
    return call_later(call, deadline, -ETIME);
}

int call_syncobj_wait(struct call *call, struct drm_syncobj_wait_ *wait)
{
    return wait_for(call, wait->count, wait->flags, wait->timeout, NULL, &wait->first);
}

int call_timeline_wait(struct call *call, struct drm_syncobj_timeline_wait_ *wait)
{
    /* Pieces are padded to 8 bytes. */
    return wait_for(call, wait->count, wait->flags, wait->timeout,
                    (const uint64_t *)(const void *)call->message->array[1], &wait->first);
}

/* Does something with each syncobj of a list. */
int call_each_syncobj(struct call *call, uint32_t count, const uint64_t *points, bool signals)
{
    struct device_fence *fence = signals ? device_fence_new(call->device, true) : NULL;
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

int call_syncobj_query(struct call *call, const struct drm_syncobj_points *query)
{
    for (uint32_t i = 0; i < query->count; i++) {
        uint32_t handle;
        memcpy(&handle, call->message->array[0] + 4 * (size_t)i, sizeof(handle));
        struct device_syncobj *sync = device_syncobj_find(call->file, handle);
        if (!sync)
            return -ENOENT;
        uint64_t reached = device_syncobj_payload(sync, query->flags & DRM_QUERY_LAST_SUBMITTED);
        memcpy(call->message->array[1] + 8 * (size_t)i, &reached, sizeof(reached));
    }
    return query->count ? 0 : -EINVAL;
}

int call_syncobj_transfer(struct call *call, const struct drm_syncobj_transfer_ *args)
{
    struct device_syncobj *from = device_syncobj_find(call->file, args->from);
    struct device_syncobj *to = device_syncobj_find(call->file, args->to);
    if (!from || !to)
        return -ENOENT;
    if (!device_syncobj_has(from, args->from_point))
        return args->flags & DRM_WAIT_FOR_SUBMIT ? call_later(call, INT64_MAX - 1, -ETIME)
                                                 : -EINVAL;
    struct device_fence *fence = device_syncobj_fence(from, args->from_point);
    bool good = fence && device_syncobj_put(to, args->to_point, fence);
    device_fence_unref(fence);
    return good ? 0 : -ENOMEM;
}

int call_sync_merge(struct call *call)
{
    struct device_message *message = call->message;
    struct device_fence *a = device_sync_file_fence(call->device, message->fd[0]);
    struct device_fence *b = device_sync_file_fence(call->device, message->fd[1]);
    struct device_fence *both = device_fence_new(call->device, false);
    int status = !a ? -ENOTTY : b ? -ENOMEM : -EINVAL; /* without `a` it is another driver's */
    if (a && b && both && device_fence_add(both, a) && device_fence_add(both, b)) {
        message->answer_fd = device_sync_file_new(call->device, both);
        status = message->answer_fd < 0 ? -ENOMEM : 0;
    }
    device_fence_unref(a);
    device_fence_unref(b);
    device_fence_unref(both);
    return status;
}
