/* SPDX-License-Identifier: MIT
 * Waits that really wait: fences, syncobjs, sync files, queues. */
#include "tests/device/native.h"

#include <poll.h>
#include <pthread.h>

/* A job that waits for word 0 of `flag`. */
struct scene {
    int fd;
    struct gpu_buf flag, stream;
    uint32_t fence;
};

static bool set_scene(struct scene *s, struct gpu_more more)
{
    *s = (struct scene){.fd = gpu_open()};
    s->flag = gpu_alloc(s->fd, 4096);
    s->stream = make_waiter(s->fd, &s->flag);
    more.other = &s->flag;
    return s->stream.handle && gpu_submit(s->fd, &s->stream, &more, &s->fence) == 0;
}

static void *write_flag(void *argument)
{
    struct gpu_buf *flag = argument;
    gpu_sleep(60);
    __atomic_store_n(&flag->data[0], 1, __ATOMIC_RELEASE);
    return NULL;
}

static bool wait_fence(void)
{
    struct scene s;
    pthread_t thread;
    HOLDS(set_scene(&s, (struct gpu_more){0}));
    HOLDS(gpu_wait(s.fd, 0, s.fence, 0) == -ETIMEDOUT);
    HOLDS(gpu_wait(s.fd, 0, s.fence, 20) == -ETIMEDOUT && s.flag.data[1] == 0);
    int64_t begin = gpu_now();
    HOLDS(!pthread_create(&thread, NULL, write_flag, &s.flag));
    HOLDS(gpu_wait(s.fd, 0, s.fence, 5000) == 0 && s.flag.data[1] == 2);
    HOLDS(gpu_now() - begin >= 50 * INT64_C(1000000));
    pthread_join(thread, NULL);
    HOLDS(gpu_param(s.fd, MSM_FAULTS) == 0);
    close(s.fd);
    return true;
}

static void choose_thread(struct gpu_buf *stream, uint32_t thread)
{
    enum { PACKET_THREAD_CONTROL = 0x17 };
    gpu_packet(stream, PACKET_THREAD_CONTROL, 1, &thread);
}

/* BV waits for word 2 and writes word 3 while BR waits for word 0. */
static bool two_words(void)
{
    enum { BR = 1, BV, BOTH };
    int fd = gpu_open();
    uint32_t fence = 0;
    struct gpu_buf flag = gpu_alloc(fd, 4096), stream = gpu_alloc(fd, 4096);
    struct gpu_more more = {.other = &flag};
    choose_thread(&stream, BV);
    gpu_wait_for(&stream, flag.iova + 8, 1);
    gpu_write(&stream, flag.iova + 12, 3);
    choose_thread(&stream, BR);
    gpu_wait_for(&stream, flag.iova, 1);
    gpu_write(&stream, flag.iova + 4, 2);
    choose_thread(&stream, BOTH);
    HOLDS(!gpu_submit(fd, &stream, &more, &fence));
    HOLDS(gpu_wait(fd, 0, fence, 50) == -ETIMEDOUT && flag.data[3] == 0);
    __atomic_store_n(&flag.data[2], 1, __ATOMIC_RELEASE);
    HOLDS(gpu_wait(fd, 0, fence, 100) == -ETIMEDOUT);
    HOLDS(__atomic_load_n(&flag.data[3], __ATOMIC_ACQUIRE) == 3 && flag.data[1] == 0);
    write_flag(&flag);
    HOLDS(gpu_wait(fd, 0, fence, 5000) == 0 && flag.data[1] == 2);
    HOLDS(gpu_param(fd, MSM_FAULTS) == 0);
    close(fd);
    return true;
}

static int prepare(const struct scene *s, uint32_t op, int milliseconds)
{
    struct msm_cpu_prep args = {
        .handle = s->flag.handle, .op = op, .timeout = gpu_time(gpu_in(milliseconds))};
    return GPU_CALL(s->fd, N_CPU_PREP, &args) ? -errno : 0;
}

