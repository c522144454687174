/* SPDX-License-Identifier: MIT
 * Fences, and what clients hold them by. A timeline's point is done when its fence and those of all
 * points before it are (kernel: dma_fence_chain). */
#include "tools/device/device.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "isa/base/list.h"

int64_t device_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- fences ---- */

struct device_fence *device_fence_new(struct device *device, bool done)
{
    struct device_fence *fence = calloc(1, sizeof(*fence));
    if (fence)
        *fence = (struct device_fence){.device = device, .refs = 1, .done = done};
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
    fence->device->use.points -= fence->part_count;
    free(fence->part);
    free(fence);
}

bool device_fence_done(struct device_fence *fence)
{
    while (fence->part_count && fence->part[fence->part_count - 1]->done) {
        device_fence_unref(fence->part[--fence->part_count]);
        fence->device->use.points--;
    }
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
        struct device_fence *part = fence->merged ? fence->part[i] : fence;
        if (part->done)
            continue;
        if (to->part_count >= DEVICE_MAX_POINTS ||
            to->device->use.points >= DEVICE_MAX_ALL_POINTS ||
            !CPS_LIST_ROOM(to->part, to->part_count))
            return false;
        to->part[to->part_count++] = device_fence_ref(part);
        to->device->use.points++;
    }
    return true;
}

/* ---- syncobjs ---- */

struct device_syncobj *device_syncobj_new(struct device *device)
{
    struct device_syncobj *sync = calloc(1, sizeof(*sync));
    if (sync)
        *sync = (struct device_syncobj){.device = device, .refs = 1, .write_end = -1};
    return sync;
}

void device_syncobj_reset(struct device_syncobj *sync)
{
    for (size_t i = 0; i < sync->count; i++)
        device_fence_unref(sync->list[i].fence);
    sync->device->use.points -= sync->count;
    sync->count = 0;
    sync->reached = 0;
}

void device_syncobj_unref(struct device_syncobj *sync)
{
    if (!sync || --sync->refs)
        return;
    device_syncobj_reset(sync);
    free(sync->list);
    if (sync->write_end >= 0)
        close(sync->write_end);
    free(sync);
}

struct device_syncobj *device_syncobj_find(const struct device_file *file, uint32_t handle)
{
    return handle - 1 < file->syncobj_count ? file->syncobj[handle - 1] : NULL;
}

uint32_t device_syncobj_handle(struct device_file *file, struct device_syncobj *sync)
{
    size_t i = file->free_syncobj;
    while (i < file->syncobj_count && file->syncobj[i])
        i++;
    if (i == file->syncobj_count) {
        if (i >= DEVICE_MAX_HANDLES || file->device->use.slots >= DEVICE_MAX_SLOTS ||
            !CPS_LIST_ROOM(file->syncobj, file->syncobj_count))
            return 0;
        file->device->use.slots++;
        file->syncobj_count++;
    }
    file->syncobj[i] = sync;
    file->free_syncobj = i + 1;
    return (uint32_t)i + 1;
}

/* Takes points that are done from the front, but not the last fence of a binary syncobj. */
static void prune(struct device_syncobj *sync)
{
    size_t done = 0;
    while (done < sync->count && (sync->list[done].point || done + 1 < sync->count) &&
           device_fence_done(sync->list[done].fence)) {
        if (sync->list[done].point)
            sync->reached = sync->list[done].point;
        done++;
    }
    for (size_t i = 0; i < done; i++)
        device_fence_unref(sync->list[i].fence);
    if (done)
        memmove(sync->list, sync->list + done, (sync->count - done) * sizeof(*sync->list));
    sync->count -= done;
    sync->device->use.points -= done;
}

