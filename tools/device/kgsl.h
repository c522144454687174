/* SPDX-License-Identifier: MIT
 * An open file of KGSL: objects, whose numbers are where they lie in the node.
 *
 * The node that a client has is one sparse memfd, and mmap() of `id << 12` needs no help: also a
 * program that asks the system for it directly gets the object's memory. */
#ifndef CPS_DEVICE_KGSL_H
#define CPS_DEVICE_KGSL_H

#include "tools/device/call.h"

struct kgsl_memory {
    uint32_t id;
    uint64_t size, flags;         /**< whole pages */
    uint64_t gpuaddr;             /**< 0: that of the process, where it maps it */
    struct device_bo *bo;         /**< NULL: the process' own, or a virtual buffer */
    struct device_fence *free_on; /**< it goes when this is done; or NULL */
};

/** What a file of KGSL has besides what every file has. Its queues are contexts. */
struct device_kgsl {
    struct device_process process;
    int node;
    struct kgsl_memory *list; /**< by number, ascending */
    size_t count, waiting;    /**< of them that have `free_on` */
    uint32_t next;            /**< number to begin to look for room */
};

/** The object of a number, or NULL: there is none, or it is to be freed. */
struct kgsl_memory *kgsl_find(struct device_kgsl *kgsl, uint32_t id);
/** The same by an address of the GPU that lies in it. */
struct kgsl_memory *kgsl_find_address(struct device_kgsl *kgsl, uint64_t address);
/** Where an object is for the GPU: 0 if the process has not mapped it yet. */
uint64_t kgsl_address(struct device_kgsl *kgsl, const struct kgsl_memory *memory);
/** Frees objects whose fences are done. */
void kgsl_sweep(struct call *call);

/* call_kgsl_job.c */
/** Reads a structure of the process that asks, as device_process_struct() does. */
bool kgsl_struct(const struct call *call, uint64_t address, void *to, size_t size, uint64_t given);
/** A context of the file; NULL: it has none of this number. */
struct device_queue *kgsl_context(struct call *call, uint32_t id);
int kgsl_command(struct call *call, struct kgsl_command *args);
int kgsl_aux_command(struct call *call, struct kgsl_aux_command *args);
int kgsl_bind_ranges(struct call *call, struct kgsl_bind_ranges *args);
/** A fence of a context's time stamp. */
int kgsl_fence(struct call *call, uint32_t context, uint32_t timestamp, struct device_fence **ret);
/** The fence behind a sync file of the process. */
int kgsl_fence_of_fd(struct call *call, int fd, struct device_fence **ret);
/* kgsl.c */
int kgsl_alloc(struct call *call, uint64_t size, uint64_t flags, struct kgsl_memory **ret);
int kgsl_import(struct call *call, uint32_t type, uint64_t flags, uint64_t address, uint64_t size,
                int fd, struct kgsl_memory **ret);
/** Frees an object now. */
void kgsl_free(struct call *call, struct kgsl_memory *memory);

#endif