static bool cpu_prep(void)
{
    struct scene s;
    pthread_t thread;
    HOLDS(set_scene(&s, (struct gpu_more){0}));
    HOLDS(prepare(&s, MSM_PREP_READ | MSM_PREP_NOSYNC, 0) == -EBUSY);
    HOLDS(prepare(&s, MSM_PREP_READ, 20) == -ETIMEDOUT);
    HOLDS(!pthread_create(&thread, NULL, write_flag, &s.flag));
    HOLDS(prepare(&s, MSM_PREP_WRITE, 5000) == 0 && s.flag.data[1] == 2);
    pthread_join(thread, NULL);
    struct msm_cpu_fini fini = {.handle = s.flag.handle};
    HOLDS(!GPU_CALL(s.fd, N_CPU_FINI, &fini));
    close(s.fd);
    return true;
}

static bool binary(void)
{
    int fd = gpu_open();
    uint32_t list[2] = {gpu_sync_new(fd, 0), gpu_sync_new(fd, DRM_SYNCOBJ_SIGNALED)};
    const uint32_t all = DRM_WAIT_ALL | DRM_WAIT_FOR_SUBMIT;
    HOLDS(list[0] && list[1]);
    HOLDS(gpu_sync_wait(fd, list, 1, 0, 0) == -EINVAL);
    HOLDS(gpu_sync_wait(fd, list, 1, DRM_WAIT_FOR_SUBMIT, 20) == -ETIME);
    HOLDS(gpu_sync_wait(fd, list, 2, DRM_WAIT_FOR_SUBMIT, 20) == 1);
    HOLDS(gpu_sync_wait(fd, list, 2, all, 20) == -ETIME);
    HOLDS(!gpu_sync_list(fd, N_SYNC_SIGNAL, list[0]));
    HOLDS(gpu_sync_wait(fd, list, 2, all, 20) == 0);
    HOLDS(!gpu_sync_list(fd, N_SYNC_RESET, list[0]));
    HOLDS(gpu_sync_wait(fd, list, 1, 0, 0) == -EINVAL);
    const uint32_t none = 77;
    HOLDS(gpu_sync_wait(fd, &none, 1, 0, 0) == -ENOENT);
    struct drm_handle gone = {.handle = list[1]};
    HOLDS(!GPU_CALL(fd, N_SYNC_DESTROY, &gone) && GPU_CALL(fd, N_SYNC_DESTROY, &gone));
    close(fd);
    return true;
}

struct signaller {
    int fd;
    uint32_t sync;
    uint64_t point;
};

static void *signal_later(void *argument)
{
    const struct signaller *s = argument;
    gpu_sleep(40);
    gpu_point_signal(s->fd, s->sync, s->point);
    return NULL;
}

static bool timeline(void)
{
    int fd = gpu_open();
    uint32_t sync = gpu_sync_new(fd, 0), binary_one = gpu_sync_new(fd, 0);
    struct signaller later = {fd, sync, 7};
    pthread_t thread;
    HOLDS(gpu_point(fd, sync, 0) == 0);
    HOLDS(gpu_point_wait(fd, sync, 3, 0, 0) == -EINVAL);
    HOLDS(gpu_point_wait(fd, sync, 3, DRM_WAIT_FOR_SUBMIT, 10) == -ETIME);
    HOLDS(gpu_point_wait(fd, sync, 3, DRM_WAIT_AVAILABLE, 10) == -ETIME);
    HOLDS(!gpu_point_signal(fd, sync, 5) && gpu_point(fd, sync, 0) == 5);
    HOLDS(gpu_point_wait(fd, sync, 3, 0, 0) == 0);
    HOLDS(gpu_point_wait(fd, sync, 5, DRM_WAIT_AVAILABLE, 0) == 0);
    HOLDS(!pthread_create(&thread, NULL, signal_later, &later));
    HOLDS(gpu_point_wait(fd, sync, 7, DRM_WAIT_FOR_SUBMIT, 5000) == 0);
    pthread_join(thread, NULL);
    HOLDS(!gpu_point_signal(fd, sync, 2) && gpu_point(fd, sync, 0) == 7);
    struct drm_syncobj_transfer_ transfer = {.from = sync, .from_point = 7, .to = binary_one};
    HOLDS(!GPU_CALL(fd, N_SYNC_TRANSFER, &transfer));
    HOLDS(gpu_sync_wait(fd, &binary_one, 1, 0, 0) == 0);
    HOLDS(!gpu_sync_list(fd, N_SYNC_RESET, sync) && gpu_point(fd, sync, 0) == 0);
    close(fd);
    return true;
}

