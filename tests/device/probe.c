/* SPDX-License-Identifier: MIT
 * A client of the virtual device, for tests/device/client.py, which is the device: each job calls
 * libc as a driver does and checks what comes back. Prints the line of the first check that fails.
 */
#undef _FORTIFY_SOURCE
#undef _POSIX_C_SOURCE
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/device/protocol.h"

#define NODE "/dev/dri/renderD128"
#define CHECK(condition)                                                       \
    do {                                                                       \
        if (!(condition)) {                                                    \
            printf("probe.c:%d: %s, errno %d\n", __LINE__, #condition, errno); \
            exit(1);                                                           \
        }                                                                      \
    } while (0)
#define DRM(number, type) _IOC(_IOC_READ | _IOC_WRITE, DRM_GROUP, number, sizeof(struct type))

static int open_node(void)
{
    int fd = open(NODE, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

/* The device answers GET_PARAM with param + 1000. */
static int works(int fd)
{
    struct msm_param param = {.pipe = MSM_PIPE_3D, .param = 7};
    return !ioctl(fd, DRM(0x40, msm_param), &param) && param.value == 1007;
}

static void check_node(const struct stat *info)
{
    CHECK(info->st_size == 0 && S_ISCHR(info->st_mode) && major(info->st_rdev) == 226 &&
          minor(info->st_rdev) == 128);
}

static int is_card(const struct dirent *entry)
{
    return !strcmp(entry->d_name, "renderD128");
}

static void check_links(int fd)
{
    char text[PATH_MAX], *path;
    ssize_t size = readlink("/sys/dev/char/226:128/device/subsystem", text, sizeof(text));
    CHECK(size > 9 && !memcmp(text + size - 9, "/platform", 9));
    CHECK(realpath("/sys/dev/char/226:128/device", text));
    CHECK(!strcmp(text, "/sys/devices/platform/3d00000.gpu"));
    path = realpath("/sys/class/drm/renderD128", NULL);
    CHECK(path && !strcmp(path, "/sys/devices/platform/3d00000.gpu/drm/renderD128"));
    free(path);
    snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
    char link[PATH_MAX] = "";
    size = readlink(text, link, sizeof(link));
    CHECK(size == sizeof(NODE) - 1 && !memcmp(link, NODE, sizeof(NODE) - 1));
    path = canonicalize_file_name("/dev/dri/by-path/platform-3d00000.gpu-render");
    CHECK(path && !strcmp(path, NODE));
    free(path);
}

static void do_paths(void)
{
    struct stat info;
    struct statx infox;
    struct dirent **list;
    char line[80] = "";
    int fd = open_node(), dir, other;
    CHECK(fcntl(fd, F_GETFD) == FD_CLOEXEC);
    CHECK(!fstat(fd, &info));
    check_node(&info);
    CHECK(!stat(NODE, &info));
    check_node(&info);
    CHECK(!lstat(NODE, &info));
    check_node(&info);
    CHECK(!fstatat(fd, "", &info, AT_EMPTY_PATH));
    check_node(&info);
    CHECK(!statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &infox) && S_ISCHR(infox.stx_mode) &&
          infox.stx_rdev_major == 226 && infox.stx_rdev_minor == 128);
    CHECK(!statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &infox) && S_ISCHR(infox.stx_mode));
    dir = open("/dev/dri", O_RDONLY | O_DIRECTORY);
    CHECK(dir >= 0 && !fstatat(dir, "renderD128", &info, 0));
    check_node(&info);
    other = openat(dir, "renderD128", O_RDWR);
    CHECK(other >= 0 && fcntl(other, F_GETFD) == 0 && works(other));
    other = open("/dev/dri/by-path/platform-3d00000.gpu-render", O_RDWR);
    CHECK(other >= 0 && works(other));
    CHECK(open("/dev/dri/card0", O_RDWR) < 0 && errno == ENOENT);
    CHECK(open("/dev/dri/new", O_RDWR | O_CREAT, 0600) < 0 && errno == ENOENT);
    CHECK(stat("/dev/dri/card0", &info) < 0 && errno == ENOENT);
    CHECK(!access(NODE, R_OK | W_OK) && !faccessat(AT_FDCWD, NODE, R_OK, 0));
    CHECK(!stat("/sys/dev/char/226:128/device/drm", &info) && S_ISDIR(info.st_mode));
    CHECK(scandir("/sys/dev/char/226:128/device/drm", &list, is_card, alphasort) == 1);
    DIR *folder = opendir("/sys/class/drm");
    CHECK(folder);
    closedir(folder);
    FILE *file = fopen("/sys/dev/char/226:128/device/uevent", "r");
    CHECK(file && fgets(line, sizeof(line), file) && !strcmp(line, "DRIVER=msm\n"));
    fclose(file);
    check_links(fd);
    CHECK(!stat("/dev/null", &info) && major(info.st_rdev) == 1);
}

static void check_refusals(int fd)
{
    struct msm_cpu_fini fini = {99};
    CHECK(ioctl(fd, _IOC(_IOC_WRITE, 'd', 0x45, sizeof(fini)), &fini) == -1 && errno == ENOENT);
    struct msm_param param = {.param = 7};
    char text[12];
    CHECK(ioctl(fd, DRM(0x7f, msm_param), &param) == -1 && errno == EINVAL);
    CHECK(ioctl(fd, DRM(0xa0, msm_param), &param) == -1 && errno == EACCES);
    CHECK(ioctl(fd, DRM(0x40, msm_param), NULL) == -1 && errno == EFAULT);
    struct msm_submit submit = {.bo_count = 1, .bos = 16};
    CHECK(ioctl(fd, DRM(0x46, msm_submit), &submit) == -1 && errno == EFAULT);
    submit.bo_count = UINT32_MAX;
    CHECK(ioctl(fd, DRM(0x46, msm_submit), &submit) == -1 && errno == ENOMEM);
    struct drm_prime prime = {.fd = 9999};
    CHECK(ioctl(fd, DRM(0x2e, drm_prime), &prime) == -1 && errno == EBADF);
    CHECK(ioctl(fd, TIOCGWINSZ, text) == -1 && errno == ENOTTY);
}

static void do_ioctls(void)
{
    int fd = open_node(), saved = errno = 77;
    struct msm_param param = {.param = MSM_COMM, .value = (uintptr_t) "probe", .len = 5};
    CHECK(!ioctl(fd, DRM(0x41, msm_param), &param));
    struct {
        uint32_t handle, info;
        uint64_t value;
    } old = {5, MSM_INFO_OFFSET, 0};
    CHECK(!ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0x43, sizeof(old)), &old));
    CHECK(old.value == (uint64_t)5 << 32);
    char text[12] = "...........";
    struct msm_gem_info name = {5, MSM_INFO_NAME, (uintptr_t)text, 8, 0};
    CHECK(!ioctl(fd, DRM(0x43, msm_gem_info), &name) && !strcmp(text, "vertex.....") &&
          name.len == 6);
    name.info = MSM_INFO_SET_NAME;
    CHECK(!ioctl(fd, DRM(0x43, msm_gem_info), &name));
    uint32_t handles[3] = {1, 2, 3};
    uint64_t points[3] = {0};
    struct drm_syncobj_points query = {(uintptr_t)handles, (uintptr_t)points, 3, 0};
    CHECK(!ioctl(fd, DRM(0xcb, drm_syncobj_points), &query) && points[0] == 11 && points[2] == 13);
    query.points = 0;
    CHECK(!ioctl(fd, DRM(0xcd, drm_syncobj_points), &query));
    query.handles = 0;
    CHECK(ioctl(fd, DRM(0xcd, drm_syncobj_points), &query) == -1 && errno == EFAULT);
    errno = saved;
    struct {
        uint32_t handle, flags;
    } short_sync[2] = {{1, 1}, {2, 0}};
    struct msm_submit_bo bo = {3, 5, 0};
    struct msm_submit_cmd cmd[2] = {{.type = 1, .size = 64}, {.type = 1, .size = 128}};
    struct msm_submit submit = {.flags = 0x10 | MSM_SUBMIT_FENCE_FD_OUT | MSM_SUBMIT_FENCE_FD_IN,
                                .bo_count = 1,
                                .cmd_count = 2,
                                .bos = (uintptr_t)&bo,
                                .cmds = (uintptr_t)cmd,
                                .fence_fd = fd,
                                .in_syncobjs = (uintptr_t)short_sync,
                                .in_count = 2,
                                .stride = sizeof(short_sync[0])};
    CHECK(!ioctl(fd, DRM(0x46, msm_submit), &submit) && submit.fence == 42);
    CHECK(submit.fence_fd != fd && fcntl(submit.fence_fd, F_GETFD) == FD_CLOEXEC);
    struct sync_merge merge = {.name = "both", .fd2 = submit.fence_fd};
    CHECK(!ioctl(submit.fence_fd, _IOC(_IOC_READ | _IOC_WRITE, '>', 3, sizeof(merge)), &merge));
    CHECK(fcntl(merge.fence, F_GETFD) == FD_CLOEXEC);
    struct {
        struct msm_vm_bind_op op;
        uint64_t more;
    } ops[2] = {{.op = {MSM_MAP, 5, 0, 0x1000, 0x2000, 0, 0}},
                {.op = {MSM_UNMAP, 0, 0, 9, 0, 0, 0}}};
    struct msm_vm_bind bind = {.op_count = 2, .ops = (uintptr_t)ops, .op_stride = sizeof(ops[0])};
    CHECK(!ioctl(fd, DRM(0x4d, msm_vm_bind), &bind));
    bind.op_count = 1;
    bind.op = ops[0].op;
    CHECK(!ioctl(fd, DRM(0x4d, msm_vm_bind), &bind));
    bind.op_count = 0;
    CHECK(!ioctl(fd, DRM(0x4d, msm_vm_bind), &bind));
    struct drm_prime prime = {5, 0, -1};
    CHECK(!ioctl(fd, DRM(0x2d, drm_prime), &prime) && fcntl(prime.fd, F_GETFD) == 0);
    prime.flags = O_CLOEXEC;
    CHECK(!ioctl(fd, DRM(0x2d, drm_prime), &prime) && fcntl(prime.fd, F_GETFD) == FD_CLOEXEC);
    CHECK(!ioctl(fd, DRM(0x2e, drm_prime), &prime) && prime.handle == 5);
    struct {
        int version[3];
        size_t name_size;
        char *name;
        size_t rest[4];
    } version = {.name_size = sizeof(text), .name = text};
    CHECK(!ioctl(fd, _IOC(_IOC_READ | _IOC_WRITE, 'd', 0, sizeof(version)), &version));
    CHECK(version.version[0] == 1 && version.version[1] == 13 && version.name_size == 3 &&
          !memcmp(text, "msm", 3));
    CHECK(errno == saved);
    check_refusals(fd);
    CHECK(works(fd));
}

