/* SPDX-License-Identifier: MIT
 * What a client and the kernel's KGSL driver say to each other, as far as the virtual device
 * answers it: 64-bit clients. Facts: msm_kgsl.h of Mesa 26.2 (src/freedreno/vulkan) and of
 * Android's kernels.
 *
 * Pointers are read and written in the client's memory by the device, as the kernel does it. */
#ifndef CPS_DEVICE_UAPI_KGSL_H
#define CPS_DEVICE_UAPI_KGSL_H

#include <stdint.h>

enum { KGSL_GROUP = 9 };

/* ---- properties ---- */

struct kgsl_property {
    uint32_t type, pad;
    uint64_t value, size;
};
enum kgsl_property_type {
    KGSL_DEVICE_INFO = 0x01,
    KGSL_VERSION = 0x08,
    KGSL_RESET_STAT = 0x09,
    KGSL_PWR_CONSTRAINT = 0x12,
    KGSL_GMEM_VADDR = 0x13,
    KGSL_BANK_BIT = 0x17,
    KGSL_BITNESS = 0x18,
    KGSL_MIN_ACCESS = 0x1a,
    KGSL_UBWC_MODE = 0x1b,
    KGSL_L3_PWR_CONSTRAINT = 0x22,
    KGSL_SECURE_ALIGNMENT = 0x23,
    KGSL_SECURE_SUPPORT = 0x24,
    KGSL_SPEED_BIN = 0x25,
    KGSL_LPAC = 0x2b,
    KGSL_VA64_SIZE = 0x2c,
    KGSL_RAYTRACING = 0x2d,
    KGSL_TRAP_BASE = 0x2f,
    KGSL_AQE = 0x30,
};
struct kgsl_info {
    uint32_t device_id, chip_id, mmu_enabled, pad;
    uint64_t gmem_base;
    uint32_t gpu_id, pad2;
    uint64_t gmem_size;
};
struct kgsl_version {
    uint32_t driver_major, driver_minor, device_major, device_minor;
};
enum { KGSL_INNOCENT = 2, KGSL_GUILTY = 1 };

/* ---- contexts and time stamps ---- */

struct kgsl_context {
    uint32_t flags, id;
};
struct kgsl_context_id {
    uint32_t id;
};
enum kgsl_context_flag {
    KGSL_NO_GMEM_ALLOC = 0x2,
    KGSL_PREAMBLE = 0x10,
    KGSL_PER_CONTEXT_TS = 0x40,
    KGSL_USER_TS = 0x80,
    KGSL_PRIORITY_SHIFT = 12,
    KGSL_PREEMPT_SHIFT = 25,
    /** What the kernel keeps of the flags: context switch, no fault tolerance, power constraint,
     * type, secure and others with them. */
    KGSL_CONTEXT_FLAGS = 0x0ff3fada,
};
struct kgsl_wait {
    uint32_t context, timestamp, timeout; /* milliseconds; 0: for ever */
};
struct kgsl_read_timestamp {
    uint32_t context, type, timestamp;
};
enum { KGSL_CONSUMED = 1, KGSL_RETIRED = 2, KGSL_QUEUED = 3 };
struct kgsl_event {
    int32_t type;
    uint32_t timestamp, context, pad;
    uint64_t fd; /* leads to an int32_t */
    uint64_t size;
};
enum { KGSL_EVENT_FENCE = 2 };

/* ---- memory ---- */

enum kgsl_memory_flag {
    KGSL_SECURE = 1 << 3,
    KGSL_GPU_READONLY = 1 << 24,
    KGSL_USE_CPU_MAP = 1 << 28,
};
#define KGSL_VBO         (UINT64_C(1) << 34)
#define KGSL_NO_MAP_ZERO (UINT64_C(1) << 35)
/** What a virtual buffer may not be: read-only, cached, mapped by the CPU, coherent. */
#define KGSL_NOT_VBO UINT64_C(0x9d000000)
/** What the kernel keeps of the flags of an allocation: read-only, write-only, cache mode, type,
 * alignment, CPU map, coherency, guard page, and the two of virtual buffers. */
#define KGSL_MEMORY_FLAGS UINT64_C(0xe9fffff00)

