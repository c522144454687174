/* SPDX-License-Identifier: MIT
 * One firmware over one capture, its events and coverage in memory: what diff, check and regress
 * are made of. */
#ifndef CPS_JOB_H
#define CPS_JOB_H

#include "tools/play/rig.h"

/** The result of a run. */
struct job {
    struct cps_event *event; /**< owned */
    size_t count, room;
    bool lost; /**< more events than fit */
    enum cps_stop stop;
    uint64_t instructions, packets;
    char why[256];           /**< where and why it stopped, "" when it ran to the end */
    struct cps_cover *cover; /**< per dword of the firmware's image; owned, may be NULL */
    uint32_t cover_count;
    struct cps_sink sink;
};

/** What a run is made of beside firmware and capture. */
struct job_setup {
    const struct cps_options *opt; /**< policies, limit, gen, rnn */
    uint32_t kinds;                /**< events to keep */
    bool cover;                    /**< count what is executed */
};

/** A machine as it stands after its boot, to be cloned for each run of its firmware. */
struct job_boot {
    struct cps_machine *machine; /**< owned */
    struct job job;              /**< events and coverage of the boot */
};

/** Boots @p firmware. The result has no machine where boots depend on the capture (a5xx) or end
 * early: runs then boot by themselves. The caller calls job_boot_deinit(). */
CPS_MUST_USE struct cps_err *job_boot(const struct job_setup *setup, const char *const firmware[2],
                                      struct job_boot *ret);
void job_boot_deinit(struct job_boot *boot);

/**
 * Runs. @p firmware  one path, or two of a5xx; NULL: the demo; or the name of an engine for scripts
 * ("hwsq:g92"), which runs a script for a capture. @p capture  path; NULL: the demo's.
 * @param boot  of this firmware, to be cloned; or NULL
 * @return NULL (also when the machine stopped early), or an error; the caller calls job_deinit()
 */
CPS_MUST_USE struct cps_err *job_run(const struct job_setup *setup, const char *const firmware[2],
                                     const char *capture, const struct job_boot *boot,
                                     struct job *ret);
void job_deinit(struct job *job);
/** Reads all events of a trace file into @p ret. @param head  gets its head, to be released with
 * cps_trace_head_deinit() also on error; or NULL */
CPS_MUST_USE struct cps_err *job_read(const char *path, struct cps_trace_head *head,
                                      struct job *ret);
/** Appends an event; used as a sink, too. */
void job_keep(struct job *job, const struct cps_event *events, size_t count);

#endif
