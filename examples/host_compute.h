/* SPDX-License-Identifier: MIT
 * Kernels for host_compute.c: functions of a shared object that do what a compute shader does. */
#ifndef HOST_COMPUTE_H
#define HOST_COMPUTE_H

#include <stdint.h>

/** A workgroup of a dispatch. */
struct host_group {
    /** Which it is, and how many there are; x, y, z. */
    uint32_t id[3], count[3];
    /** Invocations of each workgroup. */
    uint32_t size[3];
    /** The constants of the shader: c0.x, c0.y, ..., as the stream loaded them; 0 elsewhere. */
    const uint32_t *constants;
    uint32_t constant_count;
    /** The plugin's own. */
    void *context;
    /**
     * Memory of the GPU, until the dispatch has ended. What is stored there reaches it.
     * @param size  bytes; 0: whatever is mapped from there on, for a device whose buffers are
     *              mapped here, and not for captures
     * @return NULL: it is not mapped, or overlaps a range that was copied with another begin
     */
    void *(*memory)(const struct host_group *group, uint64_t iova, uint64_t size);
};

/** Runs all invocations of a workgroup. @return NULL, or why it failed, a constant text */
typedef const char *host_kernel(const struct host_group *group);

#endif