static bool job_points(void)
{
    int fd = gpu_open();
    uint32_t sync = gpu_sync_new(fd, 0), fence;
    struct gpu_buf flag = gpu_alloc(fd, 4096);
    struct gpu_buf stream = make_waiter(fd, &flag);
    struct gpu_more more = {.other = &flag, .out = {.handle = sync, .point = 4}};
    HOLDS(!gpu_submit(fd, &stream, &more, &fence));
    HOLDS(gpu_point(fd, sync, 0) == 0);
    HOLDS(gpu_point(fd, sync, DRM_QUERY_LAST_SUBMITTED) == 4);
    HOLDS(gpu_point_wait(fd, sync, 4, DRM_WAIT_AVAILABLE, 0) == 0);
    HOLDS(gpu_point_wait(fd, sync, 4, 0, 20) == -ETIME);
    flag.data[0] = 1;
    HOLDS(gpu_point_wait(fd, sync, 4, 0, 5000) == 0 && flag.data[1] == 2);
    HOLDS(gpu_point(fd, sync, 0) == 4);
    close(fd);
    return true;
}

static bool syncobj_fd(void)
{
    int fd = gpu_open(), other = gpu_open();
    uint32_t sync = gpu_sync_new(fd, 0);
    struct drm_syncobj_fd args = {.handle = sync, .fd = -1};
    HOLDS(!GPU_CALL(fd, N_SYNC_TO_FD, &args) && args.fd >= 0);
    struct drm_syncobj_fd back = {.fd = args.fd};
    HOLDS(!GPU_CALL(other, N_SYNC_TO_HANDLE, &back) && back.handle);
    HOLDS(gpu_sync_wait(other, &back.handle, 1, DRM_WAIT_FOR_SUBMIT, 10) == -ETIME);
    HOLDS(!gpu_sync_list(fd, N_SYNC_SIGNAL, sync));
    HOLDS(gpu_sync_wait(other, &back.handle, 1, 0, 0) == 0);
    close(fd);
    HOLDS(gpu_sync_wait(other, &back.handle, 1, 0, 0) == 0);
    close(args.fd);
    /* Nothing is used up by what has been closed. */
    for (int i = 0; i < 20000; i++) {
        args = (struct drm_syncobj_fd){.handle = gpu_sync_new(other, 0), .fd = -1};
        HOLDS(!GPU_CALL(other, N_SYNC_TO_FD, &args));
        close(args.fd);
        struct drm_handle gone = {.handle = args.handle};
        HOLDS(!GPU_CALL(other, N_SYNC_DESTROY, &gone));
    }
    close(other);
    return true;
}

static bool is_readable(int fd, int milliseconds)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, milliseconds) > 0;
}

static int merge_files(int a, int b)
{
    struct sync_merge merge = {.name = "test", .fd2 = b};
    return ioctl(a, _IOC(_IOC_READ | _IOC_WRITE, '>', 3, sizeof(merge)), &merge) ? -1 : merge.fence;
}