static void *in_thread(void *fd)
{
    return works(*(int *)fd) ? fd : NULL;
}

static void send_node(int socket, int fd)
{
    char control[CMSG_SPACE(sizeof(int))] = "", byte = 0;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &fd, sizeof(fd));
    CHECK(sendmsg(socket, &message, 0) == 1);
}

static int receive_node(int socket)
{
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec part = {&byte, 1};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof(control)};
    int fd;
    CHECK(recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
    return fd;
}

static void do_shared(void)
{
    int pair[2], status;
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    pid_t early = fork(); /* knows no node */
    if (!early) {
        int fd = receive_node(pair[1]);
        _exit(!works(fd));
    }
    int fd = open_node(), copy = dup(fd);
    CHECK(works(fd) && works(copy) && dup2(fd, 300) == 300 && works(300));
    pthread_t thread;
    void *result;
    CHECK(!pthread_create(&thread, NULL, in_thread, &copy));
    CHECK(!pthread_join(thread, &result) && result == &copy);
    pid_t child = fork();
    if (!child)
        _exit(!works(copy));
    CHECK(waitpid(child, &status, 0) == child && !status);
    send_node(pair[0], fd);
    CHECK(waitpid(early, &status, 0) == early && !status);
    CHECK(works(fd));
    /* As daemons do: the library's own descriptors as well. */
    for (int i = 0; i < 1024; i++) {
        if (i != fd && i > 2)
            close(i);
    }
    CHECK(works(fd));
}

