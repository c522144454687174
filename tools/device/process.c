/* SPDX-License-Identifier: MIT
 * The memory of a client's process, by /proc. */
#include "tools/device/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int device_process_open(struct device_process *process, pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/mem", (long)pid);
    int memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        return -errno;
    *process = (struct device_process){pid, memory};
    return 0;
}

void device_process_close(struct device_process *process)
{
    close(process->memory);
    process->memory = -1;
}

bool device_process_read(const struct device_process *process, uint64_t address, void *to,
                         size_t size)
{
    return address <= INT64_MAX &&
           pread(process->memory, to, size, (off_t)address) == (ssize_t)size;
}

bool device_process_write(const struct device_process *process, uint64_t address, const void *from,
                          size_t size)
{
    return address <= INT64_MAX &&
           pwrite(process->memory, from, size, (off_t)address) == (ssize_t)size;
}

bool device_process_struct(const struct device_process *process, uint64_t address, void *to,
                           size_t size, uint64_t given)
{
    memset(to, 0, size);
    return device_process_read(process, address, to, given < size ? (size_t)given : size);
}

int device_process_fd(const struct device_process *process, int fd)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)process->pid, fd);
    if (fd < 0 || stat(path, &info) != 0)
        return -1;
    /* A pipe's read end; a buffer, which is mapped for writing. Nothing else is opened. */
    return S_ISFIFO(info.st_mode)  ? open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
           : S_ISREG(info.st_mode) ? open(path, O_RDWR | O_CLOEXEC)
                                   : -1;
}

/* ---- mappings ---- */

struct map_line {
    struct device_process_map map;
    bool ours;
};

static bool read_line(FILE *in, const struct stat *file, struct map_line *ret)
{
    char line[512];
    unsigned major = 0;
    unsigned minor = 0;
    uint64_t inode = 0;
    if (!fgets(line, sizeof(line), in) ||
        sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &ret->map.start,
               &ret->map.end, &ret->map.offset, &major, &minor, &inode) != 6)
        return false;
    while (!strchr(line, '\n') && fgets(line, sizeof(line), in)) /* the rest of a long path */
        ;
    /* The number of a device in stat() has another form than here; inodes of memfds are unique. */
    ret->ours = inode == file->st_ino && major == 0;
    return true;
}

static FILE *open_maps(const struct device_process *process, int memfd, struct stat *file)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/maps", (long)process->pid);
    return fstat(memfd, file) == 0 ? fopen(path, "re") : NULL;
}

bool device_process_map(const struct device_process *process, int memfd, uint64_t offset,
                        uint64_t size, uint64_t after, struct device_process_map *ret)
{
    struct stat file;
    struct map_line line;
    bool found = false;
    FILE *in = open_maps(process, memfd, &file);
    while (in && !found && read_line(in, &file, &line)) {
        const struct device_process_map *map = &line.map;
        found = line.ours && map->start >= after && map->offset < offset + size &&
                map->offset + (map->end - map->start) > offset;
    }
    if (in)
        fclose(in);
    if (found)
        *ret = line.map;
    return found;
}

int device_process_check(const struct device_process *process, int memfd, uint64_t address,
                         uint64_t size)
{
    struct stat file;
    struct map_line line;
    uint64_t reached = address;
    bool ours = false;
    FILE *in = open_maps(process, memfd, &file);
    while (in && !ours && reached < address + size && read_line(in, &file, &line)) {
        if (line.map.end <= reached)
            continue;
        if (line.map.start > reached)
            break;
        ours = line.ours;
        reached = line.map.end;
    }
    if (in)
        fclose(in);
    return !ours && reached >= address + size ? 0 : -EFAULT;
}
