/* SPDX-License-Identifier: MIT
 * The ioctls, for device_call(): each returns 0, -errno or DEVICE_LATER. */
#ifndef CPS_DEVICE_CALL_H
#define CPS_DEVICE_CALL_H

#include "tools/device/device.h"

/** What every one of them gets. */
struct call {
    struct device *device;
    struct device_file *file;
    struct device_message *message;
};

/** Nanoseconds of CLOCK_MONOTONIC; what is below 0 or beyond its end is cut. */
int64_t call_nanoseconds(struct msm_timespec time);
/** Waits for what is not done yet, or says that it took too long. */
int call_later(struct call *call, int64_t deadline, int timed_out);
/** The address of a buffer; one that has none gets it here. */
int call_get_iova(struct call *call, struct device_handle *handle, uint64_t *ret);

/* call_sync.c */
int call_syncobj_create(struct call *call, struct drm_syncobj_new *new);
int call_syncobj_destroy(struct call *call, const struct drm_handle *handle);
int call_syncobj_to_fd(struct call *call, const struct drm_syncobj_fd *args);
int call_syncobj_to_handle(struct call *call, struct drm_syncobj_fd *args);
int call_syncobj_wait(struct call *call, struct drm_syncobj_wait_ *wait);
int call_timeline_wait(struct call *call, struct drm_syncobj_timeline_wait_ *wait);
int call_each_syncobj(struct call *call, uint32_t count, const uint64_t *points, bool signals);
int call_syncobj_query(struct call *call, const struct drm_syncobj_points *query);
int call_syncobj_transfer(struct call *call, const struct drm_syncobj_transfer_ *args);
int call_sync_merge(struct call *call);

/* call_job.c */
/** Of the count of dwords in CP_INDIRECT_BUFFER. */
enum { CALL_MAX_DWORDS = 0xfffff };
/** A job of a queue, which device_job_add() or device_job_free() gets. NULL: no memory. */
struct device_job *call_new_job(struct call *call, const struct device_queue *queue);
/** Counts what a job keeps of what a client sends. False: too much. */
bool call_count_items(struct call *call, struct device_job *job, size_t count);
/** Waits until the device takes one more job. */
int call_wait_for_room(struct call *call);
int call_submit_job(struct call *call, struct msm_submit *submit);
int call_vm_bind(struct call *call, struct msm_vm_bind *args);
int call_wait_fence(struct call *call, const struct msm_wait_fence *wait);

#endif
