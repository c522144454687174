/* SPDX-License-Identifier: MIT
 * Buffers, handles and address spaces. */
#ifndef CPS_DEVICE_MEMORY_H
#define CPS_DEVICE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/device/process.h"

struct device;
struct device_fence;
struct device_file;

struct device_bo {
    unsigned refs; /**< handles, mappings, jobs */
    size_t index;  /**< in the device's list */
    int memfd;
    uint64_t inode, size;
    uint64_t base; /**< where it begins in its file, which has others, too; 0: it has none */
    uint32_t flags;
    uint8_t *data;                /**< the device's own mapping; NULL: not yet */
    unsigned jobs;                /**< that run or wait */
    struct device_fence *written; /**< by the last job that says so, for implicit order; or NULL */
    uint32_t writer;              /**< its context and queue */
    bool closing; /**< a handle was closed while a job had it: its addresses go with the job */
    char *name;   /**< or NULL */
    uint8_t *metadata;
    uint32_t metadata_size;
};
/** A range of an address space. */
struct device_mapping {
    uint64_t iova, size;
    struct device_bo *bo; /**< NULL: reads as zeros, keeps nothing */
    uint64_t offset;
    bool process;  /**< the memory of the client's process at `offset` */
    bool readonly; /**< of such memory: for the GPU */
};
/** An address space; entries do not overlap. */
struct device_space {
    struct device_mapping *list; /**< by address, ascending */
    size_t count;
    size_t last; /**< found last */
    /** Where nothing is mapped, addresses are those of this process. Or NULL: a fault. */
    const struct device_process *process;
};
/** A handle of a buffer: 1 and up; `bo` is NULL where it is free. */
struct device_handle {
    struct device_bo *bo;
    uint64_t iova; /**< 0: it has none */
};

/** @p sealed  a memfd whose size cannot change, which the buffer owns from now on; -1: a new one */
struct device_bo *device_bo_new(struct device *device, uint64_t size, uint32_t flags, int memfd);
/** The same of a part of a file from @p base on, which other buffers share. */
struct device_bo *device_bo_part(struct device *device, uint64_t size, uint32_t flags, int memfd,
                                 uint64_t base);
void device_bo_unref(struct device *device, struct device_bo *bo);
/** The buffer's bytes; NULL: the system refuses to map it. */
uint8_t *device_bo_data(struct device_bo *bo);
/** Maps a range; what was there goes. 0 or -errno. */
int device_space_map(struct device *device, struct device_space *space, uint64_t iova,
                     uint64_t size, struct device_bo *bo, uint64_t offset);
/** Maps memory of the client's process. */
int device_space_map_process(struct device *device, struct device_space *space, uint64_t iova,
                             uint64_t size, uint64_t address, bool readonly);
int device_space_unmap(struct device *device, struct device_space *space, uint64_t iova,
                       uint64_t size);
/** Unmaps buffers whose handles were closed, and which no job has any more. */
void device_space_unmap_closed(struct device *device, struct device_space *space);
/** The mapping that holds an address, or NULL. */
struct device_mapping *device_space_find(struct device_space *space, uint64_t iova);
/**
 * The next piece of a mapping's contents: small mappings are one piece, of larger ones holes are
 * left out.
 * @param at    where to begin, in bytes from the mapping's start; gets where the piece ends
 * @param iova  gets its address, and @p size its bytes
 * @return the bytes, or NULL behind the last piece
 */
const uint8_t *device_mapping_next(const struct device_mapping *mapping, uint64_t *at,
                                   uint64_t *iova, uint64_t *size);
/** 0, or the end of a mapping that has an address of the range. */
uint64_t device_space_used(const struct device_space *space, uint64_t iova, uint64_t size);
/** An address from @p next on, and then from @p first on, that nothing has for @p size bytes, which
 * end before @p end; @p next is then behind it. 0 or -ENOSPC. */
int device_space_room(const struct device_space *space, uint64_t first, uint64_t end, uint64_t size,
                      uint64_t *next, uint64_t *ret);
/** Reads bytes of one page; false if nothing is mapped there. */
bool device_space_read(struct device_space *space, uint64_t iova, void *to, size_t size);
/** Writes bytes of one page; false if nothing is mapped there, or the GPU may not write it. */
bool device_space_write(struct device_space *space, uint64_t iova, const void *from, size_t size);
/** The client's word at a multiple of 4; false if nothing is mapped there. */
bool device_space_word(struct device_space *space, uint64_t iova, uint32_t *ret);
/** The bytes of a buffer that the GPU may write, with how many follow; NULL: there is none. */
uint8_t *device_space_data(struct device_space *space, uint64_t iova, uint64_t *size);
void device_space_deinit(struct device *device, struct device_space *space);
struct device_bo *device_handle_bo(const struct device_file *file, uint32_t handle);
/** A new handle that owns the reference; 0: too many. */
uint32_t device_handle_new(struct device_file *file, struct device_bo *bo);
int device_handle_close(struct device *device, struct device_file *file, uint32_t handle);
/** A descriptor of a buffer for a client: a new one, because the client may take its time to read
 * it. -1: too many. */
int device_bo_export(const struct device_bo *bo);
/** The buffer behind a descriptor of a client: a reference; NULL: it is no buffer. */
struct device_bo *device_bo_of_fd(struct device *device, int fd);

#endif