static bool sync_files(void)
{
    struct scene s;
    struct gpu_more out = {.flags = MSM_SUBMIT_FENCE_FD_OUT}, in = {0};
    uint32_t fence;
    s.fd = gpu_open();
    s.flag = gpu_alloc(s.fd, 4096);
    s.stream = make_waiter(s.fd, &s.flag);
    out.other = &s.flag;
    HOLDS(!gpu_submit(s.fd, &s.stream, &out, &s.fence) && out.fence_fd >= 0);
    HOLDS(!is_readable(out.fence_fd, 20));
    int both = merge_files(out.fence_fd, out.fence_fd);
    HOLDS(both >= 0 && !is_readable(both, 0));
    /* A job of another open file waits for it. */
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    gpu_write(&stream, stream.iova + 4092, 3);
    in.flags = MSM_SUBMIT_FENCE_FD_IN;
    in.fence_fd = out.fence_fd;
    HOLDS(!gpu_submit(fd, &stream, &in, &fence));
    HOLDS(gpu_wait(fd, 0, fence, 20) == -ETIMEDOUT && stream.data[1023] == 0);
    struct drm_syncobj_fd import = {
        .handle = gpu_sync_new(fd, 0), .flags = DRM_SYNCOBJ_SYNC_FILE, .fd = out.fence_fd};
    HOLDS(!GPU_CALL(fd, N_SYNC_TO_HANDLE, &import));
    HOLDS(gpu_sync_wait(fd, &import.handle, 1, 0, 10) == -ETIME);
    s.flag.data[0] = 1;
    HOLDS(!gpu_wait(fd, 0, fence, 5000) && stream.data[1023] == 3 && s.flag.data[1] == 2);
    HOLDS(is_readable(out.fence_fd, 1000) && is_readable(both, 1000));
    HOLDS(gpu_sync_wait(fd, &import.handle, 1, 0, 1000) == 0);
    struct drm_syncobj_fd export = {
        .handle = import.handle, .flags = DRM_SYNCOBJ_SYNC_FILE, .fd = -1};
    HOLDS(!GPU_CALL(fd, N_SYNC_TO_FD, &export) && is_readable(export.fd, 1000));
    close(export.fd);
    close(out.fence_fd);
    close(both);
    close(fd);
    close(s.fd);
    return true;
}

static bool many_sync_files(void)
{
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    struct gpu_more more = {.flags = MSM_SUBMIT_FENCE_FD_OUT};
    uint32_t fence;
    gpu_write(&stream, stream.iova + 4092, 3);
    for (int i = 0; i < 20000; i++) {
        HOLDS(!gpu_submit(fd, &stream, &more, &fence));
        close(more.fence_fd);
    }
    HOLDS(!gpu_wait(fd, 0, fence, 10000));
    close(fd);
    return true;
}

static bool in_and_out(void)
{
    int fd = gpu_open();
    uint32_t sync = gpu_sync_new(fd, 0), fence = 0;
    struct msm_queue queue = {.priority = 2};
    struct gpu_buf flag = gpu_alloc(fd, 4096);
    struct gpu_buf first = make_waiter(fd, &flag), second = gpu_alloc(fd, 4096);
    HOLDS(!GPU_CALL(fd, N_QUEUE_NEW, &queue) && queue.id);
    struct gpu_more out = {.other = &flag, .out = {.handle = sync}};
    struct gpu_more in = {.queue = queue.id, .in = {.handle = sync, .flags = MSM_SYNCOBJ_RESET}};
    gpu_write(&second, second.iova + 4092, 9);
    HOLDS(gpu_submit(fd, &second, &in, &fence) == -EINVAL);
    HOLDS(!gpu_submit(fd, &first, &out, &fence));
    HOLDS(!gpu_submit(fd, &second, &in, &fence));
    HOLDS(gpu_wait(fd, queue.id, fence, 20) == -ETIMEDOUT && second.data[1023] == 0);
    HOLDS(gpu_sync_wait(fd, &sync, 1, 0, 0) == -EINVAL);
    flag.data[0] = 1;
    HOLDS(!gpu_wait(fd, queue.id, fence, 5000) && second.data[1023] == 9 && flag.data[1] == 2);
    struct drm_handle gone = {.handle = queue.id};
    HOLDS(!GPU_CALL(fd, N_QUEUE_CLOSE, &gone));
    HOLDS(gpu_wait(fd, queue.id, fence, 0) == -ENOENT);
    close(fd);
    return true;
}

