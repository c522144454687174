/* SPDX-License-Identifier: MIT
 * A debugging session whose submissions are the jobs of a device: `cpscope device --step`. */
#ifndef CPS_DEVICE_STEP_H
#define CPS_DEVICE_STEP_H

#include "tools/device/device.h"
#include "tools/face/debugger/session.h"

/** Bytes of memory that clients gave: when there are more, the oldest half is forgotten, and with
 * it the submissions that began with it. */
#define DEVICE_STEP_MEMORY (UINT64_C(1) << 30)

/**
 * The session's items grow with what clients submit. Memory is copied: before a submission what has
 * changed goes to the engine as CPS_ITEM_DATA; at its end, and where the engine waits for memory,
 * what the engine has stored goes to the client. So going back changes nothing for clients.
 *
 * One thread: clients are answered only while the session waits for a submission or for memory.
 */
struct device_step {
    struct session_live live; /**< `open` is the caller's: it starts the clients */
    struct device_debugger debugger;
    struct device *device;
    int child; /**< as device_serve() has it */
    bool ended;
    struct cps_engine *base;      /**< a copy: its memory is what engine and client both have */
    size_t next_cmd;              /**< of the job: what the list has not got yet */
    uint32_t context;             /**< of the last job */
    struct device_mapping *known; /**< the address space of the last job, without references */
    size_t known_count;
    bool waits; /**< for `words` of memory, until the time `patience_ends` */
    struct device_waits words;
    int64_t patience_ends;
    uint64_t given; /**< bytes since item `mark` */
    uint64_t mark;
    struct cps_err *failed; /**< of the device, which ends for that */
};

/** @param step  zero, but for live.open. @param device  executes nothing itself from now on */
void device_step_init(struct device_step *step, struct device *device);
/** Before the session is closed. @return what ended the device early, or NULL */
CPS_MUST_USE struct cps_err *device_step_deinit(struct device_step *step);

#endif
