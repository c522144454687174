/* SPDX-License-Identifier: MIT
 * What hardware forgives, mostly: memory that changes under a submission which is still to run.
 *
 * A submission is held until a client waits or for some milliseconds, as a busy GPU would; its
 * memory is kept as it was when it came. What the firmware then fetches is compared with that:
 * words that the client rewrote, memory that it freed or unmapped, streams that nothing has ever
 * written, and words that the stream itself rewrites although they may have been prefetched. Data
 * that nothing has written is counted only: blocks that the device lacks may have to write it. */
#ifndef CPS_DEVICE_POISON_H
#define CPS_DEVICE_POISON_H

#include "tools/device/device.h"

struct device_poison;
/** Memory as it was; or NULL: it was not kept. */
struct device_snapshot;

/** @return NULL: no memory */
struct device_poison *device_poison_new(struct device *device);
/** NULL is fine. @p at_end prints how many findings were not printed. */
void device_poison_free(struct device_poison *poison);
/** What an engine has to emit for it, and who gets it. */
uint32_t device_poison_kinds(void);
struct cps_sink *device_poison_sink(struct device_poison *poison);
/** A submission came: keeps its memory. */
void device_poison_submit(struct device_poison *poison, struct device_job *job);
/** A client waits: all submissions that came may begin. */
void device_poison_release(struct device_poison *poison);
/** Whether a submission is held back. */
bool device_poison_holds(const struct device_poison *poison, const struct device_job *job);
/** The GPU has written. */
void device_poison_wrote(struct device_poison *poison, uint64_t iova, uint32_t size);
void device_snapshot_unref(struct device_snapshot *snapshot); /**< NULL is fine */

/* freed.c */
/** Remembers that a range of a file's addresses was freed by @p how, an ioctl's name. */
void device_freed_note(struct device_file *file, uint64_t iova, uint64_t size, const char *how);
/**
 * Says who freed an address after a submission came.
 * @param text  gets it, at least 160 bytes
 * @return false: nobody did
 */
bool device_freed_find(const struct device *device, const struct device_job *job, uint64_t iova,
                       char *text, size_t size);

#endif
