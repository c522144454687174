/* SPDX-License-Identifier: MIT
 * What a client and the kernel's msm driver say to each other, as far as the virtual device answers
 * it. Facts: include/uapi/drm/drm.h and msm_drm.h of Linux 6.17 and of Mesa 26.2.
 *
 * The structures have the layout of the kernel's, which is the same for 32-bit and 64-bit clients.
 * No dependency but libc: the client library includes it, too. */
#ifndef CPS_DEVICE_UAPI_H
#define CPS_DEVICE_UAPI_H

#include <stdint.h>

/* ---- DRM core ---- */

enum { DRM_GROUP = 'd', MSM_FIRST = 0x40, SYNC_GROUP = '>' };

struct drm_cap {
    uint64_t capability, value;
};
enum { DRM_CAP_PRIME_ = 5, DRM_CAP_SYNCOBJ_ = 0x13, DRM_CAP_SYNCOBJ_TIMELINE_ = 0x14 };

struct drm_handle {
    uint32_t handle, pad;
};
struct drm_prime {
    uint32_t handle, flags;
    int32_t fd;
};
struct drm_syncobj_new {
    uint32_t handle, flags;
};
enum { DRM_SYNCOBJ_SIGNALED = 1 };
struct drm_syncobj_fd {
    uint32_t handle, flags;
    int32_t fd;
    uint32_t pad;
    uint64_t point;
};
enum { DRM_SYNCOBJ_SYNC_FILE = 1, DRM_SYNCOBJ_TIMELINE = 2 };
struct drm_syncobj_wait_ {
    uint64_t handles;
    int64_t timeout; /* CLOCK_MONOTONIC, nanoseconds */
    uint32_t count, flags, first, pad;
    uint64_t deadline;
};
enum { DRM_WAIT_ALL = 1, DRM_WAIT_FOR_SUBMIT = 2, DRM_WAIT_AVAILABLE = 4 };
struct drm_syncobj_timeline_wait_ {
    uint64_t handles, points;
    int64_t timeout;
    uint32_t count, flags, first, pad;
    uint64_t deadline;
};
struct drm_syncobj_list {
    uint64_t handles;
    uint32_t count, pad;
};
struct drm_syncobj_points {
    uint64_t handles, points;
    uint32_t count, flags;
};
enum { DRM_QUERY_LAST_SUBMITTED = 1 };
struct drm_syncobj_transfer_ {
    uint32_t from, to;
    uint64_t from_point, to_point;
    uint32_t flags, pad;
};

/* ---- msm ---- */

struct msm_timespec {
    int64_t sec, nsec;
};
struct msm_param {
    uint32_t pipe, param;
    uint64_t value;
    uint32_t len, pad;
};
enum msm_param_number {
    MSM_GPU_ID = 1,
    MSM_GMEM_SIZE,
    MSM_CHIP_ID,
    MSM_MAX_FREQ,
    MSM_TIMESTAMP,
    MSM_GMEM_BASE,
    MSM_PRIORITIES,
    MSM_PP_PGTABLE,
    MSM_FAULTS,
    MSM_SUSPENDS,
    MSM_SYSPROF,
    MSM_COMM,
    MSM_CMDLINE,
    MSM_VA_START,
    MSM_VA_SIZE,
    MSM_HIGHEST_BANK_BIT,
    MSM_RAYTRACING,
    MSM_UBWC_SWIZZLE,
    MSM_MACROTILE_MODE,
    MSM_UCHE_TRAP_BASE,
    MSM_HAS_PRR,
    MSM_EN_VM_BIND,
    MSM_AQE,
};
enum { MSM_PIPE_3D = 0x10 };

struct msm_gem_new {
    uint64_t size;
    uint32_t flags, handle;
};
enum { MSM_BO_GPU_READONLY = 2, MSM_BO_ALL_FLAGS = 0x000f0007 };
struct msm_gem_info {
    uint32_t handle, info;
    uint64_t value;
    uint32_t len, pad;
};
enum msm_info {
    MSM_INFO_OFFSET,
    MSM_INFO_IOVA,
    MSM_INFO_SET_NAME,
    MSM_INFO_NAME,
    MSM_INFO_SET_IOVA,
    MSM_INFO_FLAGS,
    MSM_INFO_SET_METADATA,
    MSM_INFO_METADATA,
};
struct msm_cpu_prep {
    uint32_t handle, op;
    struct msm_timespec timeout;
};
enum { MSM_PREP_READ = 1, MSM_PREP_WRITE = 2, MSM_PREP_NOSYNC = 4 };
struct msm_cpu_fini {
    uint32_t handle;
};

struct msm_submit_cmd {
    uint32_t type, index, offset, size, pad, relocs;
    uint64_t iova; /* with EN_VM_BIND; else a pointer to relocations, of which there are none */
};
enum { MSM_CMD_BUF = 1, MSM_CMD_IB_TARGET, MSM_CMD_CTX_RESTORE };
struct msm_submit_bo {
    uint32_t flags, handle;
    uint64_t presumed;
};
enum { MSM_BO_READ = 1, MSM_BO_WRITE = 2, MSM_BO_DUMP = 4, MSM_BO_NO_IMPLICIT = 8 };
struct msm_submit_syncobj {
    uint32_t handle, flags;
    uint64_t point;
};
enum { MSM_SYNCOBJ_RESET = 1 };
struct msm_submit {
    uint32_t flags, fence, bo_count, cmd_count;
    uint64_t bos, cmds;
    int32_t fence_fd;
    uint32_t queue;
    uint64_t in_syncobjs, out_syncobjs;
    uint32_t in_count, out_count, stride, pad;
};
#define MSM_SUBMIT_NO_IMPLICIT  0x80000000u
#define MSM_SUBMIT_FENCE_FD_IN  0x40000000u
#define MSM_SUBMIT_FENCE_FD_OUT 0x20000000u
#define MSM_SUBMIT_SUDO         0x10000000u
#define MSM_SUBMIT_SYNCOBJ_IN   0x08000000u
#define MSM_SUBMIT_SYNCOBJ_OUT  0x04000000u
#define MSM_SUBMIT_FENCE_SN_IN  0x02000000u

struct msm_vm_bind_op {
    uint32_t op, handle;
    uint64_t offset, iova, range;
    uint32_t flags, pad;
};
enum { MSM_UNMAP, MSM_MAP, MSM_MAP_NULL };
struct msm_vm_bind {
    uint32_t flags, op_count;
    int32_t fence_fd;
    uint32_t queue;
    uint64_t in_syncobjs, out_syncobjs;
    uint32_t in_count, out_count, stride, op_stride;
    union {
        struct msm_vm_bind_op op; /* if there is one */
        uint64_t ops;             /* else where they lie */
    };
};
enum { MSM_BIND_FENCE_FD_IN = 1, MSM_BIND_FENCE_FD_OUT = 2 };

struct msm_wait_fence {
    uint32_t fence, flags;
    struct msm_timespec timeout; /* CLOCK_MONOTONIC */
    uint32_t queue, pad;
};
struct msm_madvise {
    uint32_t handle, advice, retained;
};
struct msm_queue {
    uint32_t flags, priority, id;
};
enum { MSM_QUEUE_ALLOW_PREEMPT = 1, MSM_QUEUE_VM_BIND = 2 };
struct msm_queue_query {
    uint64_t data;
    uint32_t id, param, len, pad;
};

/* ---- sync files ---- */

struct sync_merge {
    char name[32];
    int32_t fd2;
    int32_t fence;
    uint32_t flags, pad;
};

#endif
