/* SPDX-License-Identifier: MIT
 * Fences, and what clients hold them by. A timeline's point is done when its fence and those of all
 * points before it are (kernel: dma_fence_chain). */
#include "tools/device/device.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "isa/base/list.h"

/* ---- fences ---- */

struct device_fence *device_fence_new(bool done)
{
    struct device_fence *fence = calloc(1, sizeof(*fence));
    if (fence)
        *fence = (struct device_fence){.refs = 1, .done = done};
    return fence;
}

struct device_fence *device_fence_ref(struct device_fence *fence)
{
    if (fence)
        fence->refs++;
    return fence;
}

void device_fence_unref(struct device_fence *fence)
{
    if (!fence || --fence->refs)
        return;
    for (size_t i = 0; i < fence->part_count; i++)
        device_fence_unref(fence->part[i]);
    free(fence->part);
    free(fence);
}

bool device_fence_done(struct device_fence *fence)
{
    while (fence->part_count && fence->part[fence->part_count - 1]->done)
        device_fence_unref(fence->part[--fence->part_count]);
    fence->done |= fence->merged && !fence->part_count;
    return fence->done;
}

/* Parts are fences of jobs: a merged fence gives its own parts. */
bool device_fence_add(struct device_fence *to, struct device_fence *fence)
{
    to->merged = true;
    if (device_fence_done(fence))
        return true;
    for (size_t i = 0; i < (fence->merged ? fence->part_count : 1); i++) {
        if (to->part_count >= DEVICE_MAX_POINTS || !CPS_LIST_ROOM(to->part, to->part_count))
            return false;
        to->part[to->part_count++] = device_fence_ref(fence->merged ? fence->part[i] : fence);
    }
    return true;
}

/* ---- syncobjs ---- */

struct device_syncobj *device_syncobj_new(void)
{
    struct device_syncobj *sync = calloc(1, sizeof(*sync));
    if (sync)
        *sync = (struct device_syncobj){.refs = 1, .memfd = -1};
    return sync;
}

void device_syncobj_reset(struct device_syncobj *sync)
{
    for (size_t i = 0; i < sync->count; i++)
        device_fence_unref(sync->list[i].fence);
    sync->count = 0;
    sync->reached = 0;
}

void device_syncobj_unref(struct device_syncobj *sync)
{
    if (!sync || --sync->refs)
        return;
    device_syncobj_reset(sync);
    free(sync->list);
    if (sync->memfd >= 0)
        close(sync->memfd);
    free(sync);
}

struct device_syncobj *device_syncobj_find(const struct device_file *file, uint32_t handle)
{
    return handle - 1 < file->syncobj_count ? file->syncobj[handle - 1] : NULL;
}

uint32_t device_syncobj_handle(struct device_file *file, struct device_syncobj *sync)
{
    size_t i = 0;
    while (i < file->syncobj_count && file->syncobj[i])
        i++;
    if (i == file->syncobj_count) {
        if (i >= DEVICE_MAX_HANDLES || !CPS_LIST_ROOM(file->syncobj, file->syncobj_count))
            return 0;
        file->syncobj_count++;
    }
    file->syncobj[i] = sync;
    return (uint32_t)i + 1;
}

/* Takes points that are done from the front, but not a binary syncobj's only one. */
static void prune(struct device_syncobj *sync)
{
    size_t done = 0;
    while (done < sync->count && sync->list[done].point &&
           device_fence_done(sync->list[done].fence))
        sync->reached = sync->list[done++].point;
    for (size_t i = 0; i < done; i++)
        device_fence_unref(sync->list[i].fence);
    memmove(sync->list, sync->list + done, (sync->count - done) * sizeof(*sync->list));
    sync->count -= done;
}

/* The first entry at or behind a point; the count if there is none. */
static size_t entry_of(const struct device_syncobj *sync, uint64_t point)
{
    size_t i = 0;
    while (i < sync->count && sync->list[i].point < point)
        i++;
    return i;
}

bool device_syncobj_has(const struct device_syncobj *sync, uint64_t point)
{
    bool reached = point ? point <= sync->reached : sync->reached != 0;
    return reached || entry_of(sync, point) < sync->count;
}

