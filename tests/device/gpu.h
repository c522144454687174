/* SPDX-License-Identifier: MIT
 * A small driver for the virtual device: what its tests need of ioctls, and of packets. */
#ifndef CPS_TEST_GPU_H
#define CPS_TEST_GPU_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tools/device/uapi.h"

#define GPU_CALL(fd, number, argument) \
    ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, sizeof(*(argument))), argument)
/* Numbers of ioctls, as msm_drm.h and drm.h have them. */
enum {
    N_GEM_CLOSE = 0x09,
    N_PRIME_TO_FD = 0x2d,
    N_PRIME_TO_HANDLE = 0x2e,
    N_SYNC_NEW = 0xbf,
    N_SYNC_DESTROY = 0xc0,
    N_SYNC_TO_FD = 0xc1,
    N_SYNC_TO_HANDLE = 0xc2,
    N_SYNC_WAIT = 0xc3,
    N_SYNC_RESET = 0xc4,
    N_SYNC_SIGNAL = 0xc5,
    N_TIMELINE_WAIT = 0xca,
    N_SYNC_QUERY = 0xcb,
    N_SYNC_TRANSFER = 0xcc,
    N_TIMELINE_SIGNAL = 0xcd,
    N_GET_PARAM = 0x40,
    N_SET_PARAM,
    N_GEM_NEW,
    N_GEM_INFO,
    N_CPU_PREP,
    N_CPU_FINI,
    N_SUBMIT,
    N_WAIT_FENCE,
    N_MADVISE,
    N_QUEUE_NEW = 0x4a,
    N_QUEUE_CLOSE,
    N_QUEUE_QUERY,
    N_VM_BIND,
};
enum { PACKET_NOP = 0x10, PACKET_MEM_WRITE = 0x3d, PACKET_WAIT_REG_MEM = 0x3c, PACKET_IB = 0x3f };

struct gpu_buf {
    uint32_t handle;
    uint64_t iova, size;
    uint32_t *data;
    uint32_t used; /* dwords, of a stream */
};

static inline int gpu_open(void)
{
    return open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
}

static inline int64_t gpu_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/** The time in so many milliseconds. */
static inline int64_t gpu_in(int milliseconds)
{
    return gpu_now() + milliseconds * INT64_C(1000000);
}

static inline struct msm_timespec gpu_time(int64_t at)
{
    return (struct msm_timespec){at / 1000000000, at % 1000000000};
}

static inline void gpu_sleep(int milliseconds)
{
    usleep((unsigned)milliseconds * 1000);
}

/** @return 0 or -errno */
static inline int gpu_info(int fd, uint32_t handle, unsigned info, uint64_t *value)
{
    struct msm_gem_info args = {.handle = handle, .info = info, .value = *value};
    int status = GPU_CALL(fd, N_GEM_INFO, &args) ? -errno : 0;
    *value = args.value;
    return status;
}