struct kgsl_alloc_id {
    uint32_t id, flags;
    uint64_t size, mmapsize, gpuaddr, pad[2];
};
struct kgsl_free_id {
    uint32_t id, pad;
};
struct kgsl_get_info {
    uint64_t gpuaddr;
    uint32_t id, flags;
    uint64_t size, mmapsize, useraddr, pad[4];
};
struct kgsl_object_alloc {
    uint64_t size, flags, va_len, mmapsize;
    uint32_t id, metadata_size;
    uint64_t metadata;
};
struct kgsl_object_free {
    uint64_t flags, priv;
    uint32_t id, type, size, pad;
};
enum { KGSL_FREE_ON_EVENT = 1, KGSL_ON_TIMESTAMP = 1, KGSL_ON_FENCE = 2 };
struct kgsl_object_info {
    uint64_t gpuaddr, flags, size, va_len, va_addr;
    uint32_t id, pad;
};
struct kgsl_object_import {
    uint64_t priv, priv_size, flags;
    uint32_t type, id;
};
struct kgsl_object_set_info {
    uint64_t flags, metadata;
    uint32_t id, metadata_size, type, pad;
};
enum { KGSL_SET_METADATA = 1, KGSL_SET_TYPE = 2, KGSL_MAX_METADATA = 64, KGSL_TYPE_SHIFT = 8 };
enum { KGSL_USER_ADDR = 2, KGSL_USER_DMABUF = 3 };
struct kgsl_map_user {
    int32_t fd, pad;
    uint64_t gpuaddr, size, offset, hostptr;
    uint32_t type, flags;
};
struct kgsl_gpuaddr {
    uint64_t gpuaddr;
};
struct kgsl_sync_cache {
    uint64_t gpuaddr;
    uint32_t id, op;
    uint64_t offset, size;
};
struct kgsl_sync_objects {
    uint64_t objects;
    uint32_t object_size, count;
};
struct kgsl_sync_object {
    uint64_t offset, size;
    uint32_t id, op;
};
struct kgsl_bind {
    uint64_t child_offset, offset, size;
    uint32_t child, op;
};
enum { KGSL_BIND = 1, KGSL_UNBIND = 2 };
enum { KGSL_BIND_ASYNC = 1, KGSL_BIND_FENCE_OUT = 2 };
struct kgsl_bind_ranges {
    uint64_t ranges;
    uint32_t count, range_size, id, flags;
    int32_t fence;
    uint32_t pad;
};

/* ---- commands ---- */

struct kgsl_object {
    uint64_t offset, gpuaddr, size;
    uint32_t flags, id;
};
enum { KGSL_OBJECT_PROFILE = 0x10, KGSL_MAX_LIST = 100000 };
struct kgsl_sync_point {
    uint64_t priv, size;
    uint32_t type, pad;
};
enum { KGSL_POINT_TIMESTAMP = 0, KGSL_POINT_FENCE = 1, KGSL_MAX_POINTS = 32 };
struct kgsl_point_timestamp {
    uint32_t context, timestamp;
};
struct kgsl_command {
    uint64_t flags, cmds;
    uint32_t cmd_size, cmd_count;
    uint64_t objects;
    uint32_t object_size, object_count;
    uint64_t syncs;
    uint32_t sync_size, sync_count, context, timestamp;
};
enum { KGSL_COMMAND_MARKER = 0x2, KGSL_COMMAND_PROFILING = 0x10, KGSL_COMMAND_SYNC = 0x400 };
struct kgsl_aux_command {
    uint64_t flags, cmds;
    uint32_t cmd_size, cmd_count;
    uint64_t syncs;
    uint32_t sync_size, sync_count, context, timestamp;
};
struct kgsl_aux {
    uint64_t priv, size;
    uint32_t type, pad;
};
enum { KGSL_AUX_BIND = 1, KGSL_AUX_TIMELINE = 2 };
struct kgsl_aux_bind {
    uint64_t ranges, count, range_size;
    uint32_t target, pad;
};
struct kgsl_profile {
    uint64_t seconds, nanoseconds, queued, submitted, retired;
};
struct kgsl_counters {
    uint64_t list;
    uint32_t count, pad[3];
};
struct kgsl_counter {
    uint32_t group, countable;
    uint64_t value;
};
enum { KGSL_ALWAYS_ON = 0x1b };

#endif