bool device_point_done(const struct device_syncobj *sync, uint64_t point)
{
    if (point && point <= sync->reached)
        return true;
    /* Without a point the newest fence counts. */
    size_t last = point ? entry_of(sync, point) : sync->count - 1;
    if (!sync->count)
        return !point && sync->reached != 0;
    if (last >= sync->count)
        return false;
    for (size_t i = 0; i <= last; i++) {
        if (!device_fence_done(sync->list[i].fence))
            return false;
    }
    return true;
}

struct device_fence *device_syncobj_fence(struct device_syncobj *sync, uint64_t point)
{
    struct device_fence *fence = device_fence_new(device_point_done(sync, point));
    if (!fence || fence->done)
        return fence;
    size_t last = point ? entry_of(sync, point) : sync->count - 1;
    for (size_t i = 0; i <= last; i++) {
        if (!device_fence_add(fence, sync->list[i].fence)) {
            device_fence_unref(fence);
            return NULL;
        }
    }
    return fence;
}

bool device_syncobj_put(struct device_syncobj *sync, uint64_t point, struct device_fence *fence)
{
    if (!point)
        device_syncobj_reset(sync);
    else
        prune(sync);
    if (sync->count >= DEVICE_MAX_POINTS || !CPS_LIST_ROOM(sync->list, sync->count))
        return false;
    size_t at = entry_of(sync, point);
    memmove(&sync->list[at + 1], &sync->list[at], (sync->count - at) * sizeof(*sync->list));
    sync->list[at] = (struct device_point){point, device_fence_ref(fence)};
    sync->count++;
    return true;
}

/* ---- sync files ---- */

static bool same_end(int write_end, const struct stat *info)
{
    struct stat own;
    return fstat(write_end, &own) == 0 && own.st_ino == info->st_ino && own.st_dev == info->st_dev;
}

static void close_sync_file(struct device_sync_file *file)
{
    close(file->write_end);
    device_fence_unref(file->fence);
}

/* Those that no client has any more. */
static void forget_sync_files(struct device *device)
{
    for (size_t i = device->sync_file_count; i-- > 0;) {
        struct pollfd end = {.fd = device->sync_file[i].write_end};
        if (poll(&end, 1, 0) <= 0 || !(end.revents & POLLERR))
            continue;
        close_sync_file(&device->sync_file[i]);
        device->sync_file[i] = device->sync_file[--device->sync_file_count];
    }
}

int device_sync_file_new(struct device *device, struct device_fence *fence)
{
    int ends[2];
    struct stat info;
    if (device->sync_file_count % 64 == 63)
        forget_sync_files(device);
    if (device->sync_file_count >= DEVICE_MAX_SYNC_FILES) {
        errno = EMFILE;
        return -1;
    }
    if (!CPS_LIST_ROOM(device->sync_file, device->sync_file_count) ||
        pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return -1;
    fstat(ends[0], &info);
    device->sync_file[device->sync_file_count++] = (struct device_sync_file){
        .write_end = ends[1], .inode = info.st_ino, .fence = device_fence_ref(fence)};
    return ends[0];
}

struct device_fence *device_sync_file_fence(struct device *device, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode))
        return NULL;
    for (size_t i = 0; i < device->sync_file_count; i++) {
        struct device_sync_file *file = &device->sync_file[i];
        if (file->inode == info.st_ino && same_end(file->write_end, &info))
            return device_fence_ref(file->fence);
    }
    return NULL;
}

void device_sync_files_tell(struct device *device)
{
    for (size_t i = 0; i < device->sync_file_count; i++) {
        struct device_sync_file *file = &device->sync_file[i];
        if (file->told || !device_fence_done(file->fence))
            continue;
        file->told = true;
        if (write(file->write_end, "", 1) < 0) {
            /* A pipe that nobody reads any more is forgotten later. */
        }
    }
}

void device_sync_files_deinit(struct device *device)
{
    for (size_t i = 0; i < device->sync_file_count; i++)
        close_sync_file(&device->sync_file[i]);
    free(device->sync_file);
}