static inline bool gpu_map(int fd, struct gpu_buf *buf)
{
    uint64_t offset = 0;
    if (gpu_info(fd, buf->handle, MSM_INFO_OFFSET, &offset))
        return false;
    void *data = mmap(NULL, buf->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    buf->data = data == MAP_FAILED ? NULL : data;
    return buf->data;
}

/** A mapped buffer without an address; `handle` is 0 if there is none. */
static inline struct gpu_buf gpu_new(int fd, uint64_t size)
{
    struct gpu_buf buf = {.size = size};
    struct msm_gem_new args = {.size = size, .flags = 0x20000};
    if (GPU_CALL(fd, N_GEM_NEW, &args))
        return buf;
    buf.handle = args.handle;
    if (!gpu_map(fd, &buf))
        buf.handle = 0;
    return buf;
}

/** The same with an address that the device chooses. */
static inline struct gpu_buf gpu_alloc(int fd, uint64_t size)
{
    struct gpu_buf buf = gpu_new(fd, size);
    if (!buf.handle || gpu_info(fd, buf.handle, MSM_INFO_IOVA, &buf.iova))
        buf.handle = 0;
    return buf;
}

static inline int gpu_close(int fd, uint32_t handle)
{
    struct drm_handle args = {.handle = handle};
    return GPU_CALL(fd, N_GEM_CLOSE, &args) ? -errno : 0;
}

static inline uint64_t gpu_param(int fd, unsigned param)
{
    struct msm_param args = {.pipe = MSM_PIPE_3D, .param = param};
    return GPU_CALL(fd, N_GET_PARAM, &args) ? UINT64_MAX : args.value;
}

/* ---- packets ---- */

static inline void gpu_packet(struct gpu_buf *stream, uint32_t opcode, uint32_t count,
                              const uint32_t *words)
{
    uint32_t *to = stream->data + stream->used;
    *to++ = 7u << 28 | (uint32_t)(1 ^ __builtin_parity(opcode)) << 23 | opcode << 16 |
            (uint32_t)(1 ^ __builtin_parity(count)) << 15 | count;
    memcpy(to, words, count * sizeof(*words));
    stream->used += 1 + count;
}

static inline void gpu_write(struct gpu_buf *stream, uint64_t iova, uint32_t value)
{
    const uint32_t words[] = {(uint32_t)iova, (uint32_t)(iova >> 32), value};
    gpu_packet(stream, PACKET_MEM_WRITE, 3, words);
}

/** Waits until the word at @p iova is @p value. */
static inline void gpu_wait_for(struct gpu_buf *stream, uint64_t iova, uint32_t value)
{
    const uint32_t words[] = {0x13, (uint32_t)iova, (uint32_t)(iova >> 32), value, UINT32_MAX, 0};
    gpu_packet(stream, PACKET_WAIT_REG_MEM, 6, words);
}

static inline void gpu_call(struct gpu_buf *stream, uint64_t iova, uint32_t dwords)
{
    const uint32_t words[] = {(uint32_t)iova, (uint32_t)(iova >> 32), dwords};
    gpu_packet(stream, PACKET_IB, 3, words);
}

/* ---- submissions ---- */

enum { GPU_MOST_BOS = 8 };

/** What a submission has besides its stream: all may be 0. */
struct gpu_more {
    uint32_t queue, flags;
    int fence_fd; /* in with MSM_SUBMIT_FENCE_FD_IN, out with ..._OUT */
    struct msm_submit_syncobj in, out;
    const struct gpu_buf *other; /* that the stream touches, too */
    bool vm_bind;
};

/** @return 0 or -errno; @p fence  gets the number */
static inline int gpu_submit(int fd, const struct gpu_buf *stream, struct gpu_more *more,
                             uint32_t *fence)
{
    const struct msm_submit_bo bos[2] = {
        {.flags = MSM_BO_READ | MSM_BO_WRITE, .handle = stream->handle},
        {.flags = MSM_BO_READ | MSM_BO_WRITE, .handle = more->other ? more->other->handle : 0}};
    const struct msm_submit_cmd cmd = {
        .type = MSM_CMD_BUF, .size = stream->used * 4, .iova = more->vm_bind ? stream->iova : 0};
    struct msm_submit args = {.flags = MSM_PIPE_3D | more->flags,
                              .bo_count = more->vm_bind ? 0 : 1 + (more->other != NULL),
                              .bos = (uintptr_t)bos,
                              .cmd_count = 1,
                              .cmds = (uintptr_t)&cmd,
                              .fence_fd = more->fence_fd,
                              .queue = more->queue,
                              .in_syncobjs = (uintptr_t)&more->in,
                              .out_syncobjs = (uintptr_t)&more->out,
                              .in_count = more->in.handle != 0,
                              .out_count = more->out.handle != 0,
                              .stride = sizeof(more->in)};
    args.flags |= args.in_count ? MSM_SUBMIT_SYNCOBJ_IN : 0;
    args.flags |= args.out_count ? MSM_SUBMIT_SYNCOBJ_OUT : 0;
    int status = GPU_CALL(fd, N_SUBMIT, &args) ? -errno : 0;
    more->fence_fd = args.fence_fd;
    *fence = args.fence;
    return status;
}

/** @return 0 or -errno: -ETIMEDOUT */
static inline int gpu_wait(int fd, uint32_t queue, uint32_t fence, int milliseconds)
{
    struct msm_wait_fence args = {
        .fence = fence, .queue = queue, .timeout = gpu_time(gpu_in(milliseconds))};
    return GPU_CALL(fd, N_WAIT_FENCE, &args) ? -errno : 0;
}

/** Submits to queue 0 and waits. @return 0 or -errno */
static inline int gpu_run(int fd, const struct gpu_buf *stream, struct gpu_more more)
{
    uint32_t fence = 0;
    int status = gpu_submit(fd, stream, &more, &fence);
    return status ? status : gpu_wait(fd, more.queue, fence, 10000);
}

/* ---- with EN_VM_BIND ---- */

/** A context that manages its addresses. @p queue  gets the queue of VM_BIND. @return -1: none */
static inline int gpu_open_vm_bind(uint32_t *queue)
{
    int fd = gpu_open();
    struct msm_param args = {.pipe = MSM_PIPE_3D, .param = MSM_EN_VM_BIND, .value = 1};
    struct msm_queue new = {.flags = MSM_QUEUE_VM_BIND};
    if (fd < 0 || GPU_CALL(fd, N_SET_PARAM, &args) || GPU_CALL(fd, N_QUEUE_NEW, &new))
        return -1;
    *queue = new.id;
    return fd;
}

static inline int gpu_bind(int fd, uint32_t queue, struct msm_vm_bind_op op)
{
    struct msm_vm_bind args = {.queue = queue, .op_count = 1, .fence_fd = -1, .op = op};
    return GPU_CALL(fd, N_VM_BIND, &args) ? -errno : 0;
}

/** A buffer that is mapped at @p iova. */
static inline struct gpu_buf gpu_bound(int fd, uint32_t queue, uint64_t size, uint64_t iova)
{
    struct gpu_buf buf = gpu_new(fd, size);
    buf.iova = iova;
    if (!buf.handle ||
        gpu_bind(fd, queue,
                 (struct msm_vm_bind_op){
                     .op = MSM_MAP, .handle = buf.handle, .iova = iova, .range = size}))
        buf.handle = 0;
    return buf;
}

/* ---- syncobjs ---- */

static inline uint32_t gpu_sync_new(int fd, uint32_t flags)
{
    struct drm_syncobj_new args = {.flags = flags};
    return GPU_CALL(fd, N_SYNC_NEW, &args) ? 0 : args.handle;
}

/** @return index of the first, or -errno */
static inline int gpu_sync_wait(int fd, const uint32_t *list, uint32_t count, uint32_t flags,
                                int milliseconds)
{
    struct drm_syncobj_wait_ args = {.handles = (uintptr_t)list,
                                     .count = count,
                                     .flags = flags,
                                     .timeout = gpu_in(milliseconds)};
    return GPU_CALL(fd, N_SYNC_WAIT, &args) ? -errno : (int)args.first;
}

static inline int gpu_point_wait(int fd, uint32_t sync, uint64_t point, uint32_t flags,
                                 int milliseconds)
{
    struct drm_syncobj_timeline_wait_ args = {.handles = (uintptr_t)&sync,
                                              .points = (uintptr_t)&point,
                                              .count = 1,
                                              .flags = flags,
                                              .timeout = gpu_in(milliseconds)};
    return GPU_CALL(fd, N_TIMELINE_WAIT, &args) ? -errno : 0;
}

static inline int gpu_point_signal(int fd, uint32_t sync, uint64_t point)
{
    struct drm_syncobj_points args = {
        .handles = (uintptr_t)&sync, .points = (uintptr_t)&point, .count = 1};
    return GPU_CALL(fd, N_TIMELINE_SIGNAL, &args) ? -errno : 0;
}

static inline uint64_t gpu_point(int fd, uint32_t sync, uint32_t flags)
{
    uint64_t point = UINT64_MAX;
    struct drm_syncobj_points args = {
        .handles = (uintptr_t)&sync, .points = (uintptr_t)&point, .count = 1, .flags = flags};
    return GPU_CALL(fd, N_SYNC_QUERY, &args) ? UINT64_MAX : point;
}

static inline int gpu_sync_list(int fd, unsigned number, uint32_t sync)
{
    struct drm_syncobj_list args = {.handles = (uintptr_t)&sync, .count = 1};
    return GPU_CALL(fd, number, &args) ? -errno : 0;
}

#endif
