/* SPDX-License-Identifier: MIT
 * The memory of a client's process: what the kernel reaches by copy_from_user(), and what a GPU
 * reaches whose addresses are those of the process. */
#ifndef CPS_DEVICE_PROCESS_H
#define CPS_DEVICE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A process. Its memory stays that of the program that opened the device: after exec() or its end
 * nothing is readable. */
struct device_process {
    pid_t pid;
    int memory; /**< /proc/PID/mem */
};

/** Opens the memory of @p pid, which needs the right to trace it. @return 0 or -errno */
int device_process_open(struct device_process *process, pid_t pid);
void device_process_close(struct device_process *process);
/** False: not all of it is mapped, or the process has ended. */
bool device_process_read(const struct device_process *process, uint64_t address, void *to,
                         size_t size);
bool device_process_write(const struct device_process *process, uint64_t address, const void *from,
                          size_t size);
/** A structure of @p given bytes in the process, as copy_struct_from_user() of Linux has it: it may
 * be shorter than ours, the rest is 0. */
bool device_process_struct(const struct device_process *process, uint64_t address, void *to,
                           size_t size, uint64_t given);
/** A descriptor of the process, opened anew; -1: it has none of that number. */
int device_process_fd(const struct device_process *process, int fd);

/** A mapping of a file. */
struct device_process_map {
    uint64_t start, end, offset;
};
/**
 * The first mapping of a file's bytes from @p offset on, in the order of addresses.
 * @param memfd  a descriptor of the file in this process
 * @param after  only mappings that begin at this address or behind it
 */
bool device_process_map(const struct device_process *process, int memfd, uint64_t offset,
                        uint64_t size, uint64_t after, struct device_process_map *ret);
/** Whether all of a range is mapped, and none of it from @p memfd. 0, or -EFAULT. */
int device_process_check(const struct device_process *process, int memfd, uint64_t address,
                         uint64_t size);

#endif