/* The first entry at or behind a point; the count if there is none. */
static size_t entry_of(const struct device_syncobj *sync, uint64_t point)
{
    size_t low = 0;
    size_t high = sync->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sync->list[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool device_syncobj_has(const struct device_syncobj *sync, uint64_t point)
{
    bool reached = point ? point <= sync->reached : sync->reached != 0;
    return reached || entry_of(sync, point) < sync->count;
}

bool device_point_done(struct device_syncobj *sync, uint64_t point)
{
    prune(sync);
    if (!sync->count || (point && point <= sync->reached))
        return point ? point <= sync->reached : sync->reached != 0;
    /* A point is done when all before it are, and the first is not, unless it is a binary one. */
    return entry_of(sync, point) < sync->count && device_fence_done(sync->list[0].fence);
}

uint64_t device_syncobj_payload(struct device_syncobj *sync, bool submitted)
{
    prune(sync);
    return submitted && sync->count ? sync->list[sync->count - 1].point : sync->reached;
}

struct device_fence *device_syncobj_fence(struct device_syncobj *sync, uint64_t point)
{
    struct device_fence *fence = device_fence_new(sync->device, device_point_done(sync, point));
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

bool device_syncobj_has_room(struct device_syncobj *sync, uint64_t point, size_t more)
{
    if (point)
        prune(sync);
    return (!point || sync->count + more < DEVICE_MAX_POINTS) &&
           sync->device->use.points + more < DEVICE_MAX_ALL_POINTS &&
           CPS_LIST_ROOM(sync->list, sync->count);
}

bool device_syncobj_put(struct device_syncobj *sync, uint64_t point, struct device_fence *fence)
{
    if (!point)
        device_syncobj_reset(sync);
    else
        prune(sync);
    if (sync->count >= DEVICE_MAX_POINTS || sync->device->use.points >= DEVICE_MAX_ALL_POINTS ||
        !CPS_LIST_ROOM(sync->list, sync->count))
        return false;
    /* A point that comes too late is as far as the newest one (kernel: dma_fence_chain_init()). */
    uint64_t newest = sync->count ? sync->list[sync->count - 1].point : sync->reached;
    if (point && point < newest)
        point = newest;
    sync->device->use.points++;
    sync->list[sync->count++] = (struct device_point){point, device_fence_ref(fence)};
    return true;
}

/* ---- descriptors ---- */

/* Whether a pipe is the one that a client has sent an end of. */
static bool same_pipe(int write_end, uint64_t inode, const struct stat *info)
{
    struct stat own;
    return inode == info->st_ino && fstat(write_end, &own) == 0 && own.st_ino == info->st_ino &&
           own.st_dev == info->st_dev;
}

/* Whether no client has the other end any more. */
static bool is_abandoned(int write_end)
{
    struct pollfd end = {.fd = write_end};
    return poll(&end, 1, 0) > 0 && end.revents & POLLERR;
}

/* How many there may be before those are looked for that clients have closed. */
static size_t next_sweep(size_t count)
{
    return count < 32 ? 64 : 2 * count;
}

static bool make_pipe(int ends[2], uint64_t *inode)
{
    struct stat info;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
        return false;
    if (fstat(ends[0], &info) == 0) {
        *inode = info.st_ino;
        return true;
    }
    close(ends[0]);
    close(ends[1]);
    return false;
}

/* ---- syncobjs as descriptors ---- */

static void forget_exported(struct device *device)
{
    for (size_t i = device->exported_count; i-- > 0;) {
        struct device_syncobj *sync = device->exported[i];
        if (sync->refs > 1 || !is_abandoned(sync->write_end))
            continue;
        device->exported[i] = device->exported[--device->exported_count];
        device_syncobj_unref(sync);
    }
    device->exported_sweep = next_sweep(device->exported_count);
}

int device_syncobj_export(struct device *device, struct device_syncobj *sync)
{
    char path[64];
    int ends[2];
    if (sync->write_end >= 0) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", sync->write_end);
        return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (device->exported_count >= device->exported_sweep)
        forget_exported(device);
    if (device->exported_count >= DEVICE_MAX_SYNC_FILES ||
        !CPS_LIST_ROOM(device->exported, device->exported_count))
        return -1;
    if (!make_pipe(ends, &sync->inode)) {
        forget_exported(device);
        if (!make_pipe(ends, &sync->inode))
            return -1;
    }
    sync->write_end = ends[1];
    sync->refs++;
    device->exported[device->exported_count++] = sync;
    return ends[0];
}

struct device_syncobj *device_syncobj_of_fd(struct device *device, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode))
        return NULL;
    for (size_t i = 0; i < device->exported_count; i++) {
        struct device_syncobj *sync = device->exported[i];
        if (!same_pipe(sync->write_end, sync->inode, &info))
            continue;
        sync->refs++;
        return sync;
    }
    return NULL;
}

/* ---- sync files ---- */

static void close_sync_file(struct device_sync_file *file)
{
    close(file->write_end);
    device_fence_unref(file->fence);
}

static void forget_sync_files(struct device *device)
{
    for (size_t i = device->sync_file_count; i-- > 0;) {
        if (!is_abandoned(device->sync_file[i].write_end))
            continue;
        close_sync_file(&device->sync_file[i]);
        device->sync_file[i] = device->sync_file[--device->sync_file_count];
    }
    device->sync_file_sweep = next_sweep(device->sync_file_count);
}

int device_sync_file_new(struct device *device, struct device_fence *fence)
{
    int ends[2];
    uint64_t inode = 0;
    if (device->sync_file_count >= device->sync_file_sweep)
        forget_sync_files(device);
    if (device->sync_file_count >= DEVICE_MAX_SYNC_FILES ||
        !CPS_LIST_ROOM(device->sync_file, device->sync_file_count))
        return -1;
    if (!make_pipe(ends, &inode)) {
        forget_sync_files(device);
        if (!make_pipe(ends, &inode))
            return -1;
    }
    device->sync_file[device->sync_file_count++] = (struct device_sync_file){
        .write_end = ends[1], .inode = inode, .fence = device_fence_ref(fence)};
    return ends[0];
}

struct device_fence *device_sync_file_fence(struct device *device, int fd)
{
    struct stat info;
    if (fstat(fd, &info) != 0 || !S_ISFIFO(info.st_mode))
        return NULL;
    for (size_t i = 0; i < device->sync_file_count; i++) {
        struct device_sync_file *file = &device->sync_file[i];
        if (same_pipe(file->write_end, file->inode, &info))
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
