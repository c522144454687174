/* SPDX-License-Identifier: MIT
 * The memory of a client's process, by /proc. */
#include "tools/device/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

static void close_fd(int fd)
{
    if (fd >= 0)
        close(fd);
}

void device_process_close(struct device_process *process)
{
    if (!process->pid)
        return;
    close_fd(process->memory);
    close_fd(process->folder);
    close_fd(process->ended);
    process->pid = 0;
}

/* Whether all of it is there; @p fails  an error that has been seen. */
static int check_open(struct device_process *process, int fails)
{
    if (process->memory >= 0 && process->folder >= 0 && process->ended >= 0)
        return 0;
    device_process_close(process);
    return -fails;
}

int device_process_open(struct device_process *process, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
    *process = (struct device_process){.pid = pid, .memory = -1, .ended = -1};
    process->folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (process->folder >= 0)
        process->memory = openat(process->folder, "mem", O_RDWR | O_CLOEXEC);
    if (process->memory >= 0)
        process->ended = (int)syscall(SYS_pidfd_open, pid, 0);
    return check_open(process, errno);
}

int device_process_copy(struct device_process *process, const struct device_process *from)
{
    *process = (struct device_process){from->pid, fcntl(from->memory, F_DUPFD_CLOEXEC, 0),
                                       fcntl(from->folder, F_DUPFD_CLOEXEC, 0),
                                       fcntl(from->ended, F_DUPFD_CLOEXEC, 0)};
    return check_open(process, EMFILE);
}

/* Whether the process has not ended, and the memory at an address is that of the same program. */
static bool is_alive(const struct device_process *process, uint64_t address)
{
    struct pollfd ended = {.fd = process->ended, .events = POLLIN};
    uint8_t byte;
    return process->pid && address <= INT64_MAX && poll(&ended, 1, 0) == 0 &&
           pread(process->memory, &byte, 1, (off_t)address) == 1;
}

/* Access by /proc/PID/mem ignores what the process itself may do, and this one knows a number. */
bool device_process_read(const struct device_process *process, uint64_t address, void *to,
                         size_t size)
{
    const struct iovec own = {to, size};
    const struct iovec its = {(void *)(uintptr_t)address, size};
    if (is_alive(process, address) &&
        process_vm_readv(process->pid, &own, 1, &its, 1, 0) == (ssize_t)size)
        return true;
    memset(to, 0, size);
    return false;
}

bool device_process_write(const struct device_process *process, uint64_t address, const void *from,
                          size_t size)
{
    const struct iovec own = {(void *)(uintptr_t)from, size};
    const struct iovec its = {(void *)(uintptr_t)address, size};
    return is_alive(process, address) &&
           process_vm_writev(process->pid, &own, 1, &its, 1, 0) == (ssize_t)size;
}

bool device_process_struct(const struct device_process *process, uint64_t address, void *to,
                           size_t size, uint64_t given)
{
    memset(to, 0, size);
    given = given < size ? given : size;
    return !given || device_process_read(process, address, to, (size_t)given);
}

/* The process may replace its descriptor at any time: what was looked at is what is opened. */
int device_process_fd(const struct device_process *process, int fd)
{
    char path[64];
    struct stat info;
    struct statfs system;
    int ret = -1;
    if (fd < 0 || !process->pid)
        return -1;
    snprintf(path, sizeof(path), "fd/%d", fd);
    int found = openat(process->folder, path, O_PATH | O_CLOEXEC);
    if (found < 0 || fstat(found, &info) != 0 || S_ISFIFO(info.st_mode))
        return found;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
    if (S_ISREG(info.st_mode) && fstatfs(found, &system) == 0 && system.f_type == TMPFS_MAGIC)
        ret = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    close(found);
    return ret;
}

/* ---- mappings ---- */

struct map_line {
    struct device_process_map map;
    bool ours;
    char rights[5]; /* "rwxp" */
};

static bool read_line(FILE *in, const struct stat *file, struct map_line *ret)
{
    char line[512];
    unsigned major = 0;
    unsigned minor = 0;
    uint64_t inode = 0;
    if (!fgets(line, sizeof(line), in) ||
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64, &ret->map.start,
               &ret->map.end, ret->rights, &ret->map.offset, &major, &minor, &inode) != 7)
        return false;
    while (!strchr(line, '\n') && fgets(line, sizeof(line), in)) /* the rest of a long path */
        ;
    ret->ours = inode == file->st_ino && makedev(major, minor) == file->st_dev;
    return true;
}

static FILE *open_maps(const struct device_process *process, int memfd, struct stat *file)
{
    int fd = process->pid && fstat(memfd, file) == 0
                 ? openat(process->folder, "maps", O_RDONLY | O_CLOEXEC)
                 : -1;
    FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
    if (!in)
        close_fd(fd);
    return in;
}

/* The first mapping of the file that holds a byte of it, or an address. */
static bool find_map(const struct device_process *process, int memfd, bool by_address,
                     uint64_t value, struct device_process_map *ret)
{
    struct stat file;
    struct map_line line;
    bool found = false;
    FILE *in = open_maps(process, memfd, &file);
    while (in && !found && read_line(in, &file, &line)) {
        const struct device_process_map *map = &line.map;
        uint64_t from = by_address ? map->start : map->offset;
        found = line.ours && value >= from && value - from < map->end - map->start;
    }
    if (in)
        fclose(in);
    if (found)
        *ret = line.map;
    return found;
}

bool device_process_map(const struct device_process *process, int memfd, uint64_t offset,
                        struct device_process_map *ret)
{
    return find_map(process, memfd, false, offset, ret);
}

bool device_process_map_at(const struct device_process *process, int memfd, uint64_t address,
                           struct device_process_map *ret)
{
    return find_map(process, memfd, true, address, ret);
}

int device_process_check(const struct device_process *process, int memfd, uint64_t address,
                         uint64_t size, bool writes)
{
    struct stat file;
    struct map_line line;
    uint64_t reached = address;
    bool good = true;
    FILE *in = open_maps(process, memfd, &file);
    while (in && good && reached < address + size && read_line(in, &file, &line)) {
        if (line.map.end <= reached)
            continue;
        if (line.map.start > reached)
            break;
        good = !line.ours && line.rights[0] == 'r' && (!writes || line.rights[1] == 'w');
        reached = line.map.end;
    }
    if (in)
        fclose(in);
    return in && good && reached >= address + size ? 0 : -EFAULT;
}
