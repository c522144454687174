/* SPDX-License-Identifier: MIT
 * Parameters, buffers, address spaces. */
#include "tests/device/native.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

static bool params(void)
{
    int fd = gpu_open();
    struct msm_param pipe = {.pipe = 1, .param = MSM_CHIP_ID};
    struct msm_param name = {
        .pipe = MSM_PIPE_3D, .param = MSM_COMM, .value = (uintptr_t) "native", .len = 6};
    HOLDS(fd >= 0);
    HOLDS(gpu_param(fd, MSM_CHIP_ID) >> 24 != 0 && gpu_param(fd, MSM_CHIP_ID) != UINT64_MAX);
    HOLDS(gpu_param(fd, MSM_VA_START) == UINT64_C(0x100000000));
    HOLDS(gpu_param(fd, MSM_PRIORITIES) == 12);
    HOLDS(gpu_param(fd, MSM_FAULTS) == 0);
    HOLDS(gpu_param(fd, 99) == UINT64_MAX && errno == EINVAL);
    HOLDS(GPU_CALL(fd, N_GET_PARAM, &pipe) && errno == EINVAL);
    HOLDS(!GPU_CALL(fd, N_SET_PARAM, &name));
    close(fd);
    return true;
}

static bool buffers(void)
{
    int fd = gpu_open();
    struct gpu_buf a = gpu_new(fd, 10000);
    uint64_t flags = 0;
    HOLDS(a.handle == 1 && a.data[0] == 0 && a.data[2499] == 0);
    a.data[5] = 42;
    struct gpu_buf again = a;
    HOLDS(gpu_map(fd, &again) && again.data != a.data && again.data[5] == 42);
    HOLDS(!gpu_info(fd, a.handle, MSM_INFO_FLAGS, &flags) && flags == 0x20000);
    HOLDS(mmap(NULL, 16384, PROT_READ, MAP_SHARED, fd, (off_t)a.handle << 32) == MAP_FAILED &&
          errno == EINVAL);
    HOLDS(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, INT64_C(77) << 32) == MAP_FAILED);
    struct msm_madvise advice = {.handle = a.handle, .advice = 1};
    HOLDS(!GPU_CALL(fd, N_MADVISE, &advice) && advice.retained == 1);
    HOLDS(!gpu_close(fd, a.handle) && gpu_close(fd, a.handle) == -EINVAL);
    HOLDS(again.data[5] == 42);
    HOLDS(gpu_info(fd, a.handle, MSM_INFO_FLAGS, &flags) == -ENOENT);
    HOLDS(gpu_new(fd, 4096).handle == a.handle);
    struct msm_gem_new huge = {.size = UINT64_MAX - 4096};
    HOLDS(GPU_CALL(fd, N_GEM_NEW, &huge) && (errno == EINVAL || errno == ENOMEM));
    huge.size = UINT64_C(64) << 30;
    HOLDS(GPU_CALL(fd, N_GEM_NEW, &huge));
    close(fd);
    return true;
}

static int export_buffer(int fd, uint32_t handle)
{
    struct drm_prime prime = {.handle = handle, .flags = O_CLOEXEC | O_RDWR, .fd = -1};
    return GPU_CALL(fd, N_PRIME_TO_FD, &prime) ? -1 : prime.fd;
}

static int import_buffer(int fd, int buffer)
{
    struct drm_prime prime = {.fd = buffer};
    return GPU_CALL(fd, N_PRIME_TO_HANDLE, &prime) ? -errno : (int)prime.handle;
}

static int use_import(int buffer)
{
    int fd = gpu_open();
    int handle = import_buffer(fd, buffer);
    struct gpu_buf buf = {.handle = (uint32_t)handle, .size = 8192};
    if (handle <= 0 || import_buffer(fd, buffer) != handle || !gpu_map(fd, &buf) ||
        buf.data[1] != 11)
        return 1;
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    if (gpu_info(fd, buf.handle, MSM_INFO_IOVA, &buf.iova))
        return 2;
    gpu_write(&stream, buf.iova + 8, 12);
    return gpu_run(fd, &stream, (struct gpu_more){.other = &buf}) != 0;
}