static void do_map(void)
{
    int fd = open_node();
    char *at = mmap64(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off64_t)5 << 32);
    CHECK(at != MAP_FAILED && !strcmp(at, "buffer 5"));
    strcpy(at, "written");
    char *fixed = mmap64(at, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, fd, (off64_t)5 << 32);
    CHECK(fixed == at && !strcmp(at, "written"));
    CHECK(mmap64(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off64_t)6 << 32) == MAP_FAILED &&
          errno == EINVAL);
    CHECK(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
}

static int alarms, alarm_fd;

static void on_alarm(int number)
{
    (void)number;
    alarms += works(alarm_fd); /* while the same thread waits */
}

static void do_signals(void)
{
    alarm_fd = open_node();
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval soon = {.it_value = {0, 50000}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &soon, NULL);
    struct msm_wait_fence wait = {.fence = 1};
    CHECK(!ioctl(alarm_fd, _IOC(_IOC_WRITE, 'd', 0x47, sizeof(wait)), &wait) && alarms == 1);
}

static void do_gone(void)
{
    int fd = open_node();
    CHECK(works(fd));
    struct msm_madvise gone = {.handle = 666}; /* the device ends */
    CHECK(ioctl(fd, DRM(0x48, msm_madvise), &gone) == -1 && errno == ENODEV);
    CHECK(!works(fd) && errno == ENODEV);
    CHECK(mmap64(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off64_t)5 << 32) == MAP_FAILED &&
          errno == ENODEV);
    CHECK(open(NODE, O_RDWR) < 0 && errno == ENODEV);
}

/* Without a device nothing changes. */
static void do_none(void)
{
    struct stat info;
    int fd = (int)memfd_create("x", 0);
    CHECK(write(fd, DEVICE_MAGIC "0123456789abcdef", 32) == 32);
    CHECK(ioctl(fd, DRM(0x40, msm_param), &info) == -1);
    CHECK(errno == ENOTTY || errno == ENOSYS); /* Linux, qemu-user */
    CHECK(!fstat(fd, &info) && S_ISREG(info.st_mode));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } jobs[] = {{"paths", do_paths}, {"ioctls", do_ioctls},   {"shared", do_shared},
                {"map", do_map},     {"signals", do_signals}, {"gone", do_gone},
                {"none", do_none}};
    alarm(60);
    for (unsigned i = 0; argc == 2 && i < sizeof(jobs) / sizeof(jobs[0]); i++) {
        if (!strcmp(argv[1], jobs[i].name)) {
            jobs[i].run();
            return 0;
        }
    }
    return 2;
}