/* A timeline whose every point waits for a job has no room for another one. */
static bool full_timeline(void)
{
    int fd = gpu_open();
    uint32_t sync = gpu_sync_new(fd, 0), full = gpu_sync_new(fd, 0), fence[3] = {0};
    uint32_t ready = gpu_sync_new(fd, 1), points = 0;
    struct gpu_buf flag = gpu_alloc(fd, 4096), other = gpu_alloc(fd, 4096);
    struct gpu_buf waiter = make_waiter(fd, &flag);
    struct gpu_more out = {.other = &flag, .out = {.handle = sync}};
    HOLDS(!gpu_submit(fd, &waiter, &out, &fence[0]));
    struct drm_syncobj_transfer_ transfer = {.from = sync, .to = full};
    do
        transfer.to_point = ++points;
    while (points < 100000 && !GPU_CALL(fd, N_SYNC_TRANSFER, &transfer));
    HOLDS(points > 1000 && points < 100000);
    gpu_write(&other, other.iova + 4092, 1);
    struct gpu_more fails = {.in = {.handle = ready, .flags = MSM_SYNCOBJ_RESET},
                             .out = {.handle = full, .point = points}};
    HOLDS(gpu_submit(fd, &other, &fails, &fence[1]) == -ENOMEM);
    HOLDS(!gpu_sync_wait(fd, &ready, 1, 0, 0) && gpu_point(fd, full, 1) == points - 1);
    /* The failed submission left no number and no fence at its buffers. */
    flag.data[0] = 1;
    struct gpu_more good = {0};
    HOLDS(!gpu_submit(fd, &other, &good, &fence[2]) && fence[2] == fence[0] + 1);
    HOLDS(!gpu_wait(fd, 0, fence[2], 5000) && other.data[1023] == 1);
    close(fd);
    return true;
}

static bool priorities(void)
{
    struct scene s;
    struct msm_queue low = {.priority = 8}, high = {.priority = 1};
    HOLDS(set_scene(&s, (struct gpu_more){.queue = 0}));
    HOLDS(!GPU_CALL(s.fd, N_QUEUE_NEW, &low) && !GPU_CALL(s.fd, N_QUEUE_NEW, &high));
    struct gpu_buf last = gpu_alloc(s.fd, 4096);
    struct gpu_buf a = gpu_alloc(s.fd, 4096), b = gpu_alloc(s.fd, 4096);
    gpu_write(&a, last.iova, 1);
    gpu_write(&b, last.iova, 2);
    /* The processor is taken by the one that waits; the low one came first. */
    struct gpu_more more = {.queue = low.id, .flags = MSM_SUBMIT_NO_IMPLICIT, .other = &last};
    uint32_t fence[2];
    HOLDS(!gpu_submit(s.fd, &a, &more, &fence[0]));
    more.queue = high.id;
    HOLDS(!gpu_submit(s.fd, &b, &more, &fence[1]));
    s.flag.data[0] = 1;
    HOLDS(!gpu_wait(s.fd, low.id, fence[0], 5000) && !gpu_wait(s.fd, high.id, fence[1], 5000));
    HOLDS(last.data[0] == 1);
    struct msm_queue bad = {.priority = 12};
    HOLDS(GPU_CALL(s.fd, N_QUEUE_NEW, &bad) && errno == EINVAL);
    close(s.fd);
    return true;
}

const struct fact facts_sync[] = {
    {"WAIT_FENCE waits until a thread has written what the stream waits for", wait_fence},
    {"CPU_PREP waits for jobs that use the buffer", cpu_prep},
    {"binary syncobjs: any, all, for submit, ETIME, signal, reset, destroy", binary},
    {"timelines: available, for submit, signal, query, transfer, reset", timeline},
    {"a job's point is available before it is done", job_points},
    {"syncobjs go to another open file as descriptors, which use nothing up", syncobj_fd},
    {"sync files: poll, merge, import, export, and a job that waits for one", sync_files},
    {"sync files that were closed use nothing up", many_sync_files},
    {"a job waits for the syncobj of another queue's job, and resets it", in_and_out},
    {"of two jobs that could begin the one with the higher priority does", priorities},
    {0}};

const struct fact facts_threads[] = {
    {"BR and BV wait for a word each: each goes on when its own is written", two_words}, {0}};

/* The job waits for as long as the timeline fills: needs a long --hang-after. */
const struct fact facts_full[] = {
    {"a submission that fails changes no syncobj, queue or buffer", full_timeline}, {0}};