static bool prime(void)
{
    int fd = gpu_open();
    struct gpu_buf a = gpu_new(fd, 8192);
    a.data[1] = 11;
    int exported = export_buffer(fd, a.handle);
    HOLDS(exported >= 0 && lseek(exported, 0, SEEK_END) == 8192);
    HOLDS(fcntl(exported, F_GETFD) & FD_CLOEXEC);
    HOLDS(!gpu_close(fd, a.handle));
    HOLDS(in_child(use_import, exported) && a.data[2] == 12);
    int handle = import_buffer(fd, exported);
    HOLDS(handle > 0 && import_buffer(fd, exported) == handle);
    close(exported);
    close(fd);
    return true;
}

static bool foreign_descriptors(void)
{
    int fd = gpu_open(), ends[2], pair[2];
    int unsealed = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int proc = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    int folder = open("/", O_RDONLY | O_CLOEXEC);
    HOLDS(!pipe(ends) && !socketpair(AF_UNIX, SOCK_STREAM, 0, pair) && !ftruncate(unsealed, 4096));
    const int list[] = {unsealed, proc, folder, ends[0], ends[1], pair[0], fd, 0};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
        struct drm_syncobj_fd sync = {.fd = list[i]};
        HOLDS(import_buffer(fd, list[i]) < 0);
        HOLDS(GPU_CALL(fd, N_SYNC_TO_HANDLE, &sync));
        sync.handle = gpu_sync_new(fd, 0);
        sync.flags = DRM_SYNCOBJ_SYNC_FILE;
        HOLDS(GPU_CALL(fd, N_SYNC_TO_HANDLE, &sync));
    }
    HOLDS(!fcntl(unsealed, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL));
    HOLDS(import_buffer(fd, unsealed) == -EINVAL);
    HOLDS(import_buffer(fd, 12345) < 0);
    for (size_t i = 0; i < 2; i++) {
        close(ends[i]);
        close(pair[i]);
    }
    close(unsealed);
    close(proc);
    close(folder);
    close(fd);
    return true;
}

static bool spaces(void)
{
    int fd[2] = {gpu_open(), gpu_open()};
    struct gpu_buf data[2], stream[2];
    uint64_t same = UINT64_C(0x500000000);
    for (int i = 0; i < 2; i++) {
        data[i] = gpu_new(fd[i], 4096);
        HOLDS(!gpu_info(fd[i], data[i].handle, MSM_INFO_SET_IOVA, &same));
        stream[i] = gpu_alloc(fd[i], 4096);
        gpu_write(&stream[i], same + 16, 100 + (uint32_t)i);
    }
    for (int i = 0; i < 2; i++)
        HOLDS(!gpu_run(fd[i], &stream[i], (struct gpu_more){.other = &data[i]}));
    HOLDS(data[0].data[4] == 100 && data[1].data[4] == 101);
    /* What only the other context has is not there. */
    struct gpu_buf secret = gpu_new(fd[0], 4096);
    uint64_t only = UINT64_C(0x600000000);
    HOLDS(!gpu_info(fd[0], secret.handle, MSM_INFO_SET_IOVA, &only));
    stream[1].used = 0;
    gpu_write(&stream[1], only, 13);
    gpu_run(fd[1], &stream[1], (struct gpu_more){0});
    HOLDS(secret.data[0] == 0);
    HOLDS(!gpu_run(fd[0], &stream[0], (struct gpu_more){.other = &data[0]}));
    close(fd[0]);
    close(fd[1]);
    return true;
}

