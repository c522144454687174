/* SPDX-License-Identifier: MIT
 * The memory of a client's process: what the kernel reaches by copy_from_user(), and what a GPU
 * reaches whose addresses are those of the process. */
#ifndef CPS_DEVICE_PROCESS_H
#define CPS_DEVICE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** A process. Its memory stays that of the program that it ran when this was opened: after exec()
 * or its end nothing is readable, and another process that gets its number is not touched. */
struct device_process {
    pid_t pid;  /**< 0: not open */
    int memory; /**< /proc/PID/mem */
    int folder; /**< /proc/PID */
    int ended;  /**< a pidfd */
};

/** Opens the memory of @p pid, which needs the right to trace it. @return 0 or -errno */
int device_process_open(struct device_process *process, pid_t pid);
/** A second one of the same program, which is closed on its own. @return 0 or -errno */
int device_process_copy(struct device_process *process, const struct device_process *from);
/** One that is not open is fine. */
void device_process_close(struct device_process *process);
/** As copy_from_user() of Linux, but all or nothing. False: the process may not read all of it, or
 * has ended; @p to is zeros then. */
bool device_process_read(const struct device_process *process, uint64_t address, void *to,
                         size_t size);
/** As copy_to_user(): false also where the process itself may not write. */
bool device_process_write(const struct device_process *process, uint64_t address, const void *from,
                          size_t size);
/** A structure of @p given bytes in the process, as copy_struct_from_user() of Linux has it: it may
 * be shorter than ours, the rest is 0. */
bool device_process_struct(const struct device_process *process, uint64_t address, void *to,
                           size_t size, uint64_t given);
/** A descriptor of the process, for a look at which pipe it is, or a buffer's, which is open. -1:
 * it has none of that number, or of another kind. */
int device_process_fd(const struct device_process *process, int fd);

/** A mapping of a file. */
struct device_process_map {
    uint64_t start, end, offset;
};
/** The first mapping of a file's byte, in the order of addresses. @p memfd  a descriptor of the
 * file in this process */
bool device_process_map(const struct device_process *process, int memfd, uint64_t offset,
                        struct device_process_map *ret);
/** The mapping of the file that holds an address. */
bool device_process_map_at(const struct device_process *process, int memfd, uint64_t address,
                           struct device_process_map *ret);
/** Whether the process may read all of a range, and with @p writes write it, and none of it is
 * mapped from @p memfd. 0, or -EFAULT. */
int device_process_check(const struct device_process *process, int memfd, uint64_t address,
                         uint64_t size, bool writes);

#endif