static bool vm_bind(void)
{
    uint32_t queue = 0;
    int fd = gpu_open_vm_bind(&queue);
    const uint64_t at = UINT64_C(0x200000000);
    HOLDS(fd >= 0);
    struct gpu_buf stream = gpu_bound(fd, queue, 4096, UINT64_C(0x300000000));
    struct gpu_buf a = gpu_bound(fd, queue, 3 * 4096, at);
    struct gpu_buf b = gpu_new(fd, 4096);
    HOLDS(stream.handle && a.handle && b.handle);
    /* b replaces the middle page of a. */
    HOLDS(!gpu_bind(fd, queue,
                    (struct msm_vm_bind_op){
                        .op = MSM_MAP, .handle = b.handle, .iova = at + 4096, .range = 4096}));
    for (uint32_t i = 0; i < 3; i++)
        gpu_write(&stream, at + 4096 * i, i + 1);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){.vm_bind = true}));
    HOLDS(a.data[0] == 1 && a.data[1024] == 0 && a.data[2048] == 3 && b.data[0] == 2);
    /* The middle page reads as zeros and keeps nothing; the others stay. */
    HOLDS(!gpu_bind(fd, queue,
                    (struct msm_vm_bind_op){.op = MSM_MAP_NULL, .iova = at + 4096, .range = 4096}));
    stream.used = 0;
    for (uint32_t i = 0; i < 3; i++)
        gpu_write(&stream, at + 4096 * i, i + 11);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){.vm_bind = true}));
    stream.used = 0;
    gpu_wait_for(&stream, at + 4096, 0);
    gpu_write(&stream, stream.iova + 4092, 5);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){.vm_bind = true}));
    HOLDS(a.data[0] == 11 && a.data[1024] == 0 && a.data[2048] == 13 && b.data[0] == 2);
    HOLDS(stream.data[1023] == 5);
    /* What is unmapped is no longer written. */
    HOLDS(!gpu_bind(fd, queue,
                    (struct msm_vm_bind_op){.op = MSM_UNMAP, .iova = at, .range = 2 * 4096}));
    stream.used = 0;
    gpu_write(&stream, at + 8192, 23);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){.vm_bind = true}));
    HOLDS(a.data[0] == 11 && a.data[2048] == 23);
    const struct msm_vm_bind_op bad[] = {
        {.op = 3, .iova = at, .range = 4096},
        {.op = MSM_MAP, .handle = 99, .iova = at, .range = 4096},
        {.op = MSM_MAP, .handle = b.handle, .iova = at, .range = 8192},
        {.op = MSM_MAP, .handle = b.handle, .iova = at, .range = 4096, .offset = UINT64_MAX - 4095},
        {.op = MSM_MAP, .handle = b.handle, .iova = UINT64_MAX - 4095, .range = 4096},
        {.op = MSM_UNMAP, .iova = at, .range = UINT64_MAX - 4095},
        {.op = MSM_UNMAP, .iova = at + 1, .range = 4096},
        {.op = MSM_UNMAP, .iova = at}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        HOLDS(gpu_bind(fd, queue, bad[i]) == -EINVAL);
    close(fd);
    return true;
}

static bool bad_submits(void)
{
    int fd = gpu_open();
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    struct msm_submit_bo bo = {.flags = MSM_BO_READ, .handle = stream.handle};
    gpu_write(&stream, stream.iova + 4092, 1);
    for (int i = 0; i < 7; i++) {
        struct msm_submit_cmd cmd = {.type = MSM_CMD_BUF, .size = 16};
        struct msm_submit args = {.flags = MSM_PIPE_3D,
                                  .bo_count = 1,
                                  .bos = (uintptr_t)&bo,
                                  .cmd_count = 1,
                                  .cmds = (uintptr_t)&cmd};
        cmd.index = i == 0;
        cmd.offset = i == 1 ? 4096 : i == 2 ? UINT32_MAX - 3 : 0;
        cmd.size = i == 3 ? 4100 : i == 4 ? 15 : 16;
        cmd.type = i == 5 ? 9 : MSM_CMD_BUF;
        args.flags = i == 6 ? 0x11 : MSM_PIPE_3D;
        HOLDS(GPU_CALL(fd, N_SUBMIT, &args) && errno == EINVAL);
    }
    struct gpu_more more = {.queue = 9};
    uint32_t fence;
    HOLDS(gpu_submit(fd, &stream, &more, &fence) == -ENOENT);
    HOLDS(gpu_wait(fd, 0, 5, 10) == -EINVAL);
    HOLDS(!gpu_run(fd, &stream, (struct gpu_more){0}) && stream.data[1023] == 1);
    close(fd);
    return true;
}

static int use_inherited(int fd)
{
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    gpu_write(&stream, stream.iova + 4092, 1);
    return gpu_run(fd, &stream, (struct gpu_more){0}) || stream.data[1023] != 1;
}

static bool duplicates(void)
{
    int fd = gpu_open();
    struct gpu_buf a = gpu_new(fd, 4096);
    int other = dup(fd);
    uint64_t flags = 0;
    close(fd);
    HOLDS(!gpu_info(other, a.handle, MSM_INFO_FLAGS, &flags));
    HOLDS(in_child(use_inherited, other));
    HOLDS(gpu_new(other, 4096).handle);
    close(other);
    return true;
}

static int read_own(int fd)
{
    char byte = 0;
    return read(fd, &byte, 1) != 1 || byte != '#';
}

/* The library's connections have numbers that a program may close, to use them for itself. */
static bool own_descriptors(void)
{
    int fd = gpu_open();
    HOLDS(gpu_param(fd, MSM_PRIORITIES) == 12);
    int file = open("/proc/self/comm", O_RDONLY | O_CLOEXEC), ends[2];
    HOLDS(file >= 0 && !pipe(ends) && write(ends[1], "####", 4) == 4);
    for (int i = 200; i < 300; i++) {
        if (i != fd && i != file && i != ends[0])
            dup2(ends[0], i);
    }
    HOLDS(in_child(read_own, 257) && in_child(read_own, 256));
    close(fd);
    fd = gpu_open();
    HOLDS(gpu_param(fd, MSM_PRIORITIES) == 12);
    for (int i = 200; i < 300; i++)
        close(i);
    close(file);
    close(ends[0]);
    close(ends[1]);
    close(fd);
    return true;
}

static void *use_in_thread(void *argument)
{
    int fd = *(int *)argument;
    struct gpu_buf stream = gpu_alloc(fd, 4096);
    for (uint32_t i = 1; i <= 50; i++) {
        stream.used = 0;
        gpu_write(&stream, stream.iova + 4092, i);
        if (gpu_run(fd, &stream, (struct gpu_more){0}) || stream.data[1023] != i)
            return argument;
    }
    return NULL;
}

static bool threads(void)
{
    pthread_t thread[8];
    int fd = gpu_open();
    bool good = fd >= 0;
    for (int i = 0; i < 8; i++)
        good &= !pthread_create(&thread[i], NULL, use_in_thread, &fd);
    for (int i = 0; i < 8; i++) {
        void *failed = NULL;
        good &= !pthread_join(thread[i], &failed) && !failed;
    }
    close(fd);
    return good;
}

static bool programs(void)
{
    pid_t pid[4];
    bool good = true;
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        pid[i] = fork();
        if (pid[i] == 0) {
            int fd = gpu_open();
            _exit(use_in_thread(&fd) != NULL);
        }
    }
    for (int i = 0; i < 4; i++) {
        int status = 1;
        good &= waitpid(pid[i], &status, 0) == pid[i] && status == 0;
    }
    return good;
}

static bool many_handles(void)
{
    int fd = gpu_open();
    int64_t begin = gpu_now();
    for (uint32_t i = 1; i <= 3000; i++) {
        struct msm_gem_new new = {.size = 4096};
        HOLDS(!GPU_CALL(fd, N_GEM_NEW, &new) && new.handle == i);
    }
    for (uint32_t i = 3000; i > 0; i--)
        HOLDS(!gpu_close(fd, i));
    for (uint32_t i = 1; i <= 20000; i++) {
        HOLDS(gpu_sync_new(fd, 0) == i);
    }
    HOLDS(gpu_now() - begin < INT64_C(20000000000));
    close(fd);
    return true;
}

const struct fact facts_memory[] = {
    {"parameters have the chip's values, unknown ones EINVAL", params},
    {"buffers begin as zeros, are mapped at their offsets, and their handles come again", buffers},
    {"a buffer goes to another process as a descriptor and outlives its handle", prime},
    {"descriptors that are no buffer, syncobj or sync file are refused", foreign_descriptors},
    {"two contexts have buffers at one address, and none reaches the other's", spaces},
    {"VM_BIND maps over mappings, splits them, maps nothing, unmaps; bad ranges EINVAL", vm_bind},
    {"submissions of ranges that no buffer has are refused, and the next one runs", bad_submits},
    {"an open file is used through dup, after close, and in a child", duplicates},
    {"a program may have its own files at the numbers of the library's connections",
     own_descriptors},
    {"eight threads submit to one open file", threads},
    {"four processes submit at once", programs},
    {"thousands of handles take no quadratic time", many_handles},
    {0}};
